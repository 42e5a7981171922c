"""Regressions of statsmodels, fitted or not: their design, outcome and family."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from linsep.diagnosis.inputs.codings import Coding, factors_of, level_text
from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.fixed_effects import factor_of
from linsep.diagnosis.inputs.study import Given, Study
from linsep.input import InputError
from linsep.input.row_names import row_names_of

# Links of a binomial model for which the two tails of the likelihood are the same
# question. (The log and identity links bound the linear predictor.)
_BINOMIAL_LINKS = {"Logit", "Probit", "CLogLog", "LogLog", "CDFLink", "logit", "probit"}
_COUNT_MODELS = {
    "Poisson",
    "NegativeBinomial",
    "NegativeBinomialP",
    "GeneralizedPoisson",
}
_SUPPORTED = (
    "Logit, Probit, GLM with a Binomial, Poisson or NegativeBinomial family, Poisson, "
    "NegativeBinomial, MNLogit and OrderedModel"
)


def study_from_statsmodels(
    model_or_result: Any,
    *,
    family: str | None = None,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Any = None,
) -> Study:
    """Read the design of a statsmodels model; its constant is a column like others."""
    for name, value in (
        ("family", family),
        ("fit_intercept", fit_intercept),
        ("feature_names", feature_names),
    ):
        if value is not None:
            raise InputError(
                f"a statsmodels model says itself what its {name} is; leave {name} out"
            )
    model = getattr(model_or_result, "model", model_or_result)
    y, known, weights = _outcome(model, sample_weight)
    names = [str(name) for name in model.data.xnames][: model.exog.shape[1]]
    study = study_from(
        model.exog,
        y,
        family=known,
        fit_intercept=False,
        sample_weight=weights,
        feature_names=names,
        outcome_name=_outcome_name(model),
        frequencies=_frequencies(model),
        **_users_rows(model),
    )
    return _with_factors(replace(study, given=Given(refit=_refit(model))), model)


def _with_factors(study: Study, model: Any) -> Study:
    """Add the factors and the names of the rows that the frame of a formula has."""
    frame = getattr(model.data, "frame", None)
    if frame is None or len(frame) != study.n_given or not hasattr(frame, "iloc"):
        return study
    factors = {
        name: factor_of(name, frame[name]).of_rows(study.present)
        for name in factors_of(study.codings, frame.columns)
    }
    whole = {name for name in factors if frame[name].dtype.kind == "f"}
    codings = [_whole_levels(coding, whole) for coding in study.codings]
    return replace(
        study,
        codings=tuple(codings),
        factors=factors,
        row_names=row_names_of(frame),
        given=replace(study.given, frame=frame),
    )


def _whole_levels(coding: Coding, numbers: set[str]) -> Coding:
    """Write the levels of factors of numbers as `factor_of` does: 1 for 1.0."""
    levels = tuple(
        (factor, level_text(float(level)) if factor in numbers else level)
        for factor, level in coding.levels
    )
    return replace(coding, levels=levels)


def _frequencies(model: Any) -> Any:
    """Return how many observations the rows stand for; None where it is one each."""
    weights = np.asarray(getattr(model, "freq_weights", 1.0))
    counts = np.broadcast_to(weights * _trials(model), model.endog.shape[:1])
    return None if (counts == 1).all() else counts


def _trials(model: Any) -> Any:
    """Return the trials of each row of a binomial model."""
    n_trials = getattr(model, "n_trials", 1)
    return np.broadcast_to(np.asarray(n_trials), model.endog.shape[:1])


def _refit(model: Any) -> str:
    """Return code that fits such a model to other rows, with blanks for the data."""
    kind = type(model).__name__
    if kind == "GLM":
        family, link = type(model.family).__name__, type(model.family.link).__name__
        return (
            f"sm.GLM({{y}}, {{X}}, sm.families.{family}(sm.families.links.{link}()), "
            "freq_weights={weights}).fit()"
        )
    if kind in ("Logit", "Probit"):
        return f"sm.{kind}({{y}}, {{X}}).fit(disp=False)"
    return ""


def _outcome(model: Any, weights: Any) -> tuple[Any, str, Any]:
    """Return the outcome of a model, its family, and the weights of its rows."""
    kinds = {kind.__name__ for kind in type(model).__mro__}
    if kinds & {"Logit", "Probit"}:
        return _shares(model.endog), "binomial", weights
    if "GLM" in kinds:
        return _outcome_of_glm(model, weights)
    if "MNLogit" in kinds:
        names = [str(model._ynames_map[k]) for k in sorted(model._ynames_map)]
        return _in_order(model.endog, names), "multinomial", weights
    if "OrderedModel" in kinds:
        return _in_order(model.endog, np.asarray(model.labels)), "ordinal", weights
    if kinds & _COUNT_MODELS and not any("ZeroInflated" in kind for kind in kinds):
        return model.endog, "poisson", weights
    raise InputError(
        f"the model must be one of {_SUPPORTED}, got {type(model).__name__}; for other "
        "models call diagnose(X, y, family=...) with the design"
    )


def _outcome_of_glm(model: Any, given: Any) -> tuple[Any, str, Any]:
    """Read a generalised linear model: family, link, weights, trials."""
    family = type(model.family).__name__
    link = type(model.family.link).__name__
    weights = np.asarray(model.freq_weights) * np.asarray(model.var_weights)
    if given is not None:
        weights = weights * np.asarray(given)
    if family == "Binomial" and link in _BINOMIAL_LINKS:
        trials = _trials(model)
        y = _shares(model.endog)
        if y.ndim == 1:  # the trials of a row are all of one outcome
            return y, "binomial", weights * trials
        return _counts(y * trials[:, np.newaxis]), "binomial", weights * (trials > 0)
    if family in ("Poisson", "NegativeBinomial") and link == "Log":
        return model.endog, "poisson", weights
    raise InputError(
        "a GLM must have a Binomial family with a logit, probit, cloglog or loglog "
        "link, or a Poisson or NegativeBinomial family with a log link, got "
        f"{family} with link {link}; other links bound the coefficients in other ways"
    )


def _users_rows(model: Any) -> dict[str, Any]:
    """Return the numbers the model's rows had before it left out missing values."""
    left_out = getattr(model.data, "missing_row_idx", None)
    if left_out is None or len(left_out) == 0:
        return {}
    n_given = len(model.endog) + len(left_out)
    return {"present": np.setdiff1d(np.arange(n_given), left_out), "n_given": n_given}


def _shares(endog: Any) -> Any:
    """Return 0/1 outcomes as labels, shares of successes as two columns."""
    values = np.asarray(endog, dtype=np.float64)
    if np.isin(values, (0.0, 1.0)).all():
        return values.astype(np.int64)
    return np.stack([values, 1.0 - values], axis=1)


def _counts(products: Any) -> Any:
    """Undo the rounding of shares times trials, but for what would become zero."""
    whole = np.rint(products)
    is_near = (np.abs(products - whole) < 1e-9 * np.maximum(1.0, whole)) & (whole > 0)
    return np.where(is_near, whole, products)


def _in_order(endog: Any, labels: Any) -> Any:
    """Return the classes by their names, in the model's order."""
    import pandas as pd

    codes = np.asarray(endog).astype(np.intp)
    return pd.Categorical.from_codes(codes, pd.Index(labels), ordered=True)


def _outcome_name(model: Any) -> str:
    name = getattr(model, "endog_names", "y")
    return str(name) if isinstance(name, str) else "y"
