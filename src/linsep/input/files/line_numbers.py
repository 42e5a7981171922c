"""On which line of a text each row of its table is: what results call rows by."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from linsep.arrays import Index, no_index
from linsep.input.errors import InputError
from linsep.input.files.layout import find_layout, lines_of_rows
from linsep.input.files.read import reader_for
from linsep.input.files.svmlight import read_svmlight
from linsep.input.files.table import Request
from linsep.input.files.tabular import encoding_of, read_delimited, read_json_lines
from linsep.input.files.texts import bounded_lines, open_bytes, unpacked


class LineNumbers:
    """The lines of a text's rows, found by one sweep when a row is first asked for.

    Parameters
    ----------
    path : Path
    find : callable
        Yields the line on which each row ends, counted from 1.
    """

    def __init__(self, path: Path, find: Callable[[Path], Iterable[int]]) -> None:
        self._path = path
        self._find = find

    @cached_property
    def lines(self) -> Index:
        """The line of each row; none where the text can no longer be read."""
        try:
            return np.fromiter(self._find(self._path), dtype=np.intp)
        except (OSError, InputError):
            return no_index()

    def __call__(self, row: int) -> object:
        """Return the line of a row, counted from 1."""
        return int(self.lines[row]) if row < self.lines.size else "unknown"


def line_numbers(
    source: str | os.PathLike[str], target: object = None, **layout: Any
) -> LineNumbers | None:
    """Return the lines of a text's rows; None for a file that has no lines.

    `target` and the options of the `layout` are those that the file is read by.
    """
    path = Path(source)
    request = Request(**layout)
    reader = reader_for(path, request)
    if reader is read_delimited:
        asked = [target] if isinstance(target, str | int) else []

        def delimited(path: Path) -> Iterator[int]:
            encoding = encoding_of(path, request)
            with unpacked(path, encoding=encoding) as text:
                yield from lines_of_rows(find_layout(path, text, asked, request))

        return LineNumbers(path, delimited)
    if reader is read_json_lines or reader is read_svmlight:
        return LineNumbers(path, _lines_with_content)
    return None


def _lines_with_content(path: Path) -> Iterator[int]:
    """Yield the lines that hold more than blanks and a comment."""
    with open_bytes(path) as stream:
        for number, line in enumerate(bounded_lines(stream, path), 1):
            if line.partition(b"#")[0].strip():
                yield number
