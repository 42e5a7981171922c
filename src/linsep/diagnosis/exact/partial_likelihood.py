r"""Sums over all pairs of a Cox regression, in one sort and a tree of sums.

The demands are ``(x_i - x_j) . w >= 0`` for each case i and each row j at risk with it:
billions, which are never formed. With ``u_j > 0`` for each row and ``v_k > 0`` for each
risk set, the weights ``p_ij = v_k u_j`` of all pairs give

.. math::  r = \sum_k v_k (U_k X_k - n_k S_k),

``U_k`` and ``S_k`` being the sums of ``u_j`` and ``u_j x_j`` over the set, ``X_k`` that
of its cases; and the moments M likewise. That is the gradient of the partial likelihood
where ``u_j = exp(x_j . w)`` and ``v_k = 1 / U_k``. By the theorem of
`linsep.verified.overlap` all pairs overlap if ``(x_i - x_j) . q < 1`` for each, where
``M q = r``: the largest case against the smallest row at risk, set by set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.diagnosis.inputs.risk_sets import RiskSets
from linsep.rows.rounding import UNIT_ROUNDOFF, gamma

# No weight is smaller than this share of the largest, so that products do not vanish.
LEAST_WEIGHT = 1e-60
# More than any product loses that vanishes.
VANISHED = 1e-280
# The share of the least eigenvalue that is proved.
PROVED = 0.5


@dataclass(frozen=True)
class Spans:
    """The risk sets in which each row is to be compared with, one after the other.

    Sums over the rows of a set, and over the sets of a row, go by a binary tree over
    the sets: a row belongs to few of its nodes, a set lies under few. So nothing is
    ever taken away again, which would cost digits where rows enter late.

    Attributes
    ----------
    risk_sets : RiskSets
        A row is compared from where it enters.
    last : ndarray of shape (n,), int
        The last set of a row, which is of its stratum; -1 for none.
    """

    risk_sets: RiskSets
    last: Index

    @classmethod
    def of(cls, sets: RiskSets, *, exact: bool) -> Spans:
        """Return the spans of rows at risk.

        Cases of one time are not compared with each other if ties are `exact`.
        """
        is_case = sets.case_of >= 0
        last = np.where(
            sets.is_compared, sets.leaves - (is_case & exact) - 1, np.intp(-1)
        )
        last[last < sets.enters] = -1
        return cls(sets, last)

    @cached_property
    def _of_sets(self) -> Index:
        """The nodes above each set, itself the first, of shape (n_sets, n_levels)."""
        n_sets = self.risk_sets.n_sets
        n_levels = max(1, n_sets - 1).bit_length() + 1
        leaves = np.arange(n_sets) + (1 << (n_levels - 1))
        return leaves[:, np.newaxis] >> np.arange(n_levels)

    @cached_property
    def _of_rows(self) -> tuple[Index, Index]:
        """The nodes that make up the span of each row, and the rows."""
        size = 1 << (self._of_sets.shape[1] - 1)
        rows = np.flatnonzero(self.last >= 0)
        low, high = self.risk_sets.enters[rows] + size, self.last[rows] + size + 1
        nodes, owners = [], []
        while rows.size:
            for node, at in ((low, low % 2 == 1), (high - 1, high % 2 == 1)):
                nodes.append(node[at])
                owners.append(rows[at])
            low, high = (low + 1) // 2, high // 2
            going_on = low < high
            rows, low, high = rows[going_on], low[going_on], high[going_on]
        return np.concatenate([*nodes, rows]), np.concatenate([*owners, rows])

    @cached_property
    def _matrices(self) -> tuple[Any, Any]:
        """Zeros and ones: sets by nodes, and nodes by rows."""
        from scipy import sparse

        above, (nodes, owners) = self._of_sets, self._of_rows
        n_sets, n_nodes = len(above), 1 << above.shape[1]
        starts = np.arange(n_sets + 1) * above.shape[1]
        return (
            sparse.csr_array(
                (np.ones(above.size), above.ravel(), starts),
                shape=(n_sets, n_nodes),
            ),
            sparse.csr_array(
                (np.ones(nodes.size), (nodes, owners)), shape=(n_nodes, self.last.size)
            ),
        )

    def summed(self, values: Floats) -> Floats:
        """Sum over the rows of each set; `values` of shape (n,) or (n, k)."""
        of_sets, of_rows = self._matrices
        return np.asarray(of_sets @ (of_rows @ values))

    def since(self, values: Floats) -> Floats:
        """Sum, for each row, over the sets it is in; `values` of shape (n_sets,)."""
        of_sets, of_rows = self._matrices
        return np.asarray(of_rows.T @ (of_sets.T @ values))

    def largest(self, ranks: Index) -> Index:
        """Return the largest rank (>= 0) of the rows of each set; -1 for none."""
        nodes, owners = self._of_rows
        held = np.full(1 << self._of_sets.shape[1], -1)
        np.maximum.at(held, nodes, ranks[owners])
        return np.asarray(held[self._of_sets].max(axis=1, initial=-1))

    def lowest(self, values: Index) -> Index:
        """Return for each row the smallest of the values of its sets."""
        nodes, owners = self._of_rows
        most = np.iinfo(np.intp).max
        held = np.full(1 << self._of_sets.shape[1], most)
        np.minimum.at(held, self._of_sets, values[:, np.newaxis])
        found = np.full(self.last.size, most)
        np.minimum.at(found, owners, held[nodes])
        return found

    def facing(self, z: Floats) -> tuple[Index, Index]:
        """Return the lowest case and the highest row at risk of each set with rows."""
        order = np.argsort(z, kind="stable")
        ranks = np.empty(z.size, dtype=np.intp)
        ranks[order] = np.arange(z.size)
        highest = self.largest(ranks)
        held = highest >= 0
        return order[self.least_case(ranks)[held]], order[highest[held]]

    def least_case(self, ranks: Index) -> Index:
        """Return the smallest rank of the cases of each set."""
        sets = self.risk_sets
        found = np.full(sets.n_sets, np.iinfo(np.intp).max)
        is_case = sets.case_of >= 0
        np.minimum.at(found, sets.case_of[is_case], ranks[is_case])
        return found


@dataclass(frozen=True)
class Sums:
    """What the pairs come to at a point, and how far rounding may be off.

    Attributes
    ----------
    value : float
        The logarithm of the partial likelihood (Breslow's).
    r : ndarray of shape (d,)
    M, hessian : ndarray of shape (d, d)
    r_error, M_error : ndarray of the same shapes
        Bounds, entry by entry.
    """

    value: float
    r: Floats
    M: Floats
    hessian: Floats
    r_error: Floats
    M_error: Floats


def sums_at(X: Floats, w: Floats, spans: Spans) -> Sums:
    """Sum over all pairs with the weights of a point.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Differences of rows of X are those of the data, up to the rounding of each.
    w : ndarray of shape (d,)
    spans : Spans
    """
    sets = spans.risk_sets
    n = X.shape[0]
    eta = X @ w
    u = np.maximum(np.exp(eta - eta.max()), LEAST_WEIGHT)
    U = spans.summed(u)
    is_case = sets.case_of >= 0
    own = sets.case_of[is_case]
    n_cases = sets.n_cases.astype(np.float64)
    v = 1.0 / np.maximum(U, LEAST_WEIGHT)
    # Each case has the pairs of its set: so many that weights of a row add up to n_k v.
    along = np.zeros(n)
    along[is_case] = (v * U)[own]
    opposite = u * spans.since(n_cases * v)
    cases = X[is_case]
    S = spans.summed(u[:, np.newaxis] * X)
    r = X.T @ (along - opposite)
    both = X.T * (along + opposite) @ X
    cross = (cases * v[own][:, np.newaxis]).T @ S[own]
    sizes = np.abs(X)
    S_size = spans.summed(u[:, np.newaxis] * sizes)
    # Sums of numbers of one sign, three times at most one after the other.
    allowance = gamma(6 * n + 100)
    cross_size = (sizes[is_case] * v[own][:, np.newaxis]).T @ S_size[own]
    both_size = sizes.T * (along + opposite) @ sizes
    mean = S * v[:, np.newaxis]
    weighted = mean * n_cases[:, np.newaxis]
    second = X.T * opposite @ X
    value = float(eta[is_case].sum() - (n_cases * (np.log(U) + eta.max())).sum())
    return Sums(
        value,
        r,
        both - cross - cross.T,
        second - mean.T @ weighted,
        allowance * (sizes.T @ (along + opposite)) + n * VANISHED,
        allowance * (both_size + cross_size + cross_size.T) + n * VANISHED,
    )


def is_proved(X: Floats, sums: Sums, sets: Spans) -> bool:
    """Tell whether the weights prove that all pairs overlap."""
    d = X.shape[1]
    if not all(np.isfinite(part).all() for part in (sums.r, sums.M, sums.M_error)):
        return False
    if d == 0:
        return True
    diagonal = sums.M.diagonal()
    if not (diagonal > 0).all():
        return False
    scale = np.ldexp(1.0, np.frexp(np.sqrt(diagonal))[1])
    M = (sums.M + sums.M.T) / 2 / scale / scale[:, np.newaxis]
    M_error = sums.M_error / scale / scale[:, np.newaxis]
    spread = float(M_error.sum(axis=1).max()) + 4 * UNIT_ROUNDOFF * float(
        np.abs(M).sum(axis=1).max()
    )
    least = PROVED * float(np.linalg.eigvalsh(M)[0])
    # Rump, "Verification of positive definiteness", BIT 46, 2006.
    lost = 8 * (d + 3) * UNIT_ROUNDOFF * float(np.trace(M) + 1.0) + spread
    mu = least - lost
    if not mu > 0:
        return False
    try:
        np.linalg.cholesky(M - least * np.eye(d))
    except np.linalg.LinAlgError:
        return False
    right = sums.r / scale
    q = np.linalg.solve(M, right)
    residual = np.abs(right - M @ q) + sums.r_error / scale
    residual += (M_error + gamma(2 * d + 4) * np.abs(M)) @ np.abs(q)
    residual += 4 * UNIT_ROUNDOFF * np.abs(right)
    scaled = X / scale
    z = scaled @ q
    # The rounding of x, of its products, and what a residual does to any pair.
    sizes = np.abs(scaled)
    off = gamma(d + 8) * float((sizes @ np.abs(q)).max())
    longest = float(np.sqrt((scaled * scaled).sum(axis=1).max()))
    off += longest * float(np.sqrt(residual @ residual)) / mu
    cases, others = sets.facing(-z)
    largest_gap = float((z[cases] - z[others]).max(initial=0.0))
    return bool(largest_gap + 2.01 * off < 1.0 - 1e-9)
