"""Rows that come a block at a time, from wherever they are: files, streams, a cluster.

A backend supplies `blocks`, all rows in order, as often as asked; or `fold` too, where
blocks are better looked at where they lie. All that is kept between two readings are
the few rows that were named: the worst of each scan, and those that were taken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np

from linsep.arrays import Floats, Index, Signs, no_index
from linsep.rows.matrices import rows_from, stacked
from linsep.rows.matrix_rows import Margins, MatrixRows, are_all
from linsep.rows.protocol import CHUNK_ENTRIES, Scan

Found = TypeVar("Found")
# Numbers of first rows, with the blocks that they begin; can be closed.
Blocks: TypeAlias = Generator[tuple[int, MatrixRows], None, None]

# Entries of named rows that are kept at most, 64 MB of doubles. A scan that names more
# rows brings the worst of them along.
MOST_KEPT = 1 << 23
# Pieces of a loop over all rows are larger; see `linsep.rows.protocol.split`.
LARGE_PIECE = CHUNK_ENTRIES // 2

_NOTHING = nullcontext()


def rows_changed(row: int) -> Exception:
    """Return the error for rows that are not those of an earlier reading."""
    return ValueError(
        "rows must be the same, in the same order, each time they are read, got others "
        f"by row {row}"
    )


def at_rest(rows: Any) -> AbstractContextManager[None]:
    """Leave no reading of rows open, if they are read: their source may allow one."""
    return _at_rest(rows) if isinstance(rows, BlockRows) else _NOTHING


@contextmanager
def _at_rest(rows: BlockRows) -> Iterator[None]:
    try:
        yield
    finally:
        rows.let_go()


class BlockRows(ABC):
    """Signed rows that are read a block at a time, from the first to the last.

    Parameters
    ----------
    signs : ndarray of shape (n_samples,), int8
        +1 or -1 for each row.
    n_features : int
    fit_intercept : bool
        Whether a constant column is appended.
    dtype : dtype
        float64 or float32: what the blocks hold.
    entries_a_row : int or None, default=None
        Entries that a row holds on average; None is one for each column.
    changed : callable
        Makes the error for rows that are not those of an earlier reading, given the
        number of a row before or at which they differ.

    Attributes
    ----------
    told : callable or None
        Called with the number of rows read, after every block; may raise, which ends
        the reading.
    n_readings : int
        How often the rows were read from the first on.
    """

    def __init__(
        self,
        signs: Signs,
        n_features: int,
        fit_intercept: bool,
        dtype: np.dtype[Any],
        entries_a_row: int | None = None,
        changed: Callable[[int], Exception] = rows_changed,
    ) -> None:
        self.signs = signs
        self.fit_intercept = fit_intercept
        self.dtype = dtype
        self.shape = signs.size, n_features + int(fit_intercept)
        self.n_terms = self.shape[1]
        self.entries_a_row = entries_a_row or max(1, self.shape[1])
        self.told: Callable[[int], None] | None = None
        self.n_readings = 0
        self._changed = changed
        self._fingerprints: dict[int, int] = {}  # of all rows up to a row
        self._kept = _Kept.none()
        self._reading: _Reading | None = None

    @abstractmethod
    def blocks(self) -> Blocks:
        """Yield the number of a block's first row, and the block; all rows, in order.

        There is at least one block, if one without rows.
        """

    def fold(
        self,
        visit: Callable[[int, MatrixRows], Found],
        merged: Callable[[Found, Found], Found],
    ) -> Found:
        """Visit every block, and merge what was found.

        Parameters
        ----------
        visit : callable
            Given the number of a block's first row, and the block.
        merged : callable
            Merges what was found in earlier blocks with what was found in later ones.
        """
        self.n_readings += 1
        self.let_go()
        found: Found | None = None
        with closing(self.blocks()) as blocks:
            for start, block in blocks:
                here = visit(start, block)
                found = here if found is None else merged(found, here)
                self._tell(start + block.shape[0])
        assert found is not None
        return found

    @contextmanager
    def watched(self, told: Callable[[int], None]) -> Iterator[None]:
        """Tell someone of every block meanwhile; see `told`."""
        self.told = told
        try:
            yield
        finally:
            self.told = None

    def let_go(self) -> None:
        """Close a reading that stopped on the way."""
        if self._reading is not None:
            self._reading.close()
        self._reading = None

    def gather(self, index: Index) -> Any:
        """Return the rows named, at least one, which increase, neither signed nor kept.

        Rows that follow those of the last call are read where that one stopped, so that
        a loop over all rows is one reading.
        """
        reading = self._reading
        if reading is None or index[0] < reading.start:
            reading = self._begun()
        found = reading.gathered(index, self._tell)
        self._end(int(index[-1]) + 1)
        return found

    def scan(self, w: Floats, k: int, *, by_margin: bool = False) -> Scan:
        """Sweep all rows once; see `linsep.rows.protocol.Scan`."""
        most = max(1, MOST_KEPT // self.entries_a_row)
        found = self.fold(Scanning(w, k, by_margin, most), _Worst.merged)
        index = found.scan.index[: found.features.shape[0]]
        if self._kept.index.size + index.size > most:
            self._kept = _Kept.none()
        self._kept = self._kept.with_rows(index, found.features)
        return found.scan

    def margins(self, w: Floats, index: Index | None = None) -> Margins:
        """Return the computed ``a_i . w`` and ``sum_j |a_ij w_j|`` of all or some rows.

        What they may be off by is for `linsep.rows.rounding` to say.
        """
        if index is not None and index.size * self.entries_a_row <= MOST_KEPT:
            return self._signed(index).margins(w)
        parts = self.fold(Multiplying(w), _concatenated)
        products, sizes = np.concatenate(parts[0]), np.concatenate(parts[1])
        if index is None or are_all(index, self.shape[0]):
            return products, sizes
        return products[index], sizes[index]

    def take(self, index: Index) -> Any:
        """Return the exact signed rows named by ``index``, in float64."""
        return self._signed(index).take(np.arange(index.size))

    def features(self, index: Index | slice) -> Any:
        """Return rows as the source gives them, neither signed nor extended.

        Ranges that follow each other are read in one go.
        """
        if not isinstance(index, slice):
            return self._named(index)
        start, stop, step = index.indices(self.shape[0])
        return self._range(start, stop)[::step]

    def _signed(self, index: Index) -> MatrixRows:
        if index.size > 1 and (np.diff(index) == 1).all():
            found = self._kept.find(index)
            if found is None:
                found = self._range(int(index[0]), int(index[-1]) + 1)
        else:
            found = self._named(index)
        return rows_from(found, self.signs[index], self.fit_intercept)

    def _named(self, index: Index) -> Any:
        """Return some rows; those not known are looked for in one reading."""
        if index.size == 0:
            return self._range(0, 0)
        found = self._kept.find(index)
        if found is not None:
            return found
        reading, size = self._reading, index.size * self.shape[1]
        if reading is not None and index[0] >= reading.start and size > LARGE_PIECE:
            return self.gather(index)  # of a loop over rows, which asks for none again
        missing = np.setdiff1d(index, self._kept.index)
        if missing.size:
            more = self.gather(missing)
            self._kept = self._kept.with_rows(missing, more)
        found = self._kept.find(index)
        if self._kept.index.size > MOST_KEPT // self.entries_a_row:
            self._kept = _Kept.none().with_rows(index, found)
        return found

    def _range(self, start: int, stop: int) -> Any:
        """Return the rows from one number to another, going on where one stopped."""
        reading = self._reading
        if reading is None or start < reading.start:
            reading = self._begun()
        found = reading.until(start, stop)
        self._tell(stop)
        self._end(stop)
        return found

    def _end(self, stop: int) -> None:
        """Close a reading that came to the last row; nothing follows it."""
        if stop >= self.shape[0]:
            self.let_go()

    def _begun(self) -> _Reading:
        """Begin a reading at the first row."""
        self.let_go()
        self.n_readings += 1
        self._reading = _Reading(self.blocks())
        return self._reading

    def _compare(self, stop: int, fingerprint: int) -> None:
        """Raise if the rows up to one are not those of an earlier reading."""
        if self._fingerprints.setdefault(stop, fingerprint) != fingerprint:
            raise self._changed(stop)

    def _tell(self, n_read: int) -> None:
        if self.told is not None:
            self.told(n_read)


@dataclass
class Scanning:
    """What a scan does with a block: it ranks its rows, and brings the worst along.

    Rows beyond the `limit`, the k-th score of those seen before, are of no account.
    """

    w: Floats
    k: int
    by_margin: bool
    most: int
    limit: float = np.inf

    def __call__(self, start: int, block: MatrixRows) -> _Worst:
        """Scan a block whose first row has this number."""
        scan = block.scan(self.w, self.k, by_margin=self.by_margin)
        held = slice(int(np.searchsorted(scan.scores, self.limit, side="right")))
        features = block.features(scan.index[held][: self.most])
        scan = replace(
            scan,
            index=scan.index[held] + start,
            values=scan.values[held],
            scores=scan.scores[held],
        )
        return _Worst(scan, features, self)


@dataclass(frozen=True)
class _Worst:
    """A scan of some rows, with the values of the worst of them."""

    scan: Scan
    features: Any
    asked: Scanning

    def merged(self, other: _Worst) -> _Worst:
        """Merge with the scan of later rows."""
        scan, order = _merged(self.scan, other.scan, self.asked.k)
        if 0 < self.asked.k == order.size:
            self.asked.limit = float(scan.scores[-1])
        n, most = self.scan.index.size, self.asked.most
        held = stacked([self.features, other.features])
        # Where a row stands among those held; all of the first `most` are held.
        places = np.where(order < n, order, order - n + self.features.shape[0])
        return _Worst(scan, held[places[:most]], self.asked)


def _merged(a: Scan, b: Scan, k: int) -> tuple[Scan, Index]:
    """Return the scan of the rows of both, and where its rows stood.

    The places are those in both scans' rows, one after the other.
    """
    index = np.concatenate([a.index, b.index])
    scores = np.concatenate([a.scores, b.scores])
    order = np.lexsort((index, scores))[:k]
    scan = Scan(
        min(a.margin_negative, b.margin_negative),
        min(a.margin_positive, b.margin_positive),
        min(a.margin_settled, b.margin_settled),
        a.n_violations + b.n_violations,
        a.n_unsettled + b.n_unsettled,
        index[order],
        np.concatenate([a.values, b.values])[order],
        max(a.error, b.error),
        scores[order],
    )
    return scan, order


@dataclass(frozen=True)
class Multiplying:
    """The margins of a block's rows."""

    w: Floats

    def __call__(
        self, start: int, block: MatrixRows
    ) -> tuple[list[Floats], list[Floats]]:
        """Multiply a block."""
        products, sizes = block.margins(self.w)
        return [products], [sizes]


