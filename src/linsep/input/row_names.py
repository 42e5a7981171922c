"""What rows are called: by position, by a frame's index, by the lines of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from linsep.arrays import Index


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
    """Return the names that a frame's index gives; positions if it has none of its own.

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
    if is_default:
        return BY_POSITION
    return RowNames(lambda row: index[row], kind=" (by the frame's index)")
