"""Choose nu by cross-validation: the smallest share that pays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.estimators.samples import Samples

# Shares tried, relative to the largest possible one, from that down.
SHARES = (0.95, 0.8, 0.65, 0.55, 0.45, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05, 0.03)
# Shares that may fail to improve before smaller ones are no longer tried.
PATIENCE = 4
N_FOLDS = 5
# Rows used for the choice at most; the fit uses all.
MOST_ROWS = 4000
# A game whose value is below this, relative to the first one's, has no direction.
NO_VALUE = 1e-3

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
    """Return the smallest share with the best cross-validated accuracy.

    Parameters
    ----------
    samples : Samples
        Distinct rows; folds never divide equal rows, nor depend on their order.
    largest : float
        The largest share possible.
    fit : callable
        ``fit(samples, share)``, the share relative to the largest possible for those
        samples, returns a function that predicts class numbers, and the game's value.
    """
    part = _thinned(samples)
    folds = _folds(part)
    accuracy: dict[float, float] = {}
    first_value = None
    for share in SHARES:
        right = total = 0.0
        values = []
        for fold in range(N_FOLDS):
            train = part.take(np.flatnonzero(folds != fold))
            test = part.take(np.flatnonzero(folds == fold))
            predict, value = fit(train, share)
            values.append(value)
            hits = predict(test.X) == test.labels
            right += float(test.weights[hits].sum())
            total += float(test.weights.sum())
        first_value = first_value if first_value is not None else max(values)
        if min(values) <= NO_VALUE * first_value and accuracy:
            break  # a smaller share has no value either
        accuracy[share * largest] = right / total
        tried = list(accuracy.values())
        if len(tried) - 1 - tried.index(max(tried)) >= PATIENCE:
            break
    best = max(accuracy.values())
    return ChosenNu(min(nu for nu, a in accuracy.items() if a >= best), accuracy)


def _thinned(samples: Samples) -> Samples:
    """Return an even part of the rows if there are very many."""
    n = len(samples.labels)
    if n <= MOST_ROWS:
        return samples
    return samples.take(np.linspace(0, n - 1, MOST_ROWS).astype(np.intp))


def _folds(samples: Samples) -> NDArray[np.intp]:
    """Return the fold of each row, dealt class by class in a fixed shuffled order."""
    folds = np.empty(len(samples.labels), dtype=np.intp)
    rng = np.random.default_rng(0)
    for label in np.unique(samples.labels):
        members = rng.permutation(np.flatnonzero(samples.labels == label))
        folds[members] = np.arange(members.size) % N_FOLDS
    return folds


def can_choose(samples: Samples) -> bool:
    """Tell whether every class has a row to train on in every fold."""
    return int(np.bincount(samples.labels).min()) >= 2
