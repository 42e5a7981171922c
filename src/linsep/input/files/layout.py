"""How a delimited text (CSV) is laid out: delimiter, header, names, and line numbers.

The engine reads the rows; Python's csv module looks at the first of them and counts
lines for error texts. The engine's own sniffer is not asked, since it may skip lines.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from linsep.input.errors import InputError
from linsep.input.files.table import Request
from linsep.input.files.texts import bounded_lines
from linsep.input.text_column import is_text, numbers_from

# In this order: a comma is often part of a number or a text, a tab never is, and blanks
# stand in names and texts of every kind.
_DELIMITERS = ("\t", ";", "|", ",", " ")

_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")

# Lines looked at to find delimiter and header.
_SAMPLE_LINES = 50


@dataclass(frozen=True)
class Layout:
    """How a delimited text is laid out.

    `text` is the file `path`, uncompressed. Names come from the header, or are x0, x1
    and so on. `longest_line` is the longest of the first lines, in bytes; `decimal` is
    the decimal point, which may be a comma.
    """

    path: Path
    text: Path
    delimiter: str
    names: tuple[str, ...]
    has_header: bool
    longest_line: int = 0
    decimal: str = "."
    decimal_is_inferred: bool = False

    @property
    def n_rows_above(self) -> int:
        """Rows, blank ones counted, down to the header; 0 without a header."""
        if not self.has_header:
            return 0
        rows = _rows(self.path, self.text, self.delimiter)
        return 1 + next(
            k for k, (_, row) in enumerate(rows) if not _is_blank(row, self.delimiter)
        )

    def place(self, row: int) -> str:
        """Say on which line of the text a row (counted from 0) ends."""
        return f"line {next(islice(lines_of_rows(self), row, None), 'unknown')}"

    def width_error(self, width: str, line: int) -> InputError:
        """Word the error for a line with too few or too many fields."""
        said = "the header has" if self.has_header else "the first line has"
        return InputError(
            f"{self.path}: every line must have the same number of fields, got {width} "
            f"on line {line} where {said} {len(self.names)} (separated by "
            f"{self.delimiter!r}); correct the line, or quote the field that holds the "
            "delimiter"
        )

    @property
    def notes(self) -> list[str]:
        """Say what was inferred where the file did not say it."""
        notes = []
        if not self.has_header:
            notes.append(
                "no header was found: the columns are named x0, x1, ... in their order"
            )
        if self.decimal_is_inferred:
            notes.append("decimal commas were read as decimal points")
        return notes


def find_layout(
    path: Path, text: Path, asked: Collection[str | int], request: Request
) -> Layout:
    """Find the delimiter, the decimal point, whether there is a header, and the names.

    A first line that holds the name of a column asked for is a header, unless the
    request says so or otherwise.
    """
    header = request.header
    delimiter, rows = _split_sample(path, text, request.sep)
    if not rows:
        raise InputError(f"{path} must hold data, got blank lines only")
    first = [cell.strip() for cell in rows[0]]
    if len(first) < 2:
        raise InputError(
            f"{path} must have at least two columns, one of them the labels, got one "
            f"({first[0][:40]!r}); separate columns by a comma, semicolon, tab or "
            "blank, or name what separates them by sep (--sep)"
        )
    if len(rows) > 1 and len(rows[1]) == len(first) + 1:
        # R writes the names of rows without a name of their own.
        first, header = ["", *first], True
    if header is None:
        header = _is_header(first, rows[1:], asked)
    if header:
        names = tuple(cell or f"unnamed{j}" for j, cell in enumerate(first))
    else:
        names = tuple(f"x{j}" for j in range(len(first)))
    with open(text, "rb") as stream:
        lines = islice(bounded_lines(stream, path), _SAMPLE_LINES)
        longest = max(len(line) for line in lines)
    decimal = request.decimal or "."
    is_inferred = request.decimal is None and delimiter == ";" and _has_commas(rows)
    if is_inferred:
        decimal = ","
    return Layout(path, text, delimiter, names, header, longest, decimal, is_inferred)


def lines_of_rows(layout: Layout) -> Iterator[int]:
    """Yield the line on which each row of the table ends, counted from 1."""
    rows = _rows(layout.path, layout.text, layout.delimiter)
    lines = (line for line, row in rows if not _is_blank(row, layout.delimiter))
    return islice(lines, int(layout.has_header), None)


def quote_error(path: Path, line: int, reason: str) -> InputError:
    """Word the error for a text whose quotes do not pair up."""
    return InputError(
        f"{path} must be delimited text, got trouble after line {line}: {reason}; look "
        "for a quote that is never closed, or one inside a field that is not doubled"
    )


def not_utf8(path: Path, text: Path) -> InputError:
    """Word the error for a text that is not UTF-8, with the first such byte."""
    number, byte = 0, b""
    with open(text, "rb") as stream:
        for line in bounded_lines(stream, path):
            number += 1
            try:
                line.decode()
            except UnicodeDecodeError as error:
                byte = line[error.start : error.start + 1]
                break
    return InputError(
        f"{path} must be UTF-8 text, got the byte 0x{byte.hex()} on line {number}; if "
        "it is text at all, say in which encoding: encoding='latin-1' (--encoding "
        "latin-1), cp1252 or utf-16"
    )


def _rows(path: Path, text: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every row of the text, with the line it ends on."""
    # utf-8-sig skips the byte order mark that spreadsheets write.
    with open(text, encoding="utf-8-sig", newline="") as stream:
        lines = bounded_lines(stream, path)
        if delimiter == " ":
            lines = (line.rstrip("\r\n ").lstrip(" ") + "\n" for line in lines)
        blanks = delimiter == " "
        rows = csv.reader(
            lines, delimiter=delimiter, strict=True, skipinitialspace=blanks
        )
        try:
            for row in rows:
                yield rows.line_num, row
        except UnicodeDecodeError:
            raise not_utf8(path, text) from None
        except csv.Error as error:
            raise quote_error(path, rows.line_num, str(error)) from None


