"""Fit the rows of a Gram factor as if they were the data, the proof on the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.classifier.gram import (
    MOST_SECONDS,
    GramFactor,
    kernel_separation,
    narrowed,
    soft_width,
)
from linsep.classifier.many_classes import fit_joint
from linsep.classifier.samples import Samples
from linsep.classifier.two_classes import (
    Fitted,
    Settings,
    fit_two_classes,
    problem_of,
    soft_margin,
)
from linsep.result import LargestMargin
from linsep.solvers.soft_margin.joint import Pairs

Columns = Callable[[NDArray[np.intp]], NDArray[np.float64]]


def fit_factor(
    factor: GramFactor,
    inner: Samples,
    columns: Columns,
    settings: Settings,
    classes: NDArray[Any],
    *,
    joint: bool,
) -> tuple[list[Fitted], Pairs | None]:
    """Fit all classes at once, or one hyperplane a class (one in all for two).

    Parameters
    ----------
    factor : GramFactor
    inner : Samples
        The factor's rows with their labels and weights.
    columns : callable
        Returns named columns of the Gram matrix.
    settings : Settings
    classes : ndarray
    joint : bool
        Whether every row is held against every other class at once.
    """
    if joint:
        # Exact work on rounded factors is worth a limited time only.
        limited = replace(settings, time_limit=settings.time_limit or MOST_SECONDS)
        fitted, pairs = fit_joint(inner, classes, limited)
        return [fitted], pairs
    fits = []
    for k in range(len(classes)) if len(classes) > 2 else [1]:
        own = (inner.labels == k).astype(np.intp)
        sides = classes
        if len(classes) == 1:
            own = np.ones_like(own)
        elif len(classes) > 2:
            sides = np.array(["rest", str(classes[k])])
        side = replace(inner, labels=own)
        fits.append(_fit_side(factor, side, columns, settings, sides))
    return fits, None


def _fit_side(
    factor: GramFactor,
    side: Samples,
    columns: Columns,
    settings: Settings,
    classes: NDArray[Any],
) -> Fitted:
    """Fit two classes in the feature space."""
    whole = problem_of(side.X, side.labels, classes, None, settings.fit_intercept)
    n, rank = side.X.shape
    if np.unique(side.labels).size == 1:
        return fit_two_classes(side, whole, np.arange(n), settings)
    few = narrowed(side, soft_width(n, rank))
    if settings.nu != "auto":
        soft = fit_two_classes(few, whole, np.arange(n), settings)
    else:
        separation, v = kernel_separation(
            factor, side, classes, settings, lambda at: columns(at).T
        )
        if separation.coef is not None and v is not None:
            assert isinstance(separation, LargestMargin)
            support = separation.support
            return Fitted(
                v[None, :-1],
                v[-1:],
                separation,
                support if support is not None else np.empty(0, dtype=np.intp),
                n_iter=separation.n_rounds,
            )
        soft = soft_margin(few, None, settings, separation)
    padded = np.pad(soft.coef, ((0, 0), (0, rank - soft.coef.shape[1])))
    return replace(soft, coef=padded)
