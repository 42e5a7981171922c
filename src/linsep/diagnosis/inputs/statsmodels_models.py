"""Regressions of statsmodels, fitted or not: their design, outcome and family."""

from __future__ import annotations

from typing import Any

import numpy as np

from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.study import Study
from linsep.input import InputError

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
    names = [str(name) for name in model.data.xnames]
    return study_from(
        model.exog,
        y,
        family=known,
        fit_intercept=False,
        sample_weight=weights,
        feature_names=names[: model.exog.shape[1]],
        outcome_name=_outcome_name(model),
        **_users_rows(model),
    )


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
        trials = np.broadcast_to(np.asarray(model.n_trials), model.endog.shape)
        return _shares(model.endog), "binomial", weights * (trials > 0)
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


def _in_order(endog: Any, labels: Any) -> Any:
    """Return the classes by their names, in the model's order."""
    import pandas as pd

    codes = np.asarray(endog).astype(np.intp)
    return pd.Categorical.from_codes(codes, pd.Index(labels), ordered=True)


def _outcome_name(model: Any) -> str:
    name = getattr(model, "endog_names", "y")
    return str(name) if isinstance(name, str) else "y"
