"""Winnow and balanced Winnow (Littlestone 1988, 1989)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linsep.lab.perceptrons.perceptron import additive_result
from linsep.lab.perceptrons.presentation import (
    Order,
    Presentation,
    SignedRows,
    Tally,
    signed_rows,
)
from linsep.lab.perceptrons.result import FloatArray, LinearResult
from linsep.lab.perceptrons.settings import check_cap, check_number, generator


@dataclass(frozen=True)
class Winnow:
    r"""Multiply the weights of the active features after every mistake.

    Features lie in [0, 1], weights are positive, all 1 at first; the positive class is
    predicted where ``w . x`` exceeds a fixed threshold. After a mistake ::

        missed positive:   w_j <- w_j * promotion^{x_j}
        false positive:    w_j <- w_j / promotion^{x_j}

    (Littlestone's WINNOW2). A row on the threshold counts as a mistake.

    Parameters
    ----------
    promotion : float, default=2.0
        ``> 1``. The bound asks for ``(1 - separation) promotion < 1``; the source takes
        ``1 + separation / 2``.
    threshold : float or None, default=None
        ``> 0``; ``None`` takes ``n_features / 2``, the source's choice for
        disjunctions, but at least 1.
    order : {"cyclic", "shuffled"}, default="cyclic"
        Row order on each pass: as given, or a fresh permutation.
    max_updates : int or None, default=None
        Updates at most.
    max_passes : int or None, default=1000
        Passes at most.
    random_state : int or None, default=None
        Seed of the shuffles.

    Raises
    ------
    ValueError
        On ``fit``, if a feature lies outside [0, 1].

    Notes
    -----
    There is no intercept: the threshold is one, and with positive weights Winnow finds
    only separators with ``w >= 0`` and that threshold's sign.

    Assume features in {0, 1} and ``mu >= 0`` with ``mu . x >= 1`` on positive rows and
    ``mu . x <= 1 - separation`` on negative ones, ``0 < separation <= 1``. Write ``m``
    for ``sum_j mu_j``, ``b`` for the promotion, ``t >= 1`` for the threshold, ``d`` for
    the number of features. A promotion adds at most ``(b - 1) t`` to the sum of weights
    and a demotion takes at least ``(1 - 1/b) t`` from it, which is positive and d at
    first; no weight exceeds ``b t``; and ``sum_j mu_j ln w_j`` gains at least ``ln b``
    by a promotion and loses at most ``(1 - separation) ln b`` by a demotion. So ::

        demotions  <= b promotions + b d / ((b - 1) t)
        promotions (1 - (1 - separation) b)
                   <= m (1 + ln t / ln b) + (1 - separation) b d / ((b - 1) t)

    and `mistake_bound` adds the two. The source's Theorem 9 is of this form with
    ``b = 1 + separation / 2``. For a disjunction of k features ``m = k``,
    ``separation = 1``: with the defaults at most ``3 k log2 d + 4`` mistakes.

    References
    ----------
    N. Littlestone, "Learning quickly when irrelevant attributes abound: a new
    linear-threshold algorithm", Machine Learning 2 (1988), doi:10.1023/A:1022869011914.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep.perceptrons import Winnow
    >>> X = np.eye(8)                        # positive: feature 0 or 1 is on
    >>> result = Winnow().fit(X, [1, 1, 0, 0, 0, 0, 0, 0])
    >>> result.separated, result.coef[:3].tolist()
    (True, [8.0, 8.0, 1.0])
    """

    promotion: float = 2.0
    threshold: float | None = None
    order: Order = "cyclic"
    max_updates: int | None = None
    max_passes: int | None = 1000
    random_state: int | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> LinearResult:
        """Run on ``X`` (n_samples, n_features) in [0, 1] with two-class labels ``y``.

        Returns
        -------
        LinearResult
            ``coef`` are the weights and ``intercept`` minus the threshold.
        """
        promotion = check_number("promotion", self.promotion, above=1)
        # The threshold is the (fixed) weight of the constant column.
        data = signed_rows(X, y, fit_intercept=True)
        features = np.abs(data.A[:, :-1])
        require_unit_interval(data)
        n_features = features.shape[1]
        threshold = self.threshold
        if threshold is None:
            threshold = max(1.0, n_features / 2)
        threshold = check_number("threshold", threshold, above=0)
        w = np.append(np.ones(n_features), -threshold)
        factors = promotion ** (data.signs[:, None] * features)
        counts = np.zeros(len(features))
        shown = Presentation(self.order, self.max_updates, self.max_passes)
        tally = Tally()
        rng = generator(self.random_state)
        for i in shown.mistakes(data.A, w, rng, tally):
            with np.errstate(over="ignore"):
                w[:-1] *= factors[i]
            counts[i] += 1
            tally.n_additions += 1
        return additive_result("Winnow", data, w, counts, tally)

    def mistake_bound(
        self, n_features: int, target_sum: float, separation: float = 1.0
    ) -> float:
        """Return the bound of the notes, for features in {0, 1}.

        Parameters
        ----------
        n_features : int
            ``d``.
        target_sum : float
            ``m``, the sum of the target's weights; k for a disjunction of k features.
        separation : float, default=1.0
            In (0, 1].

        Raises
        ------
        ValueError
            If ``(1 - separation) promotion >= 1`` or the threshold is below 1: the
            argument gives no bound there.
        """
        check_cap("n_features", n_features)
        b, d = check_number("promotion", self.promotion, above=1), n_features
        t = self.threshold if self.threshold is not None else max(1.0, d / 2)
        share = 1.0 - (1.0 - separation) * b
        if not (0 < separation <= 1 and share > 0 and t >= 1):
            raise ValueError(
                "The bound needs 0 < separation <= 1, (1 - separation) * promotion < 1 "
                f"and threshold >= 1; got separation={separation}, promotion={b}, "
                f"threshold={t}. Take promotion = 1 + separation / 2."
            )
        surplus = b * d / ((b - 1.0) * t)
        promotions = target_sum * (1.0 + math.log(t) / math.log(b))
        promotions = (promotions + (1.0 - separation) * surplus) / share
        return (1.0 + b) * promotions + surplus


def require_unit_interval(data: SignedRows) -> None:
    """Raise ValueError unless every feature lies in [0, 1]."""
    features = data.A[:, :-1] * data.signs[:, None]
    low, high = float(features.min(initial=0.0)), float(features.max(initial=0.0))
    if low < 0 or high > 1:
        raise ValueError(
            "Winnow needs every feature in [0, 1], got values from "
            f"{low:g} to {high:g}. Scale the columns, code categories as 0 and 1, or "
            "use BalancedWinnow, which takes any real features."
        )


@dataclass(frozen=True)
class BalancedWinnow:
    r"""Winnow with a negative copy of every feature: weights of either sign.

    Two positive weights a column, 1 at first, ``w = up - down``; after a mistake on the
    signed row ``a_i`` (``a_i . w <= 0``) ::

        up_j   <- up_j   exp( learning_rate a_ij)
        down_j <- down_j exp(-learning_rate a_ij)

    Any real features are in its domain; the learning rate is in units of ``1 / |a|^2``.

    Parameters
    ----------
    learning_rate : float or None, default=None
        ``> 0``. The bound is best at ``margin / r^2`` with the two numbers of the
        notes; ``None`` takes ``1 / (10 r)``, right for ``margin = r / 10``. A rate
        below ``2 margin / r^2`` converges.
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    order : {"cyclic", "shuffled"}, default="cyclic"
        Row order on each pass: as given, or a fresh permutation.
    max_updates : int or None, default=None
        Updates at most.
    max_passes : int or None, default=1000
        Passes at most.
    random_state : int or None, default=None
        Seed of the shuffles.

    Notes
    -----
    Let ``r = max |a_ij|`` and ``a_i . u >= margin > 0`` for all rows and a
    ``u`` with ``sum_j |u_j| = 1``. The divergence of ``u``, as a distribution on the 2
    d columns ``(a, -a)``, from the scaled weights starts at no more than ``ln 2 d`` and
    every mistake takes ``learning_rate margin - learning_rate^2 r^2 / 2`` from it
    (Hoeffding's lemma), so there are at most ::

        ln(2 d) / (learning_rate margin - learning_rate^2 r^2 / 2)

    mistakes, ``2 (r / margin)^2 ln(2 d)`` at the best rate. The logarithm of the number
    of columns takes the place of the Euclidean norm.

    References
    ----------
    N. Littlestone, "Mistake bounds and logarithmic linear-threshold learning
    algorithms", thesis, UC Santa Cruz (1989).
    A. Grove, N. Littlestone, D. Schuurmans, "General convergence results for linear
    discriminant updates", Machine Learning 43 (2001), doi:10.1023/A:1010844028087.

    Examples
    --------
    >>> from linsep.perceptrons import BalancedWinnow
    >>> BalancedWinnow().fit([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1]).separated
    True
    """

    learning_rate: float | None = None
    fit_intercept: bool = True
    order: Order = "cyclic"
    max_updates: int | None = None
    max_passes: int | None = 1000
    random_state: int | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> LinearResult:
        """Run on ``X`` (n_samples, n_features) with two-class labels ``y``."""
        data = signed_rows(X, y, fit_intercept=self.fit_intercept)
        A = data.A
        largest = float(np.abs(A).max(initial=0.0)) or 1.0
        rate = self.learning_rate
        if rate is None:
            rate = 0.1 / largest
        rate = check_number("learning_rate", rate, above=0)
        exponents = np.zeros(A.shape[1])
        w = np.zeros(A.shape[1])
        counts = np.zeros(len(A))
        shown = Presentation(self.order, self.max_updates, self.max_passes)
        tally = Tally()
        rng = generator(self.random_state)
        for i in shown.mistakes(A, w, rng, tally):
            with np.errstate(over="ignore", invalid="ignore"):
                exponents += rate * A[i]
                w[:] = signed_weights(exponents)
            counts[i] += 1
            tally.n_additions += 1
        return additive_result("BalancedWinnow", data, w, counts, tally)

    @staticmethod
    def mistake_bound(
        n_columns: int, radius: float, margin: float, learning_rate: float | None = None
    ) -> float:
        """Return the bound of the notes; ``learning_rate`` defaults to the best."""
        check_cap("n_columns", n_columns)
        radius = check_number("radius", radius, above=0)
        margin = check_number("margin", margin, above=0)
        rate = margin / radius**2 if learning_rate is None else learning_rate
        gain = rate * margin - 0.5 * rate**2 * radius**2
        return math.log(2 * n_columns) / gain if gain > 0 else math.inf


def signed_weights(exponents: FloatArray) -> FloatArray:
    """Return ``up - down = 2 sinh(exponents)``, scaled by a common positive factor.

    The factor keeps large exponents finite; predictions do not depend on it.
    """
    peak = max(0.0, float(np.abs(exponents).max()) - 300.0)
    values: FloatArray
    if peak == 0.0:
        values = 2.0 * np.sinh(exponents)
        return values
    size = np.exp(np.abs(exponents) - peak) - np.exp(-np.abs(exponents) - peak)
    values = np.sign(exponents) * size
    return values
