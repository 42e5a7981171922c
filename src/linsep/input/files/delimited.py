"""Delimited text (CSV): find its layout, then read it in pieces.

Python's csv module is the reader that defines what a file means. Large files go
through pyarrow where it is installed: it is several times as fast, gives the same
table, and where it stumbles the csv module reads the file and words the error.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from linsep.input import InputError
from linsep.input.files.columns import MISSING, TableBuilder, is_text, numbers_from
from linsep.input.files.streams import bounded_lines, open_bytes
from linsep.input.files.table import Selection, Table, select_columns

__all__ = ["read_delimited"]

# In this order: a comma is often part of a number or a text, a tab never is.
_DELIMITERS = ("\t", ";", ",")

# Lines looked at to find delimiter and header.
_SAMPLE_LINES = 50

# Cells of text held at a time: about 20 MB as Python strings.
_CELLS = 2**18

# A smaller file is read before pyarrow would be loaded.
_LARGE_BYTES = 4 * 2**20

Piece: TypeAlias = Mapping[int, Any]  # position of a column -> numbers or texts


class _Unsuited(Exception):
    """A way of reading does not do for the file; another may."""


@dataclass(frozen=True)
class _Layout:
    """How a delimited text is laid out.

    Attributes
    ----------
    path : Path
    delimiter : str
    names : tuple of str
        From the header, or x0, x1, ...
    has_header : bool
    """

    path: Path
    delimiter: str
    names: tuple[str, ...]
    has_header: bool

    def place(self, row: int) -> str:
        """Say on which line of the text a row (counted from 0) ends."""
        line, _ = next(islice(_rows(self), row, None))
        return f"line {line}"

    @property
    def notes(self) -> list[str]:
        """Say where the names come from, if not from the file."""
        if self.has_header:
            return []
        return ["no header was found: the columns are named x0, x1, ... in their order"]


def read_delimited(
    path: Path,
    target: str | int | None,
    drop: Sequence[str | int] = (),
    header: bool | None = None,
) -> Table:
    """Read a delimited text; see `linsep.input.files.read_table`, which calls this."""
    layout = _find_layout(path, target, header)
    selection = select_columns(path, layout.names, target, drop)
    text = _text_columns(islice(_pieces(layout), 1), selection)
    for read_pieces in (_arrow_pieces, _csv_pieces):
        try:
            return _build(layout, selection, text, read_pieces)
        except _Unsuited:
            continue
    # A column turned from numbers to text on the way: look at the whole file first.
    text = _text_columns(_pieces(layout), selection)
    return _build(layout, selection, text, _csv_pieces)


def _build(
    layout: _Layout, selection: Selection, text: frozenset[int], read_pieces: Any
) -> Table:
    """Make the table from the pieces that one way of reading gives."""
    builder = TableBuilder(layout.path, selection, text, layout.place)
    for piece in read_pieces(layout, selection, text):
        builder.add(piece)
    return builder.finish(layout.notes)


def _text_columns(
    pieces: Iterable[Sequence[Sequence[str]]], selection: Selection
) -> frozenset[int]:
    """Return the positions of the columns with a cell that is no number."""
    text: set[int] = set()
    for piece in pieces:
        for j in (*selection.features, selection.target):
            if j not in text and is_text(piece[j]):
                text.add(j)
    return frozenset(text)


def _csv_pieces(
    layout: _Layout, selection: Selection, text: frozenset[int]
) -> Iterator[Piece]:
    """Yield the columns read, by the csv module."""
    for piece in _pieces(layout):
        columns: dict[int, Any] = {}
        for j in (*selection.features, selection.target):
            cells = piece[j]
            if j in text:
                columns[j] = cells
                continue
            values = numbers_from(cells)
            if values is None:  # unless some are only missing, which the builder words
                values = numbers_from(
                    ["nan" if cell.strip() in MISSING else cell for cell in cells]
                )
            if values is None:
                raise _Unsuited
            columns[j] = values
        yield columns


def _arrow_pieces(
    layout: _Layout, selection: Selection, text: frozenset[int]
) -> Iterator[Piece]:
    """Yield the same by pyarrow, if the file is large and plain."""
    if layout.path.stat().st_size < _LARGE_BYTES:
        raise _Unsuited
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv
    except ImportError:
        raise _Unsuited from None
    positions = (*selection.features, selection.target)
    names = [str(j) for j in range(len(layout.names))]
    types = {
        names[j]: pyarrow.string() if j in text else pyarrow.float64()
        for j in positions
    }
    try:
        with open_bytes(layout.path) as stream:
            batches = arrow_csv.open_csv(
                stream,
                arrow_csv.ReadOptions(
                    column_names=names,
                    skip_rows=int(layout.has_header),
                    block_size=8 * 2**20,
                ),
                arrow_csv.ParseOptions(delimiter=layout.delimiter),
                arrow_csv.ConvertOptions(
                    column_types=types,
                    include_columns=[names[j] for j in positions],
                    null_values=[],
                ),
            )
            for batch in batches:
                yield {
                    j: column.to_pylist() if j in text else column.to_numpy()
                    for j, column in zip(positions, batch.columns, strict=True)
                }
    except pyarrow.ArrowInvalid:
        raise _Unsuited from None


def _pieces(layout: _Layout) -> Iterator[Sequence[Sequence[str]]]:
    """Yield some rows at a time, as columns of cells."""
    n_rows = max(1, _CELLS // len(layout.names))
    rows = (row for _, row in _rows(layout))
    while piece := list(islice(rows, n_rows)):
        yield list(zip(*piece, strict=True))


def _rows(layout: _Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows under the header, each with the line it ends on."""
    n_columns = len(layout.names)
    rows = _all_rows(layout.path, layout.delimiter)
    if layout.has_header:
        next(rows)
    for line, row in rows:
        if len(row) != n_columns:
            said = "the header has" if layout.has_header else "the first line has"
            raise InputError(
                f"{layout.path}: every line must have the same number of fields, got "
                f"{len(row)} on line {line} where {said} {n_columns} (separated by "
                f"{layout.delimiter!r}); correct the line, or quote the field that "
                "holds the delimiter"
            )
        yield line, row


