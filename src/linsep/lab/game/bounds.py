r"""The paper's theorems as functions: what each promises, from numbers alone.

Notation: n rows ``a_i`` with ``|a_i| <= radius``; a unit vector has margin ``margin``
on all of them; a regulariser ``lambda``-strongly convex in the 1-norm; ``H`` bounds the
divergences that matter.

Which divergences matter. The paper takes ``H`` as an upper bound on every ``D(p, q)``;
for the entropy there is none. Its proof (appendix B) uses less. With constant steps the
sum telescopes and only ``D(p*, p_0)`` is left, at most ``ln n`` from the uniform start.
With non-increasing steps the terms ``D(p*, p_t) (1/step_{t+1} - 1/step_t)``, ``t < T``,
stay, so ``H`` must bound ``D(p*, p_t)`` for the distributions met before round T.
"""

from __future__ import annotations

import math

import numpy as np

from linsep.arrays import Floats
from linsep.input import InputError, checked_array, checked_number
from linsep.input.arguments import is_number


def regret_bound_learner(
    distributions: Floats,
    radius: float,
    *,
    weights: Floats | None = None,
    comparator_norm: float = 1.0,
) -> Floats:
    r"""Return Theorem 1's bound on the regret of OFTRL, after every round.

    ::

        |u|^2 / 2 + sum_{s<=t} (radius^2 / 2) weight_s^2 |p_s - p_{s-1}|_1^2

    Parameters
    ----------
    distributions : ndarray of shape (T + 1, n)
        ``p_0, ..., p_T``.
    radius : float
        At least every ``|a_i|``.
    weights : ndarray of shape (T,) or None, default=None
        Weights of the rounds; None takes 1, the paper's case.
    comparator_norm : float, default=1.0
        ``|u|`` of the comparator; the paper's is a unit vector.

    Returns
    -------
    ndarray of shape (T,)

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.5, 0.5], [0.75, 0.25], [1.0, 0.0]])
    >>> regret_bound_learner(p, 2.0)
    array([1. , 1.5])
    """
    moved = _moved(distributions)
    checked_number("radius", radius, least=0)
    checked_number("comparator_norm", comparator_norm, least=0)
    if weights is not None:
        moved = checked_array("weights", weights, moved.shape) * moved
    return 0.5 * comparator_norm**2 + 0.5 * radius**2 * np.cumsum(moved**2)


def regret_bound_data(
    distributions: Floats,
    steps: Floats,
    *,
    strong_convexity: float,
    divergence_bound: float | Floats,
) -> Floats:
    r"""Return Theorem 2's bound on the regret of mirror descent, after every round.

    ::

        H / step_t - sum_{s<=t} lambda / (2 step_s) |p_s - p_{s-1}|_1^2

    Parameters
    ----------
    distributions : ndarray of shape (T + 1, n)
        ``p_0, ..., p_T``.
    steps : ndarray of shape (T,)
        Positive and non-increasing.
    strong_convexity : float
        ``lambda`` of the regulariser, in the 1-norm.
    divergence_bound : float or ndarray of shape (T,)
        ``H`` (see the module): for constant steps ``max_p D(p, p_0)``; else at least
        ``max_p D(p, p_s)`` for all ``s < t``.

    Returns
    -------
    ndarray of shape (T,)

    Raises
    ------
    InputError
        If the steps increase somewhere: the theorem says nothing there.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.5, 0.5], [0.75, 0.25]])
    >>> float(regret_bound_data(p, np.array([0.5]), strong_convexity=1.0,
    ...                         divergence_bound=0.7)[0])
    1.15
    """
    moved = _moved(distributions)
    steps = checked_array("steps", steps, moved.shape)
    checked_number("least of steps", float(steps.min()), above=0)
    checked_number("strong_convexity", strong_convexity, above=0)
    if is_number(divergence_bound):
        checked_number("divergence_bound", divergence_bound, least=0, infinite=True)
    else:
        divergence_bound = checked_array(
            "divergence_bound", divergence_bound, moved.shape
        )
    if np.any(np.diff(steps) > 0):
        t = int(np.flatnonzero(np.diff(steps) > 0)[0]) + 1
        raise InputError(
            "steps must be non-increasing, got "
            f"{steps[t - 1]:g} then {steps[t]:g} at rounds {t} and {t + 1}; put growth "
            "into the weights of the rounds instead"
        )
    paid: Floats = np.cumsum(strong_convexity / (2.0 * steps) * moved**2)
    return divergence_bound / steps - paid


