r"""Linear discriminants of rows fewer than their columns, by leave-one-out.

There any labels can be separated, and a logistic regression learns from a row the less
the surer it is of it: of columns whose noise is common to all rows it learns too little
to project it out (of two normal classes four standard deviations apart it needs three
times the rows that the discriminant does, in Efron's table). So the classes are taken
for normal, of means ``m_k`` and one covariance, whose estimate is lifted by a ridge:

    A = sum_i c_i (x_i - m_{y_i}) (x_i - m_{y_i})' + penalty * s * sum_i c_i * I,

``s`` the mean square length of the rows. The score of class k is

    a (m_k' inverse(A) x - m_k' inverse(A) m_k / 2) + b_k.

Means of few rows are themselves mostly noise, so where classes are many and their rows
few, the scatter of the means says as much of the noise as that within classes. Scores
of a second kind take all of it for noise: those of a ridge regression of indicators of
the classes, ``A`` with the scatter of the means added. For x from the mean of all rows,
``z_k = m_k' inverse(A) x``, ``G_kl = m_k' inverse(A) m_l`` and classes of weights N_k
they are, by Woodbury's identity,

    a inverse(G + diag(1 / N)) z + b.

The first kind sees a class between two others, which the second does not. (Of two
classes both have one direction.)

Where columns are many, means and covariance fit their own rows far better than others,
and the more so the fewer rows a class has. So ``a`` and ``b_k`` are those of the least
log loss of rows that are predicted without them (Platt). Leaving out a row moves one
mean along the row, and ``A`` by a multiple of a square; both kinds follow that exactly.
What is fitted is the mean of both kinds at all penalties, each weighed by its
likelihood ``exp(-L)``, L the sum of its losses, as those of a logistic regression are.

Some classes are never told apart for certain: of all rows, one is taken to be of any
class, without which ``a`` would be infinite where left-out rows are separated. Offsets
are taken to be normal about the logs of the classes' shares, of variance ten, without
which few rows of a class would say much of its offset, and one row anything.

References
----------
Friedman, "Regularized Discriminant Analysis" (1989), for the rows left out. Hastie,
Buja & Tibshirani, "Penalized Discriminant Analysis" (1995), for both kinds. Efron, "The
Efficiency of Logistic Regression Compared to Normal Discriminant Analysis" (1975).
Guo, Hastie & Tibshirani, "Regularized Linear Discriminant Analysis and Its Application
in Microarrays" (2007). Platt, "Probabilistic Outputs for Support Vector Machines"
(1999).
"""

from __future__ import annotations

import numpy as np

from linsep.arrays import Floats, Index, Mask
from linsep.solvers._factors import divided, solve_factored
from linsep.solvers.soft_margin.regression import likelihoods, squared_lengths
from linsep.solvers.soft_margin.systems import cholesky, weighted_gram

# The penalties tried, strongest first: at one the nearest mean is about all there is.
PENALTIES = tuple(10.0**-power for power in range(9))
# One by the variance of the offsets, in nats.
OFFSETS = 0.1
# Newton's steps to the multiple and the offsets of scores, and the nats that the last
# one of them gains, at most.
MOST_STEPS, ENOUGH = 50, 1e-6
# Sufficient decrease of a step, and the shortest one tried.
DECREASE, SHORTEST = 1e-4, 1e-6
# What keeps a system of scores that are all alike from being singular.
LIFT = 1e-10
EPS = float(np.finfo(np.float64).eps)

# Scores of left-out rows, then normals and constants: those of new rows.
Rule = tuple[Floats, Floats, Floats]


