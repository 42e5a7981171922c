"""What is asked of a data file, and what it becomes: a matrix, labels, notes."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Index, Mask
from linsep.input.errors import InputError, did_you_mean
from linsep.input.levels import Levels, coding_note

if TYPE_CHECKING:
    from scipy.sparse import csr_array


# What a note on such rows says.
FOR_MISSING_VALUES = "were left out for missing values"


@dataclass(frozen=True, eq=False)
class Table:
    """A data file as arrays.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The features, in the order of the file's columns.
    y : ndarray of shape (n_samples,), or None
        The labels: integers, floats or strings. None if no column of labels was
        named and the file does not say.
    feature_names : tuple of str, length n_features
    target : str, or None
        The name of the column the labels come from.
    levels : mapping of str to Levels
        The columns of text that became 0/1 columns: their levels, sorted, and the
        reference, which has no column.
    codes : mapping of str to ndarray of shape (n_samples,)
        The number of each row's level.
    columns : tuple of str
        The columns of the data that the features were made of.
    rows : ndarray of int, or None
        The rows that were kept, where some had missing values.
    n_rows : int, or None
        How many rows the data had.
    notes : tuple of str
        What else a reader of the answer should know, a sentence each.
    """

    X: NDArray[np.floating[Any]] | csr_array
    y: NDArray[Any] | None
    feature_names: tuple[str, ...]
    target: str | None
    levels: Mapping[str, Levels] = field(default_factory=dict)
    codes: Mapping[str, Index] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    rows: Index | None = None
    n_rows: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def dummies(self) -> dict[str, tuple[str, ...]]:
        """The levels of each column of text that became 0/1 columns."""
        return {name: of.levels for name, of in self.levels.items()}

    @property
    def coding_notes(self) -> tuple[str, ...]:
        """A sentence on the columns of text, if there are any."""
        told = [of.told(name) for name, of in self.levels.items()]
        return (coding_note(told),) if told else ()

    def features(self, names: Sequence[str]) -> NDArray[Any] | csr_array:
        """Return the features of these names in this order, or refuse others."""
        number = {name: j for j, name in enumerate(self.feature_names)}
        if set(names) != set(number):
            missing = sorted(set(names) - set(number))
            unexpected = sorted(set(number) - set(names))
            raise InputError(
                "the columns must be those the model was fitted on, and hold the same "
                f"kind of values, got {missing[:8]} missing and {unexpected[:8]} "
                "unexpected; correct the columns"
            )
        if tuple(names) == self.feature_names:
            return self.X
        return self.X[:, [number[name] for name in names]]

    def without_rows(self, is_gone: Mask) -> Table:
        """Return the table without rows that have missing values, with a note."""
        n_rows, n_gone = is_gone.size, int(np.count_nonzero(is_gone))
        if n_gone == 0:
            return self
        rows = np.flatnonzero(~is_gone)
        note = f"{n_gone:,} of {n_rows:,} rows {FOR_MISSING_VALUES}"
        return replace(
            self,
            X=self.X[rows],
            y=None if self.y is None else self.y[rows],
            rows=rows,
            n_rows=n_rows,
            notes=(note, *self.notes),
        )

    def given(self, index: Index) -> Index:
        """Return the numbers that rows have in the data as they were given."""
        return index if self.rows is None else self.rows[index]

    def __post_init__(self) -> None:
        """Check that the names are as many as the columns, and all different."""
        repeated = _first_repeated(self.feature_names)
        if repeated is not None:
            raise InputError(
                f"column names must differ once text has become 0/1 columns, got "
                f"{repeated!r} twice; rename the column"
            )


@dataclass(frozen=True)
class Request:
    """Which columns of a file are wanted; see `linsep.read_table`.

    With `labelled`, a file without labels is refused; `role` is what the target is
    called in messages. `levels` are those that columns
    of text must keep to, coded as they are there; `present` says which rows count
    where the others choose the reference. `sep`, `decimal` and `encoding` are those of
    delimited text. With `is_count` the labels are counts, of which matters whether they
    are zero. A matrix that goes to a caller stays `in_memory`, to be written to. With
    `needs_all` the caller has no way to leave rows out, as where a model judges them.
    """

    target: str | int | None = None
    drop: Sequence[str | int] = ()
    columns: Sequence[str | int] | None = None
    header: bool | None = None
    labelled: bool = False
    role: str = "target"
    missing: str = "refuse"
    fit_intercept: bool = True
    levels: Mapping[str, Levels] = field(default_factory=dict)
    present: Mask | None = None
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    is_count: bool = False
    in_memory: bool = False
    needs_all: bool = False

    def __post_init__(self) -> None:
        """Refuse what the options cannot be."""
        if self.sep is not None and len(self.sep) != 1:
            raise InputError(
                f"sep must be one character (--sep ';'), got {self.sep!r}; blanks in a "
                "row count as one"
            )
        if self.decimal not in (None, ".", ","):
            raise InputError(f"decimal must be '.' or ',', got {self.decimal!r}")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise InputError(
                    "encoding must be one that Python knows, such as utf-8, latin-1, "
                    f"cp1252 or utf-16, got {self.encoding!r}"
                ) from None
        if self.missing not in ("refuse", "drop"):
            raise InputError(
                'missing must be "refuse" or "drop" (--missing drop), got '
                f"{self.missing!r}; the latter leaves out rows with missing values"
            )


@dataclass(frozen=True)
class Selection:
    """Which columns of a file are read: positions in the file, in its order.

    `names` are those of all columns of the file, `notes` a sentence each on the columns
    left out.
    """

    names: tuple[str, ...]
    target: int | None
    features: tuple[int, ...]
    notes: tuple[str, ...] = ()

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions of the features and of the labels, if there are any."""
        return self.features if self.target is None else (*self.features, self.target)

    @property
    def target_name(self) -> str | None:
        """The name of the labels' column."""
        return None if self.target is None else self.names[self.target]


