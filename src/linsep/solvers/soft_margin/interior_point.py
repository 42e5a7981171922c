r"""The capped game by an interior-point method: some twelve linear systems, any data.

Solves

    minimise |sum_i p_i a_i|^2 / 2   subject to   0 <= p_i <= cap_i,   E p = e,

for signed rows ``a_i``. ``E p = e`` says that the weights sum to one and, for a free
intercept, that both classes hold one half. This is the dual of the nu-support vector
machine: the data player's weights are capped, so that the learner is judged by the mean
of the worst share of the margins instead of the very worst.

Primal-dual path following with Mehrotra's predictor and corrector ("On the
implementation of a primal-dual interior point method", SIAM J. Optim. 2, 1992). With
``theta_i = p_i / cap_i`` in [0, 1] a step solves

    (B B^T + D) dtheta + E^T dy = r,    E dtheta = 0,

``B`` the rows times their caps and ``D`` a positive diagonal. Narrow rows: by
a system of the size of a row (Ferris & Munson, "Interior-point methods for massive
support vector machines", SIAM J. Optim. 13, 2002). Wide rows: by a Cholesky factor of
``B B^T + D`` itself. The start is feasible on both
sides, so every iterate is, and ``|B^T theta|`` bounds the game's value from above.

The paper's own loop plays this game too, with exponential weights cut off at their
caps; its gap closes like one over the number of rounds, that of the interior point by a
factor of three to ten an iteration, whatever ``nu`` and the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.arrays import Floats
from linsep.solvers._factors import solve_factored
from linsep.solvers.soft_margin import _passes
from linsep.solvers.soft_margin.systems import cholesky, weighted_gram

# Share of the way to the boundary that a step may go.
STEP_SHARE = 0.995
# The start's complementarity, relative to the gradient's size.
START_SIZE = 1.0


@dataclass(frozen=True)
class Iterate:
    """A state of the method.

    Attributes
    ----------
    theta : ndarray of shape (n,)
        The weights as shares of their caps, strictly between 0 and 1; overwritten by
        the next iterate.
    w : ndarray of shape (d,)
        ``sum_i p_i a_i``; its length bounds the value from above.
    gap : float
        ``|w|^2`` less a lower bound on the squared value that this state proves.
    multipliers : ndarray of shape (q,)
        Those of ``E p = e``: minus the offsets of the learner.
    n_iterations : int
        Linear systems factored so far.
    """

    theta: Floats
    w: Floats
    gap: float
    multipliers: Floats
    n_iterations: int


def interior_point(
    rows: Floats, caps: Floats, equalities: Floats, start: Floats
) -> Iterator[Iterate]:
    """Yield iterates for ever, from the start on; the caller stops.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Signed rows, the constant left out.
    caps : ndarray of shape (n,)
        The largest weight of each row, > 0.
    equalities : ndarray of shape (q, n)
        ``E``, of full row rank.
    start : ndarray of shape (n,)
        Weights as shares of their caps, strictly between 0 and 1; ``E (start * caps)``
        is held from then on.
    """
    B = rows * caps[:, None]
    E = equalities * caps
    system = _Narrow(B, E) if B.shape[1] <= B.shape[0] else _Wide(B, E)
    theta = start.copy()
    w: Floats = B.T @ theta
    gradient = B @ w
    y = np.asarray(-np.linalg.lstsq(E.T, gradient, rcond=None)[0], dtype=np.float64)
    reduced = gradient + E.T @ y
    size = START_SIZE * float(np.abs(reduced).mean()) or 1e-300
    z = np.maximum(reduced, 0.0) + size
    s = np.maximum(-reduced, 0.0) + size
    n_iterations = 0
    u = 1.0 - theta
    gap = float(z @ theta + s @ u)
    dz, ds = np.empty_like(z), np.empty_like(s)
    while True:
        yield Iterate(theta, w, gap, y, n_iterations)
        solve = system.factor(z / theta + s / u)
        n_iterations += 1
        # Predictor: straight at the solution.
        dtheta, _, dy = solve(s - z)
        after = _passes.predictor_gap(theta, u, z, s, dtheta, dz, ds)
        centre = (max(after, 0.0) / gap) ** 3 * gap / (2 * theta.size)
        # Corrector: towards the central path, second-order terms taken out.
        right = _passes.corrector_targets(theta, u, z, s, dtheta, dz, ds, centre)
        dtheta, dw, dy = solve(right)
        # One length for both sides keeps the gradient's equation exact. u is kept
        # apart from 1 - theta, which would round to zero long before u does.
        length, gap = _passes.take_step_inplace(
            theta, u, z, s, dtheta, dz, ds, STEP_SHARE
        )
        y = np.asarray(y + length * dy)
        w = np.asarray(w + length * dw)


Solve = Callable[
    [Floats],
    tuple[Floats, Floats, Floats],
]


class _Narrow:
    """Systems of the size of a row.

    With ``m = B^T dtheta`` and ``K = [B E^T]`` the step is ``D^-1 (r - K [m, dy])``,
    and ``x = [m, dy]`` solves the positive definite ``(K^T D^-1 K + [I 0]) x = K^T
    D^-1 r``.
    """

    def __init__(self, B: Floats, E: Floats) -> None:
        # Of one column NumPy stacks by columns.
        self.K = np.ascontiguousarray(np.column_stack([B, E.T]))
        self.d = B.shape[1]

    def factor(self, diagonal: Floats) -> Solve:
        """Form the system and factor it; return what solves it for a right side."""
        inverse = 1.0 / diagonal
        inner = weighted_gram(self.K, inverse)
        inner[np.arange(self.d), np.arange(self.d)] += 1.0
        triangle = cholesky(inner)

        def solve(right: Floats) -> Any:
            x = solve_factored(triangle, (inverse * right) @ self.K)
            return inverse * (right - self.K @ x), x[: self.d], x[self.d :]

        return solve


class _Wide:
    """Systems of the size of the number of rows, bordered by ``E``."""

    def __init__(self, B: Floats, E: Floats) -> None:
        self.B, self.E = B, E
        self.gram = np.asfortranarray(B @ B.T)

    def factor(self, diagonal: Floats) -> Solve:
        """Form the system and factor it; return what solves it for a right side."""
        matrix = self.gram.copy(order="F")
        matrix[np.diag_indices_from(matrix)] += diagonal
        triangle = cholesky(matrix)
        solved = solve_factored(triangle, self.E.T)
        schur = self.E @ solved

        def solve(right: Floats) -> Any:
            plain = solve_factored(triangle, right)
            dy = np.linalg.solve(schur, self.E @ plain)
            dtheta = plain - solved @ dy
            return dtheta, self.B.T @ dtheta, dy

        return solve
