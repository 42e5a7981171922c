"""Remedies as a line or two of R, for readers whose data are in R as well."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.study import Study

# Row numbers written out.
MOST_WRITTEN = 20
# Formulas that mean the same in R, but for C(), which is factor() there.
_PLAIN = re.compile(r"[\w\s~+*:()-]+")
_FAMILIES = {"binomial": 'binomial("logit")', "poisson": "poisson"}


def firth(study: Study) -> str:
    """Return code for Firth's penalty by brglm2; nothing where it has no such model."""
    formula = _formula(study)
    if study.family == "multinomial":
        return f"{_data(study)}\nfit <- brglm2::brmultinom({formula}, data = d)"
    family = _FAMILIES.get(study.family)
    if family is None:
        return ""
    return (
        f"{_data(study)}\nfit <- glm({formula},\n           data = d, "
        f"family = {family}, method = brglm2::brglmFit)"
    )


def penalty(study: Study) -> str:
    """Return code for a ridge by glmnet or ordinalNet; nothing for counts of trials."""
    if study.family == "binomial" and not study.outcome.is_labels:
        return ""
    formula = _formula(study)
    y = f"d[[{_text(study.outcome_name)}]]"
    lines = [_data(study), f"x <- model.matrix({formula}, data = d)[, -1]"]
    if study.family == "ordinal":
        lines.append(f"fit <- ordinalNet::ordinalNet(x, {y}, alpha = 0)")
    else:
        family = _text(study.family)
        lines.append(f"fit <- glmnet::cv.glmnet(x, {y}, family = {family}, alpha = 0)")
    return "\n".join(lines)


def without_rows(study: Study, dropped: NDArray[np.intp]) -> str:
    """Return code that fits again without rows, which R counts from 1."""
    family = _FAMILIES.get(study.family)
    if family is None or dropped.size > MOST_WRITTEN:
        return ""
    rows = ", ".join(str(row + 1) for row in study.present[dropped].tolist())
    return (
        f"{_data(study)}\nfit <- glm({_formula(study)},\n           "
        f"data = d[-c({rows}), ], family = {family})"
    )


def _formula(study: Study) -> str:
    """Return the formula given, if it means the same in R, or one of all columns."""
    given = study.given.formula or ""
    if _PLAIN.fullmatch(given):
        return re.sub(r"\bC\(", "factor(", given)
    if study.family == "binomial" and not study.outcome.is_labels:
        return "cbind(successes, failures) ~ ."
    name = study.outcome_name.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{name}` ~ ." if not re.fullmatch(r"[A-Za-z]\w*", name) else f"{name} ~ ."


def _data(study: Study) -> str:
    """Say what `d` is to be."""
    if study.family == "ordinal":
        return "# d: your data, the outcome an ordered factor"
    return "# d: your data"


def _text(text: str) -> str:
    """Write a text in R."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
