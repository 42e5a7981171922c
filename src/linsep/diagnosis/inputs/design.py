"""Designs and outcomes as users give them, read into a `Study`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, TypeGuard

import numpy as np

from linsep.arrays import Floats, Index
from linsep.diagnosis.inputs.codings import Coding, coding_of
from linsep.diagnosis.inputs.families import COMPARING, OF_TIMES, family_named
from linsep.diagnosis.inputs.outcomes import has_trials, numbers_of, outcome_from
from linsep.diagnosis.inputs.risk_sets import (
    RiskSets,
    informative,
    strata_of,
    times_from,
)
from linsep.diagnosis.inputs.study import INTERCEPT, Given, Study
from linsep.input import InputError
from linsep.input.arguments import checked_names, positive_weights
from linsep.input.features import features_from
from linsep.input.labels import labels_from
from linsep.input.row_names import RowNames, row_names_of

# What is wrong with data without a row to speak of.
_NO_ROW = (
    "at least one row must be present, got none with a positive weight and trials; "
    "check sample_weight"
)
_NO_EVENT = (
    "at least one event must come while another row is at risk for family={family!r}, "
    "got none among the rows with a positive weight"
)
_NO_ROWS = {
    "conditional": "at least one group must hold both outcomes for "
    "family='conditional', got none among the rows with a positive weight; check "
    "groups, which name the set each row belongs to",
    "conditional poisson": "at least one group must hold several rows, not all of them "
    "zero, for family='conditional poisson', got none; check groups",
    **dict.fromkeys(OF_TIMES, _NO_EVENT),
}


def study_from(
    X: Any,
    y: Any,
    *,
    family: str,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    order: object = None,
    groups: Any = None,
    codings: Sequence[Coding] | None = None,
    outcome_name: str | None = None,
    present: Index | None = None,
    n_given: int | None = None,
    penalty: str = "",
    frequencies: Floats | None = None,
    row_names: RowNames | None = None,
) -> Study:
    """Read a design and an outcome, or say what is wrong with them.

    Parameters
    ----------
    X, y, family, fit_intercept, sample_weight, feature_names, order
        As in `linsep.diagnose`.
    groups : array-like of shape (n,), optional
        The groups of a conditional model.
    codings : sequence of Coding, optional
        What the features stand for, where that is known; else read from their names.
    outcome_name : str, optional
        What the outcome is called in sentences; the name of `y`, or "y".
    present : ndarray of int, optional
        The numbers of these rows in the data given, where some were left out.
    n_given : int, optional
        How many rows were given then.
    penalty : str, default=""
        How the estimates are penalised.
    frequencies : ndarray of shape (n,), optional
        How many observations each row stands for; of counts their sums.
    row_names : RowNames, optional
        What the rows given are called; by the index of `X`, if it is a frame.
    """
    family = family_named(family)
    fit_intercept = _checked_intercept(fit_intercept, family)
    features, own_names = features_from(X)
    if 0 in features.shape and not (features.shape[0] and fit_intercept):
        raise InputError(
            "X must have at least one row, and a column or an intercept, got shape "
            f"{features.shape} with fit_intercept={bool(fit_intercept)}"
        )
    outcome = outcome_from(y, family, order)
    n, d = features.shape
    if n != outcome.has.shape[0]:
        raise InputError(
            f"X and y must have the same number of rows, got {n} rows in X and "
            f"{outcome.has.shape[0]} in y; pass one outcome for every row of X"
        )
    names = checked_features(feature_names, own_names, d, bool(fit_intercept))
    # One level after the other: NumPy takes fifty times as long to reduce short rows.
    is_tried = reduce(np.logical_or, outcome.has.T, np.zeros(n, dtype=bool))
    is_weighed = np.array(is_tried)
    if sample_weight is not None:
        is_weighed &= positive_weights(sample_weight, n)
    strata, is_present = strata_of(groups, family, n), is_weighed
    if strata is not None and family in OF_TIMES:
        is_present = RiskSets.of(times_from(y), strata, family, is_weighed).is_compared
    elif strata is not None:
        is_present = informative(strata, outcome.has, is_weighed, family)
    kept = np.flatnonzero(is_present)
    if kept.size == 0:
        raise InputError(_NO_ROWS.get(family, _NO_ROW).format(family=family))
    observed = None if outcome.is_labels else numbers_of(y, family)
    if frequencies is None and family == "binomial" and _are_counts(observed):
        frequencies = observed.sum(axis=1)
    name = outcome_name or getattr(y, "name", None) or "y"
    study = Study(
        features,
        outcome,
        np.arange(n) if present is None else present,
        n if n_given is None else n_given,
        names,
        tuple(map(coding_of, names) if codings is None else codings),
        str(name),
        family,
        fit_intercept,
        labels_from(y) if outcome.is_labels else None,
        n_missing=0 if n_given is None else n_given - n,
        frequencies=frequencies,
        weights=None
        if sample_weight is None
        else np.asarray(sample_weight, dtype=np.float64),
        observed=observed,
        row_names=row_names_of(X) if row_names is None else row_names,
        given=Given(frame=X if is_pandas(X) else None),
        n_without_trials=int(n - is_tried.sum()),
        n_uninformative=int(is_weighed.sum()) - kept.size,
        strata=strata,
        penalty=penalty,
    )
    if kept.size < n:
        study = study.part(kept)
    if study.strata is None:
        return study
    numbers = np.unique(study.strata, return_inverse=True)[1].reshape(-1)
    return replace(study, strata=numbers, has_constant=True)


def rows_in_use(y: Any, family: str, sample_weight: Any, n: int) -> Index:
    """Return the rows of positive weight, and of some trials if the outcome counts."""
    is_used = np.ones(n, dtype=bool)
    if sample_weight is not None:
        is_used = positive_weights(sample_weight, n)
    trials = has_trials(y, family)
    if trials is not None and trials.size == n:  # else refused where rows are counted
        is_used = is_used & trials
    return np.flatnonzero(is_used)


def _checked_intercept(fit_intercept: object, family: str) -> bool:
    """Return whether there is an intercept; by default, but in a conditional model."""
    if fit_intercept is None:
        return family not in COMPARING
    if not isinstance(fit_intercept, bool | np.bool_):
        raise InputError(f"fit_intercept must be True or False, got {fit_intercept!r}")
    if fit_intercept and family in COMPARING:
        raise InputError(
            "a conditional model and a Cox regression have no intercept, since what is "
            "the same for all that are compared cancels, got fit_intercept=True; leave "
            "it out"
        )
    return bool(fit_intercept)


def is_pandas(data: Any) -> bool:
    """Tell whether this is a pandas frame, without loading pandas."""
    return hasattr(data, "iloc") and hasattr(data, "columns")


def _are_counts(observed: Floats | None) -> TypeGuard[Floats]:
    """Tell whether these are counts of two outcomes, and not shares."""
    if observed is None or observed.ndim == 1:
        return False
    is_whole = (observed == np.rint(observed)).all()
    return bool(is_whole and observed.sum(axis=1).max() > 1)


def checked_features(
    given: Sequence[str] | None, own: tuple[str, ...] | None, d: int, intercept: bool
) -> tuple[str, ...]:
    """Return the features' names: those given, the frame's, or x0, x1, ..."""
    if given is None:
        names = own if own is not None else tuple(f"x{j}" for j in range(d))
    else:
        names = checked_names(given, d)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated or (intercept and INTERCEPT in names):
        first = f"{repeated[0]!r} twice" if repeated else f"{INTERCEPT!r}"
        raise InputError(
            "feature_names must differ from each other, and from 'intercept' where one "
            f"is fitted, got {first}; rename the column"
        )
    return names
