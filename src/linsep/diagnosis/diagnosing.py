"""`diagnose`: why a logistic, Poisson or multinomial regression blew up."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.outcomes import outcome_from
from linsep.diagnosis.pipeline import diagnose_study
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.study import Study
from linsep.validate import InputError
from linsep.validate.features import features_from
from linsep.validate.labels import labels_from


def study_from(
    X: Any,
    y: Any,
    *,
    family: str,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    outcome_name: str | None = None,
) -> Study:
    """Read a design and an outcome, or say what is wrong with them."""
    if not isinstance(fit_intercept, bool | np.bool_):
        raise InputError(f"fit_intercept must be True or False, got {fit_intercept!r}")
    features, own_names = features_from(X)
    outcome = outcome_from(y, family)
    n, d = features.shape
    if n != outcome.has.shape[0]:
        raise InputError(
            f"X and y must have the same number of rows, got {n} rows in X and "
            f"{outcome.has.shape[0]} in y; pass one outcome for every row of X"
        )
    names = _names(feature_names, own_names, d)
    present = outcome.has.any(axis=1)
    if sample_weight is not None:
        present &= _positive_weights(sample_weight, n)
    kept = np.flatnonzero(present)
    if kept.size == 0:
        raise InputError(
            "at least one row must be present, got none with a positive weight; check "
            "sample_weight"
        )
    labels = labels_from(y) if outcome.is_labels else None
    if kept.size < n:
        features = features[kept]
        used = outcome.has[kept].any(axis=0)
        outcome = type(outcome)(
            outcome.levels[used] if outcome.is_labels else outcome.levels,
            outcome.has[kept][:, used] if outcome.is_labels else outcome.has[kept],
            outcome.is_labels,
        )
        labels = None if labels is None else labels[kept]
    name = outcome_name or getattr(y, "name", None) or "y"
    return Study(
        features,
        outcome,
        kept,
        n,
        names,
        str(name),
        family,
        bool(fit_intercept),
        labels,
    )


def _names(
    given: Sequence[str] | None, own: tuple[str, ...] | None, d: int
) -> tuple[str, ...]:
    """Return the features' names: those given, the frame's, or x0, x1, ..."""
    if given is None:
        names = own if own is not None else tuple(f"x{j}" for j in range(d))
    else:
        names = tuple(str(name) for name in given)
    if len(names) != d:
        raise InputError(
            f"feature_names must name each of the {d} columns of X, got {len(names)}"
        )
    repeated = {name for name in names if names.count(name) > 1} if d < 10_000 else ()
    if repeated or "intercept" in names:
        first = sorted(repeated)[0] if repeated else "intercept"
        raise InputError(
            "feature_names must differ from each other and from 'intercept', got "
            f"{first!r}{' twice' if repeated else ''}; rename the column"
        )
    return names


def _positive_weights(weights: Any, n: int) -> NDArray[np.bool_]:
    """Return which weights are positive."""
    try:
        values = np.asarray(weights, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold numbers, one for every row") from None
    if values.size != n:
        raise InputError(
            f"sample_weight must have one number for each of the {n} rows, got "
            f"{values.size}"
        )
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"sample_weight must be non-negative and finite, got {values[row]} in row "
            f"{row}"
        )
    return values > 0


def diagnose(X: Any, y: Any = None, *, family='binomial', fit_intercept=True, sample_weight=None, feature_names=None, time_limit=None, random_state=None) -> Diagnosis:
    return diagnose_study(study_from(X,y,family=family,fit_intercept=fit_intercept,sample_weight=sample_weight,feature_names=feature_names), time_limit=time_limit, seed=0)
