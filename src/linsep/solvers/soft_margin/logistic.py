r"""Logistic regression with a ridge penalty that the rows choose, by leave-one-out.

For weights ``c_i``, features ``x_i`` of mean square length ``s`` and classes ``y_i``,

    minimise  sum_i c_i loss(y_i, W x_i + b)  +  penalty * s * sum_i c_i * |W|^2 / 2,

the loss minus the log of the probability that the scores give to ``y_i``: one score for
two classes, a score a class for more. Offsets ``b`` are not penalised. The scale ``s``
makes the penalty a pure number.

Which penalty: each row is predicted by the fit without it, approximately. Leaving out a
row of gradient ``p_i - y_i`` moves its scores by ``h_i (p_i - y_i) / (1 - h_i v_i)``,
by one step of Newton's method, with ``v_i`` the curvature of its loss and ``h_i`` its
leverage, from the inverse of the Hessian (matrices, of many classes). Where the inverse
is too large to form, every row has the mean leverage, as in generalised
cross-validation (Golub, Heath & Wahba, Technometrics 21, 1979), which the trace of the
inverse gives:

    h sum_i c_i v_i  =  number of coefficients  -  trace(penalty part / Hessian).

The loss so predicted is flat about its least, and it prizes sure probabilities above
right classes, so it does not tell similar penalties apart. Of those whose loss is
within 2 % of the least the strongest is taken: the fit that depends least on the rows
drawn. The penalties tried go down by powers of ten, each fit beginning at the one
before, and end when the loss rises: some six fits of two or three systems each.

Systems: small ones by a Cholesky factor; others by conjugate gradients, which need
products with the rows only, dense rows preconditioned by the moments of all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import is_sparse
from linsep.solvers._factors import solve_factored
from linsep.solvers.blas import calm_blas
from linsep.solvers.soft_margin import _logistic
from linsep.solvers.soft_margin.systems import block_rows, cholesky, weighted_gram

Floats = NDArray[np.float64]

# The penalties tried, strongest first.
PENALTIES = tuple(10.0**-power for power in range(1, 8))
# A loss this little above the least counts as the least.
ALIKE = 1.02
# Coefficients of a system that is factored, and of one whose preconditioner is.
MOST_FACTORED, MOST_PRECONDITIONED = 300, 1_000
# Newton's method ends with a step that lowers the loss by no more than this share of
# it, which leaves about the square: on the way, and at the penalty chosen.
ROUGHLY, FINELY = 0.03, 1e-5
MOST_STEPS = 100
# The penalty at which a fit is followed to where it would end without any, and steps.
NEXT_TO_NONE, MOST_FOLLOWED = 1e-12, 25
# The relative residual of conjugate gradients, and their iterations at most.
INEXACT, MOST_PRODUCTS = 0.2, 300
# Coefficients that move the scores by no more than this say nothing.
NOTHING = 1e-12
# Offsets are penalised by this share of the least penalty, for systems' sake only.
OFFSET_SHARE = 1e-3
# A row's leverage times its curvature is less than one; the mean leverage's need not.
LEAST_REST = 0.1


@dataclass(frozen=True)
class LogisticFit:
    """A fitted regression.

    Attributes
    ----------
    coef : ndarray of shape (1, d) or (n_classes, d)
    offsets : ndarray of shape (1,) or (n_classes,)
    penalty : float
    loss : float
        Mean loss of rows predicted without them, at the penalty of least loss.
    loose : tuple of two ndarray
        Coefficients and offsets of next to no penalty: they separate the classes, or
        are near the estimate that has none.
    n_iterations : int
        Linear systems solved.
    """

    coef: Floats
    offsets: Floats
    penalty: float
    loss: float
    loose: tuple[Floats, Floats]
    n_iterations: int


def fit_logistic(
    features: Any,
    labels: NDArray[np.intp],
    weights: Floats,
    units: Floats,
    n_classes: int,
    *,
    free: bool = True,
) -> LogisticFit:
    """Fit classes 0 to ``n_classes - 1``, the penalty chosen by leave-one-out.

    Parameters
    ----------
    features : ndarray or csr_matrix of shape (n, d)
    labels : ndarray of shape (n,)
        Class numbers, every one present.
    weights : ndarray of shape (n,)
        Sample weights, > 0.
    units : ndarray of shape (n,)
        What part of a weight is left out at a time: less than the weight where equal
        rows were merged.
    n_classes : int
        At least 2; of two classes the score is that of class 1.
    free : bool, default=True
        Whether there are offsets.
    """
    basis = None
    if not is_sparse(features) and features.shape[1] > features.shape[0]:
        # Wide rows: the coefficients lie in their span.
        basis, triangle = np.linalg.qr(features.T)
        features = np.ascontiguousarray(triangle.T)
    fit = regression(features, labels, weights, units, n_classes, free)
    with calm_blas(min(features.shape)):
        penalty, loss = fit.choose()
        chosen = fit.parts(basis)
        fit.penalise(NEXT_TO_NONE)
        fit.descend(ROUGHLY, MOST_FOLLOWED, until_right=True)
    loose = fit.parts(basis)
    return LogisticFit(*chosen, penalty, loss, loose, fit.n_iterations)


def regression(
    features: Any,
    labels: NDArray[np.intp],
    weights: Floats,
    units: Floats,
    n_classes: int,
    free: bool,
) -> Regression:
    """Return the regression by the method that suits its size."""
    n_scores = 1 if n_classes == 2 else n_classes
    size = n_scores * (features.shape[1] + int(free))
    is_small = size <= MOST_FACTORED and not is_sparse(features)
    method = Factored if is_small else Iterated
    return method(features, labels, weights, units, n_scores, free)


class Regression:
    """The fit at one penalty after another; `V` holds coefficients, then offsets."""

    def __init__(
        self,
        features: Any,
        labels: NDArray[np.intp],
        weights: Floats,
        units: Floats,
        n_scores: int,
        free: bool,
    ) -> None:
        n, self.d = features.shape
        self.total = float(weights.sum())
        self.unit = _square_length(features, weights)
        if free:
            features = with_constant(features)
        # SciPy takes as long to transpose small sparse rows as to multiply by them.
        self.rows, self.columns = features, features.T
        self.labels, self.weights, self.units = labels, weights, units
        self.V = np.zeros((n_scores, features.shape[1]))
        # An offset common to all of many classes changes nothing.
        self.n_free = self.V.size - int(free and n_scores > 1)
        self.n_iterations = 0
        self._judge(np.zeros((n, n_scores)))
        self.penalise(PENALTIES[0])

    def parts(self, basis: Floats | None) -> tuple[Floats, Floats]:
        """Return coefficients, in the columns given, and offsets."""
        coef, offsets = self.V[:, : self.d].copy(), self.V[:, self.d :].sum(axis=1)
        if float((coef * coef).sum()) * self.unit <= NOTHING**2 * self.total:
            coef = 0.0 * coef
        return coef if basis is None else coef @ basis.T, offsets

    def penalise(self, penalty: float) -> None:
        """Set the penalty."""
        self.ridge = np.full(self.V.shape[1], penalty * (self.unit or 1.0))
        self.ridge[self.d :] = OFFSET_SHARE * PENALTIES[-1] * self.total

    def choose(self) -> tuple[float, float]:
        """Fit at the penalty chosen; return it, and the least loss of those tried."""
        losses: list[float] = []
        fits: list[Floats] = []
        for penalty in PENALTIES:
            self.penalise(penalty)
            self.descend(ROUGHLY)
            losses.append(self.left_out_loss())
            fits.append(self.V.copy())
            if losses[-1] > min(losses):
                break
        place = strongest_alike(losses)
        self.V = fits[round(place)]
        penalty = PENALTIES[0] * 0.1**place
        self._judge(self.images(self.V))
        self.penalise(penalty)
        self.descend(FINELY)
        return penalty, min(losses)

    def descend(
        self, share: float, most_steps: int = MOST_STEPS, *, until_right: bool = False
    ) -> None:
        """Go on by Newton's method until a step lowers the loss by no more.

        Or, if wanted, until the classes are separated.
        """
        raise NotImplementedError

    def left_out_loss(self) -> float:
        """Return the mean loss of rows that are predicted without them."""
        residual = self.pull / self.weights[:, None]
        scores = self.scores + self.moves(residual)
        p, pull = np.empty_like(scores), np.empty_like(scores)
        loss = _logistic.judge(scores, self.labels, self.weights, p, pull)
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


class Factored(Regression):
    """The Hessian at a fit, by its Cholesky factor."""

    def descend(
        self, share: float, most_steps: int = MOST_STEPS, *, until_right: bool = False
    ) -> None:
        """Do so in one call of the compiled code."""
        self.before = np.empty_like(self.p)
        self.triangle = np.empty((self.V.size, self.V.size), order="F")
        given = self.rows, self.labels, self.weights, self.ridge
        state = self.V, self.scores, self.p, self.pull, self.before, self.triangle
        ending = share, most_steps, until_right, block_rows(self.rows)
        n_steps, self.loss = _logistic.descend(*given, *state, self.loss, *ending)
        self.n_iterations += n_steps

    def moves(self, residual: Floats) -> Floats:
        """Return them by the leverages of the last step's system."""
        given = self.rows, self.triangle, self.before, residual, self.units
        return _logistic.left_out(*given, block_rows(self.rows))


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

    @cached_property
    def moments(self) -> Floats:
        """The lower triangle of the moments of all rows, of the mean weight."""
        return weighted_gram(self.rows, self.weights)

    def _combined(self, answer: Floats) -> Floats:
        return np.asarray((self.columns @ answer).T)

    def _products(self, x: Floats) -> Floats:
        """Return the Hessian times coefficients."""
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
        """Random signs, the same at every penalty; none for the offsets."""
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=self.V.shape)
        signs[:, self.d :] = 0.0
        return np.asarray(signs)

    @property
    def _curvature(self) -> Floats:
        """The diagonal of each row's second derivatives, weighted."""
        return self.weights[:, None] * self.before * (1.0 - self.before)

    def _solve(self, right: Floats) -> Floats:
        """Return Newton's step, its sign changed, by conjugate gradients."""
        x, residual = np.zeros_like(right), right
        z = self._condition(residual)
        direction, size = z, float(np.vdot(residual, z))
        enough = INEXACT**2 * float(np.vdot(right, right))
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
        """Return them by the mean leverage.

        The trace that it needs is estimated by random signs (Hutchinson).
        """
        size = float(self._curvature.sum())
        shrunk = float(np.vdot(self.ridge * self.signs, self._solve(self.signs)))
        mean = max(self.n_free - shrunk, 0.0) / size if size else 0.0
        leverage = mean * self.units[:, None]
        rest = 1.0 - leverage * self.before * (1.0 - self.before)
        return np.asarray(leverage * residual / np.maximum(rest, LEAST_REST))


def strongest_alike(losses: list[float]) -> float:
    """Return the place, between those tried, of the strongest penalty of its kind.

    Places are powers of ten; between two of them the loss is taken for linear.

    Examples
    --------
    >>> round(strongest_alike([0.6, 0.502, 0.5, 0.7]), 6)
    0.918367
    """
    place = int(np.argmin(losses))
    bound = ALIKE * losses[place]
    while place > 0 and losses[place - 1] <= bound:
        place -= 1
    if place == 0:
        return 0.0
    rise = losses[place - 1] - losses[place]
    return place - (bound - losses[place]) / rise


def with_constant(features: Any) -> Any:
    """Append a column of ones."""
    ones = np.ones((features.shape[0], 1))
    if not is_sparse(features):
        return np.ascontiguousarray(np.hstack([features, ones]))
    from scipy.sparse import csr_array, hstack

    return csr_array(hstack([csr_array(features), csr_array(ones)]))


def _square_length(rows: Any, weights: Floats) -> float:
    """Return the weighted sum of the squared lengths of rows."""
    if is_sparse(rows):
        each = np.repeat(weights, np.diff(rows.indptr))
        return float(each @ np.square(rows.data))
    return float(weights @ np.einsum("ij,ij->i", rows, rows))
