"""What a run of any method of the family returns: one record, with its counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linsep.arrays import Floats
from linsep.input import check_features
from linsep.rows import as_dense
from linsep.solvers.bounds import norm

Stop = Literal["separated", "no_mistakes", "max_updates", "max_passes", "max_rounds"]


@dataclass(frozen=True, repr=False)
class PerceptronResult:
    """The outcome of a run, and what it cost.

    Attributes
    ----------
    method : str
        Name of the method.
    classes : ndarray of shape (2,) or (1,)
        The labels, sorted; a positive decision value means the last.
    separated : bool
        Whether the returned predictor has every training row strictly on its side,
        as computed in floating point (`linsep.separate` proves it instead).
    stopped : {"separated", "no_mistakes", "max_updates", "max_passes", "max_rounds"}
        Why the run ended. ``"separated"`` only if ``separated``; ``"no_mistakes"`` if a
        pass met no mistake and the answer, a vote or an average, yet does not separate.
    n_updates : int
        Changes of the weight vector.
    n_passes : int
        Passes over the rows that were begun.
    n_operations : int
        The paper's unit: inner products and additions of vectors of the rows' length.
    row_weights : ndarray of shape (n_samples,)
        Nonnegative multipliers of the rows: how often each was added (methods driven
        by mistakes) or the last distribution over the rows (methods played in rounds).
    """

    method: str
    classes: NDArray[np.generic]
    separated: bool
    stopped: Stop
    n_updates: int
    n_passes: int
    n_operations: int
    row_weights: Floats

    @property
    def mistakes_per_pass(self) -> float:
        """Updates divided by passes; about 2 for Perceptron on data set (2)."""
        return self.n_updates / self.n_passes if self.n_passes else float("nan")

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return one decision value a row of ``X`` (n_samples, n_features).

        Positive means the last class.
        """
        raise NotImplementedError

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Return the predicted label of each row of ``X`` (n_samples, n_features)."""
        positive = self.decision_function(X) > 0
        return self.classes[np.where(positive, len(self.classes) - 1, 0)]

    def __repr__(self) -> str:
        verdict = "separated" if self.separated else f"not separated ({self.stopped})"
        return (
            f"{self.method}: {verdict}, {self.n_updates:,} updates, "
            f"{self.n_passes:,} passes, {self.n_operations:,} operations"
        )


@dataclass(frozen=True, repr=False)
class LinearResult(PerceptronResult):
    """The outcome of a run whose predictor is a hyperplane.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        Normal of the hyperplane.
    intercept : float
        The decision value is ``coef . x + intercept``.
    margin_lower : float
        ``min_i a_i . w / |w|`` over the signed rows ``a_i`` (the constant 1 counted
        when an intercept is fitted); negative if a row is on the wrong side, nan if
        ``w = 0``.
    margin_upper : float
        ``|sum_i p_i a_i|`` with ``p`` the row weights scaled to sum one: no hyperplane
        has a larger margin.
    """

    coef: Floats
    intercept: float
    margin_lower: float
    margin_upper: float

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return ``X @ coef + intercept``, shape (n_samples,)."""
        values: Floats = new_rows(X, self.coef.size) @ self.coef
        return values + self.intercept


def new_rows(X: object, n_features: int) -> Floats:
    """Return new rows as a float64 array, or say how they differ from the first."""
    return as_dense(check_features(X, n_features)).astype(np.float64, copy=False)


def products(A: Floats, w: Floats) -> Floats:
    """Return ``A @ w`` with every product rounded, the same for a row wherever it is.

    What the BLAS makes of a tie depends on where the rows lie in memory, and a run must
    agree with its result on what separates.
    """
    values: Floats = (A * w).sum(axis=1)
    return values


def margin_bounds(A: Floats, w: Floats, row_weights: Floats) -> tuple[float, float]:
    """Return ``min_i a_i . w / |w|`` and ``|sum_i p_i a_i|``, nan where undefined."""
    length = norm(w)
    mass = float(row_weights.sum())
    lower = float(products(A, w).min()) / length if length > 0 else float("nan")
    upper = float(np.linalg.norm(row_weights @ A)) / mass if mass > 0 else float("nan")
    return lower, upper


def reason(stopped: Stop, *, separated: bool) -> Stop:
    """Return why a run ended, given whether its answer separates the rows."""
    return "no_mistakes" if stopped == "separated" and not separated else stopped
