r"""The moment matrix of a part, factored, and a bound on its smallest eigenvalue.

With weights ``v > 0`` the moment matrix is ``M = sum_i v_i a_i a_i'``. It is scaled by
powers of two, ``M^ = T^-1 M T^-1``, so that its diagonal is in [1/2, 2], which rounds
nothing. Columns of which no row holds two (the levels of a factor) have a diagonal
block: they are eliminated first, at no cost, and what is factored is the Schur
complement on the others,

    M^ = [D B; B' C],    S = C - B' D^-1 B.

If the Cholesky factorisation of ``M^ - c I`` runs to its end in floating point, then
``M^ - c I + E`` is positive semidefinite for an ``E`` that is bounded beforehand, and
so the smallest eigenvalue of ``M^`` is at least ``mu = c - |E|`` (S. M. Rump,
"Verification of positive definiteness", BIT 46, 2006). Four parts make ``E``, with
``g(n) = n u / (1 - n u)``:

- the sums in M: entry jk is off by ``g(m + 4) sum_i v_i |a_ij a_ik|``, m the additions
  of a sum. The matrix of these sums of magnitudes has norm at most ``z max_j M^_jj``, z
  the entries at most in a row: ``(sum_j |a_ij y_j|)^2 <= z sum_j a_ij^2 y_j^2``;
- the rows of B divided by the root of D: ``g(4)`` of each entry, the same norm;
- the Schur complement and its factorisation: entry jk is off by ``g(h + k + 5)`` of
  ``l_j . l_k`` in magnitudes, ``l_j`` the rows of the factor, h the entries at most in
  a column of B (N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2002,
  theorem 10.3); the norm is at most the sum of their squared lengths, the trace;
- the diagonal, from which c is taken: ``g(4)`` of what is 2 + c at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index
from linsep.rows.rounding import gamma
from linsep.rows.threads import count_threads, map_in_threads
from linsep.solvers._factors import factor_panel, solve_factored
from linsep.solvers.blas import calm_blas
from linsep.verified._moments import (
    nearest_before,
    places_held,
    sum_blocks,
    take_products,
)
from linsep.verified.parts import Check, Part, shifted
from linsep.verified.vectors import columns_of

# The diagonal of the scaled matrix is at most this.
LARGEST = 2.0 + 1e-9
# More columns than this are not factored as one dense matrix: 800 MB of doubles.
MOST_DENSE = 10_000
# What is taken away of the eigenvalues before the factorisation; the larger, the more
# is proved, if the factorisation ends.
SHIFTS = (1e-6, 1e-9, 1e-12)
# Columns factored in one piece; between two of them there is time to stop.
PANEL = 512
# With fewer entries of B threads are not worth their start.
FEW_ENTRIES = 20_000
# A factorisation of fewer columns is over before more threads have found each other.
NARROW = 3_000


class TooLarge(Exception):
    """More columns are tied to each other than can be factored."""


class NotPositive(Exception):
    """The matrix is not positive definite, as far as doubles show."""


@dataclass(frozen=True)
class Layout:
    """Which columns of a part are eliminated first, and which are left.

    Attributes
    ----------
    first : ndarray of int
        Columns of which no row holds two.
    rest : ndarray of int
    order : ndarray of shape (n,), int
        The rows, by the column of `first` that they hold; those with none come first.
    entries : tuple of (indptr, indices, data), or None
        The scaled entries of sparse rows in this order, so that a sum over them reads
        the memory from its beginning to its end.
    places : pair of ndarray of shape (k,), int
        The place of each column in `first`, and in `rest`; -1 where it is not there.
    """

    first: Index
    rest: Index
    order: Index
    places: tuple[Index, Index]
    entries: tuple[Index, Index, Floats] | None = None

    @classmethod
    def of(cls, part: Part) -> Layout:
        """Choose the longest run of columns of which no row holds two.

        The levels of a factor stand next to each other.
        """
        k = part.shape[1]
        if not part.is_sparse:
            return cls.dense(k)
        every = np.arange(k)
        indptr, indices = part.pattern
        nearest = np.full(k, -1)
        nearest_before(indptr, indices, nearest)
        best, start = (0, 0), 0
        for column, neighbour in enumerate(nearest.tolist()):
            if neighbour >= start:
                best = max(best, (column - start, start))
                start = column
        length, start = max(best, (k - start, start))
        chosen = np.arange(start, start + length)
        rest = np.delete(every, chosen)
        first_place, rest_place = np.full(k, -1), np.full(k, -1)
        first_place[chosen], rest_place[rest] = np.arange(length), np.arange(rest.size)
        held = np.empty(part.shape[0], dtype=np.intp)
        places_held(indptr, indices, start, start + length, held)
        # Short integers are sorted by their digits, in a tenth of the time.
        short = np.int16 if length < np.iinfo(np.int16).max else np.int64
        order = np.argsort(held.astype(short), kind="stable")
        places = (first_place, rest_place)
        return cls(chosen, rest, order, places, part.entries(order))

    @classmethod
    def dense(cls, k: int) -> Layout:
        """Eliminate none of k columns first."""
        every = np.arange(k)
        return cls(every[:0], every, every[:0], (every[:0], every))


@dataclass(frozen=True)
class Moments:
    """The scaled moment matrix of a part.

    Attributes
    ----------
    layout : Layout
    exponents : ndarray of shape (k,), int
        T, as powers of two.
    D : ndarray of shape (k1,)
        The diagonal of the columns eliminated first.
    B : csr_array of shape (k1, k2)
    C : ndarray of shape (k2, k2)
        Its lower triangle.
    n_terms : int
        Additions at most in an entry.
    longest : int
        Entries that are not zero at most in a row.
    check : callable
        Called between steps; ends the work by an exception.
    """

    layout: Layout
    exponents: NDArray[np.int64]
    D: Floats
    B: Any
    C: Floats
    n_terms: int
    longest: int
    check: Check

    @classmethod
    def of(cls, part: Part, v: Floats, layout: Layout) -> Moments:
        """Sum over all rows.

        Raises
        ------
        TooLarge
        """
        if layout.rest.size > MOST_DENSE:
            raise TooLarge
        return _sparse_sum(part, v, layout) if part.is_sparse else _dense_sum(part, v)

    @classmethod
    def of_sum(cls, C: Floats, n_terms: int, longest: int, check: Check) -> Moments:
        """Scale a sum of ``v_i a_i a_i'`` that is given whole.

        Raises
        ------
        NotPositive
        """
        from scipy import sparse

        k = C.shape[0]
        exponents = _scales(C.diagonal())
        C = shifted(shifted(C, -exponents).T, -exponents)
        D, B = np.empty(0), sparse.csr_array((0, k))
        return cls(Layout.dense(k), exponents, D, B, C, n_terms, longest, check)

    def scaled(self, x: Floats) -> Floats:
        """Return ``T^-1 x``, of a vector or of columns."""
        exponents = self.exponents if x.ndim == 1 else self.exponents[:, np.newaxis]
        return np.asarray(np.ldexp(x, -exponents))

    def restricted(self, chosen: Index) -> Moments:
        """Return the moments without some columns of the rest; `chosen` stay.

        For what the factorisation proves of the columns that stay: sums, entries in a
        row and so the error are no larger than the whole's.
        """
        places = self.layout.rest[chosen]
        layout = replace(self.layout, rest=places)
        C = self.C[np.ix_(chosen, chosen)]
        return replace(self, layout=layout, B=columns_of(self.B, chosen), C=C)

    @cached_property
    def n_shared(self) -> int:
        """Entries at most in a column of B."""
        return int(np.bincount(self.B.indices, minlength=1).max(initial=0))

    @cached_property
    def error(self) -> float:
        """The norm of E at most, for any c up to 1."""
        k = self.layout.rest.size
        norm = self.longest * LARGEST
        sums = gamma(self.n_terms + 4) * norm
        shares = gamma(4) * norm
        factor = gamma(self.n_shared + k + 5) * k * LARGEST
        diagonal = gamma(4) * (LARGEST + 1.0)
        return 1.01 * (sums + shares + factor + diagonal) + 1e-200

    def complement(self, c: float) -> tuple[Floats, Any, Floats]:
        """Return the root of ``D - c``, the rows of B over it, and what is left of C.

        What is left is the lower triangle of ``C - c I``, less these rows' products.
        """
        from scipy import sparse

        root = np.sqrt(self.D - c)
        starts, columns = self.B.indptr, self.B.indices
        data = self.B.data / np.repeat(root, np.diff(starts))
        shares = sparse.csr_array((data, columns, starts), shape=self.B.shape)
        S = self.C.copy()

        def take(rows: tuple[int, int]) -> None:
            take_products(starts, columns, data, S, *rows)

        for _ in map_in_threads(take, _shares_of_triangle(len(S), shares.nnz)):
            pass
        S[np.diag_indices_from(S)] -= c
        return root, shares, S

    def factored(self, c: float) -> Factor:
        """Factor ``M^ - c I``.

        Raises
        ------
        NotPositive
        """
        if not (c < self.D).all():
            raise NotPositive
        root, shares, S = self.complement(c)
        with calm_blas(S.shape[0], NARROW):
            lower = _cholesky(S, self.check)
        return Factor(self, root, shares, lower, c)


@dataclass(frozen=True)
class Factor:
    """A factor of ``M^ - c I`` that ran to its end."""

    moments: Moments
    root: Floats
    shares: Any
    lower: Floats
    c: float

    @property
    def least_eigenvalue(self) -> float:
        """What no eigenvalue of ``M^`` is smaller than; of no use if it is not > 0."""
        return self.c - self.moments.error

    def solve(self, r: Floats) -> Floats:
        """Return about ``M^-1 r``, of a vector or of columns."""
        moments, layout = self.moments, self.moments.layout
        b = moments.scaled(r)
        root = self.root if r.ndim == 1 else self.root[:, np.newaxis]
        first = b[layout.first] / root
        rest = b[layout.rest] - self.shares.T @ first
        rest = solve_factored(self.lower, rest)
        x = np.empty_like(b)
        x[layout.rest] = rest
        x[layout.first] = (first - self.shares @ rest) / root
        return moments.scaled(x)


def factored(moments: Moments, shifts: Sequence[float] = SHIFTS) -> Factor:
    """Factor with the largest shift that goes; its least eigenvalue is positive.

    Raises
    ------
    NotPositive
    """
    for shift in shifts:
        try:
            return moments.factored(max(shift, 2.0 * moments.error))
        except NotPositive:
            continue
    raise NotPositive


def _scales(diagonal: Floats) -> NDArray[np.int64]:
    """Return the exponents of T: those that bring a diagonal into [1/2, 2]."""
    if not (diagonal > 0).all():
        raise NotPositive
    return np.floor(0.5 * np.log2(diagonal) + 0.5).astype(np.int64)


def _shares_of_triangle(k: int, n_entries: int) -> list[tuple[int, int]]:
    """Cut the rows of a lower triangle into as many equal shares as there are threads.

    One share if there is little to do.
    """
    n_shares = count_threads() if n_entries > FEW_ENTRIES else 1
    ends = [round(k * sqrt(i / n_shares)) for i in range(n_shares + 1)]
    return list(pairwise(ends))


def _sparse_sum(part: Part, v: Floats, layout: Layout) -> Moments:
    from scipy import sparse

    assert layout.entries is not None  # of sparse rows they are there
    indptr, indices, data = layout.entries
    k1, k2 = layout.first.size, layout.rest.size
    C, D = np.zeros((k2, k2)), np.zeros(k1)
    starts = np.zeros(k1 + 1, dtype=indices.dtype)
    columns, entries = np.empty_like(indices), np.empty(indices.size)
    first, rest = layout.places
    part.check()
    sum_blocks(
        indptr, indices, data, v[layout.order],
        first, rest, C, D, starts, columns, entries,
    )  # fmt: skip
    held = slice(int(starts[-1]))
    exponents = np.empty(part.shape[1], dtype=np.int64)
    exponents[layout.first], exponents[layout.rest] = _scales(D), _scales(C.diagonal())
    # Powers of two: nothing is rounded.
    of_first, of_rest = exponents[layout.first], exponents[layout.rest]
    rows = np.repeat(np.arange(k1), np.diff(starts))
    values = shifted(entries[held], -of_rest, at=columns[held])
    values = shifted(values, -of_first, values, at=rows)
    B = sparse.csr_array((values, columns[held], starts), shape=(k1, k2))
    B.has_sorted_indices = True
    D = np.ldexp(D, -2 * of_first)
    C = shifted(shifted(C, -of_rest, C).T, -of_rest, C.T).T
    n_terms = int(part.n_filled.max())
    return Moments(layout, exponents, D, B, C, n_terms, part.longest, part.check)


def _dense_sum(part: Part, v: Floats) -> Moments:
    k = part.shape[1]
    root = np.sqrt(v)

    def share(range_: slice, block: Any) -> Floats:
        weighted = block * root[range_, np.newaxis]
        return np.asarray(weighted.T @ weighted)

    C = np.zeros((k, k))
    for block in part.mapped(share):
        C += block
    return Moments.of_sum(C, part.n_terms, part.longest, part.check)


def _cholesky(S: Floats, check: Check) -> Floats:
    """Return the lower factor of a symmetric matrix, which is overwritten."""
    k = S.shape[0]
    for start in range(0, k, PANEL):
        check()
        if not factor_panel(S, start, min(start + PANEL, k)):
            raise NotPositive
    if not np.isfinite(S.diagonal()).all():
        raise NotPositive
    return S
