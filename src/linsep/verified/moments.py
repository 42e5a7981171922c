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

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows.rounding import gamma
from linsep.verified.parts import Floats, Index, Part

# The diagonal of the scaled matrix is at most this.
LARGEST = 2.0 + 1e-9
# More columns than this are not factored as one dense matrix: 800 MB of doubles.
MOST_DENSE = 10_000
# Columns factored in one piece; between two of them there is time to stop.
PANEL = 512


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
    """

    first: Index
    rest: Index

    @classmethod
    def of(cls, part: Part) -> Layout:
        """Choose the longest run of columns of which no row holds two.

        The levels of a factor stand next to each other.
        """
        k = part.shape[1]
        every = np.arange(k)
        if not part.is_sparse or k < 2:
            return cls(every[:0], every)
        matrix = part.scaled.sorted_indices()
        before = np.full(matrix.nnz, -1, dtype=np.int64)
        before[1:] = matrix.indices[:-1]
        starts = matrix.indptr[:-1]
        before[starts[np.diff(matrix.indptr) > 0]] = -1
        # The nearest column on the left that shares a row with each column.
        nearest = np.full(k, -1, dtype=np.int64)
        np.maximum.at(nearest, matrix.indices, before)
        best, start = (0, 0), 0
        for column, neighbour in enumerate(nearest.tolist()):
            if neighbour >= start:
                best = max(best, (column - start, start))
                start = column
        length, start = max(best, (k - start, start))
        chosen = np.arange(start, start + length)
        return cls(chosen, np.setdiff1d(every, chosen))


@dataclass(frozen=True)
class Moments:
    """The scaled moment matrix of a part.

    Attributes
    ----------
    part : Part
    layout : Layout
    exponents : ndarray of shape (k,), int
        T, as powers of two.
    D : ndarray of shape (k1,)
        The diagonal of the columns eliminated first.
    B : csr_array of shape (k1, k2)
    C : ndarray of shape (k2, k2)
    n_terms : int
        Additions at most in an entry.
    """

    part: Part
    layout: Layout
    exponents: NDArray[np.int64]
    D: Floats
    B: Any
    C: Floats
    n_terms: int

    @classmethod
    def of(cls, part: Part, v: Floats, layout: Layout) -> Moments:
        """Sum over all rows.

        Raises
        ------
        TooLarge
        """
        if layout.rest.size > MOST_DENSE:
            raise TooLarge
        whole = _sparse_sum if part.is_sparse else _dense_sum
        return whole(part, v, layout)

    def scaled(self, x: Floats, *, up: bool = False) -> Floats:
        """Return ``T^-1 x``, or ``T x``."""
        return np.ldexp(x, self.exponents if up else -self.exponents)

    @cached_property
    def n_shared(self) -> int:
        """Entries at most in a column of B."""
        return int(np.bincount(self.B.indices, minlength=1).max(initial=0))

    @cached_property
    def error(self) -> float:
        """The norm of E at most, for any c up to 1."""
        k = self.layout.rest.size
        norm = self.part.longest * LARGEST
        sums = gamma(self.n_terms + 4) * norm
        shares = gamma(4) * norm
        factor = gamma(self.n_shared + k + 5) * k * LARGEST
        diagonal = gamma(4) * (LARGEST + 1.0)
        return 1.01 * (sums + shares + factor + diagonal) + 1e-200

    @cached_property
    def shares(self) -> Any:
        """The rows of B over the root of D, without c; for structure alone."""
        return _divided(self.B, np.sqrt(self.D))

    def factored(self, c: float) -> Factor:
        """Factor ``M^ - c I``.

        Raises
        ------
        NotPositive
        """
        D = self.D - c
        if not (D > 0).all():
            raise NotPositive
        root = np.sqrt(D)
        shares = _divided(self.B, root)
        S = self.C - (shares.T @ shares).toarray() if D.size else self.C.copy()
        S[np.diag_indices_from(S)] -= c
        return Factor(self, root, shares, _cholesky(S, self.part.check), c)


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
        """Return about ``M^-1 r``."""
        from scipy.linalg import solve_triangular

        moments, layout = self.moments, self.moments.layout
        b = moments.scaled(r)
        first = b[layout.first] / self.root
        rest = b[layout.rest] - self.shares.T @ first
        if rest.size:
            rest = solve_triangular(self.lower, rest, lower=True, check_finite=False)
            rest = solve_triangular(
                self.lower, rest, lower=True, trans=1, check_finite=False
            )
        x = np.empty(b.size)
        x[layout.rest] = rest
        x[layout.first] = (first - self.shares @ rest) / self.root
        return moments.scaled(x)


def _divided(B: Any, root: Floats) -> Any:
    """Divide each row of a sparse matrix by a number."""
    shares = B.copy()
    shares.data = B.data / np.repeat(root, np.diff(B.indptr))
    return shares


def _scales(diagonal: Floats) -> NDArray[np.int64]:
    """Return the exponents of T: those that bring a diagonal into [1/2, 2]."""
    if not (diagonal > 0).all():
        raise NotPositive
    return np.floor(0.5 * np.log2(diagonal) + 0.5).astype(np.int64)


def _sparse_sum(part: Part, v: Floats, layout: Layout) -> Moments:
    from scipy import sparse

    matrix = part.scaled
    squared = matrix.copy()
    squared.data = squared.data**2
    exponents = _scales(squared.T @ v)
    weighted = matrix.copy()
    # Powers of two: nothing is rounded.
    scaled = np.ldexp(matrix.data, -exponents[matrix.indices])
    weighted.data = scaled * np.repeat(v, np.diff(matrix.indptr))
    plain = sparse.csr_array((scaled, matrix.indices, matrix.indptr), matrix.shape)
    by_column, weighted = sparse.csc_array(plain), weighted.tocsc()
    rest = sparse.csr_array(weighted[:, layout.rest])
    part.check()
    C = (by_column[:, layout.rest].T @ rest).toarray()
    first = by_column[:, layout.first]
    part.check()
    B = sparse.csr_array(first.T @ rest)
    of_first = sparse.csc_array(weighted[:, layout.first])
    of_first.data = of_first.data * first.data
    D = np.asarray(of_first.sum(axis=0), dtype=np.float64).ravel()
    longest = int(np.diff(by_column.indptr).max(initial=0))
    return Moments(part, layout, exponents, D, B, C, longest)


def _dense_sum(part: Part, v: Floats, layout: Layout) -> Moments:
    from scipy import sparse

    k = part.shape[1]
    root = np.sqrt(v)

    def share(range_: slice, block: Any) -> Floats:
        weighted = block * root[range_, np.newaxis]
        return np.asarray(weighted.T @ weighted)

    C = np.zeros((k, k))
    for block in part.mapped(share):
        C += block
    exponents = _scales(C.diagonal())
    C = np.ldexp(C, -exponents[:, np.newaxis] - exponents)
    none = sparse.csr_array((0, k))
    return Moments(part, layout, exponents, np.empty(0), none, C, part.n_terms)


def _cholesky(S: Floats, check: Any) -> Floats:
    """Return the lower factor of a symmetric matrix, which is overwritten."""
    from scipy.linalg import solve_triangular

    k = S.shape[0]
    for start in range(0, k, PANEL):
        check()
        stop = min(start + PANEL, k)
        try:
            corner = np.linalg.cholesky(S[start:stop, start:stop])
        except np.linalg.LinAlgError:
            raise NotPositive from None
        S[start:stop, start:stop] = corner
        S[start:stop, stop:] = 0.0
        if stop < k:
            below = solve_triangular(
                corner, S[stop:, start:stop].T, lower=True, check_finite=False
            ).T
            S[stop:, start:stop] = below
            S[stop:, stop:] -= below @ below.T
    if not np.isfinite(S.diagonal()).all():
        raise NotPositive
    return S
