"""Remedies as a line or two of R, for readers whose data are in R as well."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from linsep.arrays import Index
from linsep.diagnosis.inputs.study import Study

# Row numbers, and columns, written out.
MOST_WRITTEN = 20
# Formulas that mean the same in R, but for C(), which is factor() there.
_PLAIN = re.compile(r"\s*(cbind\(\w+, *\w+\)|\w+)\s*~([\w\s~+*:()-]+)")
_SAME_CALLS = {"C", "I", "log", "exp"}
_LINKS = {"Logit": "logit", "Probit": "probit", "CLogLog": "cloglog"}


def firth(study: Study) -> str:
    """Return code for Firth's penalty by brglm2; nothing where it has no such model."""
    formula, family = _formula(study), _family(study)
    if not formula:
        return ""
    if study.family == "multinomial":
        call = f"brglm2::brmultinom({formula}, data = d{_weights(study)})"
        return f"{_data(study, formula)}\nfit <- {call}"
    return family and _glm(study, formula, family, "method = brglm2::brglmFit")


def penalty(study: Study) -> str:
    """Return code for a ridge by glmnet or ordinalNet; nothing for counts of trials."""
    formula, family = _formula(study), study.family
    is_ordinal = family == "ordinal"
    if (
        not formula
        or (~study.is_constant).sum() < 2  # glmnet takes no fewer
        or (is_ordinal and study.is_weighted)
        or (family == "binomial" and not study.outcome.is_labels)
        or (family in ("binomial", "poisson") and _family(study) not in _CANONICAL)
    ):
        return ""
    frame = f"m <- model.frame({formula}, d{_weights(study)})"
    lines = [_data(study, formula), frame, "y <- model.response(m)"]
    lines.append("x <- model.matrix(terms(m), m)")
    lines.append('x <- x[, colnames(x) != "(Intercept)"]  # it is added again')
    if is_ordinal:
        levels = ", ".join(map(_value, study.outcome.levels.tolist()))
        lines[2] = f"y <- factor(model.response(m), levels = c({levels}))"
        lines.append("fit <- ordinalNet::ordinalNet(x, y, alpha = 0)")
    else:
        more = "" if _has_intercept(study) else ", intercept = FALSE"
        more += ", weights = model.weights(m)" * study.is_weighted
        lines.append(
            f'fit <- glmnet::cv.glmnet(x, y, family = "{family}", alpha = 0{more})'
        )
    return "\n".join(lines)


def without_rows(study: Study, dropped: Index) -> str:
    """Return code that fits again without rows, which R counts from 1."""
    family = _family(study)
    left = np.setdiff1d(np.arange(study.present.size), dropped)
    formula = _formula(study, left)
    if not family or not formula or dropped.size > MOST_WRITTEN:
        return ""
    rows = ", ".join(str(row + 1) for row in study.present[dropped].tolist())
    return _glm(study, formula, family, f"subset = -c({rows})")


_CANONICAL = ('binomial("logit")', "poisson")


def _glm(study: Study, formula: str, family: str, more: str) -> str:
    """Call R's glm."""
    return (
        f"{_data(study, formula)}\nfit <- glm({formula},\n           data = d, "
        f"family = {family}{_weights(study)}, {more})"
    )


def _family(study: Study) -> str:
    """Return the family and link as R's glm has them; "" where it has not."""
    if study.family == "poisson" and "NegativeBinomial" not in study.given.refit:
        return "poisson"
    link = _LINKS.get(study.given.link)
    return f'binomial("{link}")' if link and study.family == "binomial" else ""


def _formula(study: Study, rows: Index | None = None) -> str:
    """Return the formula given, if it means the same in R, or one of the columns.

    With `rows` of these alone: R refuses factors of one level.
    """
    given = study.given.formula
    single = set() if rows is None else _single(study, rows)
    if given:
        plain = _PLAIN.fullmatch(given)
        calls = set(re.findall(r"(\w+)\(", plain[2])) if plain else {""}
        if not plain or single or not calls <= _SAME_CALLS:
            return ""
        left, right = plain[1], re.sub(r"\bC\(", "factor(", plain[2]).strip()
    else:
        left = "cbind(successes, failures)"
        if study.observed is None or study.observed.ndim == 1:
            left = _name(study.outcome_name)
        columns = [
            study.codings[j].factor or study.names[j]
            for j in np.flatnonzero(~study.is_constant)
        ]
        columns = [one for one in dict.fromkeys(columns) if one not in single]
        right = " + ".join(map(_name, columns))
        if len(columns) > MOST_WRITTEN:
            if single:
                return ""
            right = "."
        if not _has_intercept(study):
            right += " - 1"
    levels: list[Any] = study.outcome.levels.tolist()
    if study.family == "binomial" and study.outcome.is_labels and levels != [0, 1]:
        left = f"({left} == {_value(levels[-1])})"
    return f"{left} ~ {right or '1'}"


def _single(study: Study, rows: Index) -> set[str]:
    """Return the factors of which these rows have one level."""
    constant = study.part(rows, np.arange(len(study.names))).is_constant
    factors = [coding.factor for coding in study.codings]
    varying = {factors[j] for j in np.flatnonzero(~constant)}
    return {factor for factor in factors if factor} - varying


def _has_intercept(study: Study) -> bool:
    """Tell whether the model has a constant, its own or a column."""
    return study.has_own_constant or bool(study.is_constant.any())


def _weights(study: Study) -> str:
    """Pass the weights on, if there are some."""
    return ", weights = w" if study.is_weighted else ""


def _data(study: Study, formula: str) -> str:
    """Say what `d` is to be."""
    alone = ", with no other columns than the regression's" * ("~ ." in formula)
    weights = ", w: the weights of its rows" * study.is_weighted
    return f"# d: your data{alone}{weights}"


def _name(name: str) -> str:
    """Write a column's name in R."""
    if re.fullmatch(r"[A-Za-z][\w.]*", name):
        return name
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _value(value: Any) -> str:
    """Write a label in R."""
    if isinstance(value, bool | int | float):
        return str(value).upper() if isinstance(value, bool) else f"{value:.17g}"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
