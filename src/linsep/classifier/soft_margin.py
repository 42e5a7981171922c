"""Soft margins: rows in the units of the game, the game, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.classifier.fitted import Settings
from linsep.classifier.samples import Samples
from linsep.input import InputError
from linsep.rows import is_sparse
from linsep.solvers.scaling import exponent_above
from linsep.solvers.soft_margin._passes import column_moments, moved_rows
from linsep.solvers.soft_margin.game import CappedGame, solve_capped
from linsep.solvers.soft_margin.joint import solve_joint
from linsep.solvers.soft_margin.logistic import LogisticFit, fit_logistic
from linsep.solvers.soft_margin.tempered import (
    TEMPERATURE,
    solve_tempered,
    solve_tempered_joint,
)

# Sparse rows are made dense up to this many entries, where that must be.
MOST_DENSE = 30_000_000
# Sparse rows of fewer columns than this are made dense to be faster.
FEW_COLUMNS = 300
# Entries up to two to these powers have squares and fourth powers in the range of
# doubles.
SQUARES_FIT, FOURTH_POWERS_FIT = 480, 200

Hyperplanes = tuple[Floats, Floats, CappedGame]


def logistic_fit(samples: Samples, n_classes: int, settings: Settings) -> LogisticFit:
    """Fit a penalised regression or discriminants, and one of next to no penalty.

    Columns are measured in standard deviations within classes, the noise that a margin
    stands against. Coefficients are of shape (1, d) or (n_classes, d).
    """
    X, free = samples.X, settings.fit_intercept
    if not is_sparse(X) or X.shape[1] <= FEW_COLUMNS:
        X = dense_features(X)
    ones = np.ones(X.shape[0])
    rows, centre, scale = _standardized(
        X, ones, samples.weights, settings, samples.labels
    )
    given = samples.labels, samples.weights, samples.units, n_classes
    fit = fit_logistic(rows, *given, free=free)

    def own_units(coef: Floats, offsets: Floats) -> tuple[Floats, Floats]:
        coef = coef / scale
        return coef, offsets - coef @ centre

    chosen, loose = own_units(fit.coef, fit.offsets), own_units(*fit.loose)
    return replace(fit, coef=chosen[0], offsets=chosen[1], loose=loose)


def two_class_game(
    samples: Samples, nu: float | None, settings: Settings
) -> Hyperplanes:
    """Play the capped game on two classes; without a share, choose one.

    Returns coefficients, (1, d), intercept, (1,), and game, scaled so that the margin
    which divides the rows at their caps from the rest is 1, as in scikit-learn's NuSVC.
    """
    X = samples.X
    if not (is_sparse(X) and X.shape[1] > FEW_COLUMNS and settings.temperature):
        X = dense_features(X)
    signs = np.where(samples.labels == 1, 1.0, -1.0)
    rows, centre, scale = _standardized(X, signs, samples.weights, settings)
    players = rows, signs, samples.weights
    free = settings.fit_intercept
    game = _play(
        partial(solve_tempered, *players, free=free),
        partial(solve_capped, *players, free=free),
        nu,
        settings,
    )
    length = game.level if game.level > 0 else 1.0
    coef = game.w / scale / length
    intercept = game.offset / length - float(coef @ centre)
    if not coef.any():  # no direction pays: the heavier class is all there is to say
        intercept = 1.0 if samples.weights @ signs > 0 else -1.0
    return coef[None, :], np.array([intercept]), game


def joint_game(
    samples: Samples,
    n_classes: int,
    nu: float | None,
    settings: Settings,
    *,
    hard: bool,
) -> Hyperplanes:
    """Play the joint game; the hard margin is measured in the user's own units.

    Returns the coefficients (n_classes, d), the intercepts (n_classes,), and the game.
    """
    X, free = samples.X, settings.fit_intercept
    if hard:
        scale = np.ones(X.shape[1])
        mean = samples.weights @ X / samples.weights.sum()
        centre = mean if free else np.zeros(X.shape[1])
        rows = X - centre
    else:
        unsigned = np.ones(len(X))
        rows, centre, scale = _standardized(X, unsigned, samples.weights, settings)
    players = rows, samples.labels, samples.weights, n_classes
    capped = partial(solve_joint, *players, free=free)
    if hard:
        game = capped(nu, tol=settings.tol)
    else:
        tempered = partial(solve_tempered_joint, *players, free=free)
        game = _play(tempered, capped, nu, settings)
    length = game.level if game.level > 0 else 1.0
    coef = game.w.reshape(n_classes, -1) / scale / length
    intercept = game.offsets / length - coef @ centre
    if not coef.any():  # no direction pays: the heaviest class is all there is to say
        mass = np.bincount(samples.labels, samples.weights, n_classes)
        intercept = np.asarray(mass / mass.sum(), dtype=np.float64)
    return coef, intercept - intercept.mean() if free else intercept * 0.0, game


def _play(
    tempered: Callable[..., CappedGame],
    capped: Callable[..., CappedGame],
    nu: float | None,
    settings: Settings,
) -> CappedGame:
    """Play at a temperature, or without one; a share is chosen at a temperature."""
    if settings.temperature == 0.0 and nu is not None:
        return capped(nu, tol=settings.tol)
    temperature = settings.temperature or TEMPERATURE
    game = tempered(nu, temperature=temperature, tol=settings.tol)
    if settings.temperature == 0.0:
        return capped(game.nu, tol=settings.tol)
    return game


def _standardized(
    X: Any,
    signs: Floats,
    weights: Floats,
    settings: Settings,
    labels: Index | None = None,
) -> tuple[Any, Floats, Floats]:
    """Return new rows ``sign (x - centre) / scale``, and what they were moved by.

    The centre is the mean where a free intercept undoes it, else zero. The scale is
    the standard deviation, with labels that within the classes.
    """
    if is_sparse(X):
        # Rare columns of sparse rows would outweigh all others if they were scaled up.
        scale = np.full(X.shape[1], _common_scale(X))
        rows = X.astype(np.float64)
        rows.data *= np.repeat(signs / scale[0], np.diff(rows.indptr))
        return rows, np.zeros(X.shape[1]), scale
    X = np.ascontiguousarray(X)
    share = weights / weights.sum()
    mean, largest, peak, scale = _column_spread(X, share)
    if settings.standardize:
        if labels is not None:
            within = _deviation_within(X, share, labels)
            # Columns that the classes decide alone are measured by their whole spread.
            scale = np.where(within > 1e-9 * scale, within, scale)
        scale[scale <= 1e-12 * largest] = 1.0  # constant but for rounding
    else:
        scale = np.full(X.shape[1], _common_scale(peak))
    centre = mean if settings.fit_intercept else np.zeros(X.shape[1])
    moved = np.empty(X.shape)
    moved_rows(X, centre, scale, signs, moved)
    return moved, centre, scale


def _column_spread(X: Floats, share: Floats) -> tuple[Floats, ...]:
    """Return each column's mean, largest size, that about the mean, and deviation."""
    mean, largest, peak, square = np.zeros((4, X.shape[1]))
    column_moments(X, share, mean, largest, peak, square)
    scale = np.sqrt(square)
    extreme = (peak > 0) & (np.abs(np.frexp(peak)[1]) > SQUARES_FIT)
    unit = (X[:, extreme] - mean[extreme]) / peak[extreme]
    scale[extreme] = peak[extreme] * np.sqrt(share @ (unit * unit))
    return mean, largest, peak, scale


