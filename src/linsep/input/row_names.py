"""What rows are called: by position, by a frame's index, by the lines of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.arrays import Index
from linsep.input.errors import InputError


@dataclass(frozen=True)
class RowNames:
    """The names of the rows given, of all results alike.

    Attributes
    ----------
    of : callable or None
        Returns the name of a row from its position; None: the position itself, from 0.
    noun : str, default="row"
    kind : str, default=" (counted from 0)"
        What the names are, in brackets behind a blank.
    """

    of: Callable[[int], object] | None = None
    noun: str = "row"
    kind: str = " (counted from 0)"

    def label(self, row: int) -> object:
        """Return the name of a row; without a frame or a file, its position."""
        return int(row) if self.of is None else self.of(int(row))

    def one(self, row: int) -> str:
        """Name a row: "row 3", "line 7"."""
        return f"{self.noun} {self.label(row)}"

    def several(self, rows: Sequence[int] | Index) -> str:
        """Name a few rows: "rows 3, 4"."""
        return f"{self.noun}s {', '.join(str(self.label(row)) for row in rows)}"

    def some(self, rows: Index, most: int) -> str:
        """List the first rows, and count the rest."""
        shown = ", ".join(str(self.label(row)) for row in rows[:most])
        more = len(rows) - most
        return f"{shown} and {more:,} more" if more > 0 else shown


BY_POSITION = RowNames()


def row_names_of_file(
    path: str | os.PathLike[str], target: object = None, **layout: Any
) -> RowNames:
    """Name rows by the lines of a text; by their positions in a file without lines.

    The options `header`, `sep`, `encoding` and so on are those the file is read by.
    """
    from linsep.input.files.line_numbers import line_numbers

    lines = line_numbers(path, target, **layout)
    if lines is None:
        return BY_POSITION
    return RowNames(lines, "line", " (lines of the file)")


def row_names_of(data: Any) -> RowNames:
    """Return the names that a frame's index gives, if it has one of its own.

    Else, and where it gives several rows one name, rows are named by position.

    Examples
    --------
    >>> import pandas as pd
    >>> row_names_of(pd.DataFrame({"x": [1, 2]}, index=["P1", "P2"])).one(1)
    'row P2'
    """
    index = getattr(data, "index", None)
    if index is None or not hasattr(data, "iloc"):
        return BY_POSITION
    is_default = (
        getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1
    )
    if is_default or not index.is_unique:
        return BY_POSITION
    return RowNames(lambda row: _plain(index[row]), kind=" (by the frame's index)")


def _plain(label: Any) -> object:
    """Return a label of several parts with Python's own numbers in it."""
    if not isinstance(label, tuple):
        return label
    return tuple(part.item() if hasattr(part, "item") else part for part in label)


def require_same_index(X: Any, name: str, values: Any) -> None:
    """Raise if two objects of pandas have indices that are not the same.

    Rows are taken by position, and these say that they do not belong together so.
    """
    ours: Any = getattr(X, "index", None)
    theirs: Any = getattr(values, "index", None)
    if not (hasattr(ours, "equals") and hasattr(theirs, "equals")):
        return
    if len(ours) != len(theirs) or ours.equals(theirs):
        return  # other lengths have an error of their own
    is_shuffled = ours.is_unique and theirs.is_unique and ours.isin(theirs).all()
    got = "other labels"
    advice = f"pass {name}.to_numpy() if the rows are in the same order"
    if is_shuffled:
        got, advice = "the same labels in another order", f"pass {name}.loc[X.index]"
    first = int(np.argmax(np.asarray(ours != theirs)))
    raise InputError(
        f"{name} must have the index of X, row for row, got {got} (in row {first} "
        f"{theirs[first]!r} in place of {ours[first]!r}); {advice}"
    )
