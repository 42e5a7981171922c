"""Fit many classes as one joint problem: every row against every other class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.classifier.fitted import Fitted, Settings
from linsep.classifier.samples import Samples
from linsep.classifier.separating import problem_of, separation_of
from linsep.classifier.soft_margin import dense_features, joint_game
from linsep.input import InputError
from linsep.search.answers import not_asked
from linsep.solvers.soft_margin.joint import Pairs, largest_joint_nu


def fit_joint(samples: Samples, classes: NDArray[Any], settings: Settings) -> Fitted:
    """Fit all classes at once."""
    n_classes, free, nu = len(classes), settings.fit_intercept, settings.nu
    samples = replace(samples, X=dense_features(samples.X))
    X = samples.X
    pairs = Pairs.of(samples.labels, n_classes)
    signed = _signed_pairs(pairs, X, free)
    ones = np.ones(len(signed), dtype=np.intp)
    whole = problem_of(signed, ones, classes, None, False)
    if nu is None:
        every = np.arange(len(signed))
        each = Samples(signed, ones, np.ones(len(signed)), every)
        plain = replace(settings, objective="separate")
        separation = separation_of(each, whole, every, plain)
    else:
        largest = largest_joint_nu(samples.labels, samples.weights, n_classes)
        if nu > largest * (1 + 1e-12):
            raise InputError(
                "nu must be at most the number of classes times the smallest class's "
                f"share, {largest:.4g}, got {nu!r}; lower nu, or pass nu='auto'"
            )
        separation = not_asked(whole, nu)
    of_pairs = np.column_stack([samples.index[pairs.row], pairs.rival])
    separator = None
    if separation.coef is not None:
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


def _signed_pairs(
    pairs: Pairs, X: NDArray[np.float64], fit_intercept: bool
) -> NDArray[np.float64]:
    """Return the signed rows with the last class's scores held at zero.

    The same vector may be taken from every class's coefficients, so nothing is lost,
    and the columns are independent where those of `X` are.
    """
    if fit_intercept:
        X = np.column_stack([X, np.ones(len(X))])
    return np.ascontiguousarray(pairs.blocks(X)[:, : -X.shape[1]])


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


def _separates(pairs: Pairs, decisions: NDArray[np.float64]) -> bool:
    """Tell whether every row scores its own class above every other."""
    own, rival = (decisions[pairs.row, k] for k in (pairs.own, pairs.rival))
    return bool((own > rival).all())
