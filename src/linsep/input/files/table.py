"""What is asked of a data file, and what it becomes: a matrix, labels, notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.input.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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
    dummies : mapping of str to tuple of str
        The columns of text that became 0/1 columns, with their levels, sorted.
    notes : tuple of str
        What else a reader of the answer should know, a sentence each.
    """

    X: NDArray[np.floating[Any]] | csr_array
    y: NDArray[Any] | None
    feature_names: tuple[str, ...]
    target: str | None
    dummies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

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

    With `labelled`, a file without labels is refused.
    """

    target: str | int | None = None
    drop: Sequence[str | int] = ()
    columns: Sequence[str | int] | None = None
    header: bool | None = None
    labelled: bool = False


@dataclass(frozen=True)
class Selection:
    """Which columns of a file are read: positions in the file, in its order.

    `names` are those of all columns of the file; `dropped` were left out on request.
    """

    names: tuple[str, ...]
    target: int | None
    features: tuple[int, ...]
    dropped: tuple[int, ...]

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions of the features and of the labels, if there are any."""
        return self.features if self.target is None else (*self.features, self.target)

    @property
    def target_name(self) -> str | None:
        """The name of the labels' column."""
        return None if self.target is None else self.names[self.target]

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on the columns left out, if any."""
        if not self.dropped:
            return ()
        names = ", ".join(repr(self.names[j]) for j in self.dropped)
        return (f"left out, as asked: {names}",)


def select_columns(source: Path, names: Sequence[str], request: Request) -> Selection:
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
            f"target must name the column of the labels (--target COL), got none; "
            f"{source} has {_listed(names)}"
        )
    target = None
    if request.target is not None:
        target = _position(source, names, request.target, "target")
    dropped = {_position(source, names, column, "drop") for column in request.drop}
    if target in dropped:
        raise InputError(
            f"drop must not name the target {request.target!r}; drop other columns"
        )
    asked = range(len(names)) if request.columns is None else request.columns
    wanted = sorted({_position(source, names, column, "columns") for column in asked})
    features = tuple(j for j in wanted if j != target and j not in dropped)
    return Selection(tuple(names), target, features, tuple(sorted(dropped)))


def whole_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Return float labels as integers if all are whole: 1 reads better than 1.0."""
    if labels.dtype.kind != "f" or not np.all(np.abs(labels) < 2**53):
        return labels
    return labels.astype(np.int64) if np.all(labels == np.rint(labels)) else labels


def _position(
    source: Path, names: Sequence[str], column: str | int, argument: str
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
