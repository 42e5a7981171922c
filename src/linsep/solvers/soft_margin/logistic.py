r"""Logistic regression with ridge penalties that the rows weigh, by leave-one-out.

For weights ``c_i``, features ``x_i`` of mean square length ``s`` and classes ``y_i``,

    minimise  sum_i h_i c_i loss(y_i, W x_i + b)
              +  penalty * s * sum_i h_i c_i * |W|^2 / 2,

the loss minus the log of the probability that the scores give to ``y_i``: one score for
two classes, a score a class for more. Offsets ``b`` are not penalised. The scale ``s``
makes the penalty a pure number.

A row on the wrong side pulls at ``W`` by up to its length, so of columns with heavy
tails a few long rows with a wrong label outvote many. ``h_i = min(1, l / |x_i|)``, with
``l`` the mean length of rows, leaves no row more pull than that of one of mean length.
It depends on features alone, so where the model is true the estimate still tends to the
truth (Mallows's weights).

Which penalty: each row is predicted by the fit without it, approximately. Leaving out a
row of gradient ``p_i - y_i`` moves its scores by ``e_i (p_i - y_i) / (1 - e_i v_i)``,
by one step of Newton's method, with ``v_i`` the curvature of its loss and ``e_i`` its
leverage, from the inverse of the Hessian (matrices, of many classes). That is ``g_i
(p_i - y_i)``, with the leverage ``g_i = e_i / (1 - e_i v_i)`` of the row among the
others. Where the inverse is too large to form, all rows are taken to have the same g,
as they about have where columns are many. Then ``e_i = g / (1 + g v_i)``, and g is the
root of

    sum_i c_i v_i g / (1 + g v_i)  =  trace(rows' part of the Hessian / Hessian).

(One e for all, as in generalised cross-validation, is far off where rows are few:
their v differ by much, and e v is at most one.)

The sum L of the losses so predicted is minus the log of the likelihood of the penalty.
The fit is the mean of those at all penalties tried, each weighed by its likelihood
``exp(-L)`` (pseudo-Bayesian averaging; the mean of fits is less tied to the rows drawn
than one of them). The penalties go down by powers of ten, each fit beginning at the one
before, and end when the loss rises: some six fits of two or three systems each. With a
common g and fewer rows than coefficients the loss falls for a long time only because
scores grow; there no penalty counts that is weaker than the one whose loss is least
once its scores are stretched as is best.

Dense rows fewer than their columns are no matter for a logistic regression:
`linsep.solvers.soft_margin.discriminant` says why, and takes them if there are offsets.

Systems: small ones by a Cholesky factor; others by conjugate gradients, which need
products with the rows only, dense rows preconditioned by the moments of all rows.

References
----------
Carroll & Pederson, "On Robustness in the Logistic Regression Model" (1993). Yao,
Vehtari, Simpson & Gelman, "Using Stacking to Average Bayesian Predictive Distributions"
(2018), for pseudo-Bayesian averaging and its likes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.rows import is_sparse
from linsep.solvers.blas import calm_blas
from linsep.solvers.soft_margin import _logistic
from linsep.solvers.soft_margin.discriminant import Discriminant
from linsep.solvers.soft_margin.iterated import Iterated
from linsep.solvers.soft_margin.regression import (
    MOST_STEPS,
    ROUGHLY,
    Regression,
    squared_lengths,
)
from linsep.solvers.soft_margin.systems import block_rows

# Coefficients of a system that is factored.
MOST_FACTORED = 300
# The penalty at which a fit is followed to where it would end without any, and steps.
NEXT_TO_NONE, MOST_FOLLOWED = 1e-12, 25


@dataclass(frozen=True)
class LogisticFit:
    """A fitted regression, or the discriminants in its place.

    Attributes
    ----------
    coef : ndarray of shape (1, d) or (n_classes, d)
    offsets : ndarray of shape (1,) or (n_classes,)
    penalty : float
        The geometric mean of those tried, each weighed by its likelihood.
    loose : tuple of two ndarray
        Coefficients and offsets of next to no penalty: they separate the classes, or
        are near the estimate that has none.
    separates : bool
        Whether the loose ones separate the classes, but for rounding.
    n_iterations : int
        Linear systems solved.
    """

    coef: Floats
    offsets: Floats
    penalty: float
    loose: tuple[Floats, Floats]
    separates: bool
    n_iterations: int


def fit_logistic(
    features: Any,
    labels: Index,
    weights: Floats,
    units: Floats,
    n_classes: int,
    *,
    free: bool = True,
) -> LogisticFit:
    """Fit classes 0 to ``n_classes - 1``, penalties weighed by leave-one-out.

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
    with calm_blas(min(features.shape)):
        if not is_sparse(features) and features.shape[1] > features.shape[0]:
            # Wide rows: the coefficients lie in their span.
            basis, triangle = np.linalg.qr(features.T)
            features = np.ascontiguousarray(triangle.T)
        held = held_rows(features, weights)
        given = features, labels, held * weights, held * units, n_classes
        fit = regression(*given, free)
        if basis is not None and free:
            rule = Discriminant(*given)
            coef, offsets, penalty = rule.fit()
            if n_classes == 2:
                coef, offsets = coef[1:] - coef[:1], offsets[1:] - offsets[:1]
            coef, n_systems = coef @ basis.T, rule.n_systems
        else:
            penalty, n_systems = fit.choose(), 0
            coef, offsets = fit.parts(basis)
        fit.weigh(weights)
        fit.penalise(NEXT_TO_NONE)
        fit.descend(ROUGHLY, MOST_FOLLOWED, until_right=True)
        loose = fit.parts(basis)
    separates = _logistic.are_right(fit.scores, fit.labels)
    n_systems += fit.n_iterations
    return LogisticFit(coef, offsets, penalty, loose, separates, n_systems)


def held_rows(rows: Any, weights: Floats) -> Floats:
    """Return the share of its weight that leaves a row the pull of one of mean length.

    Rows no longer than that keep all of it.

    Examples
    --------
    >>> held_rows(np.array([[3.0], [0.0], [-9.0]]), np.ones(3)).round(3).tolist()
    [1.0, 1.0, 0.444]
    """
    lengths = np.sqrt(squared_lengths(rows))
    mean = float(weights @ lengths / weights.sum()) or 1.0
    return np.asarray(mean / np.maximum(lengths, mean))


def regression(
    features: Any,
    labels: Index,
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
