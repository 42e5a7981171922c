"""A regression as it is to be diagnosed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.codings import Coding
from linsep.diagnosis.inputs.outcomes import Outcome

INTERCEPT = "intercept"  # the name of its coefficient


@dataclass(frozen=True)
class Study:
    """A regression to be diagnosed: the rows present, and what they are called.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, n_features)
        The rows present.
    outcome : Outcome
        Of the rows present.
    present : ndarray of shape (n,), int
        Their numbers in the data given.
    n_given : int
        How many rows were given.
    names : tuple of str
        The features' names.
    codings : tuple of Coding
        What the features stand for.
    outcome_name : str
    family : str
    fit_intercept : bool
    labels : ndarray or None
        The labels of the rows present, where the outcome is labels.
    n_missing : int
        Rows left out for missing values.
    factors : dict of str to ndarray of shape (n,)
        The values of the factors of a formula, where the data are at hand.
    """

    X: Any
    outcome: Outcome
    present: NDArray[np.intp]
    n_given: int
    names: tuple[str, ...]
    codings: tuple[Coding, ...]
    outcome_name: str
    family: str
    fit_intercept: bool
    labels: NDArray[Any] | None = None
    n_missing: int = 0
    factors: dict[str, NDArray[Any]] = field(default_factory=dict)
