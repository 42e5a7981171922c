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
class Factor:
    """The level of a factor that each row has.

    Attributes
    ----------
    columns : tuple of str
        The column of the data, or the columns whose combinations are the levels.
    codes : ndarray of shape (n,), int
        The number of each row's level.
    levels : tuple of tuple of str
        What the levels are called: a text for each column.
    """

    columns: tuple[str, ...]
    codes: NDArray[np.intp]
    levels: tuple[tuple[str, ...], ...]

    def text(self, level: int) -> str:
        """Name a level: "region = north and year = 1991"."""
        pairs = zip(self.columns, self.levels[level], strict=True)
        return " and ".join(f"{column} = {value}" for column, value in pairs)

    def of_rows(self, rows: NDArray[np.intp]) -> Factor:
        """Return the factor of these rows alone."""
        return Factor(self.columns, self.codes[rows], self.levels)


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
    n_without_trials : int
        Rows left out because their counts of trials are zero.
    n_uninformative : int
        Rows left out because their group has one outcome only.
    strata : ndarray of shape (n,), int, or None
        The groups of a conditional model, numbered from 0.
    penalty : str
        How the estimates of the model at hand are penalised; "" if they are not.
    factors : dict of str to Factor
        The factors of a formula, where the data are at hand.
    has_constant : bool
        Whether it is known that the features make up for a constant.
    notes : tuple of str
        What else a reader of the answer should know, a sentence each.
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
    n_without_trials: int = 0
    n_uninformative: int = 0
    strata: NDArray[np.intp] | None = None
    penalty: str = ""
    factors: dict[str, Factor] = field(default_factory=dict)
    has_constant: bool = False
    notes: tuple[str, ...] = ()
