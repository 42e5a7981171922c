r"""Sums over all pairs of a Cox regression, in one sort and cumulative sums.

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
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.risk_sets import RiskSets
from linsep.rows.rounding import UNIT_ROUNDOFF, gamma

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

# No weight is smaller than this share of the largest, so that products do not vanish.
LEAST_WEIGHT = 1e-60
# More than any product loses that vanishes.
VANISHED = 1e-280
# The share of the least eigenvalue that is proved.
PROVED = 0.5


@dataclass(frozen=True)
class Nested:
    """Risk sets without late entries: each holds all later ones of its stratum.

    Attributes
    ----------
    last : ndarray of shape (n,), int
        The last set that a row is in as one to be compared with; -1 for none.
    case_of : ndarray of shape (n,), int
        The set in which it is a case; -1 for none.
    stratum : ndarray of shape (n_sets,), int
        The stratum of each set, increasing.
    """

    last: Index
    case_of: Index
    stratum: Index

    @classmethod
    def of(cls, sets: RiskSets, strata: Index, *, exact: bool) -> Nested | None:
        """Return the sets so; None where rows enter late.

        Cases of one time are not compared with each other if ties are `exact`.
        """
        here = sets.is_compared
        first = np.full(int(strata.max()) + 1, sets.n_sets)
        np.minimum.at(first, strata[here], sets.enters[here])
        if (sets.enters[here] > first[strata[here]]).any():
            return None
        stratum = np.zeros(sets.n_sets, dtype=np.intp)
        is_case = sets.case_of >= 0
        stratum[sets.case_of[is_case]] = strata[is_case]
        last = np.where(here, sets.leaves - (is_case & exact) - 1, -1)
        last[last < sets.enters] = -1
        return cls(last, sets.case_of, stratum)

    @property
    def n_sets(self) -> int:
        """How many sets there are."""
        return int(self.stratum.size)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The first set of each stratum, and the one after its last."""
        starts = np.flatnonzero(np.diff(self.stratum, prepend=-1))
        return list(pairwise([*starts.tolist(), self.n_sets]))

    def summed(self, values: Floats) -> Floats:
        """Sum over the rows of each set; `values` of shape (n,) or (n, k)."""
        here = self.last >= 0
        total = np.zeros((self.n_sets, *values.shape[1:]))
        np.add.at(total, self.last[here], values[here])
        for start, stop in self.spans:
            total[start:stop] = total[start:stop][::-1].cumsum(axis=0)[::-1]
        return total

    def since(self, values: Floats) -> Floats:
        """Sum, for each row, over the sets it is in; `values` of shape (n_sets,)."""
        total = np.empty(self.n_sets)
        for start, stop in self.spans:
            total[start:stop] = np.cumsum(values[start:stop])
        return np.where(self.last >= 0, total[self.last], 0.0)

    def largest(self, ranks: Index, rows: NDArray[np.bool_] | None = None) -> Index:
        """Return the largest rank (>= 0) in each set, of some of its rows; else -1."""
        here = self.last >= 0 if rows is None else (self.last >= 0) & rows
        own = np.full(self.n_sets, -1)
        np.maximum.at(own, self.last[here], ranks[here])
        # Later strata are passed first, so that theirs count for less.
        step = int(ranks.max(initial=0)) + 2
        above = (int(self.stratum.max(initial=0)) - self.stratum) * step
        return np.maximum.accumulate((own + above)[::-1])[::-1] - above

    def least_case(self, ranks: Index) -> Index:
        """Return the smallest rank of the cases of each set."""
        found = np.full(self.n_sets, np.iinfo(np.intp).max)
        is_case = self.case_of >= 0
        np.minimum.at(found, self.case_of[is_case], ranks[is_case])
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


def sums_at(X: Floats, w: Floats, sets: Nested) -> Sums:
    """Sum over all pairs with the weights of a point.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Differences of rows of X are those of the data, up to the rounding of each.
    w : ndarray of shape (d,)
    sets : Nested
    """
    n = X.shape[0]
    eta = X @ w
    u = np.maximum(np.exp(eta - eta.max()), LEAST_WEIGHT)
    U = sets.summed(u)
    is_case = sets.case_of >= 0
    own = sets.case_of[is_case]
    n_cases = np.bincount(own, minlength=sets.n_sets).astype(np.float64)
    v = 1.0 / np.maximum(U, LEAST_WEIGHT)
    # Each case has the pairs of its set: so many that weights of a row add up to n_k v.
    along = np.zeros(n)
    along[is_case] = (v * U)[own]
    opposite = u * sets.since(n_cases * v)
    cases = X[is_case]
    S = sets.summed(u[:, np.newaxis] * X)
    r = X.T @ (along - opposite)
    both = X.T * (along + opposite) @ X
    cross = (cases * v[own][:, np.newaxis]).T @ S[own]
    sizes = np.abs(X)
    S_size = sets.summed(u[:, np.newaxis] * sizes)
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


def is_proved(X: Floats, sums: Sums, sets: Nested) -> bool:
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
    return bool(_largest_gap(z, sets) + 2.01 * off < 1.0 - 1e-9)


def _largest_gap(z: Floats, sets: Nested) -> float:
    """Return the largest ``z_i - z_j`` of a case and a row of its set."""
    order = np.argsort(-z, kind="stable")
    ranks = np.empty(z.size, dtype=np.intp)
    ranks[order] = np.arange(z.size)
    lowest = sets.largest(ranks)  # the row with the smallest z has the largest rank
    is_case = sets.case_of >= 0
    own = lowest[sets.case_of[is_case]]
    held = own >= 0
    gaps = z[is_case][held] - z[order[own[held]]]
    return float(gaps.max(initial=0.0))
