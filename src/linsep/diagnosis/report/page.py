"""What the page of a `Diagnosis` says, and the rows its pictures show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linsep.diagnosis.inputs.codings import coding_of
from linsep.diagnosis.report.facts import Facts
from linsep.diagnosis.report.phrases import listed, outcome_text
from linsep.diagnosis.report.sentences import (
    OF_ALL_OUTCOMES,
    remedy_lines,
    what_to_do,
)
from linsep.diagnosis.status import DiagnosisStatus, Estimate
from linsep.proof.doubles import doubles_from
from linsep.report.charts import charts_of
from linsep.report.page import Advice, Page, Table
from linsep.report.separation_page import proof_of
from linsep.report.shown_rows import ShownRows, shown_rows

if TYPE_CHECKING:
    from linsep.diagnosis.record import Diagnosis

_STOPPED = (
    "What a program prints for such a coefficient is where it happened to stop. Do not "
    "report it, nor its standard error, confidence interval or p-value, even if the "
    "program says that it converged."
)
_MEANING = {
    DiagnosisStatus.COMPLETE: (
        "Your columns, taken together, predict the outcome of every row without an "
        "error. That sounds good, but it leaves the regression nothing to estimate: "
        "the larger its coefficients, the better the fit, without end. So there are no "
        "finite estimates (maximum likelihood).",
        _STOPPED,
    ),
    DiagnosisStatus.QUASI_COMPLETE: (
        "Your columns predict the outcome of some of the rows without an error (these "
        "rows are called separated). The further the coefficients that do it are from "
        "zero, the better the fit, without end, so they have no finite estimate "
        "(maximum likelihood).",
        _STOPPED,
    ),
    DiagnosisStatus.OVERLAP: (
        "Nothing is wrong on this account: the estimates (maximum likelihood) are "
        "finite. If a program did not converge, the reason is another one: collinear "
        "columns, columns of very different sizes, or too few iterations.",
    ),
    DiagnosisStatus.UNDECIDED: (
        "There was no time to settle it: nothing is known about whether finite "
        "estimates exist.",
    ),
}
_OF_NEIGHBOURS = (
    "Your columns tell rows from the levels next to theirs without an error, at one "
    "threshold or more. For the coefficients that do it, larger is always better, "
    "without end, so they have no finite estimate (maximum likelihood).",
    _STOPPED,
)
_NOT_BY_SEPARATION = (
    "Of this model separation settles one side only: what else finite estimates "
    "depend on is said above.",
)
_NOT_HELD = Advice(
    "Use a penalty (Firth's, ridge, a weakly informative prior)",
    "it makes every estimate finite; code for it is written for data held in memory, "
    "and for two labels in batches, but not for counts: diagnose a part of the rows",
)
_TONES = {
    DiagnosisStatus.COMPLETE: "bad",
    DiagnosisStatus.QUASI_COMPLETE: "bad",
    DiagnosisStatus.OVERLAP: "good",
    DiagnosisStatus.UNDECIDED: "open",
}
_ESTIMATES = {
    Estimate.FINITE: "finite",
    Estimate.PLUS: "none: grows to +infinity",
    Estimate.MINUS: "none: falls to -infinity",
    Estimate.UNDETERMINED: "none: sign and size are left open",
    Estimate.ALIASED: "none: collinear with earlier columns",
    Estimate.UNDECIDED: "not decided in the time given",
}


def page_of(answer: Diagnosis, with_proof: bool) -> Page:
    """Return the page of the answer of `linsep.diagnose`."""
    remedies = answer.remedies()
    head, *rest = answer.sentences()
    proof, checks = proof_of(answer, with_proof)
    if checks:
        checks.insert(1, "X, y = answer.certificate_data()")
    advice: list[Advice] = list(remedies)
    meaning = _MEANING[answer.status]
    if OF_ALL_OUTCOMES in answer.message:
        meaning = _OF_NEIGHBOURS
    elif answer.status is DiagnosisStatus.UNDECIDED:
        advice = [Advice("Give it more time", "the limit is an argument: time_limit")]
        if answer.family in ("zero-inflated", "beta") and "time limit" not in head:
            meaning, advice = _NOT_BY_SEPARATION, []
    elif not advice and answer.status is not DiagnosisStatus.OVERLAP:
        advice = [_NOT_HELD]
    said_elsewhere = remedy_lines(remedies)
    end = what_to_do(remedies)
    evidence = [
        line.removesuffix(end).rstrip().replace("`direction`", "the coefficients below")
        if line not in said_elsewhere
        else ""
        for line in rest
    ]
    return Page(
        tone=_TONES[answer.status],
        status=answer.status.value.capitalize(),
        verdict=head,
        meaning=[*meaning, *_which(answer)],
        advice=advice,
        evidence=[line for line in evidence if line],
        charts=charts_of(answer.shown_rows()),
        coefficients=_coefficients(answer),
        rows=_rows(answer),
        rows_title=(
            "Rows that rule a separating direction out"
            if answer.status is DiagnosisStatus.OVERLAP
            else "The separated rows"
        ),
        proof=proof,
        checks=checks,
    )


def _which(answer: Diagnosis) -> list[str]:
    """Name the coefficients without a finite estimate, and those that have one."""
    if answer.status in (DiagnosisStatus.OVERLAP, DiagnosisStatus.UNDECIDED):
        return []
    without = (Estimate.PLUS, Estimate.MINUS, Estimate.UNDETERMINED)
    found = {**answer.estimates, **answer.estimates_without_aliased}
    lost = [name for name, estimate in found.items() if estimate in without]
    kept = [name for name, estimate in found.items() if estimate is Estimate.FINITE]
    lines = []
    if lost:
        lines.append(f"In your model, without a finite estimate: {listed(lost)}.")
    if kept:
        lines.append(
            f"These are sound, as they rest on the other rows: {listed(kept)}."
        )
    return [" ".join(lines)] if lines else []


def shown_rows_of(facts: Facts) -> ShownRows | None:
    """Choose rows for a picture: across, a separating direction, if there is one."""
    study, has = facts.study, facts.study.outcome.has
    classes = [outcome_text(study, k) for k in range(has.shape[1])]
    codes = has.argmax(axis=1)
    if (has.sum(axis=1) > 1).any():  # counts of both outcomes in a row
        codes = np.where(has.sum(axis=1) > 1, len(classes), codes)
        classes.append("both outcomes")
    is_overlap = facts.status is DiagnosisStatus.OVERLAP
    direction = None
    named = facts.demands.named_columns
    if not is_overlap and len(named) == len(study.names) + study.fit_intercept:
        w = doubles_from([facts.partition.w[j] for _, j in named])
        direction = (w[1:], float(w[0])) if study.fit_intercept else (w, 0.0)
    return shown_rows(
        lambda index: study.X[index],
        codes.astype(np.intp),
        tuple(classes),
        facts.conflict if is_overlap else np.flatnonzero(facts.separated),
        "rows in conflict" if is_overlap else "separated rows",
        lambda index: study.present[index],
        study.row_names.one,
        direction,
        axis="position along a separating direction",
    )


def _coefficients(answer: Diagnosis) -> Table | None:
    """List the coefficients with what is known of their estimates."""
    if not answer.estimates:
        return None
    names = answer.coefficient_names
    table = {
        "coefficient": names,
        "maximum likelihood estimate": [_ESTIMATES[answer.estimates[n]] for n in names],
    }
    if answer.collinear:
        without = answer.estimates_without_aliased
        table["without collinear columns"] = [
            _ESTIMATES[without[name]] if name in without else "left out"
            for name in names
        ]
        table["equals"] = [answer.collinear.get(name, "") for name in names]
    note = _coding(names)
    if answer.direction is not None:
        table["separating direction"] = answer.direction.tolist()
        note = (
            "The fit gets better without end when all coefficients are moved along the "
            f"separating direction together. {note}"
        )
    return Table.of(list(table), list(zip(*table.values(), strict=True)), note)


def _coding(names: Sequence[str]) -> str:
    """Say what the first column of a level is, whose name only formulas explain."""
    for name in names:
        for factor, level in coding_of(name).levels[:1] if "[" in name else ():
            return f"{name} is the column that is 1 where {factor} is {level}, else 0."
    return ""


def _rows(answer: Diagnosis) -> Table | None:
    """List the rows the answer is about."""
    found = answer.rows()
    if hasattr(found, "to_dict"):
        index = [str(name) for name in found.index]
        table = {"row": index} | {str(c): found[c].tolist() for c in found.columns}
    else:
        table = found
    lines = list(zip(*table.values(), strict=True))
    return Table.of(list(table), lines) if lines else None