def _all_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every row of the text that is not blank, with the line it ends on."""
    with (
        open_bytes(path) as binary,
        # utf-8-sig skips the byte order mark that spreadsheets write.
        io.TextIOWrapper(binary, encoding="utf-8-sig", newline="") as stream,
    ):
        lines = bounded_lines(stream, path)
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for row in rows:
                if len(row) > 1 or (row and row[0].strip()):
                    yield rows.line_num, row
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path} must be UTF-8 text, got the byte "
                f"0x{error.object[error.start]:02x} on line {_undecodable_line(path)}; "
                "if it is text at all, save it as UTF-8 (on the command line: "
                "iconv -f latin1 -t utf-8, or -f utf-16)"
            ) from None
        except csv.Error as error:
            raise InputError(
                f"{path} must be delimited text, got trouble after line "
                f"{rows.line_num}: {error}; look for a quote that is never closed, or "
                "one inside a field that is not doubled"
            ) from None


def _undecodable_line(path: Path) -> int:
    """Return the number of the first line that is not UTF-8."""
    number = 0
    with open_bytes(path) as binary:
        for line in bounded_lines(binary, path):
            number += 1
            try:
                line.decode()
            except UnicodeDecodeError:
                break
    return number


def _find_layout(path: Path, target: str | int | None, header: bool | None) -> _Layout:
    """Find the delimiter, whether there is a header, and the names."""
    delimiter, rows = _split_sample(path)
    if not rows:
        raise InputError(f"{path} must hold data, got blank lines only")
    first = [cell.strip() for cell in rows[0]]
    if len(first) < 2:
        raise InputError(
            f"{path} must have at least two columns, one of them the labels, got one "
            f"({first[0][:40]!r}); separate columns by a comma, semicolon or tab"
        )
    if header is None:
        header = _is_header(first, rows[1:], target)
    if header:
        names = tuple(cell or f"unnamed{j}" for j, cell in enumerate(first))
    else:
        names = tuple(f"x{j}" for j in range(len(first)))
    return _Layout(path, delimiter, names, header)


def _split_sample(path: Path) -> tuple[str, list[list[str]]]:
    """Return the delimiter and the first rows, split by it.

    The delimiter gives every row the same number of fields, and more than the others
    do. If none does, the first line decides, and a later error names the bad line.
    """
    best, chosen, sample = (False, 0), "", list[list[str]]()
    for delimiter in _DELIMITERS:
        rows: list[list[str]] = []
        sound = True
        try:
            for _, row in islice(_all_rows(path, delimiter), _SAMPLE_LINES):
                rows.append(row)
        except InputError:
            if not rows and not sample and delimiter == _DELIMITERS[-1]:
                raise
            sound = False
        if not rows:
            continue
        width = len(rows[0])
        same = sound and width > 1 and all(len(row) == width for row in rows)
        if (same, width) > best:
            best, chosen, sample = (same, width), delimiter, rows
    return chosen, sample


def _is_header(
    first: Sequence[str], rest: Sequence[Sequence[str]], target: str | int | None
) -> bool:
    """Tell whether the first line holds names rather than values."""
    if isinstance(target, str) and target in first and numbers_from([target]) is None:
        return True
    named = [cell for cell in first if cell]
    if named == [str(j) for j in range(len(named))] and len(named) > 1:
        return True  # the names pandas gives to columns without any
    columns = list(zip(*rest, strict=False))
    is_word = [cell != "" and numbers_from([cell]) is None for cell in first]
    if any(
        word and not is_text(column)
        for word, column in zip(is_word, columns, strict=False)
    ):
        return True  # a word over numbers
    if not all(is_word):
        return False
    # Texts only: names do not recur among the values under them.
    values = [{cell.strip() for cell in column} for column in columns]
    recurring = any(cell in seen for cell, seen in zip(first, values, strict=False))
    return len(set(first)) == len(first) and not recurring
