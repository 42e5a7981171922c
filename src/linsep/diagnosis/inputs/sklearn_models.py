"""Regressions of scikit-learn, alone or at the end of a pipeline, with their data."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.refusals import refuse_said
from linsep.diagnosis.inputs.study import Study
from linsep.input import InputError

_LOGISTIC = {"LogisticRegression", "LogisticRegressionCV"}
_OTHERS = {"PoissonRegressor": "poisson", "CoxPHSurvivalAnalysis": "cox"}
_OF_GLUM = {"GeneralizedLinearRegressor", "GeneralizedLinearRegressorCV"}
# What glum's settings would change of the question asked here.
_BOUNDS = ("lower_bounds", "upper_bounds", "A_ineq", "monotonic_constraints", "formula")


def study_from_sklearn(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    family: str | None = None,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Any = None,
    order: Any = None,
    groups: Any = None,
) -> Study:
    """Transform the data as the pipeline would, and read what comes out.

    A fitted pipeline's own transformers are used; those of an unfitted one are cloned
    and fitted.
    """
    estimator = _chosen(estimator)
    stages, last = _stages(estimator)
    kind = type(last).__name__
    if kind not in _LOGISTIC | _OTHERS.keys() | _OF_GLUM:
        raise InputError(
            "the estimator must be or end in LogisticRegression, LogisticRegressionCV, "
            "PoissonRegressor, scikit-survival's CoxPHSurvivalAnalysis or glum's "
            f"GeneralizedLinearRegressor, got {kind}; for others call diagnose(X, y, "
            "family=...) with the design"
        )
    refuse_said(
        {"fit_intercept": fit_intercept, "groups": groups},
        "the estimator says itself whether it fits an intercept, and has no groups; "
        "leave {} out",
    )
    if stages:
        X, names = _transformed(stages, last, X, y)
        feature_names = names if feature_names is None else feature_names
    if family is None:
        family = _OTHERS.get(kind, "binomial")
        if kind in _OF_GLUM:
            family = _family_of_glum(last)
        if kind in _LOGISTIC:
            n_classes = np.unique(np.asarray(y)).size
            family = "binomial" if n_classes <= 2 else "multinomial"
    return study_from(
        X,
        y,
        family=family,
        fit_intercept=bool(getattr(last, "fit_intercept", False)),
        sample_weight=sample_weight,
        feature_names=feature_names,
        order=order,
        penalty=_penalty(last),
    )


def _family_of_glum(last: Any) -> str:
    """Return the family of glum's regression: logits, or a log link with zeros."""
    settings = last.get_params()
    for name in _BOUNDS:
        if settings.get(name) is not None:
            raise InputError(
                f"glum's regression must be without {name} to be read; call "
                "diagnose(X, y, family=...) or diagnose(formula, frame) for what it "
                "is about without"
            )
    texts = [
        value.lower() if isinstance(value, str) else type(value).__name__.lower()
        for value in (settings["family"], settings["link"])
    ]
    name, link = (
        text.removesuffix(end)
        for text, end in zip(texts, ("distribution", "link"), strict=True)
    )
    if name == "binomial" and link in ("auto", "logit", "cloglog"):
        return "binomial"
    tweedie = re.fullmatch(r"tweedie(?: ?\((\S+)\))?", name)
    named = None if tweedie is None else tweedie[1]
    power = getattr(settings["family"], "power", named)
    has_zeros = name in ("poisson", "negativebinomial", "negative.binomial") or (
        tweedie is not None and power is not None and 1 <= float(power) < 2
    )
    if has_zeros and link in ("auto", "log"):
        return "poisson"
    raise InputError(
        "glum's regression must be binomial with a logit or cloglog link, or have a "
        "log link and mass at zero (poisson, negative.binomial, tweedie of a power "
        f"from 1 to less than 2), got family={settings['family']!r} with "
        f"link={settings['link']!r}; of the others no row separates, or the link "
        "bounds the coefficients"
    )


def _penalty(last: Any) -> str:
    """Say how a regression penalises its coefficients; "" if it does not."""
    settings = last.get_params()
    if type(last).__name__ in _OF_GLUM:
        if "alpha" not in settings or settings["alpha_search"]:
            return "alpha chosen by cross-validation or search"
        settings["alpha"] = settings["alpha"] or 0
    if "alpha" in settings:
        is_penalised = bool(np.any(np.asarray(settings["alpha"]) > 0))
        return f"alpha = {settings['alpha']}" if is_penalised else ""
    # scikit-learn from 1.8 takes C=inf for no penalty, before 1.2 it took "none".
    if settings.get("penalty", "l2") in (None, "none"):
        return ""
    chosen = np.unique(getattr(last, "C_", settings.get("C", np.nan)))
    if np.isinf(chosen).all():
        return ""
    if np.isnan(chosen).any():
        return "C chosen by cross-validation"
    return f"C = {', '.join(f'{value:g}' for value in chosen)}"


def _chosen(estimator: Any) -> Any:
    """Return the estimator that a fitted search chose; any other as it is."""
    if not (hasattr(estimator, "estimator") and hasattr(estimator, "refit")):
        return estimator
    if not hasattr(estimator, "best_estimator_"):
        raise InputError(
            f"a {type(estimator).__name__} must be fitted with refit=True, got one "
            "without best_estimator_; fit it, or pass the estimator it searches over"
        )
    return estimator.best_estimator_


def _stages(estimator: Any) -> tuple[list[Any], Any]:
    """Return the pipelines of transformers in order, and the regression they end in."""
    stages = []
    while getattr(estimator, "steps", None):
        if len(estimator.steps) > 1:
            stages.append(estimator[:-1])
        estimator = _chosen(estimator.steps[-1][1])
    return stages, estimator


def _transformed(
    stages: list[Any], last: Any, X: Any, y: Any
) -> tuple[Any, list[str] | None]:
    """Return what reaches the regression, and the names of its columns."""
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    def fit_clone(stage: Any, X: Any) -> tuple[Any, Any]:
        fresh = clone(stage)
        return fresh, fresh.fit_transform(X, y)

    try:
        try:
            check_is_fitted(last)
            return _through(stages, X, lambda stage, X: (stage, stage.transform(X)))
        except NotFittedError:
            return _through(stages, X, fit_clone)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            "X must be what the pipeline's transformers take, got "
            f"{type(error).__name__}: {error}"
        ) from error


def _through(
    stages: list[Any], X: Any, apply: Callable[[Any, Any], tuple[Any, Any]]
) -> tuple[Any, list[str] | None]:
    """Send data through the stages; return what comes out, and its columns' names."""
    names = None
    for stage in stages:
        fitted, made = apply(stage, X)
        names = _names_made(fitted, made, _names_of(X, names))
        X = made
    return X, names


def _names_of(X: Any, names: list[str] | None) -> list[str] | None:
    """Return the names of the columns of a frame; else those given."""
    columns = getattr(X, "columns", None)
    return names if columns is None else [str(name) for name in columns]


def _names_made(stage: Any, made: Any, given: list[str] | None) -> list[str] | None:
    """Return the names of the columns a stage made, where they can be told."""
    for asked in ((given,), ()):
        try:
            return [str(name) for name in stage.get_feature_names_out(*asked)]
        except (AttributeError, ValueError, TypeError):
            continue
    return _names_of(made, None)
