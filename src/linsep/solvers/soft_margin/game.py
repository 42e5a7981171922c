r"""The capped game between two classes: bounds that hold for every hyperplane.

For rows with sample weights ``c_i`` and a share ``nu`` the data player's weights obey
``0 <= p_i <= c_i / (nu sum c)``. The game's value is

    max over |w| = 1, b of the mean of the worst share nu of y_i (w . x_i + b)
      = min over capped p of |sum_i p_i y_i x_i|,

``p`` balanced between the classes if the intercept ``b`` is free: each class holds one
half, so the worst share is taken class by class and the best ``b`` follows in closed
form. With equal weights and ``nu n <= 1`` the cap never binds: the hard margin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from linsep.arrays import Floats, Index
from linsep.solvers.blas import calm_blas
from linsep.solvers.bounds import longest_row
from linsep.solvers.soft_margin.interior_point import Iterate, interior_point

# Iterations at most; ten to twenty are seen.
MOST_ITERATIONS = 100
# A value below this share of the rows' length is taken for zero.
ZERO = 1e-6
# Weights within this share of their caps have no room for an interior point.
NO_CHOICE = 1e-7
# Newton steps to the least share that pays; five to ten are seen.
MOST_SHARE_STEPS = 60


@dataclass(frozen=True)
class CappedGame:
    """How a capped game was played.

    Attributes
    ----------
    w : ndarray of shape (d,)
        The learner's direction, of length 1 (0 if the value is 0). Of a joint game the
        directions of the classes, one after another.
    offset : float
        The best intercept for it.
    level : float
        The margin that divides the worst share from the rest.
    value_lower, value_upper : float
        The interval that holds the game's value.
    p : ndarray of shape (n,)
        The data player's weights, summing to 1. Of a joint game one for each pair.
    n_iterations : int
        Linear systems solved.
    closed : bool
        Whether the interval is within the tolerance asked for.
    nu : float or None
        The share that is judged; None caps nothing.
    temperature : float
        What a nat costs the data player, in the units of the margins.
    offsets : ndarray of shape (n_classes,)
        Of a joint game: the classes' offsets, for ``w``. Else empty.
    """

    w: Floats
    offset: float
    level: float
    value_lower: float
    value_upper: float
    p: Floats
    n_iterations: int
    closed: bool
    nu: float | None = None
    temperature: float = 0.0
    offsets: Floats = field(default_factory=lambda: np.empty(0))


def largest_nu(signs: Floats, weights: Floats, free: bool) -> float:
    """Return the largest share for which capped weights exist."""
    if not free:
        return 1.0
    total = float(weights.sum())
    return 2.0 * min(
        float(weights[signs > 0].sum()) / total, float(weights[signs < 0].sum()) / total
    )


def solve_capped(
    rows: Floats,
    signs: Floats,
    weights: Floats,
    nu: float,
    *,
    free: bool = True,
    tol: float = 1e-4,
    should_stop: Callable[[int, float], bool] = lambda n_iterations, upper: False,
) -> CappedGame:
    """Solve the capped game to a relative gap.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Signed rows, the constant left out.
    signs : ndarray of shape (n,)
        The class of each row, +1.0 or -1.0.
    weights : ndarray of shape (n,)
        Sample weights, > 0.
    nu : float
        The share, in (0, `largest_nu`].
    free : bool, default=True
        Whether the intercept is free.
    tol : float, default=1e-4
        Stop when ``value_upper - value_lower <= tol * value_upper``.
    should_stop : callable
        Asked after each iteration with its number and the upper bound.
    """
    groups = (
        [np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)]
        if free
        else [np.arange(len(signs))]
    )
    share = 1.0 / len(groups)
    caps = weights / (nu * weights.sum())
    start = np.empty(len(signs))
    equalities = np.zeros((len(groups), len(signs)))
    for g, index in enumerate(groups):
        start[index] = share / caps[index].sum()
        equalities[g, index] = 1.0
    # A class whose caps leave no choice: let them out by less than is measured.
    tight = start >= 1.0 - NO_CHOICE
    caps = np.where(tight, caps * (start + NO_CHOICE), caps)
    start = np.where(tight, start / (start + NO_CHOICE), start)
    game, _ = closed_game(
        rows,
        caps,
        equalities,
        start,
        lambda state: _evaluate(rows, state.theta * caps, caps, groups),
        tol,
        should_stop,
    )
    return replace(game, nu=nu)


def closed_game(
    rows: Floats,
    caps: Floats,
    equalities: Floats,
    start: Floats,
    judge: Callable[[Iterate], CappedGame],
    tol: float,
    should_stop: Callable[[int, float], bool] = lambda n_iterations, upper: False,
) -> tuple[CappedGame, Iterate]:
    """Run the interior point until the game's interval is closed; see `solve_capped`.

    Parameters
    ----------
    rows, caps, equalities, start : ndarray
        As `linsep.solvers.soft_margin.interior_point.interior_point` takes them.
    judge : callable
        Returns the game that an iterate's weights and direction make, with its bounds.
        It is asked when the interval should be closed by the method's own estimate.
    tol, should_stop
        As in `solve_capped`.
    """
    reach = longest_row(rows)
    with calm_blas(min(rows.shape)):
        for state in interior_point(rows, caps, equalities, start):
            length = float(np.linalg.norm(state.w))
            closing = state.gap <= 2 * tol * length**2
            vanishing = length <= ZERO * reach
            last = state.n_iterations >= MOST_ITERATIONS or should_stop(
                state.n_iterations, length
            )
            if closing or vanishing or last:
                game = judge(state)
                gap = game.value_upper - game.value_lower
                closed = gap <= tol * game.value_upper or vanishing
                if closed or last:
                    n_iterations = state.n_iterations
                    return replace(
                        game, n_iterations=n_iterations, closed=closed
                    ), state
    raise AssertionError("unreachable")  # the iterates never end


def _evaluate(rows: Floats, p: Floats, caps: Floats, groups: list[Index]) -> CappedGame:
    """Bound the value from both sides by the weights and their direction."""
    share = 1.0 / len(groups)
    p = p.copy()
    for index in groups:  # rounding aside the sums are right already
        p[index] *= share / p[index].sum()
    w = rows.T @ p
    length = float(np.linalg.norm(w))
    if length == 0.0:
        return CappedGame(w, 0.0, 0.0, 0.0, 0.0, p, 0, True)
    unit = w / length
    margins = rows @ unit
    lower = 0.0
    levels = []
    for index in groups:
        mean, level = worst_mean(margins[index], caps[index], share)
        lower += mean
        levels.append(level)
    offset = 0.5 * (levels[1] - levels[0]) if len(groups) == 2 else 0.0
    level = sum(levels) / len(levels)
    return CappedGame(unit, offset, level, lower, length, p, 0, False)


def worst_mean(values: Floats, caps: Floats, mass: float) -> tuple[float, float]:
    """Return the least ``sum_i p_i values_i`` with ``p <= caps`` of a given mass.

    Also the largest value that still gets weight.

    Examples
    --------
    >>> import numpy as np
    >>> worst_mean(np.array([3.0, 1.0, 2.0]), np.full(3, 0.4), 0.5)
    (0.6, 2.0)
    """
    order = np.argsort(values, kind="stable")
    filled = np.cumsum(caps[order])
    last = min(int(np.searchsorted(filled, mass * (1.0 - 1e-12))), len(order) - 1)
    before = float(filled[last - 1]) if last > 0 else 0.0
    total = float(values[order[:last]] @ caps[order[:last]])
    level = float(values[order[last]])
    return total + (mass - before) * level, level


def least_share(
    margins: Floats, weights: Floats, groups: list[slice], most: float
) -> float:
    """Return the share whose worst margins have mean zero, or the most if it has less.

    Above it the mean is positive. The sum over the worst margins is convex in the
    share, so Newton's method comes down to the root from the most, in a few steps.

    Parameters
    ----------
    margins : ndarray of shape (n,)
        Margins but for the offsets that the groups leave free.
    weights : ndarray of shape (n,)
        Sample weights, summing to one.
    groups : list of slice
        Each is judged by an equal part of the share.
    most : float
        The largest share possible.

    Examples
    --------
    >>> import numpy as np
    >>> margins, weights = np.array([3.0, -1.0, 1.0, 3.0]), np.full(4, 0.25)
    >>> least_share(margins, weights, [slice(0, 4)], 1.0)
    0.5
    """
    sorted_groups = []
    for group in groups:
        order = margins[group].argsort()
        values, mass = margins[group][order], weights[group][order]
        sorted_groups.append((values, mass.cumsum(), (mass * values).cumsum()))
    share = most
    for _ in range(MOST_SHARE_STEPS):
        part = share / len(groups)
        total = slope = 0.0
        for values, mass, moments in sorted_groups:
            last = int(mass[:-1].searchsorted(part * (1.0 - 1e-12)))
            before = mass[last - 1] if last > 0 else 0.0
            moment = moments[last - 1] if last > 0 else 0.0
            total += float(moment + (part - before) * values[last])
            slope += float(values[last]) / len(groups)
        if total <= 0.0 or slope <= 0.0:
            break
        step = total / slope
        share -= step
        if step <= 1e-12 * most:
            break
    return max(share, 0.0)
