"""Choose nu: a small share, unless cross-validation says that another pays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.estimators.samples import Samples

# Shares tried: this far from the smallest share that has a value to the largest one.
# Finest at the lower end, where a soft margin is nearest to a hard one.
STEPS = (0.95, 0.8, 0.65, 0.5, 0.37, 0.27, 0.19, 0.13, 0.08, 0.04, 0.015)
# The step taken unless another's accuracy is better by this many standard errors: on
# real data it is near the best, and accuracies differ by chance as much as in truth.
USUAL_STEP = 0.19
CLEARLY = 0.35
# Halvings of the interval in which the smallest share is sought.
N_HALVINGS = 7
N_FOLDS = 5
# Rows used for the choice at most; the fit uses all.
MOST_ROWS = 4000
# Where a game is cheap, rows are divided into folds several times over: this often
# at most, and while rows times columns squared add up to no more than this.
MOST_REPEATS = 4
REPEATED_WORK = 10_000_000

Fit = Callable[[Samples, float], tuple[Callable[[Any], NDArray[np.intp]], float]]


@dataclass(frozen=True)
class ChosenNu:
    """The choice and what it rests on.

    Attributes
    ----------
    nu : float
    accuracy : dict
        Mean cross-validated accuracy of every share tried.
    """

    nu: float
    accuracy: dict[float, float]


def choose_nu(samples: Samples, largest: float, fit: Fit) -> ChosenNu:
    """Return a small share, or a larger one whose accuracy pays for it.

    Just above the smallest share that has a value the fit is nearest to separating. It
    is taken unless another share's cross-validated accuracy, averaged with that of its
    neighbours, is clearly better (0.35 of a standard error).

    Parameters
    ----------
    samples : Samples
        Distinct rows; folds never divide equal rows, nor depend on their order.
    largest : float
        The largest share possible.
    fit : callable
        ``fit(samples, share)``, the share relative to the largest possible for those
        samples, returns a function that predicts class numbers, and a lower bound on
        the game's value.
    """
    part = _thinned(samples)
    work = len(part.labels) * part.X.shape[1] ** 2
    repeats = min(MOST_REPEATS, max(1, REPEATED_WORK // max(1, work)))
    dealt = [_folds(part, seed) for seed in range(repeats)]
    smallest = _smallest_share(part, fit)
    accuracy: dict[float, float] = {}
    for step in STEPS:
        share = smallest + step * (1.0 - smallest)
        right = total = 0.0
        values = []
        for folds, fold in product(dealt, range(N_FOLDS)):
            train = part.take(np.flatnonzero(folds != fold))
            test = part.take(np.flatnonzero(folds == fold))
            predict, value = fit(train, share)
            values.append(value)
            hits = predict(test.X) == test.labels
            right += float(test.weights[hits].sum())
            total += float(test.weights.sum())
        if min(values) <= 0.0 and accuracy:
            break  # on a fold this share has no value, and no smaller one has
        accuracy[share * largest] = right / total
    return ChosenNu(_choice(accuracy, len(part.labels)), accuracy)


def _choice(accuracy: dict[float, float], n: int) -> float:
    """Return the usual share, or the best one where that clearly pays more."""
    shares = sorted(accuracy)
    smooth = _smoothed([accuracy[share] for share in shares])
    best = int(np.argmax(smooth))
    usual = min(len(shares) - 1, len(STEPS) - 1 - STEPS.index(USUAL_STEP))
    error = np.sqrt(smooth[best] * (1.0 - smooth[best]) / n)
    pays = smooth[best] - smooth[usual] > CLEARLY * error
    return shares[best if pays else usual]


def _smallest_share(samples: Samples, fit: Fit) -> float:
    """Return nearly the smallest share at which the game has a value.

    Below it the two classes' capped hulls meet, and no direction is better than none.
    """
    low, high = 0.0, STEPS[0]
    for _ in range(N_HALVINGS):
        middle = 0.5 * (low + high)
        if fit(samples, middle)[1] > 0.0:
            high = middle
        else:
            low = middle
    return high


def _smoothed(values: list[float]) -> NDArray[np.float64]:
    """Average each value with its neighbours, itself counted twice."""
    padded = np.array([values[0], *values, values[-1]])
    return np.asarray(0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:])


def _thinned(samples: Samples) -> Samples:
    """Return an even part of the rows if there are very many."""
    n = len(samples.labels)
    if n <= MOST_ROWS:
        return samples
    return samples.take(np.linspace(0, n - 1, MOST_ROWS).astype(np.intp))


def _folds(samples: Samples, seed: int) -> NDArray[np.intp]:
    """Return the fold of each row, dealt class by class in a fixed shuffled order."""
    folds = np.empty(len(samples.labels), dtype=np.intp)
    rng = np.random.default_rng(seed)
    for label in np.unique(samples.labels):
        members = rng.permutation(np.flatnonzero(samples.labels == label))
        folds[members] = np.arange(members.size) % N_FOLDS
    return folds


def can_choose(samples: Samples) -> bool:
    """Tell whether every class has a row to train on in every fold."""
    return int(np.bincount(samples.labels).min()) >= 2
