"""What a reader must know before a verdict means anything: how the data were read.

One outcome only, rows left out, the order and the coding of the outcome, a penalty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from linsep.diagnosis.inputs.families import OF_TIMES, PAIRED
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.phrases import count_rows, listed, outcome_text

_MODELS = {
    "poisson": "log link",
    "cox": "Cox",
    "cox exact": "Cox, exact ties",
    "davidson": "paired, ties of their own",
}
# Among whom rows are predicted.
_AMONG = {
    "conditional": " within their groups",
    "conditional poisson": " within their groups",
    "cox": " among those at risk",
    "cox exact": " among those at risk",
}
# Which rows a likelihood of comparisons leaves out.
_WITHOUT = {
    "conditional": "in groups with one outcome only",
    "conditional Poisson": "in groups of one row, or of zeros,",
    "partial": "not at risk with any other at the time of an event",
}
# Levels of an order that are written out.
MOST_LEVELS = 8


def model_text(study: Study) -> str:
    """Name the model, and how two outcomes are coded unless they are 0 and 1.

    Coefficients speak of the second outcome against the first.
    """
    model = _MODELS.get(study.family, study.family)
    levels = study.outcome.levels.tolist()
    if study.family not in ("binomial", "conditional") or len(levels) != 2:
        return model
    if levels in ([0, 1], ["failure", "success"]):
        return model
    first, second = (outcome_text(study, k) for k in (0, 1))
    return f"{model}, {second} against {first}"


def among(study: Study) -> str:
    """Say among whom, or against what, rows are predicted; "" if against all."""
    if study.nominal:
        return " against the levels next to theirs"
    return _AMONG.get(study.family, "")


def is_one_outcome(study: Study) -> bool:
    """Tell whether all rows have the same class, or the count zero."""
    outcome = study.outcome
    if study.family in (*PAIRED, "conditional poisson", *OF_TIMES):
        return False
    if study.family == "poisson":
        return not outcome.has[:, 1].any()
    return bool(outcome.levels.size == 1)


def premises(study: Study) -> tuple[str, ...]:
    """Return what to say right after the verdict, a sentence each."""
    return (*_one_outcome(study), *_rows_left_out(study), *_readings(study))


def _one_outcome(study: Study) -> Iterator[str]:
    """Say that there is nothing to tell apart."""
    if not is_one_outcome(study):
        return
    if study.family == "poisson":
        yield one_outcome_text(f"{study.outcome_name} = 0", is_count=True)
    else:
        yield one_outcome_text(outcome_text(study, 0))


def one_outcome_text(outcome: str, is_count: bool = False) -> str:
    """Say that all rows have the same class, or the count zero.

    Examples
    --------
    >>> one_outcome_text("ill = yes")
    'One class only: every row has ill = yes, which a constant predicts.'
    """
    if is_count:
        return f"Every row has {outcome}."
    return f"One class only: every row has {outcome}, which a constant predicts."


def _rows_left_out(study: Study) -> Iterator[str]:
    """Say how many rows do not count, and why."""
    n_left = study.present.size
    if study.n_missing:
        plain = f"{count_rows(study.n_missing)} with missing values left out."
        yield study.missing_note or plain
    if study.n_without_trials:
        yield f"{count_rows(study.n_without_trials)} without trials counted as absent."
    if study.n_uninformative:
        yield (
            f"{count_rows(study.n_uninformative)} {_WITHOUT[study.strata_are]} left "
            f"out: they say nothing to a {study.strata_are} likelihood."
        )
    if study.n_truncated:
        yield f"{count_rows(study.n_truncated)} of counts that are cut off left out."
    others = study.n_missing + study.n_without_trials + study.n_uninformative
    n_weightless = study.n_given - n_left - others - study.n_truncated
    if n_weightless:
        yield f"{count_rows(n_weightless)} of weight zero counted as absent."
    if 2 * n_left < study.n_given:
        yield f"What is said here is of the {count_rows(n_left)} left."


def _readings(study: Study) -> Iterator[str]:
    """Say how the outcome was read, and what the model is."""
    outcome, name = study.outcome, study.outcome_name
    if outcome.order_taken:
        levels = outcome.levels.tolist()
        yield (
            f"No order of {name} is declared, so {outcome.order_taken} is taken: "
            f"{order_text(levels)}. Another is given by order=[...] (--order A,B,...)."
        )
    absent = [f"{name} = {level}" for level in outcome.unused]
    for factor in study.factors.values():
        used = factor.codes[factor.codes >= 0]
        counts = np.bincount(used, minlength=len(factor.levels))
        absent += [factor.text(code) for code in np.flatnonzero(counts == 0).tolist()]
    if absent:
        yield f"No row present has {listed(absent)}."
    if study.strata is not None:
        compared = _compared(study, int(study.strata.max()) + 1)
        yield f"{compared}; there is no intercept, which would cancel."
    if study.penalty:
        yield (
            f"The fit is penalised ({study.penalty}), so the estimates it penalises "
            "are finite; what is said here is of the likelihood without the penalty. "
            "Estimates that would be infinite have the size the penalty gives them."
        )


def _compared(study: Study, n_groups: int) -> str:
    """Say what is compared with what."""
    if study.family in OF_TIMES:
        within = f", within {n_groups:,} strata" if n_groups > 1 else ""
        n_events = int(study.outcome.has[:, 1].sum())
        return (
            f"Each of {n_events:,} event{'s' * (n_events != 1)} is compared with all "
            f"rows at risk then{within}"
        )
    who = "Cases are compared with the controls of their group"
    if study.family == "conditional poisson":
        who = "Rows are compared with the others of their group, given its total"
    return f"{who}, in {n_groups:,} group{'s' * (n_groups != 1)}"


def order_text(levels: Sequence[Any]) -> str:
    """Write levels in their order.

    Examples
    --------
    >>> order_text(["low", "mid", "high"])
    'low < mid < high'
    """
    texts = list(map(str, levels))
    if len(texts) > MOST_LEVELS:
        texts = [*texts[: MOST_LEVELS - 1], "...", texts[-1]]
    return " < ".join(texts)
