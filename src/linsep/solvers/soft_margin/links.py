"""What scores say of classes in a logistic regression: losses, curvature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linsep.solvers.soft_margin.systems import weighted_gram

Floats = NDArray[np.float64]


class TwoClasses:
    """One score: the logarithm of the odds of class 1."""

    def __init__(self, labels: NDArray[np.intp]) -> None:
        self.targets = (labels == 1).astype(np.float64)[:, None]
        self.signs = 2.0 * self.targets - 1.0

    def losses(self, scores: Floats) -> Floats:
        """Return minus the log of the probability of each row's class."""
        signed = self.signs * scores
        small = np.log1p(np.exp(-np.abs(signed)))
        return np.asarray((small - np.minimum(signed, 0.0)).ravel())

    def margins(self, scores: Floats) -> Floats:
        """Return how far each row is on its side."""
        return np.asarray((self.signs * scores).ravel())

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probabilities that scores give."""
        small = np.exp(-np.abs(scores))
        return np.asarray(np.where(scores >= 0.0, 1.0, small) / (1.0 + small))

    def curved(self, p: Floats, change: Floats) -> Floats:
        """Return how probabilities answer to a change of the scores."""
        return np.asarray(p * (1.0 - p) * change)

    def hessian(self, rows: Floats, weights: Floats, p: Floats) -> Floats:
        """Return the moments of rows so curved, the lower triangle."""
        return weighted_gram(rows, (weights * p * (1.0 - p)).ravel())


class ManyClasses:
    """A score a class: logarithms of probabilities, but for what all have in common."""

    def __init__(self, labels: NDArray[np.intp], n_classes: int) -> None:
        self.labels, self.at = labels, np.arange(len(labels))
        self.targets = np.zeros((len(labels), n_classes))
        self.targets[self.at, labels] = 1.0

    def losses(self, scores: Floats) -> Floats:
        """Return minus the log of the probability of each row's class."""
        top = scores.max(axis=1)
        total = np.exp(scores - top[:, None]).sum(axis=1)
        return np.asarray(np.log(total) + top - scores[self.at, self.labels])

    def margins(self, scores: Floats) -> Floats:
        """Return how far each row is on its side."""
        rivals = scores.copy()
        rivals[self.at, self.labels] = -np.inf
        return np.asarray(scores[self.at, self.labels] - rivals.max(axis=1))

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probabilities that scores give."""
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def curved(self, p: Floats, change: Floats) -> Floats:
        """Return how probabilities answer to a change of the scores."""
        changed = p * change
        return np.asarray(changed - p * changed.sum(axis=1, keepdims=True))

    def hessian(self, rows: Floats, weights: Floats, p: Floats) -> Floats:
        """Return the moments of rows so curved, the lower triangle."""
        (n, d), k = rows.shape, p.shape[1]
        spread = (p[:, :, None] * rows[:, None, :]).reshape(n, k * d)
        hessian = -weighted_gram(spread, weights.ravel())
        for own in range(k):
            at = slice(own * d, (own + 1) * d)
            hessian[at, at] += weighted_gram(rows, weights.ravel() * p[:, own])
        return np.asarray(hessian)