def _is_blank(row: Sequence[str], delimiter: str) -> bool:
    """Tell whether a row is that of a blank line."""
    return (len(row) < 2 or delimiter == " ") and not "".join(row).strip()


def _has_commas(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether numbers have decimal commas, and none a decimal point.

    A text such as 1,234 may also be a thousand and more: if all are, nothing is told.
    """
    cells = [cell.strip() for row in rows for cell in row]
    commas = [cell for cell in cells if _COMMA.fullmatch(cell)]
    points = any("." in cell and numbers_from([cell]) is not None for cell in cells)
    return not points and not all(map(_THOUSANDS.fullmatch, commas))


def _split_sample(
    path: Path, text: Path, sep: str | None
) -> tuple[str, list[list[str]]]:
    """Return the delimiter and the first rows, split by it.

    The delimiter gives every row the same number of fields, and more than the others
    do. If none does, the first line decides, and a later error names the bad line.
    Blanks are thought of only where nothing else separates.
    """
    best, chosen, sample = (False, 0), "", list[list[str]]()
    for delimiter in _DELIMITERS if sep is None else (sep,):
        if delimiter == " " and best[1] > 1:
            break
        rows: list[list[str]] = []
        sound = True
        try:
            for _, row in islice(_rows(path, text, delimiter), _SAMPLE_LINES):
                if not _is_blank(row, delimiter):
                    rows.append(row)
        except InputError:
            if not rows and not sample and delimiter in (_DELIMITERS[-1], sep):
                raise
            sound = False
        if not rows:
            continue
        width = len(rows[0])
        if len(rows) > 1 and delimiter in "\t " and len(rows[1]) == width + 1:
            width += 1  # R's names of rows
        same = sound and width > 1 and all(len(row) == width for row in rows[1:])
        same &= len(rows[0]) == width or len(rows) > 1
        if (same, width) > best:
            best, chosen, sample = (same, width), delimiter, rows
    return chosen, sample


def _is_header(
    first: Sequence[str], rest: Sequence[Sequence[str]], asked: Collection[str | int]
) -> bool:
    """Tell whether the first line holds names rather than values."""
    if any(cell in asked and numbers_from([cell]) is None for cell in first):
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