def _concatenated(a: tuple[list[Any], ...], b: tuple[list[Any], ...]) -> Any:
    return a[0] + b[0], a[1] + b[1]


@dataclass(frozen=True)
class _Kept:
    """Rows that were named once: their numbers, increasing, and their values."""

    index: Index
    features: Any

    @classmethod
    def none(cls) -> _Kept:
        return cls(no_index(), None)

    def find(self, index: Index) -> Any:
        """Return the rows named, or None if one is not kept."""
        if self.index.size == 0:
            return None
        at = np.minimum(np.searchsorted(self.index, index), self.index.size - 1)
        return self.features[at] if (self.index[at] == index).all() else None

    def with_rows(self, index: Index, features: Any) -> _Kept:
        """Keep more rows."""
        if self.index.size:
            features = stacked([self.features, features])
            index = np.concatenate([self.index, index])
        index, first = np.unique(index, return_index=True)
        return _Kept(index, features[first])


class _Reading:
    """A reading of all rows that stops and goes on, at the block it is in."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self.start, self._block = next(blocks)

    def close(self) -> None:
        """Read no further."""
        self._blocks.close()

    def until(self, start: int, stop: int) -> Any:
        """Return the rows from one number to another; none before were let go of."""
        parts: list[Any] = []
        while True:
            low, high = max(start - self.start, 0), stop - self.start
            size = self._block.shape[0]
            if low < size or not parts:
                parts.append(self._block.features(slice(low, min(high, size))))
            if high <= size:
                break
            following = next(self._blocks, None)
            if following is None:
                break
            self.start, self._block = following
        return stacked(parts) if len(parts) > 1 else parts[0]

    def gathered(self, index: Index, tell: Callable[[int], None]) -> Any:
        """Return rows that increase; none before were let go of."""
        parts: list[Any] = []
        while True:
            stop = self.start + self._block.shape[0]
            low, high = np.searchsorted(index, [self.start, stop])
            if low < high or not parts:
                parts.append(self._block.features(index[low:high] - self.start))
            if index[-1] < stop:
                break
            tell(stop)
            self.start, self._block = next(self._blocks)
        return stacked(parts)
