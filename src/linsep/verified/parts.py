"""Some rows and columns of the data, read a block at a time.

All sums over rows of this package go through here: a block adds its share to a sum,
and the shares of the blocks are added up at the end. So a sum has as many terms as a
block has rows, and then as there are blocks, which keeps its rounding error small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask
from linsep.rows import Rows, is_sparse, split
from linsep.rows.protocol import CHUNK_ENTRIES
from linsep.rows.rounding import gamma
from linsep.rows.threads import map_in_threads
from linsep.solvers.blas import calm_blas
from linsep.solvers.pieces import Check as Check
from linsep.solvers.pieces import no_check as no_check
from linsep.solvers.scaling import SMALL_BLOCKS
from linsep.verified._moments import (
    choose_rows,
    column_sums,
    extreme_sizes,
    row_products,
)
from linsep.verified.vectors import SparseVector, columns_of

# Dense rows of a block at most: a sum over a block has as many terms.
LONGEST_BLOCK = 4096
# So many rows are few for each column.
FEW = 4
# Powers of two up to here are doubles, and so are their inverses.
FAR = 1000
# Entries of a column smaller than its largest by more are not scaled without loss.
WIDEST = 500
# Dense parts of no more entries are held in memory, as doubles.
MOST_HELD = 1 << 26


class TooWide(Exception):
    """The entries of one column differ in size by more than doubles can scale."""


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
        cls,
        rows: Rows,
        index: Index,
        columns: Index,
        check: Check = no_check,
        taken: Any = None,
    ) -> Part:
        """Take a part; the entries of sparse rows are held in memory.

        Where all sparse rows have been taken before, they need not be again.
        """
        held = None
        if is_sparse(rows.features(slice(0, 0))):
            held = (
                columns_of(rows.take(index), columns)
                if taken is None
                else columns_of(taken, columns, index)
            )
            held.eliminate_zeros()
            held.sort_indices()
        return cls(rows, index, columns, check, held)

    def restricted(
        self, columns: Index | None = None, rows: Index | None = None
    ) -> Part:
        """Return the part with some of its columns and rows, named by their places.

        Columns are divided by the powers of two that they were divided by before.
        """
        columns = np.arange(self.columns.size) if columns is None else columns
        rows = np.arange(self.index.size) if rows is None else rows
        held = self._held
        if held is not None:
            held = columns_of(held, columns, rows)
        part = replace(
            self, index=self.index[rows], columns=self.columns[columns], _held=held
        )
        exponents, whole = self._scaling
        whole = None if whole is None else columns_of(whole, columns, rows)
        part.__dict__["_scaling"] = exponents[columns], whole
        return part

    @cached_property
    def n_filled(self) -> Index:
        """How many rows each column is not zero on, of shape (k,)."""
        if self.is_sparse:
            return np.bincount(self._held.indices, minlength=self.columns.size)
        counts = np.zeros(self.columns.size, dtype=np.intp)
        for _, block in self.raw_blocks():
            counts += np.count_nonzero(block, axis=0)
        return counts

    def filled(self, columns: Index) -> Mask:
        """Tell which rows are not zero on all of some columns, named by places."""
        some = self.restricted(columns)
        if some.is_sparse:
            return np.asarray(np.diff(some._held.indptr) > 0)
        parts = [block.any(axis=1) for _, block in some.raw_blocks()]
        return np.concatenate([np.zeros(0, dtype=bool), *parts])

    def few(self) -> Part | None:
        """Return rows that may well have the rank of all; None if they are not few.

        Some that hold each column; of dense rows as many times the columns.
        """
        n, k = self.shape
        if self.is_sparse:
            is_chosen = np.zeros(n, dtype=np.uint8)
            choose_rows(*self.pattern, FEW, np.zeros(k, dtype=np.intp), is_chosen)
            rows = np.flatnonzero(is_chosen)
        else:
            rows = np.arange(0, n, max(1, n // (FEW * k)))
        return self.restricted(rows=rows) if 2 * rows.size <= n else None

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

    @property
    def exponents(self) -> NDArray[np.int64]:
        """The power of two that each column is divided by.

        Raises
        ------
        TooWide
        """
        return self._scaling[0]

    @cached_property
    def _scaling(self) -> tuple[NDArray[np.int64], Floats | None]:
        """The exponents, and all dense rows, scaled, where they are few enough."""
        n, k = self.shape
        largest, least = np.zeros(k), np.full(k, np.inf)
        held = None if self.is_sparse or n * k > MOST_HELD else np.empty((n, k))
        if self.is_sparse:  # which hold no zeros
            extreme_sizes(self._held.indices, self._held.data, largest, least)
        dense = [] if self.is_sparse else self._chunks()
        for start, stop in dense:
            self.check()
            taken = self._taken(slice(start, stop))
            if held is not None:
                held[start:stop] = taken
            sizes = np.abs(taken, out=taken)
            largest = np.maximum(largest, sizes.max(axis=0, initial=0.0))
            sizes[sizes == 0] = np.inf
            least = np.minimum(least, sizes.min(axis=0, initial=np.inf))
        mantissa, exponent = np.frexp(largest)
        exponent = exponent.astype(np.int64) - (mantissa == 0.5)
        if (np.frexp(least)[1] < exponent - WIDEST).any():
            raise TooWide
        if held is not None:
            for start, stop in self._chunks():
                self.check()
                held[start:stop] = shifted(held[start:stop], -exponent)
        return np.asarray(exponent, dtype=np.int64), held

    @cached_property
    def scaled(self) -> Floats:
        """The entries of sparse rows, as `pattern` places them."""
        return shifted(self._held.data, -self.exponents, at=self._held.indices)

    @property
    def pattern(self) -> tuple[Index, Index]:
        """Where the entries of sparse rows stand: `indptr` and `indices`."""
        return self._held.indptr, self._held.indices

    def entries(self, order: Index) -> tuple[Index, Index, Floats]:
        """Return `pattern` and `scaled` of the rows in another order, all of them."""
        from scipy import sparse

        indptr, indices = self.pattern
        whole: Any = sparse.csr_array((self.scaled, indices, indptr), shape=self.shape)
        some = columns_of(whole, np.arange(self.columns.size), order)
        return some.indptr, some.indices, some.data

    def raw(self, places: Index | slice) -> Any:
        """Return some of the part's rows, their entries as they are."""
        if self._held is not None:
            return self._held[places]
        exponents, scaled = self._scaling
        return (
            self._taken(places)
            if scaled is None
            else shifted(scaled[places], exponents)
        )

    def raw_blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield ranges of the part's rows, and their entries as they are."""
        for start, stop in self._chunks():
            self.check()
            yield slice(start, stop), self.raw(slice(start, stop))

    def separated(self, direction: SparseVector, equal: Mask) -> Index | None:
        """Return the rows it is positive on, exactly; None if it is no direction.

        That is, if it is negative on a row, or not zero on one of those `equal`.
        """
        signs = np.zeros(self.index.size, dtype=np.int8)
        for range_, block in self.raw_blocks():
            signs[range_] = direction.signs_on(block)
            is_wrong = (signs < 0) | (equal & (signs != 0))
            if is_wrong[range_].any():
                return None
        return self.index[signs > 0]

    def mapped(self, function: Callable[[slice, Any], Any]) -> list[Any]:
        """Return ``function(range, block)`` of every block of dense rows, in order."""
        _ = self._scaling  # made once, not by each thread

        def visit(chunk: tuple[int, int]) -> Any:
            return function(slice(*chunk), self._block(slice(*chunk)))

        found = []
        # Blocks have threads of their own.
        with calm_blas(0, n_entries=self.index.size * self.columns.size):
            for result in map_in_threads(visit, self._chunks()):
                self.check()
                found.append(result)
        return found

    def products(self, q: Floats) -> Floats:
        """Return ``a_i . q`` of every row, of shape (n,)."""
        if self.is_sparse:
            return self.products_and_sizes(q)[0]
        return np.concatenate([q[:0], *self.mapped(lambda _, block: block @ q)])

    def products_and_sizes(self, q: Floats) -> tuple[Floats, Floats]:
        """Return ``a_i . q`` and ``sum_j |a_ij q_j|`` of every row, of shape (n,)."""
        if self.is_sparse:
            products, sizes = np.empty(self.shape[0]), np.empty(self.shape[0])
            self.check()
            row_products(*self.pattern, self.scaled, q, products, sizes)
            return products, sizes
        parts = self.mapped(lambda _, block: np.abs(block) @ np.abs(q))
        return self.products(q), np.concatenate([q[:0], *parts])

    def squares(self, weights: Floats) -> Floats:
        """Return ``sum_j weights_j a_ij^2`` of every row, of shape (n,)."""
        if self.is_sparse:
            squares, _ = np.empty(self.shape[0]), np.empty(self.shape[0])
            row_products(*self.pattern, self.scaled**2, weights, squares, _)
            return squares
        parts = self.mapped(lambda _, block: np.square(block) @ weights)
        return np.concatenate(parts)

    def combined(self, u: Floats) -> Floats:
        """Return ``sum_i u_i a_i``, of shape (k,), off by `sum_error` at most."""
        if self.is_sparse:
            return self._summed(self.scaled, u)
        parts = self.mapped(lambda range_, block: block.T @ u[range_])
        return np.asarray(np.sum(parts, axis=0, initial=0.0))

    def combined_sizes(self, u: Floats) -> Floats:
        """Return ``sum_i |u_i a_i|``, of shape (k,)."""
        if self.is_sparse:
            return self._summed(np.abs(self.scaled), np.abs(u))
        parts = self.mapped(lambda range_, block: np.abs(block).T @ u[range_])
        return np.asarray(np.sum(parts, axis=0, initial=0.0))

    def _summed(self, data: Floats, u: Floats) -> Floats:
        """Sum sparse rows with these entries, times u, up by columns."""
        self.check()
        sums, rests = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        column_sums(*self.pattern, data, u, sums, rests)
        return sums + rests

    @cached_property
    def sum_error(self) -> float:
        """What `combined` may be off by, as a share of `combined_sizes`.

        The products are rounded once; then the sum of n terms is off by ``u`` of itself
        and ``g(n)^2`` of the magnitudes, where what is rounded away is kept, and else
        by ``g`` of the additions.
        """
        if self.is_sparse:
            return gamma(4) + 2.0 * gamma(self.shape[0]) ** 2
        return gamma(self.n_terms + 4)

    def _chunks(self) -> list[tuple[int, int]]:
        # Sparse rows are summed in one piece: blocks only bound what is made of them.
        if self.is_sparse:
            return list(split(self.index.size, SMALL_BLOCKS * self.rows.entries_a_row))
        least = CHUNK_ENTRIES // LONGEST_BLOCK
        return list(split(self.index.size, max(least, self.rows.entries_a_row)))

    def _taken(self, places: Index | slice) -> Floats:
        """Return dense rows, as the data hold them."""
        taken = self.rows.take(self.index[places])[:, self.columns]
        return np.asarray(taken)

    def _block(self, rows: slice) -> Floats:
        """Return dense rows, scaled."""
        exponents, scaled = self._scaling
        return (
            shifted(self._taken(rows), -exponents) if scaled is None else scaled[rows]
        )


def shifted(
    block: Floats,
    exponents: NDArray[np.int64],
    out: Floats | None = None,
    at: Index | slice = slice(None),
) -> Floats:
    """Multiply the columns by powers of two, into `out` if it is given.

    The columns are those of the exponents, or `at` these places.
    """
    if np.abs(exponents).max(initial=0) < FAR:
        return np.multiply(block, np.ldexp(1.0, exponents)[at], out=out)
    return np.ldexp(block, exponents[at], out=out)
