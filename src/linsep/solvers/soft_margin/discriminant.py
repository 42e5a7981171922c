r"""Linear discriminants of rows fewer than their columns, by leave-one-out.

There any labels can be separated, and a logistic regression learns from a row the less
the surer it is of it: of columns whose noise is common to all rows it learns too little
to project it out (of two normal classes four standard deviations apart it needs three
times the rows that the discriminant does, in Efron's table). So the classes are taken
for normal, of means ``m_k`` and one covariance, whose estimate is lifted by a ridge:

    A = sum_i c_i (x_i - m_{y_i}) (x_i - m_{y_i})' + penalty * s * sum_i c_i * I,

``s`` the mean square length of the rows. The score of class k is

    a (m_k' inverse(A) x - m_k' inverse(A) m_k / 2) + b_k.

Where columns are many, means and covariance fit their own rows far better than others,
and the more so the fewer rows a class has. So ``a`` and ``b_k`` are those of the least
log loss of rows that are predicted without them (Platt), and so is the penalty. Leaving
out a row moves one mean along the row, and ``A`` by a multiple of a square: both are
followed exactly.

Some classes are never told apart for certain: of all rows, one is taken to be of any
class, without which ``a`` would be infinite where left-out rows are separated.

References
----------
Friedman, "Regularized Discriminant Analysis" (1989), for the rows left out. Efron, "The
Efficiency of Logistic Regression Compared to Normal Discriminant Analysis" (1975).
Guo, Hastie & Tibshirani, "Regularized Linear Discriminant Analysis and Its Application
in Microarrays" (2007). Platt, "Probabilistic Outputs for Support Vector Machines"
(1999).
"""

from __future__ import annotations

import numpy as np

from linsep.arrays import Floats, Index, Mask
from linsep.solvers._factors import divided, solve_factored
from linsep.solvers.soft_margin import _logistic
from linsep.solvers.soft_margin.regression import squared_lengths
from linsep.solvers.soft_margin.systems import cholesky, weighted_gram

# The penalties tried, strongest first: at ten the nearest mean is all there is.
PENALTIES = tuple(10.0**-power for power in range(-1, 9))
# Newton's steps to the multiple and the offsets of scores, and the share of the loss
# that the last one of them gains, at most.
MOST_STEPS, ENOUGH = 50, 1e-6
# Sufficient decrease of a step, and the shortest one tried.
DECREASE, SHORTEST = 1e-4, 1e-6
# What keeps a system of classes that no row is taken for from being singular.
LIFT = 1e-10
TINY = float(np.finfo(np.float64).tiny)