class Discriminant:
    """Means, scatter, and the rules at one penalty after another."""

    def __init__(
        self,
        rows: Floats,
        labels: Index,
        weights: Floats,
        units: Floats,
        n_classes: int,
    ) -> None:
        self.labels, self.weights, self.units = labels, weights, units
        self.own = np.arange(len(labels)), labels
        self.mass = np.bincount(labels, weights, n_classes)
        self.shares = self.mass / self.mass.sum()
        self.centre = weights @ rows / self.mass.sum()
        rows = rows - self.centre
        self.means = np.zeros((n_classes, rows.shape[1]))
        np.add.at(self.means, labels, weights[:, None] * rows)
        self.means /= self.mass[:, None]
        self.within = rows - self.means[labels]
        self.scatter = weighted_gram(self.within, weights)
        self.unit = float(weights @ squared_lengths(rows)) or 1.0
        self.n_systems = 0

    def fit(self) -> tuple[Floats, Floats, float]:
        """Return coefficients and offsets, a class each, and the mean penalty."""
        rules, penalties = [], []
        for penalty in PENALTIES:
            some = self.rules(penalty)
            rules += some
            penalties += [penalty] * len(some)
        scores, normals, constants = map(np.array, zip(*rules, strict=True))
        losses, a, b = self.calibrated(scores)
        shares = likelihoods(losses)
        coef = np.tensordot(shares * a, normals, axes=1)
        offsets = shares @ (a[:, None] * constants + b) - coef @ self.centre
        return coef, offsets, float(np.exp(shares @ np.log(penalties)))

    def rules(self, penalty: float) -> list[Rule]:
        """Return the discriminant of a penalty, and the regression of indicators."""
        system = self.scatter.copy(order="F")
        system[np.diag_indices_from(system)] += penalty * self.unit
        triangle = cholesky(system)
        self.n_systems += 1
        upper = triangle.T
        within, means = divided(self.within, upper), divided(self.means, upper)
        # Products of the rows' deviations with means, of means, and of deviations.
        between, gram = within @ means.T, means @ means.T
        size = np.einsum("ij,ij->i", within, within)
        normals = np.ascontiguousarray(solve_factored(triangle, self.means.T).T)
        left_out = self.without_themselves(between, gram, size)
        rules = [(left_out, normals, -0.5 * np.diag(gram))]
        if len(gram) > 2:
            mixed = self.mixed(gram)
            left_out = self.regressed(between, size, mixed)
            rules.append((left_out, mixed @ normals, self.shares))
        return rules

    def without_themselves(self, between: Floats, gram: Floats, size: Floats) -> Floats:
        """Return minus half the squared distances of rows from means without them.

        Row i, of class k and of deviation ``u`` from its mean, leaves a mean from which
        it deviates by ``r u``, ``r = N / (N - c)`` for the class's weight N and that of
        the row, and a scatter less by ``c r u u'``.
        """
        own = self.own
        mass = self.mass[self.labels]
        ratio = np.where(self.is_alone, 0.0, mass)
        ratio /= np.where(self.is_alone, 1.0, mass - self.units)
        # Of the deviations from every class's mean: their products with u, and squares.
        products = size[:, None] + between[own][:, None] - between
        apart = (
            np.diag(gram)[self.labels][:, None] + np.diag(gram) - 2 * gram[self.labels]
        )
        squares = 2.0 * products - size[:, None] + apart
        products[own], squares[own] = ratio * size, np.square(ratio) * size
        taken = self.units * ratio
        rest = np.maximum(1.0 - taken * size, EPS)
        return np.asarray(
            -0.5 * (squares + (taken / rest)[:, None] * np.square(products))
        )

    def mixed(self, gram: Floats) -> Floats:
        """Return the inverse of ``G + diag(1 / N)``, but for what z never meets.

        Both z and G vanish along N, where the inverse is ``N N' / sum(N)``. Beside it
        the rest would be lost to rounding; so it is made small, then taken away.
        """
        total, size = self.mass.sum(), gram.trace()
        inverse = np.linalg.inv(gram + np.diag(1.0 / self.mass) + size)
        along = np.outer(self.mass, self.mass) / total / (1.0 + size * total)
        return np.asarray(inverse - along)

    def regressed(self, between: Floats, size: Floats, mixed: Floats) -> Floats:
        """Return the regression's values for rows without them, by their leverages."""
        mass, moved = self.mass[self.labels], between @ mixed
        leverages = size - np.einsum("ij,ij->i", moved, between)
        own = 2.0 * moved[self.own] - np.diag(mixed)[self.labels] / mass
        leverages += (1.0 + own) / mass
        missing = mixed[self.labels] / mass[:, None] - moved
        missing /= np.maximum(1.0 - self.units * leverages, EPS)[:, None]
        missing[self.own] -= 1.0
        return -missing

    @property
    def is_alone(self) -> Mask:
        """Whether no row of its class is left without a row, so nothing predicts it."""
        mass = self.mass[self.labels]
        return np.asarray(mass - self.units <= 1e-9 * mass)

    def calibrated(self, scores: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the least losses of ``a * scores + b``, in nats, and a >= 0 and b.

        Scores are of shape (rules, n, classes); every rule has its own a and b.
        """
        n_rules, n, n_classes = scores.shape
        weights = np.where(self.is_alone, 0.0, self.weights)
        n_rows = float(weights @ (1.0 / self.units))
        weights *= n_rows / (weights.sum() or 1.0)
        targets = np.full((n, n_classes), 1.0 / n_classes / max(n_rows, 1.0))
        targets[self.own] += 1.0 - 1.0 / max(n_rows, 1.0)
        apart = scores - scores.max(axis=2, keepdims=True)
        size = np.sqrt(weights @ np.square(apart).mean(axis=2).T / max(n_rows, 1.0))
        size[size == 0.0] = 1.0
        apart /= size[:, None, None]
        about = np.log(self.shares)

        def judge(x: Floats) -> tuple[Floats, Floats]:
            some = x[:, :1, None] * apart + x[:, None, 1:]
            some -= some.max(axis=2, keepdims=True)
            p = np.exp(some)
            total = p.sum(axis=2, keepdims=True)
            loss = (np.log(total[..., 0]) - (targets * some).sum(axis=2)) @ weights
            loss += 0.5 * OFFSETS * np.square(x[:, 1:] - about).sum(axis=1)
            return loss, p / total

        x = np.tile(np.append(0.0, about), (n_rules, 1))
        loss, p = judge(x)
        nothing = loss
        hessian = np.empty((n_rules, n_classes + 1, n_classes + 1))
        diagonal = np.arange(1, n_classes + 1)
        for _ in range(MOST_STEPS):
            pull = weights[:, None] * (p - targets)
            gradient = np.empty_like(x)
            gradient[:, 0] = (pull * apart).sum(axis=(1, 2))
            gradient[:, 1:] = pull.sum(axis=1) + OFFSETS * (x[:, 1:] - about)
            curved = weights[:, None] * p
            bent = curved * (apart - (p * apart).sum(axis=2, keepdims=True))
            hessian[:, 0, 0] = (bent * apart).sum(axis=(1, 2)) + LIFT
            hessian[:, 0, 1:] = hessian[:, 1:, 0] = bent.sum(axis=1)
            hessian[:, 1:, 1:] = -p.transpose(0, 2, 1) @ curved
            hessian[:, diagonal, diagonal] += curved.sum(axis=1) + OFFSETS
            step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
            gain = (gradient * step).sum(axis=1)
            before, length = loss, np.ones(n_rules)
            while True:
                loss, p = judge(x - length[:, None] * step)
                far = (loss > before - DECREASE * length * gain) & (gain > ENOUGH)
                far &= length > SHORTEST
                if not far.any():
                    break
                length[far] *= 0.5
            x -= length[:, None] * step
            if gain.max() <= ENOUGH:
                break
        wrong = x[:, 0] <= 0.0  # their scores say nothing
        loss[wrong], x[wrong] = nothing[wrong], np.append(0.0, about)
        return loss, x[:, 0] / size, x[:, 1:]