def gap_bound(
    rounds: float | Floats,
    radius: float,
    divergence_bound: float,
    *,
    strong_convexity: float = 1.0,
) -> float | Floats:
    """Return Theorem 3's bound ``(lambda + 2 H radius^2) / (2 lambda T)`` on the gap.

    It holds for the constant step ``lambda / radius^2`` and weights 1.

    Parameters
    ----------
    rounds : float or ndarray
        ``T``.
    radius : float
        At least every ``|a_i|``.
    divergence_bound : float
        ``H``, the largest ``D(p, p_0)``; ``ln n`` for the entropy.
    strong_convexity : float, default=1.0
        ``lambda``.

    Examples
    --------
    >>> gap_bound(10, 1.0, 2.0)
    0.25
    """
    if is_number(rounds):
        checked_number("rounds", rounds, above=0)
    else:
        rounds = checked_array("rounds", rounds, (None,))
        checked_number("least of rounds", float(rounds.min()), above=0)
    _require_game(radius, divergence_bound, strong_convexity)
    total = strong_convexity + 2.0 * divergence_bound * radius**2
    return total / (2.0 * strong_convexity * rounds)


def rounds_bound(
    margin: float,
    radius: float,
    divergence_bound: float,
    *,
    strong_convexity: float = 1.0,
) -> float:
    """Return the paper's count: the average separates once ``T`` exceeds it.

    ``(lambda + 2 H radius^2) / (2 lambda margin)``: `gap_bound` solved for ``T``.

    Examples
    --------
    >>> rounds_bound(0.1, 1.0, 2.0)
    25.0
    """
    # The gap and T come into the bound as a product: each is that over the other.
    margin = checked_number("margin", margin, above=0)
    return float(
        gap_bound(margin, radius, divergence_bound, strong_convexity=strong_convexity)
    )


def sharper_rounds_bound(
    margin: float,
    radius: float,
    divergence_bound: float,
    *,
    strong_convexity: float = 1.0,
) -> float:
    r"""Return the count for the same iterates with the comparator of the best length.

    ``radius sqrt(2 H / lambda) / margin``; ``radius sqrt(2 ln n) / margin`` for the
    entropy. The bounds of Theorems 1 and 2 hold for a comparator of any length ``c``,
    which turns Theorem 3 into ``T c margin > c^2 / 2 + H radius^2 / lambda``; the paper
    takes ``c = 1``. The two agree only where ``2 H radius^2 = lambda``.

    Examples
    --------
    >>> sharper_rounds_bound(0.1, 1.0, 2.0)
    20.0
    """
    checked_number("margin", margin, above=0)
    _require_game(radius, divergence_bound, strong_convexity)
    return radius * math.sqrt(2.0 * divergence_bound / strong_convexity) / margin


def rounds_to_separation(bound: float) -> int:
    """Return the first round at which ``T > bound``: the average separates by then.

    Examples
    --------
    >>> rounds_to_separation(20.0), rounds_to_separation(20.5)
    (21, 21)
    """
    checked_number("bound", bound, least=0)
    return math.floor(bound) + 1


def perceptron_bound(margin: float, radius: float) -> float:
    """Return Novikoff's ``(radius / margin)^2``, the most updates of Perceptron.

    Examples
    --------
    >>> perceptron_bound(0.5, 2.0)
    16.0
    """
    checked_number("radius", radius, above=0)
    checked_number("margin", margin, above=0)
    return (radius / margin) ** 2


def _moved(distributions: Floats) -> Floats:
    """Return ``|p_t - p_{t-1}|_1`` of every round, shape (T,), or raise InputError."""
    p = checked_array("distributions", distributions, (None, None))
    if len(p) < 2:
        raise InputError(
            "distributions must hold p_0 and one distribution a round, at least two "
            f"rows, got shape {p.shape}"
        )
    moved: Floats = np.abs(np.diff(p, axis=0)).sum(axis=1)
    return moved


def _require_game(
    radius: float, divergence_bound: float, strong_convexity: float
) -> None:
    """Raise InputError unless these can be the constants of a game."""
    checked_number("radius", radius, above=0)
    checked_number("divergence_bound", divergence_bound, least=0, infinite=True)
    checked_number("strong_convexity", strong_convexity, above=0)
