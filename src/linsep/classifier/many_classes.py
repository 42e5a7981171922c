"""Fit many classes as one joint problem: every row against every other class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats
from linsep.classifier.fitted import Fitted, Settings
from linsep.classifier.samples import Samples
from linsep.classifier.separating import (
    problem_of,
    separation_beside,
    separation_of,
)
from linsep.classifier.soft_margin import dense_features, joint_game, logistic_fit
from linsep.input import InputError
from linsep.rows import is_sparse
from linsep.search.answers import not_asked
from linsep.search.limits import Clock
from linsep.solvers.soft_margin.joint import Pairs, largest_joint_nu
from linsep.solvers.soft_margin.regression import with_constant

# Signed pairs of more entries are kept as a sparse matrix: most of them are zero.
MOST_DENSE_PAIRS = 1_000_000


def fit_joint(samples: Samples, classes: NDArray[Any], settings: Settings) -> Fitted:
    """Fit all classes at once."""
    if settings.nu is None and settings.temperature is None:
        return _fit_regression(samples, classes, settings)
    n_classes, free, nu = len(classes), settings.fit_intercept, settings.nu
    samples = replace(samples, X=dense_features(samples.X))
    X = samples.X
    pairs = Pairs.of(samples.labels, n_classes)
    signed = _signed_pairs(pairs, X, free)
    n_pairs = len(pairs.row)
    ones = np.ones(n_pairs, dtype=np.intp)
    whole = problem_of(signed, ones, classes, None, False)
    if nu is None:
        every, weights = np.arange(n_pairs), np.ones(n_pairs)
        each = Samples(signed, ones, weights, every, weights)
        plain = replace(settings, objective="separate")
        separation = separation_of(each, whole, every, plain)
    else:
        largest = largest_joint_nu(samples.labels, samples.weights, n_classes)
        if nu > largest and settings.is_class_weighted:
            nu = largest
        if nu > largest * (1 + 1e-12):
            raise InputError(
                "nu must be at most the number of classes times the smallest class's "
                f"share, {largest:.4g}, got {nu!r}; lower nu, or pass nu='auto'"
            )
        separation = not_asked(whole, nu)
    of_pairs = np.column_stack([samples.index[pairs.row], pairs.rival])
    separator = None
    if separation.coef is not None and settings.is_hard:
        separator = _split(separation.coef, n_classes, free)
    if separator is not None and settings.objective == "separate":
        n_rounds = separation.n_rounds
        return Fitted(
            *separator, separation, samples.index, n_iter=n_rounds, pairs=of_pairs
        )
    hard = separator is not None
    W, b, game = joint_game(samples, n_classes, nu, settings, hard=hard)
    if separator is not None and not _separates(pairs, X @ W.T + b):
        W, b = separator  # rounding: what is proved stands, its margin less than best
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
        of_pairs,
    )


def _fit_regression(
    samples: Samples, classes: NDArray[Any], settings: Settings
) -> Fitted:
    """Fit the penalised logistic regression of all classes at once."""
    clock = Clock()
    fit = logistic_fit(samples, len(classes), settings)
    pairs = Pairs.of(samples.labels, len(classes))
    signed = _signed_pairs(pairs, samples.X, settings.fit_intercept)
    every, ones = np.arange(len(pairs.row)), np.ones(len(pairs.row))
    each = Samples(signed, np.ones_like(every), ones, every, ones)
    whole = problem_of(signed, each.labels, classes, None, False)
    scores = np.column_stack(fit.loose) if settings.fit_intercept else fit.loose[0]
    start = (scores[:-1] - scores[-1]).ravel()
    given = each, whole, every, settings, start, fit.separates, clock.elapsed()
    separation = separation_beside(*given)
    decisions = np.asarray(samples.X @ fit.coef.T) + fit.offsets
    at = np.arange(len(decisions))
    own = decisions[at, samples.labels]
    decisions[at, samples.labels] = -np.inf
    return Fitted(
        fit.coef,
        fit.offsets,
        separation,
        np.sort(samples.index[own - decisions.max(axis=1) <= 1.0]),
        n_iter=separation.n_rounds + fit.n_iterations,
        pairs=np.column_stack([samples.index[pairs.row], pairs.rival]),
        penalty=fit.penalty,
    )


def _signed_pairs(pairs: Pairs, X: Any, fit_intercept: bool) -> Any:
    """Return the signed rows with the last class's scores held at zero.

    The same vector may be taken from every class's coefficients, so nothing is lost,
    and the columns are independent where those of `X` are.
    """
    if fit_intercept:
        X = with_constant(X)
    if is_sparse(X) or pairs.row.size * X.shape[1] * pairs.n_classes > MOST_DENSE_PAIRS:
        return pairs.sparse_blocks(X)
    return np.ascontiguousarray(pairs.blocks(X)[:, : -X.shape[1]])


def _split(w: Floats, n_classes: int, fit_intercept: bool) -> tuple[Floats, Floats]:
    """Cut the joint vector into each class's coefficients and intercept."""
    blocks = w.reshape(n_classes - 1, -1)
    blocks = np.vstack([blocks, np.zeros(blocks.shape[1])])
    blocks = blocks - blocks.mean(axis=0)
    if not fit_intercept:
        return blocks, np.zeros(n_classes)
    return blocks[:, :-1], blocks[:, -1]


def _separates(pairs: Pairs, decisions: Floats) -> bool:
    """Tell whether every row scores its own class above every other."""
    own, rival = (decisions[pairs.row, k] for k in (pairs.own, pairs.rival))
    return bool((own > rival).all())
