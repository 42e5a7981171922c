"""What a data file becomes: a matrix, labels, and notes on how they were read."""

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.input import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Selection", "Table", "select_columns", "whole_labels"]


@dataclass(frozen=True, eq=False)
class Table:
    """A data file as arrays.

    Attributes
    ----------
    X : ndarray or csr_array, shape (n_samples, n_features)
        The features, in the order of the file's columns.
    y : ndarray, shape (n_samples,)
        The labels: integers, floats or strings.
    feature_names : tuple of str, length n_features
    target : str
        The name of the column the labels come from.
    dummies : mapping of str to tuple of str
        The columns of text that became 0/1 columns, with their levels, sorted.
    notes : tuple of str
        What else a reader of the answer should know, a sentence each.
    """

    X: "NDArray[np.floating[Any]] | csr_array"
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    target: str
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
class Selection:
    """Which columns of a file are read: positions in the file, in its order.

    Attributes
    ----------
    names : tuple of str
        The names of all columns of the file.
    target : int
        The position of the labels.
    features : tuple of int
        The positions of the features.
    dropped : tuple of int
        The positions left out on request.
    """

    names: tuple[str, ...]
    target: int
    features: tuple[int, ...]
    dropped: tuple[int, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on the columns left out, if any."""
        if not self.dropped:
            return ()
        names = ", ".join(repr(self.names[j]) for j in self.dropped)
        return (f"left out, as asked: {names}",)


def select_columns(
    source: Path,
    names: Sequence[str],
    target: str | int | None,
    drop: Sequence[str | int],
) -> Selection:
    """Find the target and the columns to drop by name or number.

    Raises
    ------
    InputError
        If names repeat, a column is not there, or no column is left as the target.
    """
    repeated = _first_repeated(names)
    if repeated is not None:
        where = [j for j, name in enumerate(names) if name == repeated]
        raise InputError(
            f"{source} must give every column a name of its own, got {repeated!r} for "
            f"columns {', '.join(map(str, where))} (counted from 0); rename them"
        )
    if target is None:
        raise InputError(
            f"target must name the column of the labels (--target COL), got none; "
            f"{source} has {_listed(names)}"
        )
    chosen = _position(source, names, target, "target")
    dropped = sorted({_position(source, names, column, "drop") for column in drop})
    if chosen in dropped:
        raise InputError(
            f"drop must not name the target {names[chosen]!r}; drop other columns"
        )
    features = tuple(
        j for j in range(len(names)) if j != chosen and j not in set(dropped)
    )
    return Selection(tuple(names), chosen, features, tuple(dropped))


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
    try:
        number = int(column)
    except ValueError:
        number = None
    if number is not None and -len(names) <= number < len(names):
        return number % len(names)
    close = difflib.get_close_matches(str(column), names, n=3, cutoff=0.5)
    folded = [name for name in names if name.casefold() == str(column).casefold()]
    hint = " or ".join(map(repr, folded or close))
    advice = f"did you mean {hint}?" if hint else f"it has {_listed(names)}"
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
