"""Some rows and columns of the data, read a block at a time.

All sums over rows of this package go through here: a block adds its share to a sum,
and the shares of the blocks are added up at the end. So a sum has as many terms as a
block has rows, and then as there are blocks, which keeps its rounding error small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import Rows, is_sparse, split
from linsep.rows.protocol import CHUNK_ENTRIES
from linsep.rows.threads import map_in_threads

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
Check = Callable[[], None]

# Rows of a block at most: a sum over a block has as many terms.
LONGEST_BLOCK = 4096
# Entries of a column smaller than its largest by more are not scaled without loss.
WIDEST = 500


class TooWide(Exception):
    """The entries of one column differ in size by more than doubles can scale."""


def no_check() -> None:
    """Never end the work."""


@dataclass(frozen=True)
class Part:
    """Rows and columns of signed rows, each column divided by a power of two.

    A column's largest entry is then in (1/2, 1], and no entry has lost a bit.

    Parameters
    ----------
    rows : Rows of shape (m, d)
    index : ndarray of shape (n,), int
        The rows of it, increasing.
    columns : ndarray of shape (k,), int
        The columns of it; none of them is zero on all these rows.
    check : callable
        Called between blocks; ends the work by an exception.
    """

    rows: Rows
    index: Index
    columns: Index
    check: Check = no_check
    _held: Any = field(default=None, repr=False)

    @classmethod
    def of(
        cls, rows: Rows, index: Index, columns: Index, check: Check = no_check
    ) -> Part:
        """Take a part; the entries of sparse rows are held in memory."""
        held = None
        if is_sparse(rows.features(slice(0, 0))):
            held = rows.take(index).tocsc()[:, columns].tocsr()
        return cls(rows, index, columns, check, held)

    def restricted(self, chosen: Index) -> Part:
        """Return the part with some of its columns, named by their places."""
        held = None
        if self._held is not None:
            held = self._held.tocsc()[:, chosen].tocsr()
        return Part(self.rows, self.index, self.columns[chosen], self.check, held)

    @property
    def is_sparse(self) -> bool:
        """Whether blocks are CSR matrices."""
        return self._held is not None

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers n of rows and k of columns."""
        return self.index.size, self.columns.size

    @cached_property
    def longest(self) -> int:
        """Entries that are not zero at most in a row."""
        if self._held is None:
            return self.columns.size
        return int(np.diff(self._held.indptr).max(initial=0))

    @cached_property
    def n_terms(self) -> int:
        """Additions at most on the way to a sum over all rows."""
        sizes = [stop - start for start, stop in self._chunks()]
        return max(sizes, default=0) + len(sizes)

    @cached_property
    def exponents(self) -> NDArray[np.int64]:
        """The power of two that each column is divided by.

        Raises
        ------
        TooWide
        """
        largest, least = np.zeros(self.columns.size), np.full(self.columns.size, np.inf)
        for start, stop in self._chunks():
            self.check()
            sizes = abs(self._raw(start, stop))
            if self.is_sparse:
                np.maximum.at(largest, sizes.indices, sizes.data)
                filled = sizes.data > 0
                np.minimum.at(least, sizes.indices[filled], sizes.data[filled])
            else:
                largest = np.maximum(largest, sizes.max(axis=0, initial=0.0))
                sizes[sizes == 0] = np.inf
                least = np.minimum(least, sizes.min(axis=0, initial=np.inf))
        mantissa, exponent = np.frexp(largest)
        exponent = exponent.astype(np.int64) - (mantissa == 0.5)
        if (np.frexp(least)[1] < exponent - WIDEST).any():
            raise TooWide
        return np.asarray(exponent, dtype=np.int64)

    @cached_property
    def scaled(self) -> Any:
        """All entries in CSR form, of sparse rows."""
        matrix = self._held.copy()
        matrix.data = np.ldexp(matrix.data, -self.exponents[matrix.indices])
        return matrix

    def raw(self, places: Index) -> Any:
        """Return some of the part's rows, their entries as they are."""
        if self._held is not None:
            return self._held[places]
        return self.rows.take(self.index[places])[:, self.columns]

    def raw_blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield ranges of the part's rows, and their entries as they are."""
        for start, stop in self._chunks():
            self.check()
            yield slice(start, stop), self._raw(start, stop)

    def mapped(self, function: Callable[[slice, Any], Any]) -> list[Any]:
        """Return ``function(range, block)`` of every block, worked on in threads."""
        exponents = self.scaled if self.is_sparse else self.exponents  # made once
        del exponents

        def visit(chunk: tuple[int, int]) -> Any:
            return function(slice(*chunk), self._block(*chunk))

        found = []
        for result in map_in_threads(visit, self._chunks()):
            self.check()
            found.append(result)
        return found

    def products(self, q: Floats) -> Floats:
        """Return ``a_i . q`` of every row, of shape (n,)."""
        parts = self.mapped(lambda _, block: block @ q)
        return np.concatenate(parts) if parts else np.empty(0)

    def sizes(self, q: Floats) -> Floats:
        """Return ``sum_j |a_ij q_j|`` of every row, of shape (n,)."""
        parts = self.mapped(lambda _, block: abs(block) @ abs(q))
        return np.concatenate(parts) if parts else np.empty(0)

    def combined(self, u: Floats, *, sizes: bool = False) -> Floats:
        """Return ``sum_i u_i a_i``, of shape (k,); of ``|a_i|`` where `sizes`."""

        def share(range_: slice, block: Any) -> Floats:
            return np.asarray((abs(block) if sizes else block).T @ u[range_])

        return np.asarray(np.sum(self.mapped(share), axis=0, initial=0.0))

    def _chunks(self) -> list[tuple[int, int]]:
        least = CHUNK_ENTRIES // LONGEST_BLOCK
        return list(split(self.index.size, max(least, self.rows.entries_a_row)))

    def _raw(self, start: int, stop: int) -> Any:
        if self._held is not None:
            return self._held[start:stop]
        return self.raw(np.arange(start, stop))

    def _block(self, start: int, stop: int) -> Any:
        if self.is_sparse:
            return self.scaled[start:stop]
        return np.ldexp(self._raw(start, stop), -self.exponents)
