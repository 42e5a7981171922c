r"""The capped game at a temperature: exponential weights under a cap, by Newton.

The data player pays ``T`` for every nat by which its weights leave those of the sample,
``u_i = c_i / sum c``:

    V_T = max over |w| = 1, b of min over capped p of
              sum_i p_i y_i (w . x_i + b) + T KL(p || u).

Its answer is exponential weights, each cut off at its cap,

    p_i = cap_i min(1, exp((level - m_i) / T)),    cap_i = c_i / (nu sum c),

so a row far on the right side still counts for a little, as in a logistic regression,
and one far on the wrong side for no more than its cap. At ``T = 0`` this is the capped
game itself (`linsep.solvers.soft_margin.game`). Weak duality holds at every
temperature,

    value(w, b) <= V_T <= |sum_i p_i y_i x_i| + T KL(p || u).

The learner minimises the smooth convex ``|w|^2 / 2 - min_p`` by Newton's method with a
backtracking line search: the Hessian is the identity plus the covariance of the rows
under the weights below their caps, over the temperature. Some five systems of the size
of a row are solved, whatever the number of rows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.rows import is_sparse
from linsep.solvers._factors import solve_factored
from linsep.solvers.blas import calm_blas
from linsep.solvers.bounds import longest_row
from linsep.solvers.soft_margin._passes import answer_groups, mean_spread
from linsep.solvers.soft_margin.game import (
    ZERO,
    CappedGame,
    largest_nu,
    least_share,
)
from linsep.solvers.soft_margin.joint import Pairs, largest_joint_nu
from linsep.solvers.soft_margin.systems import cholesky, group_means, weighted_gram

# The temperature, in spreads of the margins within their classes: chosen on nineteen
# real and planted problems, flat from 0.4 to 0.6.
TEMPERATURE = 0.5
# A chosen share is this far from the least that pays to the largest possible.
ABOVE_LEAST = 0.02
# and at most this part of the largest, at which nothing is left to choose.
MOST_SHARE = 0.9
# It grows by no more than this at a time: early directions are not yet good.
MOST_GROWTH = 1.5
# The share of the first rounds, before one is known.
FIRST_SHARE = 0.3
# Share and temperature are held once both change by less than this while the interval
# is nearly closed, or after so many changes: they need no more precision than that.
SETTLED = 0.03
NEARLY = 0.01
MOST_CHANGES = 6
MOST_ITERATIONS = 100
# Caps are raised by this much so that the largest share leaves an interior.
SLACK = 1e-9
# A spread is at least this share of the longest row.
LEAST_SPREAD = 1e-3
# The learner's length is at most halved by a change.
LEAST_SHRINK = 0.5
# Share and temperature are held once the learner is shorter than this part of the
# longest row.
SHORT = 1e-3
# Sufficient decrease of a step, and the shortest one tried.
DECREASE = 1e-4
SHORTEST = 1e-9
# Offsets are not penalised, and have no curvature where only rows at their caps would
# feel them: this much is added, of the 1 / tau that all rows together have.
DAMPING = 1e-3
# Systems of sparse rows are solved by conjugate gradients to this relative residual.
INEXACT = 0.02


def solve_tempered(
    rows: Any,
    signs: Floats,
    weights: Floats,
    nu: float | None,
    *,
    free: bool = True,
    temperature: float = TEMPERATURE,
    tol: float = 1e-4,
) -> CappedGame:
    """Play two classes at a temperature to a relative gap.

    Parameters
    ----------
    rows : ndarray or csr_matrix of shape (n, d)
        Signed rows, the constant left out.
    signs : ndarray of shape (n,)
        The class of each row, +1.0 or -1.0.
    weights : ndarray of shape (n,)
        Sample weights, > 0.
    nu : float or None
        The share, in (0, `largest_nu`]; None takes one just above the least at which
        the worst margins of the direction found have a positive mean.
    free : bool, default=True
        Whether the intercept is free.
    temperature : float, default=0.5
        In spreads: standard deviations of the margins within their classes, averaged.
    tol : float, default=1e-4
        Stop when ``value_upper - value_lower <= tol * value_upper``.

    Returns
    -------
    CappedGame
        With the share, and the temperature in the units of the margins.
    """
    order = np.argsort(signs, kind="stable")
    cut = int(np.searchsorted(signs[order], 0.0))
    classes = np.array([0, cut, len(signs)])
    groups = classes if free else classes[[0, 2]]
    if (np.diff(order) == 1).all():  # sorted already
        play = _Play(rows, weights, groups, classes)
    else:
        play = _Play(rows[order], weights[order], groups, classes)
    game, _ = play.solve(nu, largest_nu(signs, weights, free), temperature, tol)
    p = np.empty_like(game.p)
    p[order] = game.p
    return replace(game, p=p)


def solve_tempered_joint(
    features: Floats,
    labels: Index,
    weights: Floats,
    n_classes: int,
    nu: float | None,
    *,
    free: bool = True,
    temperature: float = TEMPERATURE,
    tol: float = 1e-4,
) -> CappedGame:
    """Play many classes jointly at a temperature; see `solve_joint`."""
    pairs = Pairs.of(labels, n_classes)
    # Rows of one class together, so that a class is a run.
    order = np.argsort(pairs.own, kind="stable")
    classes = np.searchsorted(pairs.own[order], np.arange(n_classes + 1))
    play = _Play(
        pairs.blocks(features)[order],
        weights[pairs.row][order],
        classes[[0, -1]],
        classes,
        pairs.offsets()[:, order] if free else None,
    )
    most = largest_joint_nu(labels, weights, n_classes)
    game, offsets = play.solve(nu, most, temperature, tol)
    p = np.empty_like(game.p)
    p[order] = game.p
    offsets = np.append(offsets, np.zeros(n_classes - offsets.size))
    return replace(game, p=p, offsets=offsets)


class _Play:
    """Both players of one game, and the state of Newton's method on the learner.

    Parameters
    ----------
    rows : ndarray or csr_matrix of shape (n, d)
    weights : ndarray of shape (n,)
    groups : ndarray of int
        Where each group of rows begins, and the last one ends. Each holds an equal part
        of the weight, which frees its level: both classes for a free intercept.
    classes : ndarray of int
        The same for the classes, within which the spread of the margins is measured.
    offsets : ndarray of shape (q, n) or None
        Coefficients of offsets that are not penalised.
    """

    def __init__(
        self,
        rows: Any,
        weights: Floats,
        groups: Index,
        classes: Index,
        offsets: Floats | None = None,
    ) -> None:
        self.starts, self.classes = groups, classes
        self.groups = [slice(a, b) for a, b in pairwise(groups.tolist())]
        self.weights = weights / weights.sum()
        self.basis: Floats | None = None
        if not is_sparse(rows) and rows.shape[1] > rows.shape[0]:
            # Wide rows: the learner's direction lies in their span.
            self.basis, triangle = np.linalg.qr(rows.T)
            rows = triangle.T
        self.d = rows.shape[1]
        if offsets is not None:
            rows = np.column_stack([rows, offsets.T])
        self.rows = rows if is_sparse(rows) else np.ascontiguousarray(rows)
        self.penalty = np.zeros(rows.shape[1])
        self.penalty[: self.d] = 1.0
        self.reach = longest_row(rows)
        self.n_iterations = 0

    def solve(
        self, nu: float | None, most: float, temperature: float, tol: float
    ) -> tuple[CappedGame, Floats]:
        """Play until the interval is closed; return the game and the offsets."""
        chosen = nu is None
        self.nu = FIRST_SHARE * most if nu is None else nu
        self.temperature = temperature
        changes = MOST_CHANGES
        self._begin()
        if self.length() <= ZERO * self.reach:
            return self._nothing()  # equal means: no share and no direction pays
        self.tau = self._spread()
        self._answer()
        with calm_blas(min(self.rows.shape)):
            while True:
                self._step()
                last = self.n_iterations >= MOST_ITERATIONS
                length = self.length()
                if length <= ZERO * self.reach:
                    return self._nothing()
                lower, upper = self.bounds()
                if length <= SHORT * self.reach:
                    changes = 0  # below the least share that pays it shrinks for ever
                if changes > 0 and not last:
                    changes -= 1
                    moved = self._choose(most) if chosen else 0.0
                    moved = max(moved, self._retemper())
                    if moved > SETTLED or upper - lower > NEARLY * upper:
                        continue
                    changes = 0
                    lower, upper = self.bounds()
                closed = upper - lower <= tol * upper
                if closed or last:
                    return self._game(lower, upper, closed)

    def length(self) -> float:
        """Return the length of the learner's direction."""
        w = self.v[: self.d]
        return math.sqrt(float(w @ w))

    def bounds(self) -> tuple[float, float]:
        """Return the interval that holds the value, from both players' sides."""
        length = self.length()
        paid = (self.value - float(self.p @ self.z)) / length
        paid -= self.tau / length * np.log(self.nu)  # from the caps to the sample
        lower = self.value / length - self.tau / length * np.log(self.nu)
        upper = float(np.linalg.norm(self.pulled[: self.d])) + paid
        # Weights that are not balanced yet: offsets twice as large would gain by it.
        unbalanced = float(np.abs(self.pulled[self.d :]).sum())
        if unbalanced > 0.0:
            most = 2.0 * np.abs(self.v[self.d :]).max() + np.abs(self.z).max()
            upper += unbalanced * float(most) / length
        return float(lower), float(upper)

    def _begin(self) -> None:
        """Start from the sample's own weights: the difference of the means."""
        self.p = self.weights.copy()
        for group in self.groups:
            self.p[group] /= len(self.groups) * self.p[group].sum()
        self.v = np.asarray(self.p @ self.rows).ravel() * self.penalty
        self.z = np.asarray(self.rows @ self.v).ravel()
        self.levels = np.array([self.z[group].mean() for group in self.groups])

    def _spread(self) -> float:
        """Return the temperature, in the scale that the learner has now."""
        spread = mean_spread(self.z, self.weights, self.classes)
        return self.temperature * max(spread, LEAST_SPREAD * self.reach * self.length())

    def _choose(self, most: float) -> float:
        """Move the share to just above the least that pays; return by how much."""
        least = least_share(self.z, self.weights, self.groups, most)
        share = min(least + ABOVE_LEAST * (most - least), MOST_SHARE * most)
        share = min(share, MOST_GROWTH * self.nu)
        moved = abs(share / self.nu - 1.0)
        self.nu = share
        return moved

    def _retemper(self) -> float:
        """Set the temperature by the spread now; return by how much it moved.

        Against the weights that answer it the learner's best length is their mean
        margin along its direction; with that length the temperature settles at once,
        without it by halves.
        """
        before = self.tau / self.length()
        self.tau = self._spread()
        moved = abs(self.tau / self.length() / before - 1.0)
        self._answer()
        ratio = max(float(self.p @ self.z) / self.length() ** 2, LEAST_SHRINK)
        self.v, self.z, self.tau = ratio * self.v, ratio * self.z, ratio * self.tau
        self.levels = ratio * self.levels
        self.value *= ratio
        self._judge()
        return moved

    def _respond(self, z: Floats) -> tuple[float, Floats, Floats]:
        """Return the data player's answer: its payoff, levels and weights."""
        levels, p = self.levels.copy(), np.empty_like(z)
        value = answer_groups(z, self.caps, self.tau, self.starts, levels, p)
        return value, levels, p

    def _answer(self) -> None:
        """Answer anew, after a change of the share or the temperature."""
        self.caps = np.asarray(self.weights * ((1.0 + SLACK) / self.nu))
        self.value, self.levels, self.p = self._respond(self.z)
        self._judge()

    def _judge(self) -> None:
        v = self.v * self.penalty
        self.objective = 0.5 * float(v @ v) - self.value
        self.pulled = np.asarray(self.p @ self.rows).ravel()
        self.gradient = v - self.pulled

    def _step(self) -> None:
        """Take one Newton step, halved until it pays."""
        self.n_iterations += 1
        dv = self._direction()
        dz = np.asarray(self.rows @ dv).ravel()
        slope = float(self.gradient @ dv)
        rounding = 1e-13 * abs(self.objective)
        share = 1.0
        while True:
            v = self.v + share * dv
            z = self.z + share * dz
            value, levels, p = self._respond(z)
            penalised = v * self.penalty
            objective = 0.5 * float(penalised @ penalised) - value
            enough = self.objective + DECREASE * share * slope + rounding
            if objective <= enough or share <= SHORTEST:
                break
            share *= 0.5
        self.v, self.z, self.p = v, z, p
        self.value, self.levels = value, levels
        self._judge()

    def _direction(self) -> Floats:
        """Solve for the Newton step: identity plus covariance over temperature."""
        loose = np.where(self.p < self.caps, self.p / self.tau, 0.0)
        if is_sparse(self.rows):
            return self._inexact(loose)
        system = weighted_gram(self.rows, loose, self.starts)
        diagonal = system.ravel(order="K")[:: len(system) + 1]  # a view
        tiny = 1e-12 * float(diagonal.mean())
        diagonal += tiny + np.where(self.penalty > 0.0, 1.0, DAMPING / self.tau)
        return -solve_factored(cholesky(system), self.gradient)

    def _inexact(self, loose: Floats) -> Floats:
        """Solve by conjugate gradients: products with sparse rows only."""
        from scipy.sparse.linalg import LinearOperator, cg

        means = group_means(self.rows, loose, self.starts)

        def product(x: Floats) -> Floats:
            out = x * self.penalty + (loose * (self.rows @ x)) @ self.rows
            for mean in means:
                out -= mean * (mean @ x)
            return np.asarray(out)

        size = len(self.gradient)
        operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
        step, _ = cg(operator, -self.gradient, rtol=INEXACT, maxiter=10 * size)
        return np.asarray(step)

    def _game(
        self, lower: float, upper: float, closed: bool
    ) -> tuple[CappedGame, Floats]:
        length = self.length()
        w, offsets = self.v[: self.d] / length, self.v[self.d :] / length
        if self.basis is not None:
            w = self.basis @ w
        levels = self.levels / length
        game = CappedGame(
            w,
            float(0.5 * (levels[0] - levels[-1])),
            float(levels.mean()),
            lower,
            upper,
            self.p,
            self.n_iterations,
            closed,
            self.nu,
            self.tau / length,
        )
        return game, offsets

    def _nothing(self) -> tuple[CappedGame, Floats]:
        """Return the game in which no direction is better than none."""
        size = self.d if self.basis is None else len(self.basis)
        game = CappedGame(
            np.zeros(size), 0.0, 0.0, 0.0, 0.0, self.p, self.n_iterations, True, self.nu
        )
        return game, np.zeros(len(self.penalty) - self.d)
