"""Columns of numbers and of text, piece by piece, to one matrix and its labels.

A column of text becomes columns of 0 and 1, one for each of its levels.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from linsep.input.errors import InputError
from linsep.input.files.table import Selection, Table, whole_labels

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: How files spell "no value". A column with one of these is refused, text or not.
MISSING = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "?", "."})

#: The most 0/1 columns one column of text may become, unless each of its values stands
#: in so many rows on average. Real categories (states, firms, diagnoses) keep to one of
#: these; identifiers, dates and free text do not.
MOST_LEVELS = 256
ROWS_A_LEVEL = 10

# A text that is another in every row names the rows: any labels would be separated by
# its 0/1 columns. Below this many rows that may be chance.
FEW_ROWS = 10

# Beyond this size, or with a text of very many levels, and if it saves half, the matrix
# is kept sparse.
_LARGE_BYTES = 256 * 2**20

Floats: TypeAlias = NDArray[np.floating[Any]]


def most_levels(n_rows: int) -> int:
    """Return how many levels a column of text may have."""
    return max(MOST_LEVELS, n_rows // ROWS_A_LEVEL)


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


@dataclass
class _Levels:
    """A column of text: a code for every row, levels in the order first seen."""

    index: dict[str, int] = field(default_factory=dict)
    pieces: list[NDArray[np.int32]] = field(default_factory=list)

    def add(self, cells: Sequence[str]) -> list[str]:
        """Append the codes of some rows, and return the levels new in them."""
        index, known = self.index, len(self.index)
        codes = [index.setdefault(cell.strip(), len(index)) for cell in cells]
        self.pieces.append(np.array(codes, dtype=np.int32))
        return list(index)[known:] if len(index) > known else []

    def sorted(self) -> tuple[tuple[str, ...], NDArray[np.intp]]:
        """Return the sorted levels, and the position of each row's level among them."""
        levels = tuple(sorted(self.index))
        rank = np.empty(len(levels), dtype=np.intp)
        rank[[self.index[level] for level in levels]] = np.arange(len(levels))
        return levels, rank[np.concatenate(self.pieces)]


