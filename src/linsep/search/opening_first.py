"""What the opening finds on small data, proved as all else is."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.input import Problem, plain_problem
from linsep.proof.gordan import conflict_of
from linsep.result import Progress, Separation
from linsep.rows import DenseRows, Rows
from linsep.rows.working_set import WorkingSet
from linsep.search.answers import Verdict, result_of
from linsep.search.hyperplane import Hyperplane
from linsep.search.limits import UNKNOWN, Effort, Interval
from linsep.search.reasons import Reason
from linsep.solvers._opening import Opening
from linsep.solvers.bounds import margin_lower
from linsep.solvers.opening import opened

if TYPE_CHECKING:
    from linsep.search.separator_search import Search

# Limits of fewer seconds are watched by a search: the opening of small data takes some
# tenths of one at the most.
LEAST_SECONDS = 1.0
NO_MARGIN = Interval(upper=0.0)


def by_opening(search: Search) -> Verdict | None:
    """Try the opening on all rows, if they are few: most small data need no more.

    None where it finds no hyperplane and no conflict, or they are not proved.
    """
    monitor, rows = search.monitor, search.rows
    found = opened(rows, monitor.rounds_left, monitor.stop_if_due)
    if found is None:
        return None
    search.is_opened = True
    monitor.n_rounds += found.n_rounds
    monitor.at_most(found.margin_upper)
    if found.conflict is not None:
        monitor.stop_if_due(rounds=False)
        should_stop = partial(monitor.should_stop, rounds=False)
        verdict = _in_conflict(rows, found, search.most_settled, should_stop)
        if verdict is None:
            working = WorkingSet(rows, search.rng, start=np.arange(rows.shape[0]))
            return search.prove_conflict(working, *found.conflict)
        monitor.at_most(0.0)
        return verdict
    if found.w is None:
        return None
    monitor.n_working = rows.shape[0]
    hyperplane = Hyperplane(found.w)
    scan = search.sweep(hyperplane, 0)
    return None if scan.margin <= 0.0 else Verdict.separable(hyperplane)


def at_once(
    X: Any,
    y: Any,
    fit_intercept: bool,
    missing: str,
    max_passes: int,
    time_limit: float | None,
    most_settled: int,
) -> Separation | None:
    """Answer for a few plain numbers, if the opening is all that they need.

    That is what a search of them comes to, without what only a longer one needs: a few
    rows are separated in a part of the time that it takes to begin one. None leaves
    them, and arguments that are not as usual, to the search.
    """
    started = time.perf_counter()
    if time_limit is None:
        time_limit = np.inf
    if not (
        type(fit_intercept) is bool
        and (type(missing) is str and missing == "refuse")
        and (type(max_passes) is int and max_passes > 0)
        and (type(time_limit) in (int, float) and time_limit >= LEAST_SECONDS)
    ):
        return None
    problem = plain_problem(X, y, fit_intercept)
    if problem is None or len(problem.classes) == 1:
        return None
    try:
        return _proved_at_once(problem, started, time_limit, most_settled)
    except KeyboardInterrupt:
        verdict = Verdict.undecided(Reason.INTERRUPTED.text())
        effort = Effort(seconds=time.perf_counter() - started)
        return result_of(problem, verdict, effort, UNKNOWN, Separation)


def _proved_at_once(
    problem: Problem, started: float, seconds: float, most_settled: int
) -> Separation | None:
    """Prove what the opening finds, if it does."""
    rows = problem.rows
    found = opened(rows)
    if found is None or not isinstance(rows, DenseRows):
        return None
    if found.conflict is not None:
        deadline = started + seconds
        verdict = _in_conflict(
            rows, found, most_settled, lambda: time.perf_counter() > deadline
        )
        if verdict is None:
            return None
        effort = Effort(0, found.n_rounds, (), time.perf_counter() - started)
        return result_of(problem, verdict, effort, NO_MARGIN, Separation)
    if found.w is None:
        return None
    least = rows.margin(found.w)
    if least <= 0.0:
        return None
    margins = margin_lower(least, found.w[: problem.n_features]), found.margin_upper
    done, elapsed = (1, found.n_rounds), time.perf_counter() - started
    trace = Progress(*done, problem.n_samples, 0, *margins, elapsed)
    verdict = Verdict.separable(Hyperplane(found.w))
    effort, interval = Effort(*done, (trace,), elapsed), Interval(*margins)
    return result_of(problem, verdict, effort, interval, Separation)


def _in_conflict(
    rows: Rows, found: Opening, most_settled: int, should_stop: Callable[[], bool]
) -> Verdict | None:
    """Settle what seems to be a conflict, a point with both labels first.

    None where such a point is still to be looked for, or the rows are too many.
    """
    verdict = None
    if found.opposite is not None:
        pair = np.array(found.opposite)
        verdict = _settled(rows, pair, np.ones(2), should_stop)
    if verdict is not None or found.conflict is None or found.may_be_opposite:
        return verdict
    index, p = found.conflict
    if index.size > most_settled and np.count_nonzero(p) > most_settled:
        return None
    return _settled(rows, index[p > 0], p[p > 0], should_stop)


def _settled(
    rows: Rows, index: Index, p: Floats, should_stop: Callable[[], bool]
) -> Verdict | None:
    """Settle a conflict of these rows, no others looked at; small data have few."""
    conflict = conflict_of(rows.take(index), p, should_stop)
    if conflict is None:
        return None
    return Verdict.inseparable(index[np.asarray(conflict.rows)], conflict.weights)
