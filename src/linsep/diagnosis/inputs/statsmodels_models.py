"""Regressions of statsmodels, fitted or not: their design, outcome and family."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.diagnosis.inputs.codings import Coding, factors_of, level_text
from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.families import OF_GROUPS, family_of_glm
from linsep.diagnosis.inputs.fixed_effects import factor_of
from linsep.diagnosis.inputs.refusals import refuse_said
from linsep.diagnosis.inputs.study import Given, Study
from linsep.input import InputError
from linsep.input.arguments import positive_weights
from linsep.input.row_names import BY_POSITION, RowNames, row_names_of

# The families of models that are not generalised linear ones.
_FAMILIES = {
    "Logit": "binomial",
    "Probit": "binomial",
    "MNLogit": "multinomial",
    "OrderedModel": "ordinal",
    "ConditionalLogit": "conditional",
    "ConditionalPoisson": "conditional poisson",
    "PHReg": "cox",
    "Poisson": "poisson",
    "NegativeBinomial": "poisson",
    "NegativeBinomialP": "poisson",
    "GeneralizedPoisson": "poisson",
}
_SUPPORTED = (
    "Logit, Probit, GLM and GEE with a Binomial, Poisson or NegativeBinomial family, "
    "Poisson, NegativeBinomial, MNLogit, OrderedModel, ConditionalLogit, "
    "ConditionalPoisson, PHReg, BetaModel, HurdleCountModel, zero-inflated models, and "
    "TruncatedLFPoisson and TruncatedLFNegativeBinomialP with p=2"
)
# Counts above a truncation, whose distribution tends to the least as the mean to zero.
_TRUNCATED = {"TruncatedLFPoisson", "TruncatedLFNegativeBinomialP"}
# A column of 0 and 1 that stands for a level: "died[yes]", "C(died)[T.yes]".
_LEVEL = re.compile(r"(?P<term>.+)\[(?:T\.)?(?P<level>.*)\]", re.DOTALL)
_FACTOR = re.compile(r"C\(\s*([^\W\d]\w*)\s*\)")


def study_from_statsmodels(
    model_or_result: Any, *, sample_weight: Any = None, **options: Any
) -> Study:
    """Read the design of a statsmodels model; its constant is a column like others."""
    refuse_said(
        options, "a statsmodels model says itself what its {0} is; leave {0} out"
    )
    model = getattr(model_or_result, "model", model_or_result)
    kinds = {kind.__name__ for kind in type(model).__mro__}
    known = _family(model, kinds)
    y, name, levels = _outcome(model, kinds, known)
    if "GLM" in kinds:
        weights = np.asarray(model.freq_weights) * np.asarray(model.var_weights)
        if np.ndim(y) == 1 and known == "binomial":
            weights = weights * _trials(model)  # all of one outcome
        if sample_weight is not None:
            positive_weights(sample_weight, len(weights))  # which refuses what is none
            weights = weights * np.asarray(sample_weight)
        sample_weight = weights
    names = [str(name) for name in model.data.xnames][: model.exog.shape[1]]
    study = study_from(
        model.exog,
        y,
        family=known,
        fit_intercept=False,
        sample_weight=sample_weight,
        feature_names=names,
        order=levels,
        groups=_groups(model, known),
        outcome_name=name,
        frequencies=_frequencies(model),
        penalty=penalty_of(model_or_result),
        **users_rows(model),
    )
    if kinds & _TRUNCATED:
        study = cut_off(study, len(model.data.endog) - len(model.exog))
    return _with_factors(replace(study, given=_given(model)), model)


def _groups(model: Any, family: str) -> Any:
    """Return the groups of a conditional model, or the strata of a Cox regression."""
    if family in OF_GROUPS:
        return model.groups
    return model.strata if family == "cox" else None


def _with_factors(study: Study, model: Any) -> Study:
    """Add the factors and the names of the rows that the frame of a formula has."""
    frame = getattr(model.data, "frame", None)
    if frame is None or len(frame) != study.n_given or not hasattr(frame, "iloc"):
        return replace(study, row_names=_names_of_rows(model))
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


def _given(model: Any) -> Given:
    """Say how to fit such a model to other rows, and its formula if there is one."""
    formula = getattr(model, "formula", None)
    return Given(
        formula=formula if isinstance(formula, str) else None, refit=_refit(model)
    )


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


def _family(model: Any, kinds: set[str]) -> str:
    """Tell the family of a model by its class."""
    if "GLM" in kinds and not kinds & {"OrdinalGEE", "NominalGEE"}:
        return family_of_glm(model.family)
    known = kinds & _FAMILIES.keys()
    if known:
        return _FAMILIES[known.pop()]
    power = getattr(getattr(model, "model_main", None), "parameterization", 2)
    if kinds & _TRUNCATED and power == 2:
        return "poisson"
    raise InputError(
        f"the model must be one of {_SUPPORTED}, got {type(model).__name__}; "
        "for other models call diagnose(X, y, family=...) with the design, if its "
        "likelihood is that of such a family"
    )


def _outcome(
    model: Any, kinds: set[str], family: str
) -> tuple[Any, str, list[Any] | None]:
    """Return the outcome of a model, its name, and its levels in order."""
    endog, name = model.endog, model.endog_names
    if family == "cox":
        event = np.ones(len(endog)) if model.status is None else model.status
        entry = [] if model.entry is None else [model.entry]
        return np.column_stack([*entry, endog, event]), plain_name(name), None
    if family == "multinomial":
        numbers = sorted(model._ynames_map)
        levels = [str(model._ynames_map[number]) for number in numbers]
        return np.array(levels)[np.asarray(endog, np.intp)], plain_name(name), levels
    if family == "ordinal":
        levels = np.asarray(model.labels).tolist()
        values = np.array(levels, dtype=object)
        return values[np.asarray(endog, np.intp)], plain_name(name), levels
    if kinds & _TRUNCATED:
        least = int(model.truncation) + 1
        return np.asarray(endog) - least, f"{plain_name(name)} - {least}", None
    if family != "binomial":
        return endog, plain_name(name), None
    shares = np.asarray(endog, dtype=np.float64)
    if "GLM" in kinds:
        shares = np.where(_trials(model) > 0, shares, np.nan)
    _require_shares(shares)
    if isinstance(name, list) and len(name) == 2:
        return _two_columns(shares, name, _trials(model))
    if np.isin(shares, (0.0, 1.0)).all():
        return shares.astype(np.int64), plain_name(name), None
    return _counts(shares, _trials(model)), plain_name(name), None


def _two_columns(
    shares: Floats, names: list[str], trials: Floats
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
        return _counts(shares, trials), "y", None
    import pandas as pd

    counts = _counts(shares, trials)
    return pd.DataFrame(counts, columns=list(map(str, names))), "y", None


def _counts(shares: Floats, trials: Floats) -> Floats:
    """Return shares of successes as counts; none of either where there is no trial.

    The rounding of shares times trials is undone, but for what would become zero.
    """
    counts = np.nan_to_num(np.stack([shares, 1.0 - shares], axis=1), nan=0.0)
    counts *= trials[:, np.newaxis]
    whole = np.rint(counts)
    is_near = (np.abs(counts - whole) < 1e-9 * np.maximum(1.0, whole)) & (whole > 0)
    return np.where(is_near, whole, counts)


def _require_shares(shares: Floats) -> None:
    """Raise if a binomial outcome leaves [0, 1]; statsmodels fits it all the same."""
    outside = (shares < 0) | (shares > 1)
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(
            "the outcome of a binomial model must be 0 or 1, or a share between them, "
            f"got {shares[row]:g} in row {row}: what statsmodels fits then is no "
            "regression; code the outcome 0 and 1"
        )


def penalty_of(result: Any) -> str:
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


def cut_off(study: Study, n: int) -> Study:
    """Say of rows left out that their counts are cut off; the others lack values."""
    return replace(study, n_missing=study.n_missing - n, n_truncated=n)


def users_rows(model: Any) -> dict[str, Any]:
    """Return the numbers that the model's rows had before it left some out."""
    kept, n_given = _kept(model)
    if hasattr(model, "truncation"):
        kept = kept[np.asarray(model.data.endog) > model.truncation]
    return {} if kept.size == n_given else {"present": kept, "n_given": n_given}


def _kept(model: Any) -> tuple[Index, int]:
    """Return the rows that have all values, and how many were given."""
    kept = np.arange(len(model.data.endog))
    left_out = getattr(model.data, "missing_row_idx", None)
    if left_out is None or not len(left_out):
        return kept, kept.size
    n_given = kept.size + len(left_out)
    return np.setdiff1d(np.arange(n_given), left_out), n_given


def _names_of_rows(model: Any) -> RowNames:
    """Name rows by the index of the columns, which holds those that have all values."""
    design: Any = getattr(model.data, "orig_exog", None)
    kept, _ = _kept(model)
    names = row_names_of(design)
    if names.of is None or len(design) != kept.size or list(design.index) == list(kept):
        return BY_POSITION
    of = names.of
    return replace(names, of=lambda row: of(int(np.searchsorted(kept, row))))


def plain_name(name: Any) -> str:
    """Return the outcome's name where it is one text."""
    return name if isinstance(name, str) else "y"
