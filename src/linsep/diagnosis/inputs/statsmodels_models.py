"""Regressions of statsmodels, fitted or not: their design, outcome and family."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.families import family_of_glm
from linsep.diagnosis.inputs.study import Study
from linsep.input import InputError

_COUNT_MODELS = {
    "Poisson",
    "NegativeBinomial",
    "NegativeBinomialP",
    "GeneralizedPoisson",
}
_SUPPORTED = (
    "Logit, Probit, GLM and GEE with a Binomial, Poisson or NegativeBinomial family, "
    "Poisson, NegativeBinomial, MNLogit, OrderedModel and ConditionalLogit"
)
# A column of 0 and 1 that stands for a level: "died[yes]", "C(died)[T.yes]".
_LEVEL = re.compile(r"(?P<term>.+)\[(?:T\.)?(?P<level>.*)\]", re.DOTALL)
_FACTOR = re.compile(r"C\(\s*([^\W\d]\w*)\s*\)")


def study_from_statsmodels(
    model_or_result: Any,
    *,
    family: str | None = None,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Any = None,
    order: Any = None,
    groups: Any = None,
) -> Study:
    """Read the design of a statsmodels model; its constant is a column like others."""
    for name, value in (
        ("family", family),
        ("fit_intercept", fit_intercept),
        ("feature_names", feature_names),
        ("order", order),
        ("groups", groups),
    ):
        if value is not None:
            raise InputError(
                f"a statsmodels model says itself what its {name} is; leave {name} out"
            )
    model = getattr(model_or_result, "model", model_or_result)
    kinds = {kind.__name__ for kind in type(model).__mro__}
    known = _family(model, kinds)
    y, name, levels = _outcome(model, kinds, known)
    if "GLM" in kinds:
        weights = np.asarray(model.freq_weights) * np.asarray(model.var_weights)
        sample_weight = (
            weights if sample_weight is None else weights * np.asarray(sample_weight)
        )
    names = [str(name) for name in model.data.xnames]
    return study_from(
        model.exog,
        y,
        family=known,
        fit_intercept=False,
        sample_weight=sample_weight,
        feature_names=names[: model.exog.shape[1]],
        order=levels,
        groups=model.groups if known == "conditional" else None,
        outcome_name=name,
        penalty=_penalty(model_or_result),
        **_users_rows(model),
    )


def _family(model: Any, kinds: set[str]) -> str:
    """Tell the family of a model by its class."""
    if kinds & {"Logit", "Probit"}:
        return "binomial"
    if "GLM" in kinds and not kinds & {"OrdinalGEE", "NominalGEE"}:
        return family_of_glm(model.family)
    for kind, family in (
        ("MNLogit", "multinomial"),
        ("OrderedModel", "ordinal"),
        ("ConditionalLogit", "conditional"),
    ):
        if kind in kinds:
            return family
    if kinds & _COUNT_MODELS and not any("ZeroInflated" in kind for kind in kinds):
        return "poisson"
    raise InputError(
        f"the model must be one of {_SUPPORTED}, got {type(model).__name__}; for other "
        "models call diagnose(X, y, family=...) with the design, if its likelihood is "
        "that of such a family"
    )


def _outcome(
    model: Any, kinds: set[str], family: str
) -> tuple[Any, str, list[Any] | None]:
    """Return the outcome of a model, its name, and its levels in order."""
    endog, name = model.endog, model.endog_names
    if family == "multinomial":
        numbers = sorted(model._ynames_map)
        levels = [str(model._ynames_map[number]) for number in numbers]
        return np.array(levels)[np.asarray(endog, np.intp)], _plain(name), levels
    if family == "ordinal":
        levels = np.asarray(model.labels).tolist()
        values = np.array(levels, dtype=object)
        return values[np.asarray(endog, np.intp)], _plain(name), levels
    if family != "binomial":
        return endog, _plain(name), None
    shares = np.asarray(endog, dtype=np.float64)
    if "GLM" in kinds:
        trials = np.broadcast_to(np.asarray(model.n_trials), shares.shape)
        shares = np.where(trials > 0, shares, np.nan)
    _require_shares(shares)
    if isinstance(name, list) and len(name) == 2:
        return _two_columns(shares, name)
    if np.isin(shares, (0.0, 1.0)).all():
        return shares.astype(np.int64), _plain(name), None
    return _counts(shares), _plain(name), None


def _two_columns(
    shares: NDArray[np.float64], names: list[str]
) -> tuple[Any, str, list[Any] | None]:
    """Read an outcome of two columns: levels, or counts of successes and failures.

    A formula makes of a text or boolean two columns of 0 and 1, one for each level, and
    a binomial model is about the first of them.
    """
    found = [_LEVEL.fullmatch(str(name)) for name in names]
    first, second = found
    is_level = first and second and first["term"] == second["term"]
    if is_level and first and second and np.isin(shares, (0.0, 1.0)).all():
        factor = _FACTOR.fullmatch(first["term"])
        levels = [second["level"], first["level"]]
        name = factor[1] if factor else first["term"]
        return np.array(levels)[shares.astype(np.intp)], name, levels
    if names == ["y1", "y2"]:  # what statsmodels calls columns without names
        return _counts(shares), "y", None
    import pandas as pd

    return pd.DataFrame(_counts(shares), columns=list(map(str, names))), "y", None


def _counts(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares of successes as counts; none of either where there is no trial."""
    return np.nan_to_num(np.stack([shares, 1.0 - shares], axis=1), nan=0.0)


def _require_shares(shares: NDArray[np.float64]) -> None:
    """Raise if a binomial outcome leaves [0, 1]; statsmodels fits it all the same."""
    outside = (shares < 0) | (shares > 1)
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(
            "the outcome of a binomial model must be 0 or 1, or a share between them, "
            f"got {shares[row]:g} in row {row}: what statsmodels fits then is no "
            "regression; code the outcome 0 and 1"
        )


def _penalty(result: Any) -> str:
    """Say how a fit is penalised; "" if it is not, or if this is no fit."""
    model = getattr(result, "model", result)
    if hasattr(model, "penal"):
        return type(model).__name__
    result = getattr(result, "_results", result)
    kinds = [kind.__name__ for kind in type(result).__mro__]
    if "RegularizedResults" in kinds:  # which do not keep their alpha
        return "fit_regularized, unless its alpha was 0"
    if not any(re.match(r"L1[A-Z]", kind) for kind in kinds):
        return ""
    alpha = np.asarray(result.mle_settings["alpha"], dtype=np.float64)
    if not alpha.any():
        return ""
    low, high = alpha.min(), alpha.max()
    return f"L1, alpha = {high:g}" if low == high else f"L1, alpha {low:g} to {high:g}"


def _users_rows(model: Any) -> dict[str, Any]:
    """Return the numbers the model's rows had before it left out missing values."""
    left_out = getattr(model.data, "missing_row_idx", None)
    if left_out is None or len(left_out) == 0:
        return {}
    n_given = len(model.endog) + len(left_out)
    return {"present": np.setdiff1d(np.arange(n_given), left_out), "n_given": n_given}


def _plain(name: Any) -> str:
    """Return the outcome's name where it is one text."""
    return name if isinstance(name, str) else "y"
