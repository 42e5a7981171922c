"""`max_margin`: the hyperplane furthest from both classes, with a proof of how far.

1. Validate, and gather a working set, as `linsep.separation` does.
2. Solve the working set's hard margin by an active set (`linsep.solvers.hard_margin`).
3. A conflict is settled exactly; if it stands, no hyperplane exists: done.
4. Otherwise one sweep over all rows bounds the margin from below, the multipliers bound
   it from above. The two meet to `tol`: done.
5. The rows nearest to the hyperplane join the working set; back to 2.

Where rounding keeps the two bounds apart, exact arithmetic settles the support
(`linsep.proof.largest_margin`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from linsep.input import InputError, checked_seed, problem_from
from linsep.input.types import FeaturesLike, LabelsLike, WeightsLike
from linsep.result import LargestMargin
from linsep.search.answers import answered
from linsep.search.limits import Callback, Monitor
from linsep.search.margin_search import find_largest_margin


def max_margin(
    X: FeaturesLike,
    y: LabelsLike,
    *,
    tol: float = 1e-6,
    fit_intercept: bool = True,
    sample_weight: WeightsLike | None = None,
    feature_names: Sequence[str] | None = None,
    missing: str = "refuse",
    max_passes: int = 100,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> LargestMargin:
    r"""Find the hyperplane with the largest margin, or prove that none separates.

    Solves, with the classes coded -1 and +1 and the intercept unpenalised,

    .. math::

        \min_{w, b} \tfrac12 \|w\|^2 \quad\text{subject to}\quad
        y_i (w \cdot x_i + b) \ge 1 \text{ for every row},

    the hard-margin support vector machine. The margin is :math:`1 / \|w\|`, the
    distance from the hyperplane to the nearest row in the units of the features.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), frame, or path
        As for `linsep.separate`.
    y : array-like of shape (n_samples,), or str
        Labels of at most two classes, or the name of a frame's or file's column.
    tol : float, default=1e-6
        Stop when ``margin_upper - margin_lower <= tol * margin_upper``; in (0, 1).
        1e-10 is within reach of data whose margin is not tiny beside their size.
    fit_intercept : bool, default=True
        Whether the hyperplane may miss the origin.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Rows of weight zero count as absent; no other weight matters, >= 0.
    feature_names : sequence of str or None, default=None
        Names of the columns, in place of a frame's or a file's.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows of a frame, a file or an array that lack a value.
    max_passes : int, default=100
        Sweeps over all rows at most, >= 1.
    max_rounds : int or None, default=None
        Steps of the active set at most, >= 1, with the solves that guess its start
        where rows are few beside the columns; None sets no limit of its own.
    time_limit : float or None, default=None
        Seconds at most, > 0.
    random_state : int or None, default=None
        Seed of the working set's sample; None is the same as 0.
    callback : callable or None, default=None
        Called with a `Progress` after each sweep, and from time to time in between; a
        true return value stops.

    Returns
    -------
    LargestMargin
        Its ``support`` names the rows that carry the solution, with ``coef`` and
        ``intercept`` scaled so that they lie at decision values of -1 and +1;
        ``margin_squared()`` is the exact square of the largest margin. On inseparable
        data it is the answer of `linsep.separate`, with the conflict. A limit reached
        with a separating hyperplane in hand is no failure: the status is "separable",
        the interval is wider than `tol` and the message says so.

    Raises
    ------
    InputError
        If the data or an argument cannot be used.

    Notes
    -----
    The active set is finite, whatever the margin; a step costs O(k d + k^2) for k rows
    on the margin. Sweeps cost O(n d); four to seven are the rule. At most two rows a
    column start from a guess that exchanges many rows at once, in four to sixteen
    solves of O(k^3) as a rule.

    References
    ----------
    Goldfarb & Idnani, "A numerically stable dual method for solving strictly convex
    quadratic programs", Mathematical Programming 27 (1983), doi:10.1007/BF02591962.
    Júdice & Pires, "A block principal pivoting algorithm for large-scale strictly
    monotone linear complementarity problems", Computers & Operations Research 21
    (1994).

    Examples
    --------
    >>> import linsep
    >>> best = linsep.max_margin([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> best.support.tolist(), best.margin_squared()
    ([1, 2], Fraction(1, 1))
    >>> print(round(best.margin_lower, 6), best.coef.tolist(), best.intercept)
    1.0 [1.0] -2.0
    """
    if not (isinstance(tol, float | int | np.floating) and 0 < tol < 1):
        raise InputError(
            f"tol must be a number between 0 and 1, both excluded, got {tol!r}; it "
            "bounds the relative width of the margin's interval, 1e-6 by default"
        )
    monitor = Monitor.checked(
        callback, max_passes=max_passes, max_rounds=max_rounds, time_limit=time_limit
    )
    find = partial(
        find_largest_margin,
        tol=float(tol),
        monitor=monitor,
        rng=checked_seed(random_state),
    )
    read = partial(
        problem_from,
        X,
        y,
        fit_intercept=fit_intercept,
        sample_weight=sample_weight,
        feature_names=feature_names,
        missing=missing,
    )
    return answered(read, find, monitor, LargestMargin, bool(fit_intercept))
