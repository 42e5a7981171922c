"""The sentences of a diagnosis: they word facts, and find nothing themselves."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from linsep.diagnosis.exact.ordered_partition import AnyPartition
from linsep.diagnosis.inputs.study import INTERCEPT
from linsep.diagnosis.report.chance import chance_sentence
from linsep.diagnosis.report.facts import Facts
from linsep.diagnosis.report.phrases import (
    combination_text,
    count_rows,
    listed,
    outcome_text,
    rounded,
)
from linsep.diagnosis.report.premises import is_one_outcome, model_text, premises
from linsep.diagnosis.status import DiagnosisStatus, Estimate

if TYPE_CHECKING:
    from linsep.diagnosis.record import Diagnosis

# Reasons shown in full; the rest are counted.
MOST_REASONS = 6
# Beyond this many columns a direction is not written out.
MOST_TERMS = 8
# Combinations written in more characters stand in `collinear` alone.
LONGEST_TEXT = 300
# Coefficients listed by name.
MOST_NAMES = 12
# What a conditional model compares.
WITHIN = " within their groups"
# Factors beyond this are written relative to the largest, and rounded.
LONGEST_FACTOR = 10**6

_ESTIMATES = {
    Estimate.PLUS: "Estimates that go to +inf",
    Estimate.MINUS: "Estimates that go to -inf",
    Estimate.UNDETERMINED: "Infinite or not, of a sign the data leave open",
    Estimate.FINITE: "Finite estimates",
    Estimate.UNDECIDED: "Not decided within the time limit",
}


def message(facts: Facts) -> str:
    """Return the verdict in one sentence."""
    n, k = facts.separated.size, int(facts.separated.sum())
    model = model_text(facts.study)
    within = WITHIN if facts.study.strata is not None else ""
    if facts.status is DiagnosisStatus.COMPLETE:
        return (
            f"Complete separation ({model}): the model can predict all "
            f"{count_rows(n)} perfectly{within}, so no finite maximum likelihood "
            "estimate exists."
        )
    if facts.status is DiagnosisStatus.QUASI_COMPLETE:
        what = (
            f"{k:,} of {count_rows(n)} can be predicted perfectly{within}, the others "
            "cannot"
            if k
            else f"no row of {n:,} can be predicted perfectly, but some outcomes can "
            "be ruled out"
        )
        return (
            f"Quasi-complete separation ({model}): {what}; no finite maximum "
            "likelihood estimate exists."
        )
    is_whole = facts.columns.rank == facts.columns.aliased.size
    of_what = "" if is_whole else " of every coefficient that is identified"
    return (
        f"Overlap ({model}): no direction predicts any of the {count_rows(n)} "
        f"perfectly{within}; the maximum likelihood estimate{of_what} exists."
    )


def sentences(answer: Diagnosis, facts: Facts) -> list[str]:
    """Return everything after the verdict."""
    chance = _chance(answer, facts)
    first = premises(facts.study)
    lines, at_the_end = list(first), chance
    if answer.rank is not None and answer.rank >= answer.n_distinct:
        lines, at_the_end = lines + chance, []
    if facts.status is not DiagnosisStatus.OVERLAP:
        lines += _reason_lines(facts)
        lines += _direction_lines(facts)
    lines += answer.findings[len(first) :]
    lines += _estimate_lines(answer)
    lines += _remedies(answer, facts)
    return lines + at_the_end


def findings(answer: Diagnosis, facts: Facts) -> tuple[str, ...]:
    """Return what was found besides the verdict."""
    study = facts.study
    found = [*premises(study), *study.notes]
    n = study.X.shape[0]
    if answer.n_distinct < n:
        found.append(
            f"{answer.n_distinct:,} distinct "
            f"{'row' if answer.n_distinct == 1 else 'rows'} of columns among "
            f"{count_rows(n)}."
        )
    if facts.contradictions.size:
        found.append(_contradictions(facts))
    if answer.collinear:
        shown = [
            f"{name} = {text if len(text) <= LONGEST_TEXT else 'a longer combination'}"
            for name, text in answer.collinear.items()
        ]
        more = len(shown) - MOST_TERMS
        found.append(
            "Collinear columns, a finding apart from separation: the design has rank "
            f"{answer.rank} of {len(answer.coefficient_names)}; "
            + "; ".join(shown[:MOST_TERMS] + [f"and {more:,} more"] * (more > 0))
            + "."
        )
    if facts.is_nearly_collinear:
        found.append(
            "Nearly collinear: some columns differ from a combination of others by "
            "rounding only. The answers are about the numbers as given; if the "
            "collinearity is meant, leave one of the columns out."
        )
    return tuple(found)


def _contradictions(facts: Facts) -> str:
    """Tell of equal rows with different outcomes."""
    rows, group = facts.contradictions, facts.groups.group
    present = facts.study.present
    if (facts.levels_held.sum(axis=1) > 1).sum() == rows.size:
        # Each is a group of counts of its own.
        return (
            f"{count_rows(rows.size)} {'holds' if rows.size == 1 else 'hold'} both "
            f"outcomes (row {present[rows[0]]}, for example)."
        )
    alike = (group == group[rows[0]]).nonzero()[0]
    return (
        f"{count_rows(rows.size)} share all their columns with a row of another "
        f"outcome (rows {listed([str(i) for i in present[alike[:2]]])}, for example)."
    )


def _reason_lines(facts: Facts) -> list[str]:
    """Say which single columns and levels predict which rows."""
    lines = [
        text for reason in facts.reasons[:MOST_REASONS] for text in reason.sentences
    ]
    more = facts.reasons[MOST_REASONS:]
    columns = [facts.study.names[r.column] for r in more if r.column is not None]
    if columns:
        one = len(columns) == 1
        lines.append(
            f"{len(columns):,} more {'column predicts' if one else 'columns predict'} "
            f"rows by {'itself' if one else 'themselves'}: {listed(columns)}."
        )
    n_levels = len(more) - len(columns)
    if n_levels:
        what = "level holds" if n_levels == 1 else "levels hold"
        lines.append(f"{n_levels:,} more {what} one outcome only.")
    if not facts.is_every_column_tried:
        lines.append("There was no time to look at every column by itself.")
    return lines


def _direction_lines(facts: Facts) -> list[str]:
    """Say the simplest direction found."""
    simplest, for_all = "The simplest direction found", "A direction for all of them"
    left = facts.separated.copy()
    n_separated = int(left.sum())
    is_whole = False
    for reason in facts.reasons:
        left[reason.rows] = False
        if facts.separated[reason.rows].sum() == n_separated:
            is_whole = True
            if reason.column is not None:
                name = facts.study.names[reason.column]
                return [f"{simplest} uses one column, {name}."]
    if is_whole:
        return ["No other row is separated."]
    if facts.reasons and not left.any():
        return ["Together these predict all of the rows separated."]
    fewest = facts.fewest_columns
    every, was_tried = fewest.for_all
    if facts.reasons:
        n_left = int(left.sum())
        others = "row is" if n_left == 1 else f"{n_left:,} rows are"
        return [
            f"The other {others} predicted by columns together only.",
            _direction_text(facts, every, for_all, was_tried),
        ]
    if fewest.for_some is None or fewest.is_for_all(fewest.for_some):
        return [_direction_text(facts, every, simplest, was_tried)]
    return [
        _direction_text(facts, fewest.for_some, simplest),
        _direction_text(facts, every, for_all, was_tried),
    ]


def _direction_text(
    facts: Facts, partition: AnyPartition, subject: str, was_tried: bool = True
) -> str:
    """Write a direction as a combination of columns, and what it does.

    Fewer columns may do if not all of them were tried to be left out.
    """
    n_columns = facts.fewest_columns.columns_used(partition).size
    if n_columns == 0:
        if facts.study.family == "ordinal":
            return "No column is needed: the thresholds alone predict these rows."
        return "No column is needed: the intercept alone predicts these rows."
    terms = [
        (name, Fraction(partition.w[j]))
        for name, j in facts.demands.named_columns
        if partition.w[j]
    ]
    if facts.study.strata is not None:  # the constants of groups may have doubled it
        common = gcd(*(factor.numerator for _, factor in terms))
        terms = [(name, factor / common) for name, factor in terms]
    columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
    if not was_tried and n_columns > 1:
        columns = f"at most {columns}"
    if len(terms) > MOST_TERMS:
        names = listed([name for name, _ in terms])
        return f"{subject} uses {columns}: {names}; see `direction`."
    terms.sort(key=lambda term: term[0] == INTERCEPT)  # stable: the intercept last
    about = ""
    if max(abs(factor) for _, factor in terms) > LONGEST_FACTOR:
        # Long numbers mean as much relative to the largest, rounded.
        unit = max(abs(factor) for name, factor in terms if name != INTERCEPT)
        terms = [(name, rounded(factor / unit)) for name, factor in terms]
        about = "about "
    effect = _effect(facts, int(facts.separated_by(partition).sum()))
    return f"{subject} uses {columns}: {about}{combination_text(terms)}{effect}"


def _effect(facts: Facts, n_rows: int) -> str:
    """Say what a combination does to the rows."""
    study = facts.study
    name = study.outcome_name
    if study.family == "poisson":
        return (
            f" is 0 wherever {name} > 0, never positive where {name} = 0, and not 0 in "
            f"{count_rows(n_rows)}."
        )
    if study.family == "binomial" and study.outcome.levels.size == 2:
        first, second = (outcome_text(study, k) for k in (0, 1))
        return (
            f" is never negative where {second}, never positive where {first}, and not "
            f"0 in {count_rows(n_rows)}."
        )
    if study.family == "conditional":
        first, second = (outcome_text(study, k) for k in (0, 1))
        return (
            f" is never lower where {second} than where {first} in the same group, and "
            f"predicts {count_rows(n_rows)}{WITHIN}."
        )
    if n_rows == 0:
        return ", along which some outcomes are ruled out."
    is_are = "is" if n_rows == 1 else "are"
    return f", along which {count_rows(n_rows)} {is_are} predicted perfectly."


def _estimate_lines(answer: Diagnosis) -> list[str]:
    """List the coefficients by verdict."""
    lines = []
    without = answer.estimates_without_aliased
    for verdict, text in _ESTIMATES.items():
        names = [n for n, found in answer.estimates.items() if found is verdict]
        if names:
            lines.append(f"{text}: {listed(names, MOST_NAMES)}.")
    aliased = [n for n, found in answer.estimates.items() if found is Estimate.ALIASED]
    if aliased:
        lines.append(
            "Not identified, whatever the outcome (aliased): "
            f"{listed(aliased, MOST_NAMES)}."
        )
    decided = [f"{n} {without[n].value}" for n in aliased if n in without]
    if decided:
        lines.append(
            f"With {listed(list(answer.collinear))} left out: "
            f"{listed(decided, MOST_NAMES)}."
        )
    return lines


def _remedies(answer: Diagnosis, facts: Facts) -> list[str]:
    """Name what is usually done, without choosing."""
    if answer.status is DiagnosisStatus.OVERLAP:
        return []
    n_separated = answer.separated_rows.size
    remedies = []
    if not facts.study.penalty:
        remedies.append(
            "Firth's or another penalty (ridge, a weakly informative prior), which "
            "makes every estimate finite"
        )
    if answer.family in ("binomial", "multinomial"):
        remedies.append("exact (conditional) methods")
    if answer.status is DiagnosisStatus.QUASI_COMPLETE and n_separated:
        remedies.append(
            "merging the levels or leaving out the columns that predict perfectly"
        )
        without = answer.estimates_without_aliased
        finite = [name for name, v in without.items() if v is Estimate.FINITE]
        if finite:
            remedies.append(
                f"dropping the {count_rows(n_separated)} separated, which leaves the "
                f"finite part as it is ({listed(finite)})"
            )
    elif is_one_outcome(facts.study):
        remedies.append("data with another outcome too")
    else:
        remedies.append("fewer columns, or more data")
    return [f"Usual remedies, none chosen for you: {'; '.join(remedies)}."]


def _chance(answer: Diagnosis, facts: Facts) -> list[str]:
    """Say whether separation is informative at this size (binomial only).

    Cover's count is about complete separation, so of quasi-complete separation, which
    one rare level brings about under almost any labels, it says nothing.
    """
    if facts.study.family != "binomial" or facts.study.outcome.levels.size < 2:
        return []
    if facts.status is DiagnosisStatus.QUASI_COMPLETE or answer.rank is None:
        return []
    held = facts.levels_held
    overlaps = facts.status is DiagnosisStatus.OVERLAP
    sentence = chance_sentence(
        held.shape[0], answer.rank, int(held[:, 1].sum()), overlaps
    )
    return [sentence] if sentence else []