class TableBuilder:
    """Gathers pieces of a file, some rows at a time, and makes the table.

    Memory is that of the table and of one piece: numbers are kept as they will be
    used, text as one small integer a cell. `text` holds the positions of the columns of
    text; `place` says where in the file a row (counted from 0) is, for messages.
    """

    def __init__(
        self,
        source: Path,
        selection: Selection,
        text: frozenset[int],
        n_rows: int,
        place: Callable[[int], str],
        dtype: DTypeLike = np.float64,
    ) -> None:
        self._source = source
        self._selection = selection
        self._place = place
        self._dtype = np.dtype(dtype)
        self._numeric = [j for j in selection.features if j not in text]
        self._levels = {j: _Levels() for j in selection.positions if j in text}
        # Numbers alone are put where they will be used. Beside 0/1 columns they wait in
        # blocks, each let go of as it is copied.
        self._whole: Floats | None = None
        if len(self._numeric) == len(selection.features):
            self._whole = np.empty((n_rows, len(self._numeric)), dtype=self._dtype)
        self._blocks: list[Floats] = []
        self._labels = np.empty(n_rows)
        self._n_rows = n_rows
        self._most_levels = most_levels(n_rows)
        self._n_added = 0

    def add(
        self, numbers: NDArray[np.float64], texts: Mapping[int, Sequence[str]]
    ) -> None:
        """Append some rows; refuse a missing value, or a text of too many levels.

        The columns of numbers come in the order of the selection, shape (m, n_numbers),
        missing ones NaN; those of text as their cells, for each position.
        """
        rows = slice(self._n_added, self._n_added + len(numbers))
        if rows.stop > self._n_rows:
            raise InputError(self._changed())
        if not np.isfinite(numbers).all():
            row, k = np.argwhere(~np.isfinite(numbers))[0]
            position = [j for j in self._selection.positions if j not in self._levels]
            self._refuse_value(int(row), position[k], numbers[row, k])
        features = numbers[:, : len(self._numeric)]
        if self._whole is not None:
            self._whole[rows] = features
        else:
            self._blocks.append(features.astype(self._dtype))
        target = self._selection.target
        if target is not None and target not in self._levels:
            self._labels[rows] = numbers[:, -1]
        for j, levels in self._levels.items():
            new = levels.add(texts[j])
            for missing in MISSING.intersection(new):
                row = [cell.strip() for cell in texts[j]].index(missing)
                raise InputError(self._missing(row, j, missing))
            if len(levels.index) > self._most_levels and j != target:
                raise InputError(self._too_many_levels(j))
        self._n_added += len(numbers)

    def finish(self, notes: Sequence[str] = ()) -> Table:
        """Return the table of all rows added."""
        if self._n_rows == 0:
            raise InputError(
                f"{self._source} must have at least one row of values, got none"
            )
        if self._n_added < self._n_rows and self._selection.positions:
            raise InputError(self._changed())
        encoded = [self._encode(j) for j in self._selection.features]
        names = tuple(name for column in encoded for name in column.names)
        y = self._finish_labels()
        X = self._matrix(encoded)
        return Table(
            X=X,
            y=y,
            feature_names=names,
            target=self._selection.target_name,
            dummies={c.source: c.levels for c in encoded if c.levels},
            notes=(
                *notes,
                *self._selection.notes,
                *(note for column in encoded for note in column.notes),
                *_doubtful_numbers(X, names),
            ),
        )

    def _encode(self, j: int) -> _Encoded:
        """Say which columns of the matrix column j of the file becomes."""
        name = self._selection.names[j]
        if j not in self._levels:
            return _Encoded(name, (name,))
        levels, codes = self._levels[j].sorted()
        if all(level.casefold() in ("true", "false") for level in levels):
            truths = np.array([level.casefold() == "true" for level in levels])
            note = f"column {name!r} holds true and false, read as 1 and 0"
            return _Encoded(name, (name,), truths[codes].astype(np.intp), notes=(note,))
        if _written_with_commas(levels):
            raise InputError(self._commas(j, levels[0]))
        if len(levels) == self._n_rows > FEW_ROWS:
            raise InputError(self._too_many_levels(j))
        return _Encoded(
            name, tuple(f"{name}[{level}]" for level in levels), codes, levels
        )

    def _matrix(self, encoded: Sequence[_Encoded]) -> Floats | csr_array:
        """Fill the matrix, letting go of each piece as it is copied."""
        if self._whole is not None:
            return self._whole
        starts = np.cumsum([0, *(len(column.names) for column in encoded)])
        n_columns = int(starts[-1])
        numeric = np.array(
            [s for s, c in zip(starts, encoded, strict=False) if c.codes is None],
            dtype=np.intp,
        )
        coded = [
            (int(s), c.codes, bool(c.levels))
            for s, c in zip(starts, encoded, strict=False)
            if c.codes is not None
        ]
        dense_bytes = self._n_rows * n_columns * self._dtype.itemsize
        # A sparse entry takes its value and an index of four bytes.
        sparse_bytes = self._n_rows * len(encoded) * (self._dtype.itemsize + 4)
        has_many = any(len(column.levels) > MOST_LEVELS for column in encoded)
        if dense_bytes > max(0 if has_many else _LARGE_BYTES, 2 * sparse_bytes):
            return self._sparse_matrix(n_columns, numeric, coded)
        X = np.zeros((self._n_rows, n_columns), dtype=self._dtype)
        first = 0
        for block in _emptying(self._blocks):
            X[first : first + len(block), numeric] = block
            first += len(block)
        for start, codes, is_level in coded:
            if is_level:
                X[np.arange(self._n_rows), start + codes] = 1
            else:
                X[:, start] = codes
        return X

    def _sparse_matrix(
        self,
        n_columns: int,
        numeric: NDArray[np.intp],
        coded: Sequence[tuple[int, NDArray[np.intp], bool]],
    ) -> csr_array:
        """Do the same in CSR: the numbers, plus the 0/1 columns."""
        from scipy.sparse import csr_array, vstack

        parts = []
        for block in _emptying(self._blocks):
            part = csr_array(block)
            shape = (len(block), n_columns)
            parts.append(
                csr_array((part.data, numeric[part.indices], part.indptr), shape)
            )
        columns = [
            start + codes if level else np.full_like(codes, start)
            for start, codes, level in coded
        ]
        values = [np.ones_like(codes) if level else codes for _, codes, level in coded]
        indicators = csr_array(
            (
                np.stack(values, axis=1).ravel().astype(self._dtype),
                np.stack(columns, axis=1).ravel(),
                np.arange(self._n_rows + 1) * len(coded),
            ),
            shape=(self._n_rows, n_columns),
        )
        X = csr_array(vstack(parts, format="csr") + indicators)
        X.eliminate_zeros()
        return X

    def _finish_labels(self) -> NDArray[Any] | None:
        """Return the labels: texts, integers if all are whole, or floats."""
        target = self._selection.target
        if target is None:
            return None
        if target in self._levels:
            levels, codes = self._levels[target].sorted()
            return np.array(levels)[codes]
        return whole_labels(self._labels)

    def _refuse_value(self, row: int, j: int, value: float) -> NoReturn:
        """Raise for a number that is missing or infinite."""
        if np.isnan(value):
            raise InputError(self._missing(row, j))
        raise InputError(
            f"{self._cell(row, j)} must be a finite number, got {value} (the largest "
            "double is about 1.8e308); correct it, or leave the column out with "
            f"{self._drop(j)}"
        )

    def _changed(self) -> str:
        """Word the error for a file that is being written to."""
        return (
            f"{self._source} must stay as it is while it is read, got another number "
            "of rows the second time; wait until it is written"
        )

    def _cell(self, row: int, j: int) -> str:
        """Name a cell; `row` counts from the start of the piece being added."""
        name = self._selection.names[j]
        return f"{self._source}: column {name!r}, {self._place(self._n_added + row)},"

    def _drop(self, j: int) -> str:
        """Say how to leave a column out, in Python and on the command line."""
        name = self._selection.names[j]
        return f"drop=[{name!r}] (--drop {shlex.quote(name)})"

    def _missing(self, row: int, j: int, text: str | None = None) -> str:
        """Word the error for a missing value."""
        advice = "remove the row"
        if j != self._selection.target:
            advice = (
                f"fill it in, {advice}, or leave the column out with {self._drop(j)}"
            )
        got = "none" if text is None else f"{text!r}, which stands for none"
        return f"{self._cell(row, j)} must hold a value, got {got}; {advice}"

    def _too_many_levels(self, j: int) -> str:
        """Word the error for a column of text that is no category."""
        levels = self._levels[j].index
        if _written_with_commas(tuple(levels)):
            return self._commas(j, next(iter(levels)))
        name = self._selection.names[j]
        words = (level for level in levels if numbers_from([level]) is None)
        odd = next(words, next(iter(levels)))
        codes = np.concatenate(self._levels[j].pieces)
        row = int(np.argmax(codes == levels[odd]))
        among = f"more than {self._most_levels:,} different values"
        if len(levels) <= self._most_levels:
            among = f"another value in each of the {len(levels)} rows"
        return (
            f"{self._source}: column {name!r} must hold numbers or a few categories, "
            f"got the text {odd!r} ({self._place(row)}) among {among}; correct it, or "
            f"leave the column out with {self._drop(j)}"
        )

    def _commas(self, j: int, example: str) -> str:
        """Word the error for numbers with commas in them."""
        name = self._selection.names[j]
        return (
            f"{self._source}: column {name!r} must hold numbers with a decimal point "
            f"and no thousands separator, got {example!r}; rewrite the numbers, or "
            f"leave the column out with {self._drop(j)}"
        )


