"""A logistic regression of many coefficients: its systems by conjugate gradients.

Rows have a leverage in common, once left out; `linsep.solvers.soft_margin.logistic`
says why, and what for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from linsep.arrays import Floats
from linsep.rows import is_sparse
from linsep.solvers._factors import solve_factored
from linsep.solvers.soft_margin import _logistic, _passes
from linsep.solvers.soft_margin.regression import MOST_STEPS, Regression
from linsep.solvers.soft_margin.systems import cholesky, weighted_gram

# Columns of a preconditioner that is factored.
MOST_PRECONDITIONED = 1_000
# The relative residual of conjugate gradients, and their iterations at most.
INEXACT, MOST_PRODUCTS = 0.2, 300
# That residual where degrees of freedom are counted, which the choice hangs on.
EXACT = 0.05
# The common leverage is sought up to so many times the mean one, in so many halvings of
# the exponent.
FURTHEST, HALVINGS = 1e6, 12
TINY = float(np.finfo(np.float64).tiny)


class Iterated(Regression):
    """The Hessian at a fit, by products with it."""

    def descend(
        self, share: float, most_steps: int = MOST_STEPS, *, until_right: bool = False
    ) -> None:
        """Do so by conjugate gradients."""
        for _ in range(most_steps):
            if until_right and _logistic.are_right(self.scores, self.labels):
                return
            gradient = self._combined(self.pull) + self.ridge * self.V
            self.before = self.p.copy()
            self._precondition()
            step = self._solve(gradient)
            gain = float(np.vdot(gradient, step))
            self.V, self.scores, self.loss = _logistic.take_step(
                self.V,
                step,
                self.scores,
                self.images(step),
                self.labels,
                self.weights,
                self.ridge,
                self.loss,
                gain,
                self.p,
                self.pull,
            )
            self.n_iterations += 1
            if gain <= share * self.loss:
                return

    @property
    def is_wide(self) -> bool:
        """Whether there are fewer rows than coefficients."""
        return self.V.size > len(self.labels)

    @cached_property
    def moments(self) -> Floats:
        """The lower triangle of the moments of all rows, of the mean weight."""
        return weighted_gram(self.rows, self.weights)

    def _combined(self, answer: Floats) -> Floats:
        return np.ascontiguousarray((self.columns @ answer).T)

    def _products(self, x: Floats) -> Floats:
        """Return the Hessian times coefficients."""
        if is_sparse(self.rows):
            rows = self.rows
            held = rows.data, rows.indices, rows.indptr, self.weights, self.before
            return np.asarray(_passes.curved_product(*held, x) + self.ridge * x)
        answer = self.before * self.images(x)
        answer -= self.before * answer.sum(axis=1, keepdims=True)
        return self._combined(self.weights[:, None] * answer) + self.ridge * x

    def _precondition(self) -> None:
        """Take the moments of all rows for those of the rows as they are curved."""
        self._condition: Callable[[Floats], Floats] = lambda x: x
        size = self.V.shape[1]
        if not is_sparse(self.rows) and size <= MOST_PRECONDITIONED:
            mean = self._curvature.sum() / (self.total * len(self.V))
            system = self.moments * mean
            system.ravel(order="K")[:: size + 1] += self.ridge
            triangle = cholesky(system)
            self._condition = lambda x: solve_factored(triangle, x.T).T

    @cached_property
    def signs(self) -> Floats:
        """Random signs for every score, the same at every penalty."""
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=self.scores.shape)
        return np.asarray(signs)

    @property
    def _curvature(self) -> Floats:
        """The diagonal of each row's second derivatives, weighted."""
        return self.weights[:, None] * self.before * (1.0 - self.before)

    def _solve(self, right: Floats, inexact: float = INEXACT) -> Floats:
        """Solve with the Hessian by conjugate gradients."""
        x, residual = np.zeros_like(right), right
        z = self._condition(residual)
        direction, size = z, float(np.vdot(residual, z))
        enough = inexact**2 * float(np.vdot(right, right))
        for _ in range(MOST_PRODUCTS):
            if float(np.vdot(residual, residual)) <= enough:
                break
            product = self._products(direction)
            length = size / float(np.vdot(direction, product))
            x = x + length * direction
            residual = residual - length * product
            z = self._condition(residual)
            before, size = size, float(np.vdot(residual, z))
            direction = z + (size / before) * direction
        return x

    def moves(self, residual: Floats) -> Floats:
        """Return them by the leverage that rows have in common, once left out."""
        return self.common_leverage() * self.units[:, None] * residual

    def common_leverage(self) -> float:
        """Return the g at which rows have as many degrees of freedom as they take."""
        wanted = self.degrees()
        low = wanted / max(float(self._curvature.sum()), TINY)
        step = FURTHEST
        for _ in range(HALVINGS):
            step = np.sqrt(step)
            if self._taken(low * step) < wanted:
                low *= step
        return low

    def degrees(self) -> float:
        """Return the trace of the inverse times the rows' part of the Hessian.

        It is estimated by random signs (Hutchinson), times a root of each curvature.
        """
        p, signs = self.before, self.signs
        if p.shape[1] == 1:
            spread = np.sqrt(p * (1.0 - p)) * signs
        else:
            root = np.sqrt(p)
            spread = root * (signs - root * (root * signs).sum(axis=1, keepdims=True))
        drawn = self._combined(np.sqrt(self.weights)[:, None] * spread)
        return float(np.vdot(drawn, self._solve(drawn, EXACT)))

    def _taken(self, leverage: float) -> float:
        """Return the degrees of freedom that rows of a leverage, left out, take.

        With C the curvature of a row's loss, ``trace(g C inverse(I + g C))``.
        """
        p, each = self.before, leverage * self.units[:, None]
        if p.shape[1] == 1:
            curved = each * p * (1.0 - p)
            share = curved / (1.0 + curved)
        else:  # C is diag(p) - p p'
            kept = 1.0 / (1.0 + each * p)
            rest = (p * kept).sum(axis=1, keepdims=True)
            share = 1.0 - kept - each * np.square(p * kept) / rest
        return float(self.weights / self.units @ share.sum(axis=1))
