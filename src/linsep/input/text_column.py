"""A column of text as it is read: its levels, and whether it is a category at all."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index
from linsep.input.errors import InputError
from linsep.input.levels import FEW_ROWS

#: How files spell "no value".
MISSING = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "?", "."})

# A text of more levels than this, no two the same, names rows, whatever comes later.
MOST_NAMES = 2**17
# So many texts tell whether a column holds numbers with a typing error among them.
_SAMPLE = 1000
_DATE = re.compile(
    r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([T ]\d{1,2}:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
    r"|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}( \d{1,2}:\d\d(:\d\d)?)?|\d{1,2}:\d\d(:\d\d)?"
)


def numbers_from(cells: Sequence[str]) -> Floats | None:
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


def in_order(levels: Sequence[str]) -> Index:
    """Return the order of levels: that of numbers if all are, else of texts."""
    numbers = numbers_from(levels) if levels else None
    return np.argsort(np.array(levels) if numbers is None else numbers, kind="stable")


def are_dates(levels: Iterable[str]) -> bool:
    """Tell whether all levels are dates or times."""
    return all(_DATE.fullmatch(level) for level in levels)


def written_with_commas(levels: Sequence[str]) -> bool:
    """Tell whether all levels are numbers but for their commas: 1,5 or 12,000."""
    commas = any("," in level for level in levels)
    return commas and numbers_from([x.replace(",", "") for x in levels]) is not None


def name_rows(n_levels: int, n_present: int) -> bool:
    """Tell whether a text is another in every row."""
    return n_levels == n_present > FEW_ROWS


def why_aside(levels: Sequence[str], n_present: int) -> str | None:
    """Say why texts are no category, where that is no mistake in the data.

    Examples
    --------
    >>> why_aside(["2024-01-31", "2024-02-29"], 70)
    'holds dates or times (2024-01-31, ...)'
    """
    if not n_present:
        return None
    if are_dates(levels):
        return f"holds dates or times ({levels[0]}, ...)"
    if name_rows(len(levels), n_present) and not _are_numbers_mistyped(levels):
        first = ", ".join(levels[:2])
        return f"holds another text in each of {n_present:,} rows ({first}, ...)"
    return None


def _are_numbers_mistyped(levels: Sequence[str]) -> bool:
    """Tell whether most levels are numbers, so that the others are mistakes."""
    sample: Iterable[str] = islice(levels, _SAMPLE)
    is_number = [numbers_from([level.replace(",", "")]) is not None for level in sample]
    return 2 * sum(is_number) > len(is_number)


class Texts(ABC):
    """What a column of text holds, however it is read: a category, or none.

    `aside` says why it is none where that is no mistake in the data.
    """

    aside: str | None = None
    n_present: int  # rows that have a text

    @abstractmethod
    def levels(self) -> list[str]:
        """Return the levels in the order first seen."""

    def settle(self) -> None:
        """Tell whether it is to be set aside, when all its rows are known."""
        if self.aside is None:
            self.aside = why_aside(self.levels(), self.n_present)

    def require_category(
        self,
        column: str,
        most: int,
        decimal: str | None,
        remedy: str,
        place: Callable[[str], str] = lambda level: "",
    ) -> None:
        """Refuse numbers that were mistyped, and more levels than `most`.

        The `column` is as messages call it; `place` says where a level stands first.
        """
        levels = self.levels()
        has_points = decimal == "," and numbers_from(levels) is not None
        if has_points or written_with_commas(levels):
            raise InputError(
                f"{column} must hold numbers with a decimal point and no thousands "
                f"separator, got {levels[0]!r}; say so if the comma is the decimal "
                f"point, by decimal=',' (--decimal ,), rewrite the numbers, or {remedy}"
            )
        if len(levels) > most:
            among = f"more than {most:,} different values"
        elif name_rows(len(levels), self.n_present):
            among = f"another value in each of the {self.n_present} rows"
        else:
            return
        words = (level for level in levels if numbers_from([level]) is None)
        odd = next(words, levels[0])
        raise InputError(
            f"{column} must hold numbers or a few categories, got the text {odd!r}"
            f"{place(odd)} among {among}; correct it, or {remedy}"
        )


class TextColumn(Texts):
    """A column of text: a code for every row, levels in the order first seen.

    `missing` are the texts that stand for no value; None always does.
    """

    def __init__(self, missing: Collection[str] = MISSING) -> None:
        self.absent_text: str | None = None  # the first that stands for no value
        self._missing = missing
        self._codes: dict[str, int] = {}
        self._absent: set[int] = {-1}
        self._pieces: list[NDArray[np.int32]] = []
        self.n_present = 0

    def add(self, cells: Sequence[str | None]) -> Index:
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
        self.n_present += codes.size - absent.size
        self._pieces.append(codes)
        return absent

    def levels(self) -> list[str]:
        """Return the levels in the order first seen."""
        absent = self._absent
        return [text for text, code in self._codes.items() if code not in absent]

    def row_of(self, level: str) -> int:
        """Return the first row of a level."""
        return int(np.argmax(np.concatenate(self._pieces) == self._codes[level]))

    def coded(self) -> tuple[tuple[str, ...], Index]:
        """Return the levels in order, and each row's among them; -1 for no value."""
        levels = self.levels()
        order = in_order(levels)
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
        levels = self.levels()
        if n_levels == self.n_present <= MOST_NAMES and not are_dates(levels):
            return _are_numbers_mistyped(levels)
        self.aside = why_aside(levels, self.n_present)
        if self.aside is None:
            return True
        self._codes, self._pieces = {}, []
        return False
