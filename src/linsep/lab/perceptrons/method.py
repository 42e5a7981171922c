"""What all methods of the family are: a record of settings that runs on signed rows."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linsep.input import InputError, problem_from
from linsep.lab.perceptrons.result import (
    FloatArray,
    LinearResult,
    PerceptronResult,
    Stop,
    margin_bounds,
    reason,
)
from linsep.rows import as_dense

Result = TypeVar("Result", bound=PerceptronResult)

# Squares of entries, summed and multiplied by counts, stay within double precision.
SMALLEST, LARGEST = 1e-120, 1e120


@dataclass(frozen=True)
class SignedRows:
    """The training rows as the family sees them.

    Attributes
    ----------
    A : ndarray of shape (n_samples, d)
        Signed rows ``a_i = sign_i (x_i, 1)``; the constant only with `fit_intercept`.
    signs : ndarray of shape (n_samples,)
        +1 for the last of the sorted `classes`, -1 for the first.
    """

    A: FloatArray
    signs: FloatArray
    classes: NDArray[np.generic]
    fit_intercept: bool

    def split(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return coefficients and intercept of weights on the columns of ``A``.

        The columns are the last axis of ``w``, of any number of dimensions.
        """
        if self.fit_intercept:
            return w[..., :-1].copy(), w[..., -1].copy()
        return w.copy(), np.zeros(w.shape[:-1])


def signed_rows(X: ArrayLike, y: ArrayLike, *, fit_intercept: bool) -> SignedRows:
    """Validate ``X`` (n_samples, n_features) and two-class labels ``y``; sign the rows.

    Beyond what `linsep.separate` refuses, entries are, whose squares would leave the
    range of double precision.
    """
    problem = problem_from(X, y, fit_intercept=fit_intercept)
    A = as_dense(problem.rows.take(np.arange(problem.n_samples)))
    largest = float(np.abs(A).max(initial=0.0))
    if not (largest == 0.0 or SMALLEST < largest < LARGEST):
        raise InputError(
            f"the largest entry of X must be between {SMALLEST:g} and {LARGEST:g} in "
            f"size for the textbook methods, got {largest:g}: their inner products "
            "would overflow or vanish; multiply X by a constant, or use linsep.separate"
        )
    return SignedRows(
        A=np.ascontiguousarray(A, dtype=np.float64),
        signs=problem.rows.signs.astype(np.float64),
        classes=np.asarray(problem.classes),
        fit_intercept=fit_intercept,
    )


@dataclass
class History:
    """Running counts of a run, and the mistakes it made.

    `counts` (n_samples,) are the weights of the rows: how often each was a mistake.
    `mistakes` lists each one's row and the rows shown by then (a compiled loop only
    counts). `charged` are the operations where they are not one for each row shown and
    one for each update.
    """

    counts: FloatArray
    n_shown: int = 0
    n_passes: int = 0
    n_updates: int = 0
    charged: int | None = None
    stopped: Stop = "max_passes"
    mistakes: list[tuple[int, int]] = field(default_factory=list)

    @property
    def n_operations(self) -> int:
        """Inner products and additions of vectors."""
        return self.n_shown + self.n_updates if self.charged is None else self.charged


@dataclass(frozen=True, kw_only=True)
class Method(ABC, Generic[Result]):
    """A method of the family: a frozen record of its settings.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    """

    fit_intercept: bool = True

    def run(self, X: ArrayLike, y: ArrayLike) -> Result:
        """Run the method on rows and labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,)
            Labels of two classes; any values.

        Returns
        -------
        LinearResult, VotedResult or KernelResult
            The predictor and what it cost.

        Raises
        ------
        InputError
            If the data or a setting cannot be used, or the run leaves the range of
            double precision.
        """
        return self._run(signed_rows(X, y, fit_intercept=self.fit_intercept))

    @abstractmethod
    def _run(self, rows: SignedRows) -> Result:
        """Run the method on signed rows."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Result:
        """Call `run`, the new name; this one will go."""
        name = type(self).__name__
        warnings.warn(
            f"{name}.fit is now {name}.run: it returns a result, not the method",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.run(X, y)


def result_of(
    kind: type[Result],
    method: str,
    rows: SignedRows,
    history: History,
    *,
    separated: bool,
    **predictor: Any,
) -> Result:
    """Return the result of a run, with the predictor it ended with."""
    return kind(
        method=method,
        classes=rows.classes,
        separated=separated,
        stopped=reason(history.stopped, separated=separated),
        n_updates=history.n_updates,
        n_passes=history.n_passes,
        n_operations=history.n_operations,
        row_weights=history.counts,
        **predictor,
    )


def linear_result(
    method: str, rows: SignedRows, w: FloatArray, history: History
) -> LinearResult:
    """Return the result of a run that answers with the hyperplane ``w``."""
    coef, intercept = rows.split(w)
    lower, upper = margin_bounds(rows.A, w, history.counts)
    return result_of(
        LinearResult,
        method,
        rows,
        history,
        separated=lower > 0,
        coef=coef,
        intercept=float(intercept),
        margin_lower=lower,
        margin_upper=upper,
    )
