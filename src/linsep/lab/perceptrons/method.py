"""What all methods of the family are: a record of settings that runs on signed rows."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from linsep.arrays import Floats
from linsep.input import InputError
from linsep.lab.perceptrons.result import (
    LinearResult,
    PerceptronResult,
    Stop,
    margin_bounds,
    reason,
)
from linsep.lab.signed_rows import SignedRows, signed_rows

Result = TypeVar("Result", bound=PerceptronResult)


@dataclass
class History:
    """Running counts of a run, and the mistakes it made.

    `counts` (n_samples,) are the weights of the rows: how often each was a mistake.
    `mistakes` lists each one's row and the rows shown by then (a compiled loop only
    counts). `charged` are the operations where they are not one for each row shown and
    one for each update.
    """

    counts: Floats
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

    def trace(self, X: ArrayLike, y: ArrayLike) -> list[Result]:
        """Run the method as `run` does, stopped after 1, 2, 4, ... passes.

        A method starts anew each time and makes the same steps, so the results are
        those that one run would have at these points, at about twice its cost. Where a
        method has no limit of passes, its rounds count, or its updates.

        Parameters
        ----------
        X, y : array-like of shape (n_samples, n_features) and (n_samples,)
            As of `run`.

        Returns
        -------
        list of LinearResult, VotedResult or KernelResult
            The last one is that of `run`. Draw ``margin_lower`` and ``margin_upper``
            against ``n_passes``, say.

        Raises
        ------
        InputError
            As `run`; and if ``random_state`` is a generator, which cannot start anew.

        Examples
        --------
        >>> from linsep.perceptrons import Perceptron
        >>> for result in Perceptron().trace([[1.0], [2.0], [4.0]], [0, 0, 1]):
        ...     print(result.n_passes, f"{result.margin_lower:.2f}")
        1 -2.00
        2 -1.70
        4 0.32
        """
        if isinstance(getattr(self, "random_state", None), np.random.Generator):
            raise InputError(
                "random_state must be an integer for a trace, whose runs start anew, "
                "got a Generator"
            )
        rows = signed_rows(X, y, fit_intercept=self.fit_intercept)
        limit = self._limit
        most = getattr(self, limit)
        results, steps = [], 1
        while most is None or steps < most:
            setting: dict[str, Any] = {limit: steps}
            some = replace(self, **setting)
            results.append(some._run(rows))
            if results[-1].stopped != limit:
                return results
            steps *= 2
        return [*results, self._run(rows)]

    @property
    def _limit(self) -> Stop:
        """The setting that ends a run which reaches nothing."""
        limits: tuple[Stop, ...] = ("max_passes", "max_rounds", "max_updates")
        return next(name for name in limits if hasattr(self, name))

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
    method: str, rows: SignedRows, w: Floats, history: History
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