class Discriminant:
    """Means, scatter, and the rule at one penalty after another."""

    def __init__(
        self,
        rows: Floats,
        labels: Index,
        weights: Floats,
        units: Floats,
        n_classes: int,
    ) -> None:
        self.labels, self.weights, self.units = labels, weights, units
        self.mass = np.bincount(labels, weights, n_classes)
        self.means = np.zeros((n_classes, rows.shape[1]))
        np.add.at(self.means, labels, weights[:, None] * rows)
        self.means /= self.mass[:, None]
        self.within = rows - self.means[labels]
        self.scatter = weighted_gram(self.within, weights)
        self.unit = float(weights @ squared_lengths(rows)) or 1.0
        self.n_systems = 0

    def fit(self) -> tuple[Floats, Floats, float]:
        """Return coefficients and offsets, a class each, and the penalty chosen."""
        losses: list[float] = []
        for penalty in PENALTIES:
            self.penalise(penalty)
            losses.append(self.calibrated(self.left_out_scores())[0])
            if losses[-1] > min(losses):
                break
        penalty = PENALTIES[0] * 0.1 ** least_place(losses)
        self.penalise(penalty)
        _, a, b = self.calibrated(self.left_out_scores())
        normals = np.ascontiguousarray(solve_factored(self.triangle, self.means.T).T)
        squares = np.einsum("kj,kj->k", normals, self.means)
        return a * normals, b - 0.5 * a * squares, penalty

    def penalise(self, penalty: float) -> None:
        """Factor the system of a penalty."""
        system = self.scatter.copy(order="F")
        system[np.diag_indices_from(system)] += penalty * self.unit
        self.triangle = cholesky(system)
        self.n_systems += 1

    def left_out_scores(self) -> Floats:
        """Return minus half the squared distances of rows from means without them.

        Row i, of class k and of deviation ``u`` from its mean, leaves a mean from which
        it deviates by ``r u``, ``r = N / (N - c)`` for the class's weight N and that of
        the row, and a scatter less by ``c r u u'``.
        """
        upper = self.triangle.T
        within, means = divided(self.within, upper), divided(self.means, upper)
        own = np.arange(len(self.labels)), self.labels
        mass = self.mass[self.labels]
        ratio = mass / np.maximum(mass - self.units, TINY)
        ratio[self.is_alone] = 0.0
        # Of the deviations from every class's mean: their products with u, and squares.
        between = within @ means.T
        gram = means @ means.T
        size = np.einsum("ij,ij->i", within, within)
        products = size[:, None] + between[own][:, None] - between
        apart = (
            np.diag(gram)[self.labels][:, None] + np.diag(gram) - 2 * gram[self.labels]
        )
        squares = 2.0 * products - size[:, None] + apart
        products[own], squares[own] = ratio * size, np.square(ratio) * size
        taken = self.units * ratio
        rest = np.maximum(1.0 - taken * size, np.finfo(np.float64).eps)
        return np.asarray(
            -0.5 * (squares + (taken / rest)[:, None] * np.square(products))
        )

    @property
    def is_alone(self) -> Mask:
        """Whether no row of its class is left without a row, so nothing predicts it."""
        mass = self.mass[self.labels]
        return np.asarray(mass - self.units <= 1e-9 * mass)

    def calibrated(self, scores: Floats) -> tuple[float, float, Floats]:
        """Return the least mean loss of ``a * scores + b``, a >= 0, and a and b."""
        weights = np.where(self.is_alone, 0.0, self.weights)
        total = float(weights.sum())
        n_classes = scores.shape[1]
        offsets = np.log(self.mass / self.mass.sum())
        if total == 0.0:
            return 0.0, 0.0, offsets
        unknown = 1.0 / float(weights @ (1.0 / self.units))
        targets = np.full_like(scores, -1.0 / n_classes)
        targets[np.arange(len(scores)), self.labels] += 1.0
        targets *= unknown * weights[:, None]
        apart = scores - scores.max(axis=1, keepdims=True)
        size = float(np.sqrt(weights @ np.square(apart).mean(axis=1) / total)) or 1.0
        apart /= size
        drift = np.append(np.vdot(targets, apart), targets.sum(axis=0))
        p, pull = np.empty_like(apart), np.empty_like(apart)

        def judge(x: Floats) -> float:
            given = x[0] * apart + x[1:], self.labels, weights, p, pull
            return float(_logistic.judge(*given) + drift @ x)

        x = np.append(0.0, offsets)
        loss = judge(x)
        if np.vdot(pull, apart) + drift[0] >= 0.0:  # they say nothing
            return loss / total, 0.0, offsets
        for _ in range(MOST_STEPS):
            gradient = drift + np.append(np.vdot(pull, apart), pull.sum(axis=0))
            curved = weights[:, None] * p
            mean = np.einsum("ij,ij->i", p, apart)
            about = curved * (apart - mean[:, None])
            hessian = np.empty((n_classes + 1, n_classes + 1))
            hessian[0, 0] = np.vdot(about, apart)
            hessian[0, 1:] = hessian[1:, 0] = about.sum(axis=0)
            hessian[1:, 1:] = np.diag(curved.sum(axis=0)) - p.T @ curved
            # Offsets common to all classes mean nothing.
            hessian[1:, 1:] += hessian.trace() / n_classes
            hessian[np.diag_indices_from(hessian)] *= 1.0 + LIFT
            step = np.linalg.solve(hessian, gradient)
            gain = float(gradient @ step)
            length, before = 1.0, loss
            while length > SHORTEST:
                loss = judge(x - length * step)
                if loss <= before - DECREASE * length * gain:
                    break
                length *= 0.5
            x = x - length * step
            if gain <= ENOUGH * loss:
                break
        return loss / total, float(x[0]) / size, x[1:]


def least_place(losses: list[float]) -> float:
    """Return where a parabola through the least loss and its neighbours is least.

    Examples
    --------
    >>> least_place([0.6, 0.5, 0.5, 0.7]), least_place([0.3, 0.4])
    (1.5, 0.0)
    """
    place = int(np.argmin(losses))
    if not 0 < place < len(losses) - 1:
        return float(place)
    before, least, after = losses[place - 1 : place + 2]
    return place + 0.5 * (before - after) / (before - least + after - least)
