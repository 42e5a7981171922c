"""Regressions of scikit-learn, alone or at the end of a pipeline, with their data."""

from __future__ import annotations

from typing import Any

import numpy as np

from linsep.diagnosis.design import study_from
from linsep.diagnosis.study import Study
from linsep.validate import InputError

_LOGISTIC = {"LogisticRegression", "LogisticRegressionCV"}


def study_from_sklearn(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    family: str | None = None,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Any = None,
) -> Study:
    """Transform the data as the pipeline would, and read what comes out.

    A fitted pipeline's own transformers are used; those of an unfitted one are cloned
    and fitted.
    """
    steps = getattr(estimator, "steps", None)
    last = estimator if steps is None else steps[-1][1]
    kind = type(last).__name__
    if kind not in _LOGISTIC and kind != "PoissonRegressor":
        raise InputError(
            "the estimator must be or end in LogisticRegression, LogisticRegressionCV "
            f"or PoissonRegressor, got {kind}; for others call diagnose(X, y, "
            "family=...) with the design"
        )
    if fit_intercept is not None:
        raise InputError(
            "the estimator says itself whether it fits an intercept; leave "
            "fit_intercept out"
        )
    if steps is not None and len(steps) > 1:
        X, names = _transformed(estimator, X, y)
        feature_names = names if feature_names is None else feature_names
    if family is None:
        family = "poisson"
        if kind in _LOGISTIC:
            n_classes = np.unique(np.asarray(y)).size
            family = "binomial" if n_classes <= 2 else "multinomial"
    return study_from(
        X,
        y,
        family=family,
        fit_intercept=bool(last.fit_intercept),
        sample_weight=sample_weight,
        feature_names=feature_names,
    )


def _transformed(pipeline: Any, X: Any, y: Any) -> tuple[Any, list[str] | None]:
    """Return what reaches the last step, and the names of its columns."""
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    before = pipeline[:-1]
    try:
        check_is_fitted(pipeline[-1])
        made = before.transform(X)
    except NotFittedError:
        before = clone(before)
        made = before.fit_transform(X, y)
    try:
        names = [str(name) for name in before.get_feature_names_out()]
    except (AttributeError, ValueError, NotFittedError):
        names = None
    return made, names
