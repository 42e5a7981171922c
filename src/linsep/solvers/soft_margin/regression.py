"""A logistic regression at one ridge penalty after another, and the mean of them.

How rows are predicted without them is said in `linsep.solvers.soft_margin.logistic`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.rows import is_sparse
from linsep.solvers.scaling import reduced_rows
from linsep.solvers.soft_margin import _logistic

# The penalties tried, strongest first.
PENALTIES = tuple(10.0**-power for power in range(1, 11))
# Steps to the best stretch of scores, by no more than a factor each; it need not be
# nearer than a share.
STRETCHES, FURTHER, ABOUT = 10, 8.0, 0.1
# Newton's method ends with a step that lowers the loss by no more than this share of
# it, which leaves about the square.
ROUGHLY = 0.03
MOST_STEPS = 100
# Coefficients that move the scores by no more than this say nothing.
NOTHING = 1e-12
# The penalty of offsets, which they have for systems' sake only.
OFFSET_PENALTY = 1e-10


class Regression:
    """The fit at one penalty after another; `V` holds coefficients, then offsets."""

    def __init__(
        self,
        features: Any,
        labels: Index,
        weights: Floats,
        units: Floats,
        n_scores: int,
        free: bool,
    ) -> None:
        n, self.d = features.shape
        self.total = float(weights.sum())
        self.unit = float(weights @ squared_lengths(features))
        if free:
            features = with_constant(features)
        # SciPy takes as long to transpose small sparse rows as to multiply by them.
        self.rows, self.columns = features, features.T
        self.labels, self.weights, self.units = labels, weights, units
        self.V = np.zeros((n_scores, features.shape[1]))
        self.n_iterations = 0
        self.stretch = 1.0
        self._judge(np.zeros((n, n_scores)))
        self.penalise(PENALTIES[0])

    def parts(self, basis: Floats | None) -> tuple[Floats, Floats]:
        """Return coefficients, in the columns given, and offsets."""
        coef, offsets = self.V[:, : self.d].copy(), self.V[:, self.d :].sum(axis=1)
        if float((coef * coef).sum()) * self.unit <= NOTHING**2 * self.total:
            coef = 0.0 * coef
        return coef if basis is None else coef @ basis.T, offsets

    def weigh(self, weights: Floats) -> None:
        """Give rows other weights."""
        self.weights = weights
        self._judge(self.scores)

    def penalise(self, penalty: float) -> None:
        """Set the penalty."""
        self.ridge = np.full(self.V.shape[1], penalty * (self.unit or 1.0))
        self.ridge[self.d :] = OFFSET_PENALTY * self.total

    @property
    def is_wide(self) -> bool:
        """Whether the loss of left-out rows falls because their scores grow."""
        return False

    def choose(self) -> float:
        """Take the mean of fits, each as likely as what it says of left-out rows.

        Returns the penalty, the geometric mean.
        """
        losses: list[float] = []
        stretched: list[float] = []
        fits: list[Floats] = []
        for penalty in PENALTIES:
            self.penalise(penalty)
            self.descend(ROUGHLY)
            scores = self.left_out_scores()
            losses.append(self.mean_loss(scores))
            fits.append(self.V.copy())
            if self.is_wide:
                stretched.append(self.stretched_loss(scores))
                if stretched[-1] > min(stretched):
                    break
            if losses[-1] > min(losses):
                break
        n_tried = 1 + int(np.argmin(stretched)) if self.is_wide else len(fits)
        n_rows = float(self.weights @ (1.0 / self.units))
        shares = likelihoods(n_rows * np.array(losses[:n_tried]))
        self.V = np.tensordot(shares, fits[:n_tried], axes=1)
        self._judge(self.images(self.V))
        return float(np.exp(shares @ np.log(PENALTIES[:n_tried])))

    def descend(
        self, share: float, most_steps: int = MOST_STEPS, *, until_right: bool = False
    ) -> None:
        """Go on by Newton's method until a step lowers the loss by no more.

        Or, if wanted, until the classes are separated.
        """
        raise NotImplementedError

    def left_out_scores(self) -> Floats:
        """Return the scores of rows that are predicted without them."""
        return self.scores + self.moves(self.pull / self.weights[:, None])

    def mean_loss(self, scores: Floats) -> float:
        """Return the mean loss of scores."""
        p, pull = np.empty_like(scores), np.empty_like(scores)
        loss = _logistic.judge(scores, self.labels, self.weights, p, pull)
        return loss / self.total

    def stretched_loss(self, scores: Floats) -> float:
        """Return the least mean loss of multiples of scores, about: by Newton's method.

        The multiple at the penalty before is where it begins.
        """
        p, pull = np.empty_like(scores), np.empty_like(scores)
        for _ in range(STRETCHES):
            some = self.stretch * scores
            loss = _logistic.judge(some, self.labels, self.weights, p, pull)
            moments = p * some
            bent = (moments * some).sum(axis=1) - np.square(moments.sum(axis=1))
            slope, curvature = float(np.vdot(pull, some)), float(self.weights @ bent)
            share = slope / curvature if curvature else 0.0
            self.stretch *= min(max(1.0 - share, 1.0 / FURTHER), FURTHER)
            if abs(share) <= ABOUT:
                return (loss - 0.5 * share * slope) / self.total
        return loss / self.total

    def moves(self, residual: Floats) -> Floats:
        """Return how scores move when each row is left out, shape (n, k)."""
        raise NotImplementedError

    def images(self, V: Floats) -> Floats:
        """Return the scores that coefficients give."""
        return np.asarray(self.rows @ V.T)

    def _judge(self, scores: Floats) -> None:
        self.scores, self.p = scores, np.empty_like(scores)
        self.pull = np.empty_like(scores)
        given = scores, self.labels, self.weights, self.p, self.pull
        self.loss = _logistic.judge(*given)


def likelihoods(losses: Floats) -> Floats:
    """Return the shares, of sum 1, of fits that lose so many nats.

    Examples
    --------
    >>> likelihoods(np.array([900.0, 2.0, 2.0 + np.log(3.0)])).round(6).tolist()
    [0.0, 0.75, 0.25]
    """
    shares = np.exp(losses.min() - losses)
    return np.asarray(shares / shares.sum())


def with_constant(features: Any) -> Any:
    """Append a column of ones."""
    ones = np.ones((features.shape[0], 1))
    if not is_sparse(features):
        return np.ascontiguousarray(np.hstack([features, ones]))
    from scipy.sparse import csr_array, hstack

    return csr_array(hstack([csr_array(features), csr_array(ones)]))


def squared_lengths(rows: Any) -> Floats:
    """Return the squared length of every row."""
    if is_sparse(rows):
        return reduced_rows(np.add, np.square(rows.data), rows, slice(0, rows.shape[0]))
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
