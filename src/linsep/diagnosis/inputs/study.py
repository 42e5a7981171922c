"""A regression as it is to be diagnosed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask
from linsep.diagnosis.inputs.codings import Coding
from linsep.diagnosis.inputs.outcomes import Outcome
from linsep.diagnosis.inputs.risk_sets import RiskSets
from linsep.input.files.table import FOR_MISSING_VALUES
from linsep.input.row_names import RowNames
from linsep.rows import as_dense, is_sparse, split

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
    codes: Index
    levels: tuple[tuple[str, ...], ...]

    @classmethod
    def of_one(cls, column: str, codes: Index, levels: Iterable[str]) -> Factor:
        """Return the factor of one column."""
        return cls((column,), codes, tuple((level,) for level in levels))

    def text(self, level: int) -> str:
        """Name a level: "region = north and year = 1991"."""
        pairs = zip(self.columns, self.levels[level], strict=True)
        return " and ".join(f"{column} = {value}" for column, value in pairs)

    def of_rows(self, rows: Index) -> Factor:
        """Return the factor of these rows alone."""
        return Factor(self.columns, self.codes[rows], self.levels)


@dataclass(frozen=True)
class Given:
    """How a regression was given: for tables and code that speak of it.

    Attributes
    ----------
    frame : frame or None
        The data, where they are a pandas frame, rows of weight zero included.
    formula : str or None
    refit : str
        Code that fits a model of its kind to ``{X}``, ``{y}`` and ``{weights}``, where
        that is not told by the family.
    """

    frame: Any = None
    formula: str | None = None
    refit: str = ""

    @property
    def link(self) -> str:
        """The link of a binomial model, as statsmodels calls it."""
        named = re.search(r"links\.(\w+)|sm\.(Logit|Probit)", self.refit)
        return named[1] or named[2] if named else "Logit"


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
    n_truncated : int
        Rows left out because counts as small as theirs are cut off.
    strata : ndarray of shape (n,), int, or None
        The groups of a conditional model, or the strata, numbered from 0.
    penalty : str
        How the estimates of the model at hand are penalised; "" if they are not.
    factors : dict of str to Factor
        The factors of a formula, where the data are at hand.
    has_constant : bool
        Whether it is known that the features make up for a constant.
    notes : tuple of str
        What else a reader of the answer should know, a sentence each.
    frequencies : ndarray of shape (n,) or None
        How many observations each row present stands for, where that is known.
    weights : ndarray of shape (n,) or None
        The weights of the rows present, where some were given.
    observed : ndarray of shape (n,) or (n, 2), or None
        The numbers of the rows present, where the outcome is numbers: for counts
        successes and failures, for times to an event entry, time and event.
    row_names : RowNames
        What the rows given are called.
    given : Given
        How the regression was given.
    players : tuple of str
        Who is compared, where two are in each row.
    sides : ndarray of shape (n, 2), int, or None
        The two of each row present.
    held : ndarray of shape (k, n_features) or None
        A matrix of a penalty: directions must leave its products with the features'
        coefficients, of each class, at zero.
    nominal : frozenset of str
        Features of an ordinal model that have an effect at each threshold.
    """

    X: Any
    outcome: Outcome
    present: Index
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
    n_truncated: int = 0
    strata: Index | None = None
    penalty: str = ""
    factors: dict[str, Factor] = field(default_factory=dict)
    has_constant: bool = False
    notes: tuple[str, ...] = ()
    frequencies: Floats | None = None
    weights: Floats | None = None
    observed: Floats | None = None
    row_names: RowNames = field(default_factory=RowNames)
    given: Given = field(default_factory=Given)
    players: tuple[str, ...] = ()
    sides: Index | None = None
    held: Floats | None = None
    nominal: frozenset[str] = frozenset()

    @property
    def missing_note(self) -> str | None:
        """The note that says in which columns of a table values are missing."""
        return next((note for note in self.notes if FOR_MISSING_VALUES in note), None)

    @property
    def is_weighted(self) -> bool:
        """Whether some row present counts other than once."""
        return self.weights is not None and bool((self.weights != 1).any())

    @property
    def has_own_constant(self) -> bool:
        """Whether the model has a constant besides its columns: thresholds are some."""
        return self.fit_intercept or self.family == "ordinal"

    @property
    def is_by_columns(self) -> bool:
        """Whether single columns are directions of their own."""
        of_several = (self.strata, self.sides, self.held)
        return all(of is None for of in of_several) and not self.nominal

    @property
    def is_constant(self) -> Mask:
        """Which columns never vary, shape (n_features,)."""
        X = self.X
        parts = iter([X]) if is_sparse(X) else (X[i:j] for i, j in split(*X.shape))
        ends = [[as_dense(x).ravel() for x in (p.min(0), p.max(0))] for p in parts]
        lows, highs = zip(*ends, strict=True)
        return np.asarray(np.min(lows, axis=0) == np.max(highs, axis=0))

    def other_level(self, factor: str, level: str) -> str | None:
        """Return the one other level that rows have of a factor, if there is one."""
        known = self.factors.get(factor)
        if known is None or len(known.columns) > 1:
            return None
        used = np.unique(known.codes).tolist()
        texts = [known.levels[code][0] for code in used if code >= 0]
        others = [text for text in texts if text != level]
        return others[0] if len(texts) == 2 and len(others) == 1 else None

    @property
    def common_and_nominal(self) -> tuple[Index, Index]:
        """The features with one effect, and those with one at each threshold."""
        is_own = np.array([name in self.nominal for name in self.names], dtype=bool)
        return np.flatnonzero(~is_own), np.flatnonzero(is_own)

    @property
    def strata_are(self) -> str:
        """Of what likelihood the groups are."""
        known = {
            "conditional": "conditional",
            "conditional poisson": "conditional Poisson",
        }
        return known.get(self.family, "partial")

    def risk_sets(self, strata: Index | None = None) -> RiskSets:
        """Return who is at risk when, within its strata or within others."""
        strata = self.strata if strata is None else strata
        assert self.observed is not None
        assert strata is not None
        return RiskSets.of(self.observed, strata, self.family)

    def part(self, rows: Index, columns: Index | None = None) -> Study:
        """Return the regression of some of the rows present on some of the columns.

        Outcomes that no row of them has are no longer among its levels.
        """

        def some(values: Any) -> Any:
            return None if values is None else values[rows]

        X, held = self.X[rows], self.held
        if columns is None:
            columns = np.arange(len(self.names))
        else:
            X, held = X[:, columns], None if held is None else held[:, columns]
        return replace(
            self,
            X=X,
            outcome=self.outcome.of_rows(rows),
            present=self.present[rows],
            names=tuple(self.names[j] for j in columns),
            codings=tuple(self.codings[j] for j in columns),
            labels=some(self.labels),
            factors={name: f.of_rows(rows) for name, f in self.factors.items()},
            has_constant=False,
            notes=(),
            frequencies=some(self.frequencies),
            weights=some(self.weights),
            observed=some(self.observed),
            strata=some(self.strata),
            sides=some(self.sides),
            held=held,
        )
