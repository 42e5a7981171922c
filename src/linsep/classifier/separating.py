"""Ask whether labelled rows can be separated at all, each distinct row once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index
from linsep.classifier.fitted import Settings
from linsep.classifier.samples import Samples
from linsep.input import Problem
from linsep.result import LargestMargin, Separation
from linsep.rows import rows_from
from linsep.search.answers import Verdict, one_class, result_of
from linsep.search.beside_a_fit import decide_from, is_small
from linsep.search.limits import Limits, Monitor
from linsep.search.margin_search import find_largest_margin
from linsep.search.reasons import Reason
from linsep.search.separator_search import find_separator

# The proof beside a fit may take this many times as long as the fit did, and so many
# seconds anyway: more where rows are few, whose conflict is found in milliseconds.
PROOF_SHARE = 1.5
LEAST_SECONDS, LEAST_SECONDS_IF_SMALL = 0.25, 2.0


def problem_of(
    X: Any,
    labels: Index,
    classes: NDArray[Any],
    names: tuple[str, ...] | None,
    fit_intercept: bool,
) -> Problem:
    """Return checked arrays as a problem; the lower of two labels is negative."""
    signs = np.where(labels == labels.max(), 1, -1).astype(np.int8)
    return Problem(rows_from(X, signs, fit_intercept), classes, names, fit_intercept)


def separation_of(
    samples: Samples, whole: Problem, kept: Index, settings: Settings
) -> Separation:
    """Search the distinct rows; word the answer for the rows given.

    The samples, distinct, are searched; the proof is about the `whole` problem, those
    of weight zero left out; `kept` says which of the rows given these are.
    """
    free = whole.fit_intercept
    whole = replace(whole, present=kept)
    limits = Limits.checked(
        max_passes=settings.max_passes, time_limit=settings.time_limit
    )
    monitor = Monitor(limits, settings.callback)
    sought = settings.objective == "max_margin"
    record = LargestMargin if sought else Separation
    if samples.is_one_class and free:
        alone = replace(whole, classes=whole.classes[-1:])
        return one_class(alone, monitor.effort, record)
    distinct = problem_of(samples.X, samples.labels, whole.classes, None, free)
    rng = np.random.default_rng(settings.seed)
    if sought:
        verdict = find_largest_margin(distinct.rows, monitor, rng, settings.tol)
    else:
        verdict = find_separator(distinct.rows, monitor, rng)
    verdict = verdict.renumbered(_places(kept, samples.index))
    return result_of(whole, verdict, monitor.effort, monitor.interval, record)


def separation_beside(
    samples: Samples,
    whole: Problem,
    kept: Index,
    settings: Settings,
    start: Floats,
    may_separate: bool,
    fit_seconds: float,
) -> Separation:
    """Decide separability beside a fit, `start`, in a time that is small beside it.

    See `separation_of` for the rest.
    """
    free = whole.fit_intercept
    distinct = problem_of(samples.X, samples.labels, whole.classes, None, free)
    least = LEAST_SECONDS_IF_SMALL if is_small(distinct.rows) else LEAST_SECONDS
    allowed = max(least, PROOF_SHARE * fit_seconds)
    limits = Limits.checked(
        max_passes=settings.max_passes,
        time_limit=min(allowed, settings.time_limit or np.inf),
    )
    monitor = Monitor(limits, settings.callback)
    rng = np.random.default_rng(settings.seed)
    given = distinct.rows, monitor, rng, start
    verdict = decide_from(*given, may_separate=may_separate)
    if verdict.reason == Reason.TIME_LIMIT.text(allowed):
        verdict = Verdict.undecided(Reason.BESIDE_A_FIT.text(allowed))
    verdict = verdict.renumbered(_places(kept, samples.index))
    whole = replace(whole, present=kept)
    return result_of(whole, verdict, monitor.effort, monitor.interval, Separation)


def _places(kept: Index, index: Index) -> Index:
    """Return where rows stand among those kept: at their numbers, if all are."""
    all_kept = kept[-1] + 1 == kept.size
    return index if all_kept else np.searchsorted(kept, index)
