"""The shared loop of the methods that see all rows every round.

Such a method is a generator of `Round`: the weight vector it would answer with, the
distribution over rows behind it, and what the run has cost so far. The loop checks
each for separation and ends at the first separator or at the cap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linsep.lab.perceptrons.presentation import signed_rows
from linsep.lab.perceptrons.result import FloatArray, LinearResult, Stop, margin_bounds
from linsep.lab.perceptrons.settings import check_cap


@dataclass(frozen=True)
class Round:
    """A method's state after a round.

    Attributes
    ----------
    w : ndarray of shape (d,)
        The weight vector the method would answer with.
    p : ndarray of shape (n,)
        Its distribution over the rows.
    margin : float
        ``min_i a_i . w``, from inner products the method computes anyway.
    n_passes, n_operations : int
        Passes over the rows, and inner products plus additions, so far.
    """

    w: FloatArray
    p: FloatArray
    margin: float
    n_passes: int
    n_operations: int


def fit_in_rounds(
    method: str,
    X: ArrayLike,
    y: ArrayLike,
    rounds: Callable[[FloatArray], Iterator[Round]],
    *,
    fit_intercept: bool,
    max_rounds: int,
) -> LinearResult:
    """Play ``rounds(A)`` until a ``w`` separates, or ``max_rounds`` rounds.

    ``n_updates`` of the result is the number of rounds.
    """
    check_cap("max_rounds", max_rounds)
    data = signed_rows(X, y, fit_intercept=fit_intercept)
    stopped: Stop = "max_rounds"
    n_rounds = 0
    for played in rounds(data.A):
        n_rounds += 1
        if played.margin > 0 and margin_bounds(data.A, played.w, played.p)[0] > 0:
            stopped = "separated"
            break
        if n_rounds == max_rounds:
            break
    coef, intercept = data.split(played.w)
    lower, upper = margin_bounds(data.A, played.w, played.p)
    return LinearResult(
        method=method,
        classes=data.classes,
        separated=lower > 0,
        stopped=stopped,
        n_updates=n_rounds,
        n_passes=played.n_passes,
        n_operations=played.n_operations,
        row_weights=played.p,
        coef=coef,
        intercept=intercept,
        margin_lower=lower,
        margin_upper=upper,
    )


def softmin(margins: FloatArray) -> FloatArray:
    """Return ``p_i`` proportional to ``exp(-margins_i)``, shape (n,), sum one."""
    p: FloatArray = np.exp(margins.min() - margins)
    p /= p.sum()
    return p


def largest_norm(A: FloatArray) -> float:
    """Return ``r = max_i |a_i|``, or 1 if every row is zero."""
    r = float(np.linalg.norm(A, axis=1).max())
    return r if r > 0 else 1.0
