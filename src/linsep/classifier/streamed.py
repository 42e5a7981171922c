"""Two classes in rows that are read in batches: a fit of a sample, a proof of all.

The search for a separator goes through all rows. The logistic regression, and the soft
margin of classes that cannot be separated, are fitted to rows drawn at random.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linsep.classifier.fitted import Fitted, Settings
from linsep.classifier.samples import Samples
from linsep.classifier.separating import problem_of
from linsep.classifier.two_classes import fit_two_classes
from linsep.input import InputError, Problem
from linsep.result import LargestMargin, Separation
from linsep.rows.blocks import BlockRows
from linsep.search.answers import answered
from linsep.search.beside_a_fit import decide_from
from linsep.search.limits import Limits, Monitor
from linsep.search.margin_search import find_largest_margin
from linsep.search.separator_search import find_separator
from linsep.solvers.bounds import norm

# Rows that a regression or a soft margin is fitted to: so many a column, and at least.
SAMPLE_A_COLUMN, LEAST_SAMPLE = 100, 20_000
MOST_ENTRIES = 20_000_000


def fit_streamed(problem: Problem, settings: Settings) -> tuple[Fitted, float]:
    """Fit two classes; also return the least margin of all rows.

    Parameters
    ----------
    problem : Problem
        Its rows are read in batches.
    settings : Settings
    """
    rows = problem.rows
    assert isinstance(rows, BlockRows)
    if problem.classes.size != 2:
        raise InputError(
            f"y must contain two classes where X is read in batches, got "
            f"{problem.classes.tolist()}"
        )
    rng = np.random.default_rng(settings.seed)
    fit = None
    if not settings.is_hard:
        fit = _of_sample(problem, settings, rng)
    separation = _separation(problem, settings, rng, fit)
    if fit is None and separation.coef is None:
        soft = replace(settings, objective="soft_margin")
        fit = _of_sample(problem, soft, rng)
    if fit is not None:
        fit = replace(fit, separation=separation)
    else:
        assert separation.coef is not None
        intercept = np.array([separation.intercept])
        fit = Fitted.separated(separation.coef[None, :], intercept, separation)
    w = fit.coef[0]
    whole = np.append(w, fit.intercept) if rows.fit_intercept else w
    least = float(rows.scan(whole, 1, by_margin=True).values[0])
    length = norm(w)
    return fit, least / length if length > 0 else 0.0


def _of_sample(
    problem: Problem, settings: Settings, rng: np.random.Generator
) -> Fitted:
    """Fit rows drawn at random."""
    rows = problem.rows
    n, d = rows.shape
    size = max(SAMPLE_A_COLUMN * d, LEAST_SAMPLE)
    size = min(n, size, max(MOST_ENTRIES // rows.entries_a_row, 2 * d))
    index = np.sort(rng.choice(n, size, replace=False))
    X, labels = rows.features(index), (rows.signs[index] > 0).astype(np.intp)
    ones = np.ones(size)
    samples = Samples.of(X, labels, ones, ones)
    whole = problem_of(X, labels, problem.classes, None, rows.fit_intercept)
    fit = fit_two_classes(samples, whole, np.arange(size), settings)
    return replace(fit, support=problem.given(index[fit.support]))


def _separation(
    problem: Problem, settings: Settings, rng: np.random.Generator, fit: Fitted | None
) -> Separation:
    """Decide whether all rows can be separated, from a fit if there is one."""
    limits = Limits.checked(
        max_passes=settings.max_passes, time_limit=settings.time_limit
    )
    monitor = Monitor(limits, settings.callback)
    free = problem.fit_intercept
    if fit is not None:
        start = np.append(fit.coef[0], fit.intercept if free else [])
        return answered(
            lambda: problem,
            lambda rows: decide_from(rows, monitor, rng, start),
            monitor,
            Separation,
            free,
        )
    if settings.objective == "max_margin":
        return answered(
            lambda: problem,
            lambda rows: find_largest_margin(rows, monitor, rng, settings.tol),
            monitor,
            LargestMargin,
            free,
        )
    return answered(
        lambda: problem,
        lambda rows: find_separator(rows, monitor, rng),
        monitor,
        Separation,
        free,
    )
