"""A column of text as it is read: its levels, and whether it is a category at all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from linsep.input.levels import FEW_ROWS

#: How files spell "no value".
MISSING = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "?", "."})

# A text of more levels than this, no two the same, names rows, whatever comes later.
_MOST_NAMES = 2**17
# So many texts tell whether a column holds numbers with a typing error among them.
_SAMPLE = 1000
_DATE = re.compile(
    r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([T ]\d{1,2}:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
    r"|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}( \d{1,2}:\d\d(:\d\d)?)?|\d{1,2}:\d\d(:\d\d)?"
)


def numbers_from(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the nearest doubles of decimal texts, or None if some cell is not one.

    Examples
    --------
    >>> numbers_from(["1", " -2.5e3 "])
    array([ 1.0e+00, -2.5e+03])
    >>> numbers_from(["1", "2_000"]) is None
    True
    """
    try:
        values = np.array(cells, dtype=np.float64)
    except ValueError:
        return None
    # Python reads 2_000 as a number; no data file means that.
    return None if "_" in "".join(cells) else values


def is_text(cells: Sequence[str]) -> bool:
    """Tell whether some cell is neither a number nor missing."""
    if numbers_from(cells) is not None:
        return False
    return any(
        cell.strip() not in MISSING and numbers_from([cell]) is None for cell in cells
    )


class TextColumn:
    """A column of text: a code for every row, levels in the order first seen.

    `missing` are the texts that stand for no value; None always does.
    """

    def __init__(self, missing: Collection[str] = MISSING) -> None:
        self.aside: str | None = None
        self.absent_text: str | None = None  # the first that stands for no value
        self._missing = missing
        self._codes: dict[str, int] = {}
        self._absent: set[int] = {-1}
        self._pieces: list[NDArray[np.int32]] = []
        self._n_present = 0

    def add(self, cells: Sequence[str | None]) -> NDArray[np.intp]:
        """Append some rows; return which of them have no value."""
        codes_of, known = self._codes, len(self._codes)
        codes = np.array(
            [
                -1 if cell is None else codes_of.setdefault(cell.strip(), len(codes_of))
                for cell in cells
            ],
            dtype=np.int32,
        )
        for cell in islice(codes_of, known, None):
            if cell in self._missing:
                self._absent.add(codes_of[cell])
        absent = np.flatnonzero(np.isin(codes, list(self._absent)))
        if absent.size and self.absent_text is None:
            self.absent_text = (cells[int(absent[0])] or "").strip()
        codes[absent] = -1
        self._n_present += codes.size - absent.size
        self._pieces.append(codes)
        return absent

    def levels(self) -> list[str]:
        """Return the levels in the order first seen."""
        absent = self._absent
        return [text for text, code in self._codes.items() if code not in absent]

    def row_of(self, level: str) -> int:
        """Return the first row of a level."""
        return int(np.argmax(np.concatenate(self._pieces) == self._codes[level]))

    def coded(self) -> tuple[tuple[str, ...], NDArray[np.intp]]:
        """Return the levels in order, and each row's among them; -1 for no value."""
        levels = self.levels()
        numbers = numbers_from(levels)
        order = np.argsort(levels if numbers is None else numbers, kind="stable")
        rank = np.full(len(self._codes) + 1, -1, dtype=np.intp)
        if levels:
            rank[[self._codes[levels[k]] for k in order]] = np.arange(len(levels))
        return tuple(levels[k] for k in order), rank[np.concatenate(self._pieces)]

    def holds_too_much(self, most: int) -> bool:
        """Tell whether it has more levels than this and is nothing to be set aside.

        What is set aside, dates and names of rows, is forgotten here.
        """
        n_levels = len(self._codes) - len(self._absent) + 1
        if n_levels <= most:
            return False
        if n_levels == self._n_present <= _MOST_NAMES and not self.are_dates():
            return self._are_numbers_mistyped()
        self.aside = self._reason()
        if self.aside is None:
            return True
        self._codes, self._pieces = {}, []
        return False

    def settle(self) -> None:
        """Tell whether it is to be set aside, when all its rows are known."""
        if self.aside is None and self._n_present:
            self.aside = self._reason()

    def names_rows(self) -> bool:
        """Tell whether it is another text in every row."""
        return len(self.levels()) == self._n_present > FEW_ROWS

    def are_dates(self) -> bool:
        """Tell whether all levels are dates or times."""
        return all(_DATE.fullmatch(level) for level in self.levels())

    def _reason(self) -> str | None:
        """Say why it is no category, where that is no mistake in the file."""
        if self.are_dates():
            return f"holds dates or times ({self.levels()[0]}, ...)"
        if self.names_rows() and not self._are_numbers_mistyped():
            first = ", ".join(self.levels()[:2])
            return (
                f"holds another text in each of {self._n_present:,} rows ({first}, ...)"
            )
        return None

    def _are_numbers_mistyped(self) -> bool:
        """Tell whether most levels are numbers, so that the others are mistakes."""
        sample: Iterable[str] = islice(self.levels(), _SAMPLE)
        is_number = [
            numbers_from([level.replace(",", "")]) is not None for level in sample
        ]
        return 2 * sum(is_number) > len(is_number)