def select_columns(
    source: Path | str, names: Sequence[str], request: Request
) -> Selection:
    """Find the columns asked for by name or number, or raise InputError."""
    repeated = _first_repeated(names)
    if repeated is not None:
        where = [j for j, name in enumerate(names) if name == repeated]
        raise InputError(
            f"{source} must give every column a name of its own, got {repeated!r} for "
            f"columns {', '.join(map(str, where))} (counted from 0); rename them"
        )
    if request.target is None and request.labelled:
        raise InputError(
            "target must name the column of the labels (--target COL; -1 is the last), "
            f"got none; {source} has {_listed(names)}"
        )
    target = None
    if request.target is not None:
        target = _position(source, names, request.target, request.role)
    dropped = {_position(source, names, column, "drop") for column in request.drop}
    if target in dropped:
        raise InputError(
            f"drop must not name the target {request.target!r}; drop other columns"
        )
    asked = range(len(names)) if request.columns is None else request.columns
    wanted = sorted({_position(source, names, column, "columns") for column in asked})
    features = tuple(j for j in wanted if j != target and j not in dropped)
    listed = ", ".join(repr(names[j]) for j in sorted(dropped))
    notes = (f"left out, as asked: {listed}",) if dropped else ()
    return Selection(tuple(names), target, features, notes)


def without_dates(
    source: Path | str, selection: Selection, dates: Sequence[int], request: Request
) -> Selection:
    """Leave out columns of dates, with a note; refuse one that was asked for."""
    dates = [j for j in selection.features if j in dates]
    if not dates:
        return selection
    names = ", ".join(repr(selection.names[j]) for j in dates)
    if request.columns is not None:
        raise InputError(
            f"{source} must hold numbers, true and false, or texts in the columns "
            f"asked for, got dates or times in {names}; turn them into numbers"
        )
    features = tuple(j for j in selection.features if j not in dates)
    note = f"left out, since they hold dates or times: {names}"
    return replace(selection, features=features, notes=(*selection.notes, note))


def missing_counts(missing: Mapping[str, int]) -> str:
    """List how many values columns lack, those that lack most first.

    Examples
    --------
    >>> missing_counts({"age": 3, "income": 1_200})
    "'income' 1,200, 'age' 3"
    """
    ordered = sorted(missing, key=missing.__getitem__, reverse=True)
    counts = ", ".join(f"{name!r} {missing[name]:,}" for name in ordered[:10])
    return counts + f", and {len(ordered) - 10} more columns" * (len(ordered) > 10)


def whole_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Return float labels as integers if all are whole: 1 reads better than 1.0."""
    if labels.dtype.kind != "f" or not np.all(np.abs(labels) < 2**53):
        return labels
    return labels.astype(np.int64) if np.all(labels == np.rint(labels)) else labels


def _position(
    source: Path | str, names: Sequence[str], column: str | int, argument: str
) -> int:
    """Return the position of a column given by name, or by number from 0 or -1."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    number = None
    # A feature called 3 that is not there must not become the column counted so.
    if isinstance(column, int) or argument != "columns":
        with suppress(ValueError):
            number = int(column)
    if number is not None and -len(names) <= number < len(names):
        return number % len(names)
    advice = did_you_mean(column, names) or f"it has {_listed(names)}"
    if argument == "columns":
        raise InputError(
            f"{source} must have the column {column!r}, which is needed, got none of "
            f"that name; {advice}"
        )
    raise InputError(
        f"{argument} must name a column of {source}, got {column!r}, which is none of "
        f"its {len(names)} columns; {advice}"
    )


def _listed(names: Sequence[str]) -> str:
    """List a few names."""
    text = ", ".join(map(repr, names[:10]))
    return f"columns {text}" + (" and so on" if len(names) > 10 else "")


def _first_repeated(names: Sequence[str]) -> str | None:
    """Return the first name that occurs twice."""
    return next((name for name, count in Counter(names).items() if count > 1), None)
