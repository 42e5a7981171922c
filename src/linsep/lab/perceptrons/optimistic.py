"""The Optimistic Perceptron (Hanashiro & Abernethy 2020), Algorithm 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linsep.lab.perceptrons.play_in_rounds import largest_norm, softmin
from linsep.lab.perceptrons.presentation import signed_rows
from linsep.lab.perceptrons.result import (
    FloatArray,
    LinearResult,
    Stop,
    margin_bounds,
    reason,
)
from linsep.lab.perceptrons.settings import check_cap, check_number, optimistic_count

# Beyond this multiple of the safe rate the plays would overflow.
MOST = 1e60


@dataclass(frozen=True)
class OptimisticPerceptron:
    r"""Add pseudoexamples, the last one twice; return the average of the plays.

    With ``p_0`` uniform, ``x_t = sum_i p_{t,i} a_i``, ``x_{-1} = x_0``, ``w_0 = 0``::

        w_t      =  w_{t-1} + 2 x_{t-1} - x_{t-2}
        p_{t,i}  ~  p_{t-1,i} exp(-learning_rate a_i . w_t)

    The answer is ``(w_1 + ... + w_T) / T``, at the first T at which it separates. The
    mathematics is `linsep.solvers.optimistic.algorithm_1`; this page is its textbook
    face, and `linsep.OptimisticPerceptron` the scikit-learn classifier built on the
    whole pipeline.

    Parameters
    ----------
    learning_rate : float or None, default=None
        ``> 0``; ``None`` takes the paper's ``1 / r^2``, ``r = max_i |a_i|``, the
        largest rate the theorems cover. Larger ones are often faster and have no
        guarantee.
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    max_rounds : int, default=100_000
        Rounds at most.

    Notes
    -----
    If a unit vector has margin ``margin`` on all n rows, the average separates after
    more than ``r sqrt(2 ln n) / margin`` rounds (at ``learning_rate = 1 / r^2``); the
    paper's own count, ``(1 + 2 r^2 ln n) / (2 margin)``, is never smaller. A round
    costs ``2 n + 2`` operations: n inner products, n additions, two for the play.

    References
    ----------
    R. Hanashiro, J. Abernethy, "Linear separation via optimism" (2020), Algorithm 1 and
    Theorem 3.

    Examples
    --------
    >>> from linsep.perceptrons import OptimisticPerceptron
    >>> OptimisticPerceptron().fit([[10.0], [11.0]], [0, 1])
    OptimisticPerceptron: separated, 70 updates, 70 passes, 420 operations
    """

    learning_rate: float | None = None
    fit_intercept: bool = True
    max_rounds: int = 100_000

    def fit(self, X: ArrayLike, y: ArrayLike) -> LinearResult:
        """Run on ``X`` (n_samples, n_features) with two-class labels ``y``.

        Returns
        -------
        LinearResult
            The average play and the counts; ``n_updates`` is the number of rounds,
            ``row_weights`` the last distribution over the rows.

        Raises
        ------
        ValueError
            If ``learning_rate`` is not a positive number.
        """
        from linsep.solvers.optimistic import algorithm_1

        check_cap("max_rounds", self.max_rounds)
        radius = None
        if self.learning_rate is not None:
            rate = check_number("learning_rate", self.learning_rate, above=0)
            radius = 1.0 / math.sqrt(rate)
        data = signed_rows(X, y, fit_intercept=self.fit_intercept)
        if radius is not None:
            require_usable_rate(radius, largest_norm(data.A))
        total = np.zeros(data.A.shape[1])

        def keep_total(t: int, w: FloatArray, v: FloatArray, x: FloatArray) -> None:
            total[:] = v

        run = algorithm_1(
            data.A, max_rounds=self.max_rounds, radius=radius, callback=keep_total
        )
        p = softmin(data.A @ total)
        coef, intercept = data.split(run.average)
        lower, upper = margin_bounds(data.A, run.average, p)
        separated = run.separates and lower > 0
        stopped: Stop = "separated" if run.separates else "max_rounds"
        return LinearResult(
            method="OptimisticPerceptron",
            classes=data.classes,
            separated=separated,
            stopped=reason(stopped, separated=separated),
            n_updates=run.n_rounds,
            n_passes=run.n_rounds,
            n_operations=run.n_operations,
            row_weights=p,
            coef=coef,
            intercept=intercept,
            margin_lower=lower,
            margin_upper=upper,
        )

    @staticmethod
    def round_bound(n: int, radius: float, margin: float) -> float:
        """Return ``radius sqrt(2 ln n) / margin``: any later average separates."""
        return optimistic_count(n, radius, margin)


def require_usable_rate(radius: float, largest: float) -> None:
    """Raise InputError if ``learning_rate r^2`` would leave double precision."""
    from linsep.input import InputError

    ratio = largest / radius
    if not MOST**-0.5 < ratio < MOST**0.5:
        raise InputError(
            f"`learning_rate` times r^2 must be between {1 / MOST:g} and {MOST:g}, got "
            f"{ratio:g} squared with r = {largest:g}; None takes 1 / r^2"
        )
