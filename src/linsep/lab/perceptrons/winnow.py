"""Winnow and balanced Winnow (Littlestone 1988, 1989)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from linsep.arrays import Floats
from linsep.input import InputError, checked_count, checked_number
from linsep.lab.perceptrons.by_mistakes import HyperplaneByMistakes, State
from linsep.lab.signed_rows import SignedRows


@dataclass(frozen=True)
class Winnow(HyperplaneByMistakes):
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
    order, max_updates, max_passes, random_state
        As of `DrivenByMistakes`.

    Raises
    ------
    InputError
        On ``run``, if a feature lies outside [0, 1].

    Notes
    -----
    The intercept is minus the threshold, always: with positive weights Winnow finds
    only separators with ``w >= 0`` and that threshold's sign.

    Assume features in {0, 1} and ``mu >= 0`` with ``mu . x >= 1`` on positive rows and
    ``mu . x <= 1 - separation`` on negative ones, ``0 < separation <= 1``. Write ``m``
    for ``sum_j mu_j``, ``b`` for the promotion, ``t >= 1`` for the threshold, ``d`` for
    the number of features. Then ::

        demotions  <= b promotions + b d / ((b - 1) t)
        promotions (1 - (1 - separation) b)
                   <= m (1 + ln t / ln b) + (1 - separation) b d / ((b - 1) t)

    and `mistake_bound` adds the two (the page on the family has the proof). For a
    disjunction of k features ``m = k``, ``separation = 1``: with the defaults at most
    ``3 k log2 d + 4`` mistakes.

    References
    ----------
    N. Littlestone, "Learning quickly when irrelevant attributes abound: a new
    linear-threshold algorithm", Machine Learning 2 (1988), doi:10.1023/A:1022869011914.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep.perceptrons import Winnow
    >>> X = np.eye(8)                        # positive: feature 0 or 1 is on
    >>> result = Winnow().run(X, [1, 1, 0, 0, 0, 0, 0, 0])
    >>> result.separated, result.coef[:3].tolist()
    (True, [8.0, 8.0, 1.0])
    """

    promotion: float = 2.0
    threshold: float | None = None
    # Always: the threshold is the weight of the constant column, and stays.
    fit_intercept: bool = field(default=True, init=False, repr=False)

    def init(self, rows: SignedRows) -> State:
        """Return weights 1, and minus the threshold for the constant column."""
        checked_number("promotion", self.promotion, above=1)
        require_unit_interval(rows)
        n_features = rows.A.shape[1] - 1
        return State(np.append(np.ones(n_features), -self._threshold(n_features)))

    def step(self, rows: SignedRows, state: State, i: int) -> State:
        """Return the weights multiplied by ``promotion ** a_i``."""
        factors = self.promotion ** rows.A[i, :-1]
        return State(np.append(state.w[:-1] * factors, state.w[-1]))

    def _threshold(self, n_features: int) -> float:
        """Return the threshold given, or the default."""
        if self.threshold is None:
            return max(1.0, n_features / 2)
        return checked_number("threshold", self.threshold, above=0)

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
        InputError
            If ``(1 - separation) promotion >= 1`` or the threshold is below 1: the
            argument gives no bound there.
        """
        d = checked_count("n_features", n_features)
        b = checked_number("promotion", self.promotion, above=1)
        t = self._threshold(d)
        share = 1.0 - (1.0 - separation) * b
        if not (0 < separation <= 1 and share > 0 and t >= 1):
            raise InputError(
                "the bound needs 0 < separation <= 1, (1 - separation) * promotion < 1 "
                f"and threshold >= 1, got separation={separation}, promotion={b}, "
                f"threshold={t}; take promotion = 1 + separation / 2"
            )
        surplus = b * d / ((b - 1.0) * t)
        promotions = target_sum * (1.0 + math.log(t) / math.log(b))
        promotions = (promotions + (1.0 - separation) * surplus) / share
        return (1.0 + b) * promotions + surplus


def require_unit_interval(rows: SignedRows) -> None:
    """Refuse features outside [0, 1]."""
    features = rows.A[:, :-1] * rows.signs[:, None]
    low, high = float(features.min(initial=0.0)), float(features.max(initial=0.0))
    if low < 0 or high > 1:
        raise InputError(
            "Winnow needs every feature in [0, 1], got values from "
            f"{low:g} to {high:g}; scale the columns, code categories as 0 and 1, or "
            "use BalancedWinnow, which takes any real features"
        )


@dataclass(frozen=True)
class BalancedWinnow(HyperplaneByMistakes):
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
    fit_intercept, order, max_updates, max_passes, random_state
        As of `DrivenByMistakes`.

    Notes
    -----
    Let ``r = max |a_ij|`` and ``a_i . u >= margin > 0`` for all rows and a ``u`` with
    ``sum_j |u_j| = 1``. There are at most ::

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
    >>> BalancedWinnow().run([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1]).separated
    True
    """

    learning_rate: float | None = None

    def init(self, rows: SignedRows) -> State:
        """Return weights zero; the memory is the exponents of ``up``."""
        self._rate(rows)
        zero = np.zeros(rows.A.shape[1])
        return State(zero, zero)

    def step(self, rows: SignedRows, state: State, i: int) -> State:
        """Return the state with ``learning_rate a_i`` added to the exponents."""
        exponents = state.memory + self._rate(rows) * rows.A[i]
        return State(signed_weights(exponents), exponents)

    def _rate(self, rows: SignedRows) -> float:
        """Return the learning rate given, or the default."""
        if self.learning_rate is None:
            return 0.1 / (float(np.abs(rows.A).max(initial=0.0)) or 1.0)
        return checked_number("learning_rate", self.learning_rate, above=0)

    @staticmethod
    def mistake_bound(
        n_columns: int, radius: float, margin: float, learning_rate: float | None = None
    ) -> float:
        """Return the bound of the notes; ``learning_rate`` defaults to the best."""
        checked_count("n_columns", n_columns)
        radius = checked_number("radius", radius, above=0)
        margin = checked_number("margin", margin, above=0)
        rate = margin / radius**2 if learning_rate is None else learning_rate
        gain = rate * margin - 0.5 * rate**2 * radius**2
        return math.log(2 * n_columns) / gain if gain > 0 else math.inf


def signed_weights(exponents: Floats) -> Floats:
    """Return ``up - down = 2 sinh(exponents)``, scaled by a common positive factor.

    The factor keeps large exponents finite; predictions do not depend on it.
    """
    sizes = np.abs(exponents)
    peak = max(0.0, float(sizes.max()) - 300.0)
    if peak == 0.0:
        return np.asarray(2.0 * np.sinh(exponents))
    scaled = np.exp(sizes - peak) - np.exp(-sizes - peak)
    return np.asarray(np.sign(exponents) * scaled)
