"""Ask whether labelled rows can be separated at all, each distinct row once."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.classifier.fitted import Settings
from linsep.classifier.samples import Samples
from linsep.input import Problem
from linsep.largest_margin import MarginSearch, exact_square
from linsep.result import Separation
from linsep.rows import Rows, rows_from
from linsep.search.separator_search import Limits, Search
from linsep.separation import one_class_result, result_of


def problem_of(
    X: Any,
    labels: NDArray[np.intp],
    classes: NDArray[Any],
    names: tuple[str, ...] | None,
    fit_intercept: bool,
) -> Problem:
    """Return checked arrays as a problem; the lower of two labels is negative."""
    signs = np.where(labels == labels.max(), 1, -1).astype(np.int8)
    return Problem(rows_from(X, signs, fit_intercept), classes, names, fit_intercept)


def separation_of(
    samples: Samples, whole: Problem, kept: NDArray[np.intp], settings: Settings
) -> Separation:
    """Search the distinct rows; word the answer for the rows given.

    Parameters
    ----------
    samples : Samples
        The distinct rows that are searched.
    whole : Problem
        The rows given, those of weight zero left out: the proof is about these.
    kept : ndarray of int
        Which of the rows given they are.
    settings : Settings
    """
    free = whole.fit_intercept
    started = time.perf_counter()
    if np.unique(samples.labels).size == 1 and free:
        one_class = replace(whole, classes=whole.classes[-1:])
        return one_class_result(one_class, started=started)
    distinct = problem_of(samples.X, samples.labels, whole.classes, None, free)
    search = _search(distinct.rows, settings)
    verdict = search.run()
    if verdict.conflict is not None and verdict.conflict_weights is not None:
        rows = np.searchsorted(kept, samples.index[verdict.conflict])
        order = np.argsort(rows)
        verdict = replace(
            verdict,
            conflict=rows[order],
            conflict_weights=tuple(verdict.conflict_weights[i] for i in order),
        )
    answer = result_of(whole, search, verdict)
    if answer.conflict is not None:
        answer = replace(answer, conflict=kept[answer.conflict])
    if isinstance(search, MarginSearch) and answer.coef is not None:
        carriers = search.support
        answer = replace(
            answer,
            support=np.sort(samples.index[carriers]),
            _square=lambda: exact_square(distinct.rows, carriers),
        )
    return answer


def _search(rows: Rows, settings: Settings) -> Search:
    """Return the search that the objective asks for."""
    limits = Limits.checked(
        max_passes=settings.max_passes,
        max_rounds=None,
        time_limit=settings.time_limit,
        started=time.perf_counter(),
    )
    rng = np.random.default_rng(settings.seed)
    if settings.objective == "max_margin":
        return MarginSearch(rows, limits, rng, settings.callback, tol=settings.tol)
    return Search(rows, limits, rng, settings.callback)
