r"""The capped game among many classes: every row against every other class at once.

Each class ``c`` has a direction ``w_c`` and an offset ``b_c``; row ``i`` of class ``k``
asks, for every other class ``c``, that ``(w_k - w_c) . x_i + b_k - b_c`` be large. That
is one signed row a pair, ``x_i`` in block ``k`` and ``-x_i`` in block ``c``, so the
joint problem is a binary one in the space of the blocks, with an offset a class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.solvers.soft_margin.game import CappedGame, closed_game, worst_mean
from linsep.solvers.soft_margin.interior_point import Iterate


@dataclass(frozen=True)
class Pairs:
    """One entry for every (row, other class).

    Attributes
    ----------
    row : ndarray of shape (m,)
    own, rival : ndarray of shape (m,)
        The class of the row, and the one it is held against.
    n_classes : int
    """

    row: Index
    own: Index
    rival: Index
    n_classes: int

    @classmethod
    def of(cls, labels: Index, n_classes: int) -> Pairs:
        """Pair every row with the classes it is not of."""
        row = np.repeat(np.arange(len(labels)), n_classes)
        rival = np.tile(np.arange(n_classes), len(labels))
        kept = rival != labels[row]
        return cls(row[kept], labels[row[kept]], rival[kept], n_classes)

    def blocks(self, features: Floats) -> Floats:
        """Return the signed rows, shape (m, n_classes * n_features)."""
        d = features.shape[1]
        out = np.zeros((len(self.row), self.n_classes, d))
        at = np.arange(len(self.row))
        out[at, self.own] = features[self.row]
        out[at, self.rival] = -features[self.row]
        return out.reshape(len(self.row), -1)

    def sparse_blocks(self, features: Any) -> Any:
        """Return the signed rows as a sparse matrix, without the last class's block."""
        from scipy.sparse import csr_array

        held = csr_array(features)[self.row]
        n, d = held.shape
        sizes = np.diff(held.indptr)
        parts = [
            csr_array(
                (
                    sign * held.data,
                    held.indices + np.repeat(d * at, sizes),
                    held.indptr,
                ),
                (n, d * self.n_classes),
            )
            for at, sign in ((self.own, 1.0), (self.rival, -1.0))
        ]
        return (parts[0] + parts[1])[:, : d * (self.n_classes - 1)]

    def offsets(self) -> Floats:
        """Return the coefficients of all offsets but the last: (n_classes - 1, m)."""
        out = np.zeros((self.n_classes, len(self.row)))
        at = np.arange(len(self.row))
        out[self.own, at] = 1.0
        out[self.rival, at] = -1.0
        return out[:-1]


def largest_joint_nu(labels: Index, weights: Floats, n_classes: int) -> float:
    """Return the largest share for which balanced weights surely exist."""
    mass = np.bincount(labels, weights, minlength=n_classes)
    return float(n_classes * mass.min() / mass.sum())


def solve_joint(
    features: Floats,
    labels: Index,
    weights: Floats,
    n_classes: int,
    nu: float | None,
    *,
    free: bool = True,
    tol: float = 1e-4,
) -> CappedGame:
    """Solve the joint game to a relative gap.

    Parameters
    ----------
    features : ndarray of shape (n, d)
    labels : ndarray of shape (n,)
        Class numbers, 0 to ``n_classes - 1``, every one present.
    weights : ndarray of shape (n,)
        Sample weights, > 0.
    n_classes : int
    nu : float or None
        The share, in (0, `largest_joint_nu`]; None caps nothing: the hard margin.
    free : bool, default=True
        Whether each class has an offset.
    tol : float, default=1e-4
        Stop when ``value_upper - value_lower <= tol * value_upper``.
    """
    pairs = Pairs.of(labels, n_classes)
    rows = pairs.blocks(features)
    pair_weights = weights[pairs.row]
    total = float(pair_weights.sum())
    caps = np.ones(len(pair_weights)) if nu is None else pair_weights / (nu * total)
    # Equal mass for every class, as own and as rival: the offsets are balanced.
    mass = np.bincount(labels, weights, minlength=n_classes)
    p = pair_weights / (mass[pairs.own] * n_classes * (n_classes - 1))
    caps = np.maximum(caps, p * (1.0 + 1e-7))
    offsets = pairs.offsets() if free else np.zeros((0, len(p)))
    equalities = np.vstack([np.ones(len(p)), offsets])

    def judge(state: Iterate) -> CappedGame:
        length = float(np.linalg.norm(state.w))
        scale = length if length > 0 else 1.0
        margins = rows @ (state.w / scale) + state.multipliers[1:] / scale @ offsets
        lower, level = worst_mean(margins, caps, 1.0)
        p = state.theta * caps
        return CappedGame(state.w / scale, 0.0, level, lower, length, p, 0, False)

    game, state = closed_game(rows, caps, equalities, p / caps, judge, tol)
    b = np.zeros(n_classes)
    b[: len(offsets)] = state.multipliers[1:] / (game.value_upper or 1.0)
    return replace(game, nu=nu, offsets=b)
