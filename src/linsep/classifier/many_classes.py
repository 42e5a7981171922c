"""Fit many classes: one joint problem, or each class against the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.classifier.samples import Samples
from linsep.classifier.two_classes import (
    Fitted,
    Settings,
    dense_features,
    fit_two_classes,
    problem_of,
    separation_of,
    standardized,
)
from linsep.input import InputError
from linsep.result import Separation
from linsep.search.answers import not_asked
from linsep.solvers.soft_margin.game import CappedGame
from linsep.solvers.soft_margin.joint import Pairs, largest_joint_nu, solve_joint
from linsep.solvers.soft_margin.tempered import TEMPERATURE, solve_tempered_joint


def fit_each_class(
    X: Any,
    labels: NDArray[np.intp],
    weights: NDArray[np.float64],
    classes: NDArray[Any],
    names: tuple[str, ...] | None,
    settings: Settings,
) -> list[Fitted]:
    """Fit each class against all others together."""
    kept = np.flatnonzero(weights > 0)
    fits = []
    for k in range(len(classes)):
        own = (labels == k).astype(np.intp)
        samples = Samples.of(X, own, weights)
        sides = np.array(["rest", str(classes[k])])
        whole = problem_of(X[kept], own[kept], sides, names, settings.fit_intercept)
        fits.append(fit_two_classes(samples, whole, kept, settings))
    return fits


def fit_joint(
    samples: Samples, classes: NDArray[Any], settings: Settings
) -> tuple[Fitted, Pairs]:
    """Fit all classes at once: every row against every other class."""
    n_classes = len(classes)
    X = dense_features(samples.X)
    pairs = Pairs.of(samples.labels, n_classes)
    nu: float | None = None
    hard = False
    if settings.nu == "auto":
        separation = _separate_pairs(X, pairs, classes, settings)
        hard = separation.coef is not None
        if hard and settings.objective == "separate":
            assert separation.coef is not None
            W, b = _split(separation.coef, n_classes, settings.fit_intercept)
            return Fitted(
                W, b, separation, samples.index, n_iter=separation.n_rounds
            ), pairs
    else:
        nu = float(settings.nu)
        largest = largest_joint_nu(samples.labels, samples.weights, n_classes)
        if nu > largest * (1 + 1e-12):
            raise InputError(
                "nu must be at most the number of classes times the smallest class's "
                f"share, {largest:.4g}, got {nu!r}; lower nu, or pass nu='auto'"
            )
        blocks = _reduced(pairs, X, settings.fit_intercept)
        whole = _pair_problem(blocks, classes)
        separation = not_asked(whole, nu)
    W, b, game = _play(X, samples, n_classes, nu, settings, hard=hard)
    if hard and not _separates(pairs, X, W, b):
        # Rounding: the separator that is proved stands, its margin less than best.
        assert separation.coef is not None
        W, b = _split(separation.coef, n_classes, settings.fit_intercept)
    heavy = game.p > 1e-6 * game.p.max()
    return Fitted(
        W,
        b,
        separation,
        np.unique(samples.index[pairs.row[heavy]]),
        game.nu,
        (game.value_lower, game.value_upper),
        game.closed,
        separation.n_rounds + game.n_iterations,
        game.temperature,
    ), pairs


def _reduced(
    pairs: Pairs, X: NDArray[np.float64], fit_intercept: bool
) -> NDArray[np.float64]:
    """Return the signed rows with the last class's scores held at zero.

    The same vector may be taken from every class's coefficients, so nothing is lost,
    and the columns are independent where those of `X` are.
    """
    if fit_intercept:
        X = np.column_stack([X, np.ones(len(X))])
    return np.ascontiguousarray(pairs.blocks(X)[:, : -X.shape[1]])


def _pair_problem(blocks: NDArray[np.float64], classes: NDArray[Any]) -> Any:
    ones = np.ones(len(blocks), dtype=np.intp)
    return problem_of(blocks, ones, classes, None, False)


def _separate_pairs(
    X: NDArray[np.float64], pairs: Pairs, classes: NDArray[Any], settings: Settings
) -> Separation:
    """Decide the joint problem: all pairs on their side at once, or a conflict."""
    blocks = _reduced(pairs, X, settings.fit_intercept)
    ones = np.ones(len(blocks), dtype=np.intp)
    samples = Samples(blocks, ones, np.ones(len(blocks)), np.arange(len(blocks)))
    whole = _pair_problem(blocks, classes)
    plain = replace(settings, objective="separate")
    return separation_of(samples, whole, np.arange(len(blocks)), plain)


def _split(
    w: NDArray[np.float64], n_classes: int, fit_intercept: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cut the joint vector into each class's coefficients and intercept."""
    blocks = w.reshape(n_classes - 1, -1)
    blocks = np.vstack([blocks, np.zeros(blocks.shape[1])])
    blocks = blocks - blocks.mean(axis=0)
    if not fit_intercept:
        return blocks, np.zeros(n_classes)
    return blocks[:, :-1], blocks[:, -1]


def _separates(
    pairs: Pairs,
    X: NDArray[np.float64],
    W: NDArray[np.float64],
    b: NDArray[np.float64],
) -> bool:
    decisions = X @ W.T + b
    own = decisions[pairs.row, pairs.own]
    return bool((own > decisions[pairs.row, pairs.rival]).all())


def _play(
    X: NDArray[np.float64],
    samples: Samples,
    n_classes: int,
    nu: float | None,
    settings: Settings,
    *,
    hard: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64], CappedGame]:
    """Play the joint game; the hard margin is measured in the user's own units."""
    free = settings.fit_intercept
    if hard:
        scale = np.ones(X.shape[1])
        mean = samples.weights @ X / samples.weights.sum()
        centre = mean if free else np.zeros(X.shape[1])
        rows = X - centre
    else:
        unsigned = np.ones(len(X))
        rows, centre, scale = standardized(X, unsigned, samples.weights, settings)
    data = rows, samples.labels, samples.weights, n_classes
    if not hard and (settings.temperature > 0.0 or nu is None):
        temperature = settings.temperature or TEMPERATURE
        game, b = solve_tempered_joint(
            *data, nu, free=free, temperature=temperature, tol=settings.tol
        )
        nu = game.nu
    if hard or settings.temperature == 0.0:
        game, b = solve_joint(*data, nu, free=free, tol=settings.tol)
    length = game.level if game.level > 0 else 1.0
    W = game.w.reshape(n_classes, -1) / scale / length
    b = b / length - W @ centre
    if not W.any():  # no direction pays: the heaviest class is all there is to say
        mass = np.bincount(samples.labels, samples.weights, n_classes)
        b = np.asarray(mass / mass.sum(), dtype=np.float64)
    return W, b - b.mean() if free else b * 0.0, game
