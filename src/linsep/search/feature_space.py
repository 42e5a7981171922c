"""Decide whether two classes are separable in a kernel's feature space, with a proof.

The rows of a factor of the Gram matrix stand for the feature space: the active set of
the hard margin runs on them. What is claimed of the rows is then checked on the Gram
matrix as given, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linsep.arrays import Floats, Index
from linsep.proof.gordan import conflict_from_candidate
from linsep.result import Status
from linsep.rows import Rows
from linsep.search.answers import Verdict
from linsep.search.hyperplane import Hyperplane
from linsep.search.limits import Clock, Interval
from linsep.search.reasons import Reason
from linsep.solvers.active_set import Outcome
from linsep.solvers.bounds import margin_upper
from linsep.solvers.gram_factor import Columns, GramFactor
from linsep.solvers.hard_margin.start import HardMargin
from linsep.solvers.scaling import exponent_above

# Steps of the active set a landmark, seconds, and entries made exact, at most.
STEPS_A_LANDMARK = 20
MOST_SECONDS = 20.0
MOST_EXACT = 500_000


@dataclass(frozen=True)
class FeatureSpaceAnswer:
    """What was found of two classes in a feature space.

    Attributes
    ----------
    verdict : Verdict
        Its hyperplane is about the Gram matrix's columns at the landmarks.
    interval : Interval
        What holds the largest margin in the feature space.
    n_steps : int
        Steps of the active set.
    function : ndarray of shape (rank + 1,) or None
        The separator in the factor's coordinates, the intercept last.
    """

    verdict: Verdict
    interval: Interval
    n_steps: int
    function: Floats | None = None


def search_feature_space(
    factor: GramFactor, rows: Rows, columns: Columns, time_limit: float | None
) -> FeatureSpaceAnswer:
    """Decide whether two classes are separable in the feature space.

    A separator is a function ``f = sum_j beta_j k(., landmark_j) + b`` whose signs at
    the training rows are checked exactly on the Gram matrix. A conflict must have
    ``sum_i p_i y_i K_ij = 0`` for every column, exactly; where rounding of the kernel
    prevents that, nothing is proved and the status is "undecided".

    Parameters
    ----------
    factor : GramFactor
    rows : Rows
        The Gram matrix's columns at the landmarks, signed; of both classes.
    columns : callable
        Returns named columns of the Gram matrix.
    time_limit : float or None
        Seconds at most, for the active set and then for the exact proof; None is 20.
    """
    signs = rows.signs.astype(np.float64)
    free = rows.fit_intercept
    seconds = time_limit or MOST_SECONDS
    problem, scale = _hard_problem(factor.rows, signs, free)
    outcome = _solve(problem, seconds)
    support, multipliers = problem.support, problem.multipliers
    upper = np.inf
    if multipliers.sum() > 0:
        signed = factor.rows[support] * signs[support, None]
        if free:
            signed = np.column_stack([signed, signs[support]])
        upper = margin_upper(signed, multipliers, free)
    held = multipliers > 0
    if outcome is Outcome.OPTIMAL:
        coef = problem.u[: factor.rows.shape[1]] / scale
        offset = problem.offset + problem.u[-1] if free else 0.0
        dual = factor.dual(coef)
        w = np.append(dual, offset) if free else dual
        verdict, lower = _checked(rows, w, float(np.linalg.norm(coef)))
        verdict = verdict._replace(support=support[held])
        function = None if verdict.hyperplane is None else np.append(coef, offset)
        interval = Interval(lower, upper)
        return FeatureSpaceAnswer(verdict, interval, problem.n_steps, function)
    if outcome is Outcome.CONFLICT:
        verdict = _proved(support[held], multipliers[held], rows, columns, seconds)
    else:
        verdict = Verdict.undecided(Reason.KERNEL_STALLED.text())
    interval = Interval(upper=upper if verdict.conflict is None else 0.0)
    return FeatureSpaceAnswer(verdict, interval, problem.n_steps)


def _hard_problem(rows: Floats, signs: Floats, free: bool) -> tuple[HardMargin, float]:
    """Return the hard margin's problem for rows of a factor, and their scale."""
    scale = float(np.ldexp(1.0, exponent_above(rows)))
    signed = rows * (signs / scale)[:, None]
    if free:
        signed = np.column_stack([signed, signs])
    signed = np.ascontiguousarray(signed)
    return HardMargin(signed, signs, free_offset=free), scale


def _solve(problem: HardMargin, seconds: float) -> Outcome:
    """Run the active set, within limits of time and steps."""
    clock = Clock()
    outcome = Outcome.STALLED
    limit = STEPS_A_LANDMARK * problem.rows.shape[1] + 200
    for state in problem.solve(tolerance=1e-10, max_steps=limit):
        outcome = state
        if clock.elapsed() > seconds:
            break
    return outcome


def _checked(rows: Rows, w: Floats, length: float) -> tuple[Verdict, float]:
    """Check a function's signs on the Gram matrix; return its margin too."""
    scan = rows.scan(w, rows.shape[0], by_margin=True)
    slack = scan.margin
    if slack <= 0 and scan.n_violations == 0:
        doubtful = scan.index[scan.values <= scan.error]
        exact = Hyperplane(w).least_slack(rows.take(doubtful))
        slack = -np.inf if exact is None else min(exact, scan.margin_settled)
    if slack <= 0:
        unproved = Reason.KERNEL_SEPARATOR_UNPROVED.text()
        return Verdict.undecided(unproved), -np.inf
    return Verdict(
        Status.SEPARABLE,
        "Separable in the feature space: proved on the Gram matrix as given.",
        Hyperplane(w),
    ), slack / length * (1.0 - 1e-9)


def _proved(
    support: Index, multipliers: Floats, rows: Rows, columns: Columns, seconds: float
) -> Verdict:
    """Return the conflict if it is one of the Gram matrix as given, exactly."""
    clock = Clock()
    signs = rows.signs[support].astype(np.float64)
    held = columns(support).T * signs[:, None]
    if rows.fit_intercept:
        held = np.column_stack([held, signs])
    exact = None
    if held.size <= MOST_EXACT:
        exact = conflict_from_candidate(
            held,
            np.arange(len(held)),
            multipliers,
            lambda: clock.elapsed() > seconds,
        )
    if exact is None:
        return Verdict.undecided(Reason.KERNEL_CONFLICT_UNPROVED.text())
    verdict = Verdict.inseparable(support[np.array(exact.rows)], exact.weights)
    return verdict._replace(
        message="Inseparable in the feature space: no function separates even these "
        f"{len(exact.rows)} rows.",
    )
