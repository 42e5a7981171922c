"""What a fit is asked for, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linsep.arrays import Floats, Index, no_index
from linsep.input.row_names import BY_POSITION, RowNames
from linsep.result import LargestMargin, Separation
from linsep.search.limits import Callback


@dataclass(frozen=True)
class Settings:
    """What an estimator was asked for, checked.

    A share `nu` of None is chosen; `temperature` 0 is the capped game itself, None no
    game but a penalised logistic regression. Where classes are weighted, a share
    too large is lowered to the largest, not refused.
    """

    objective: str
    nu: float | None
    temperature: float | None
    multi_class: str
    fit_intercept: bool
    standardize: bool
    tol: float
    max_passes: int
    time_limit: float | None
    seed: int
    callback: Callback | None = None
    is_class_weighted: bool = False
    row_names: RowNames = BY_POSITION

    @property
    def is_hard(self) -> bool:
        """Whether classes that can be separated are."""
        return self.objective != "soft_margin" and self.nu is None


@dataclass(frozen=True)
class Fitted:
    """A fitted hyperplane, or one for each class.

    Attributes
    ----------
    coef : ndarray of shape (k, d)
    intercept : ndarray of shape (k,)
    separation : Separation
        Whether the classes can be separated at all.
    support : ndarray of int
        Rows that carry the solution.
    nu : float or None
        The share of margins that are judged; None where the worst one is.
    value : tuple of two floats or None
        The interval that holds the capped game's value.
    closed : bool
        Whether the interval was closed to the tolerance.
    n_iter : int
    temperature : float
        What a nat cost the data player, in the units of the margins.
    pairs : ndarray of shape (m, 2) or None
        Of a joint fit: each row that is held against a class, and the class.
    penalty : float or None
        Of a logistic regression.
    """

    coef: Floats
    intercept: Floats
    separation: Separation
    support: Index
    nu: float | None = None
    value: tuple[float, float] | None = None
    closed: bool = True
    n_iter: int = 0
    temperature: float = 0.0
    pairs: Index | None = None
    penalty: float | None = None

    @classmethod
    def separated(
        cls, coef: Floats, intercept: Floats, separation: Separation
    ) -> Fitted:
        """Return the fit of a hyperplane that separates."""
        support = None
        if isinstance(separation, LargestMargin):
            support = separation.support
        support = no_index() if support is None else support
        return cls(coef, intercept, separation, support, n_iter=separation.n_rounds)


def smallest_margin(decisions: Floats, labels: Index, lengths: Floats) -> float:
    """Return the smallest signed distance of a row from a tie with another class.

    Decisions are of shape (n,) or (n, n_classes), labels class numbers. `lengths`
    (n_classes, n_classes), or (1, 1) with one decision, say how fast the difference of
    two classes' decisions grows: the norm of the difference of their coefficients.
    """
    safe = np.where(lengths > 0, lengths, 1.0)
    if decisions.ndim == 1:
        signed = decisions * np.where(labels == 1, 1.0, -1.0)
        return float(signed.min() / safe[0, 0]) if lengths[0, 0] > 0 else 0.0
    own = decisions[np.arange(len(labels)), labels]
    distances = (own[:, None] - decisions) / safe[labels]
    distances[np.arange(len(labels)), labels] = np.inf
    return float(distances.min())
