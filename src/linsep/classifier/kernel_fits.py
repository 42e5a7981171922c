"""Fit with a kernel: rows of a Gram factor are the data, the proof is on the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index
from linsep.classifier.fitted import Fitted, Settings
from linsep.classifier.many_classes import fit_joint
from linsep.classifier.samples import Samples
from linsep.classifier.separating import problem_of
from linsep.classifier.soft_margin import logistic_fit
from linsep.classifier.two_classes import (
    fit_given_share,
    fit_soft_margin,
    fit_two_classes,
    of_regression,
    sides,
)
from linsep.input import InputError
from linsep.result import LargestMargin, Separation
from linsep.rows import is_sparse
from linsep.search.answers import result_of
from linsep.search.feature_space import MOST_SECONDS, search_feature_space
from linsep.search.limits import Clock, Effort
from linsep.solvers.gram_factor import Columns, GramFactor, gram_factor

# A kernel's name, or a function of two arrays of rows that returns their Gram matrix.
KernelLike: TypeAlias = str | Callable[[Any, Any], Floats]

# Multiplications, n r^2, that a system of a soft fit may cost.
SOFT_WORK = 4e9


@dataclass(frozen=True)
class Kernel:
    """A kernel and its parameters, as `linsep.OptimisticPerceptron` takes them."""

    function: KernelLike
    gamma: float | str
    degree: int
    coef0: float

    def settled(self, X: Any) -> Kernel:
        """Return the kernel with gamma a number: "scale" is 1 / (columns * X.var())."""
        gamma = self.gamma
        if isinstance(gamma, str):
            gamma = 1.0
            if self.function in ("rbf", "poly"):
                square = X.multiply(X).mean() if is_sparse(X) else (X * X).mean()
                variance = float(square - X.mean() ** 2)
                gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        return replace(self, gamma=gamma)

    def values(self, X: Any, Z: Any) -> Floats:
        """Return the kernel between rows: shape (len(X), len(Z))."""
        if callable(self.function):
            return np.asarray(self.function(X, Z), dtype=np.float64)
        from sklearn.metrics.pairwise import pairwise_kernels

        given: dict[str, Any] = {"gamma": self.gamma}
        if self.function == "poly":
            given |= {"degree": self.degree, "coef0": self.coef0}
        gram = pairwise_kernels(X, Z, metric=self.function, **given)
        return np.asarray(gram, dtype=np.float64)

    def columns(self, X: Any, at: Index) -> Floats:
        """Return named columns of the Gram matrix of rows; given one, its own."""
        if self.function == "precomputed":
            return np.asarray(X[:, at], dtype=np.float64)
        return self.values(X, X[at])

    def diagonal(self, X: Any) -> Floats:
        """Return the diagonal of the Gram matrix of rows."""
        if self.function == "rbf":
            return np.ones(X.shape[0])
        if self.function == "precomputed":
            return np.asarray(X.diagonal(), dtype=np.float64)
        one = (self.values(X[i : i + 1], X[i : i + 1]) for i in range(X.shape[0]))
        return np.array([float(value[0, 0]) for value in one])


@dataclass(frozen=True)
class KernelSpace:
    """The feature space of a fit, spanned by its landmarks, which are training rows.

    `rows` are their features, None for a precomputed kernel; `triangle` (rank, rank)
    holds the rows of a factor of their Gram matrix.
    """

    kernel: Kernel
    landmarks: Index
    rows: Any
    triangle: Floats

    def features(self, X: Any) -> Floats:
        """Return the kernel between new rows and the landmarks."""
        if self.rows is None:
            return np.asarray(X, dtype=np.float64)[:, self.landmarks]
        return self.kernel.values(X, self.rows)

    def length(self, dual_coef: Floats) -> float:
        """Return the norm, in the feature space, of a sum of kernels at landmarks."""
        return float(np.linalg.norm(dual_coef @ self.triangle))


def fit_kernel(
    kernel: Kernel,
    X: Any,
    labels: Index,
    weights: Floats,
    units: Floats,
    classes: NDArray[Any],
    settings: Settings,
) -> tuple[list[Fitted], KernelSpace, Floats, Samples]:
    """Fit all classes at once, or one hyperplane a class (one in all for two).

    The `coef` of the fits returned are those of the kernel at the landmarks. Beside
    them: the space, the kernel (m, rank) between the distinct training rows and the
    landmarks, and these rows.
    """
    precomputed = kernel.function == "precomputed"
    if precomputed and X.shape[0] != X.shape[1]:
        raise InputError(
            "Precomputed kernel matrix must be square, (n_samples, n_samples), got "
            f"shape {X.shape}; pass kernel(X, X)"
        )
    if precomputed:
        held = np.flatnonzero(weights > 0)
        of_rows = labels[held], weights[held], held, units[held]
        samples = Samples(X[np.ix_(held, held)], *of_rows)
    else:
        samples = Samples.of(X, labels, weights, units)
    kernel = kernel.settled(samples.X)

    def columns(at: Index) -> Floats:
        return kernel.columns(samples.X, at)

    factor = gram_factor(columns, kernel.diagonal(samples.X))
    inner = replace(samples, X=factor.rows)
    if len(classes) > 2 and settings.multi_class == "joint":
        # Exact work on rounded factors is worth a limited time only.
        limited = replace(settings, time_limit=settings.time_limit or MOST_SECONDS)
        fits = [fit_joint(inner, classes, limited)]
    else:
        fits = [
            _fit_side(factor, replace(inner, labels=own), columns, pair, settings)
            for own, pair in sides(inner.labels, classes)
        ]
    space = KernelSpace(
        kernel,
        samples.index[factor.landmarks],
        None if precomputed else samples.X[factor.landmarks],
        factor.rows[factor.landmarks],
    )
    dual = factor.dual(np.vstack([one.coef for one in fits]))
    parts = np.split(dual, np.cumsum([len(one.coef) for one in fits])[:-1])
    fits = [replace(one, coef=part) for one, part in zip(fits, parts, strict=True)]
    return fits, space, factor.columns, samples


def _fit_side(
    factor: GramFactor,
    side: Samples,
    columns: Columns,
    classes: NDArray[Any],
    settings: Settings,
) -> Fitted:
    """Fit two classes in the feature space, in the coordinates of the factor."""
    whole = problem_of(side.X, side.labels, classes, None, settings.fit_intercept)
    n, rank = side.X.shape
    if side.is_one_class:
        return fit_two_classes(side, whole, np.arange(n), settings)
    # The first pivots span the feature space best, so the leading columns are a coarser
    # view of the same space.
    width = min(rank, max(50, int(np.sqrt(SOFT_WORK / max(1, n)))))
    few = replace(side, X=np.ascontiguousarray(side.X[:, :width]))
    if settings.nu is not None:
        soft = fit_given_share(few, whole, settings)
    else:
        separation, function = _separation(factor, side, columns, classes, settings)
        if function is not None and settings.is_hard:
            return Fitted.separated(function[None, :-1], function[-1:], separation)
        if settings.temperature is None:
            soft = of_regression(few, logistic_fit(few, 2, settings), separation)
        else:
            soft = fit_soft_margin(few, None, settings, separation)
    return replace(soft, coef=np.pad(soft.coef, ((0, 0), (0, rank - width))))


def _separation(
    factor: GramFactor,
    side: Samples,
    columns: Columns,
    classes: NDArray[Any],
    settings: Settings,
) -> tuple[Separation, Floats | None]:
    """Decide separability in the feature space; also return the separator found."""
    whole = problem_of(
        factor.columns, side.labels, classes, None, settings.fit_intercept
    )
    whole = replace(whole, present=side.index, row_names=settings.row_names)
    clock = Clock()
    found = search_feature_space(factor, whole.rows, columns, settings.time_limit)
    effort, function = (
        Effort(n_rounds=found.n_steps, seconds=clock.elapsed()),
        found.function,
    )
    answer = result_of(whole, found.verdict, effort, found.interval, LargestMargin)
    landmarks = side.index[factor.landmarks]
    names = tuple(f"k(x, row {row})" for row in landmarks.tolist())
    return replace(answer, feature_names=names, _column="kernel function"), function