@dataclass(frozen=True)
class _Encoded:
    """A column of the file and the columns of the matrix it becomes.

    Numbers have no codes. A text has a code for every row: the level's position, or,
    without levels, the value itself (true and false).
    """

    source: str
    names: tuple[str, ...]
    codes: NDArray[np.intp] | None = None
    levels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _emptying(pieces: list[Floats]) -> Iterator[Floats]:
    """Yield the pieces from the first to the last, forgetting each."""
    pieces.reverse()
    while pieces:
        yield pieces.pop()


def _written_with_commas(levels: Sequence[str]) -> bool:
    """Tell whether all levels are numbers but for their commas: 1,5 or 12,000."""
    commas = any("," in level for level in levels)
    return commas and numbers_from([x.replace(",", "") for x in levels]) is not None


def _doubtful_numbers(X: Floats | csr_array, names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each column that looks like an identifier."""
    if not isinstance(X, np.ndarray) or len(X) < FEW_ROWS:
        return
    counts = X[1] == X[0] + 1
    counts &= X[-1] == X[0] + len(X) - 1
    for j in map(int, np.flatnonzero(counts)):
        if np.array_equal(X[:, j], X[0, j] + np.arange(len(X))):
            yield (
                f"column {names[j]!r} counts the rows ({X[0, j]:g}, {X[1, j]:g}, ...): "
                "if it is no measurement, leave it out"
            )
    for j in map(int, np.flatnonzero((X[0] > 2.0**53) | (X[-1] > 2.0**53))):
        yield (
            f"column {names[j]!r} holds numbers beyond 2^53, where doubles skip "
            "integers: each was read as the nearest double"
        )
