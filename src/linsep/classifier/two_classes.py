"""Fit two classes: the largest margin where it exists, the capped game elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, no_index
from linsep.classifier.fitted import Fitted, Settings
from linsep.classifier.samples import Samples
from linsep.classifier.separating import (
    problem_of,
    separation_beside,
    separation_of,
)
from linsep.classifier.soft_margin import logistic_fit, two_class_game
from linsep.input import InputError, Problem
from linsep.result import Separation
from linsep.search.answers import not_asked
from linsep.search.limits import Clock
from linsep.solvers.soft_margin.game import largest_nu
from linsep.solvers.soft_margin.logistic import LogisticFit

# A margin this close to the dividing one counts as on it.
ON_THE_LINE = 1e-3


def sides(labels: Index, classes: NDArray[Any]) -> Iterator[tuple[Index, NDArray[Any]]]:
    """Yield labels 0 and 1, and their names, for every hyperplane that is fitted.

    One for two classes; for more, one a class, against all others together. One class
    alone is on the positive side.
    """
    if len(classes) == 1:
        yield np.ones_like(labels), classes
    elif len(classes) == 2:
        yield labels, classes
    else:
        for k, name in enumerate(classes):
            yield (labels == k).astype(np.intp), np.array(["rest", str(name)])


def fit_each_side(
    X: Any,
    labels: Index,
    weights: Floats,
    units: Floats,
    classes: NDArray[Any],
    names: tuple[str, ...] | None,
    settings: Settings,
) -> list[Fitted]:
    """Fit two classes, or each of many against all others together."""
    kept = np.flatnonzero(weights > 0)
    present = X if kept.size == len(labels) else X[kept]
    fits = []
    for own, pair in sides(labels, classes):
        samples = Samples.of(X, own, weights, units)
        whole = problem_of(present, own[kept], pair, names, settings.fit_intercept)
        whole = replace(whole, row_names=settings.row_names)
        fits.append(fit_two_classes(samples, whole, kept, settings))
    return fits


def fit_two_classes(
    samples: Samples, whole: Problem, kept: Index, settings: Settings
) -> Fitted:
    """Fit labels 0 and 1; see `separation_of` for the parameters."""
    if samples.is_one_class:
        separation = separation_of(samples, whole, kept, settings)
        sign = np.array([1.0 if samples.labels[0] == 1 else -1.0])
        none = no_index()
        return Fitted(np.zeros((1, whole.n_features)), sign, separation, none)
    if settings.nu is not None:
        return fit_given_share(samples, whole, settings)
    if settings.temperature is None:
        clock = Clock()
        found = logistic_fit(samples, 2, settings)
        coef, offsets = found.loose
        start = np.append(coef, offsets if whole.fit_intercept else [])
        given = samples, whole, kept, settings, start, found.separates, clock.elapsed()
        return of_regression(samples, found, separation_beside(*given))
    separation = separation_of(samples, whole, kept, settings)
    if separation.coef is None or not settings.is_hard:
        return fit_soft_margin(samples, None, settings, separation)
    assert separation.intercept is not None
    intercept = np.array([separation.intercept])
    return Fitted.separated(separation.coef[None, :], intercept, separation)


def of_regression(
    samples: Samples, found: LogisticFit, separation: Separation
) -> Fitted:
    """Return the fit of a logistic regression of two classes."""
    return Fitted(
        found.coef,
        found.offsets,
        separation,
        _judged(samples, found.coef, found.offsets),
        n_iter=separation.n_rounds + found.n_iterations,
        penalty=found.penalty,
    )


def _judged(samples: Samples, coef: Floats, intercept: Floats) -> Index:
    """Return the rows whose margin is at most 1."""
    decisions = np.asarray(samples.X @ coef[0] + intercept[0]).ravel()
    signed = decisions * np.where(samples.labels == 1, 1.0, -1.0)
    return np.sort(samples.index[signed <= 1.0 + ON_THE_LINE])


def fit_given_share(samples: Samples, whole: Problem, settings: Settings) -> Fitted:
    """Fit the soft margin of the share that was asked for."""
    nu = settings.nu
    assert nu is not None
    signs = np.where(samples.labels == 1, 1.0, -1.0)
    largest = largest_nu(signs, samples.weights, settings.fit_intercept)
    if nu > largest and settings.is_class_weighted:
        fit = fit_soft_margin(samples, largest, settings, not_asked(whole, largest))
        # The lighter class counts for next to nothing: its margin is the other's too.
        heavier = 1.0 if samples.weights @ signs > 0 else -1.0
        return replace(fit, intercept=fit.intercept + heavier)
    if nu > largest * (1.0 + 1e-12):
        raise InputError(
            f"nu must be at most twice the smaller class's share, {largest:.4g}, so "
            f"that both classes can carry half of the weight, got {nu!r}; lower nu, or "
            "pass nu='auto'"
        )
    return fit_soft_margin(samples, nu, settings, not_asked(whole, nu))


def fit_soft_margin(
    samples: Samples, nu: float | None, settings: Settings, separation: Separation
) -> Fitted:
    """Fit the soft margin of a share, or of the smallest one that pays."""
    coef, intercept, game = two_class_game(samples, nu, settings)
    return Fitted(
        coef,
        intercept,
        separation,
        # The rows judged are those whose margin is at most the dividing one, 1.
        _judged(samples, coef, intercept),
        game.nu,
        (game.value_lower, game.value_upper),
        game.closed,
        separation.n_rounds + game.n_iterations,
        game.temperature,
    )