def _deviation_within(X: Floats, share: Floats, labels: Index) -> Floats:
    """Return each column's standard deviation within the classes."""
    parts = []
    for label in np.flatnonzero(np.bincount(labels)):
        at: Any = np.flatnonzero(labels == label)
        if at[-1] - at[0] < at.size:  # one run, which need not be copied
            at = slice(at[0], at[-1] + 1)
        mass = share[at].sum()
        parts.append(np.sqrt(mass) * _column_spread(X[at], share[at] / mass)[3])
    return np.asarray(np.hypot.reduce(parts))


def _common_scale(X: Any) -> float:
    """Return 1, or a power of two that brings entries far from it to about 1."""
    size = exponent_above(X)
    return float(np.ldexp(1.0, size)) if abs(size) > FOURTH_POWERS_FIT else 1.0


def dense_features(X: Any) -> Floats:
    """Return rows as a dense float64 array, if there is room for it."""
    if not is_sparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    n, d = X.shape
    if n * d > MOST_DENSE:
        raise InputError(
            "a soft margin of many classes jointly, or without a temperature, needs X "
            f"to be dense or, as a sparse matrix, of at most {MOST_DENSE:,} entries, "
            f"zeros counted, got {n} x {d}; pass multi_class='ovr' and temperature=0.5"
        )
    return np.asarray(X.toarray(), dtype=np.float64)
