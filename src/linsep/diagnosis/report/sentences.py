"""The sentences of a diagnosis: they word facts, and find nothing themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from linsep.arrays import Index
from linsep.diagnosis.exact.ordered_partition import AnyPartition
from linsep.diagnosis.inputs.families import OF_TIMES
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.chance import chance_sentence
from linsep.diagnosis.report.facts import Facts
from linsep.diagnosis.report.leagues import league_sentences
from linsep.diagnosis.report.phrases import (
    claim_texts,
    collinear_lines,
    count_rows,
    counted,
    estimate_exists,
    is_are,
    listed,
    more_columns,
    outcome_text,
    terms_text,
)
from linsep.diagnosis.report.premises import (
    among,
    is_one_outcome,
    model_text,
    premises,
)
from linsep.diagnosis.report.remedies import Remedy
from linsep.diagnosis.status import DiagnosisStatus, Estimate

if TYPE_CHECKING:
    from linsep.diagnosis.record import Diagnosis
    from linsep.input.row_names import RowNames

# Claims shown in full, and how many of them before the rows; the rest are counted.
MOST_REASONS = 6
FIRST_CLAIMS = 2
# Beyond this many columns a direction is not written out.
MOST_TERMS = 8
# Coefficients and rows listed by name.
MOST_NAMES = 12
MOST_ROWS = 8
# What is said of a direction that uses no column.
_ALONE = {
    "davidson": "ties alone rule outcomes out",
    "ordinal": "the thresholds alone predict these rows",
}
# What a combination does to the rows, of families that have words of their own.
_EFFECTS = {
    "poisson": " is 0 wherever {name} > 0, never positive where {name} = 0, and not 0 "
    "in {rows}.",
    "binomial": " is never negative where {second}, never positive where {first}, and "
    "not 0 in {rows}.",
    "conditional": " is never lower where {second} than where {first} in the same "
    "group, and predicts {rows}{among}.",
    "conditional poisson": " is never lower where {name} > 0 than elsewhere in the "
    "same group, and predicts {rows}{among}.",
    **dict.fromkeys(
        OF_TIMES,
        " is never lower for a row with an event than for any other at risk then, and "
        "predicts {rows}{among}.",
    ),
}
# Which estimates there are none of where columns have several effects.
OF_ALL_OUTCOMES = " under which every outcome can occur"

_INFINITE = {
    Estimate.PLUS: "Estimates that go to +inf",
    Estimate.MINUS: "Estimates that go to -inf",
    Estimate.UNDETERMINED: "Could be anything, as the data leave sign and size open",
}
_OTHERS = {
    Estimate.FINITE: "Finite estimates",
    Estimate.UNDECIDED: "Not decided within the time limit",
}
_WALD = (
    "Standard errors, Wald tests and p-values that a program prints for these mean "
    "nothing."
)


def headline(facts: Facts) -> str:
    """Return the verdict on the rows in one short sentence."""
    separated, study = facts.separated, facts.study
    n, k = separated.size, int(separated.sum())
    model = model_text(study)
    within = among(study)
    if facts.status is DiagnosisStatus.OVERLAP:
        return (
            f"Overlap ({model}): no direction predicts any of the {count_rows(n)} "
            f"perfectly{within}."
        )
    if facts.status is DiagnosisStatus.COMPLETE:
        return (
            f"Complete separation ({model}): {'all' if n > 1 else 'the'} "
            f"{counted(study, np.arange(n))} {is_are(n)} predicted perfectly{within}."
        )
    if k == 0:
        return (
            f"Quasi-complete separation ({model}): no row is predicted, outcomes are "
            "ruled out."
        )
    what = f"{k:,} of {count_rows(n)}"
    if study.frequencies is not None:
        what = f"{counted(study, np.flatnonzero(separated))} of {n:,}"
    return (
        f"Quasi-complete separation ({model}): {what} {is_are(k)} predicted "
        f"perfectly{within}."
    )


def existence(facts: Facts) -> str:
    """Say whether the estimate exists."""
    if facts.status is not DiagnosisStatus.OVERLAP:
        such = OF_ALL_OUTCOMES if facts.study.nominal else ""
        return f"No finite maximum likelihood estimate{such} exists."
    return estimate_exists(facts.columns.rank == facts.columns.aliased.size)


def message(facts: Facts) -> str:
    """Return the verdict in two sentences."""
    return f"{headline(facts)} {existence(facts)}"


def sentences(answer: Diagnosis, facts: Facts, remedies: Sequence[Remedy]) -> list[str]:
    """Return the summary: verdict, culprits, rows and what to do come first."""
    lines = [headline(facts)]
    chance = _chance(answer, facts)
    first = premises(facts.study)
    lines += first
    is_any = answer.rank is not None and answer.rank >= answer.n_distinct
    if is_any:
        lines += chance
    if facts.status is DiagnosisStatus.OVERLAP:
        lines.append(_join(existence(facts), _rows(facts)))
    else:
        culprits, others = _culprits(facts)
        lines += culprits
        lines.append(_join(_rows(facts), existence(facts), what_to_do(remedies)))
        lines += others
    lines += answer.findings[len(first) :]
    lines += estimate_lines(answer)
    lines += remedy_lines(remedies)
    return lines if is_any else lines + chance


def findings(answer: Diagnosis, facts: Facts) -> tuple[str, ...]:
    """Return what was found besides the verdict."""
    study = facts.study
    found = list(dict.fromkeys([*premises(study), *study.notes]))
    n = study.X.shape[0]
    if answer.n_distinct < n:
        found.append(
            f"{answer.n_distinct:,} distinct "
            f"{'row' if answer.n_distinct == 1 else 'rows'} of columns among "
            f"{count_rows(n)}."
        )
    if facts.contradictions.size:
        found.append(_contradictions(facts))
    found += collinear_lines(answer)
    if facts.is_nearly_collinear:
        found.append(
            "Nearly collinear: some columns differ from a combination of others by "
            "rounding only. The answers are about the numbers as given; if the "
            "collinearity is meant, leave one of the columns out."
        )
    return tuple(found)


def _contradictions(facts: Facts) -> str:
    """Tell of equal rows with different outcomes."""
    rows, study = facts.contradictions, facts.study
    if facts.is_mixed_within_rows:
        # Each is a group of counts of its own.
        return (
            f"{count_rows(rows.size)} {'holds' if rows.size == 1 else 'hold'} both "
            f"outcomes ({study.row_names.one(study.present[rows[0]])}, for example)."
        )
    if not study.outcome.is_labels:
        return (
            f"{count_rows(rows.size)} stand where both outcomes occur with the same "
            f"columns ({study.row_names.one(study.present[rows[0]])}, for example)."
        )
    alike = study.row_names.several(study.present[facts.alike])
    return (
        f"{count_rows(rows.size)} share all their columns with a row of another "
        f"outcome ({alike}, for example)."
    )


def _culprits(facts: Facts) -> tuple[list[str], list[str]]:
    """Say which columns, levels and cells predict which rows: first and other lines."""
    if facts.study.sides is not None:
        told = list(league_sentences(facts.study))
        is_more = len(facts.study.names) > len(facts.study.players) - 1
        is_more |= facts.study.family == "davidson"
        return told + (_direction_lines(facts) if is_more else []), []
    texts = claim_texts(facts.study, facts.told_reasons[:MOST_REASONS])
    more = _more_reasons(facts)
    covered, directions = _coverage(facts), _direction_lines(facts)
    if not texts:
        return covered + directions, more
    if len(texts) + len(more) <= FIRST_CLAIMS or facts.whole_column is not None:
        return texts[:FIRST_CLAIMS] + covered, texts[FIRST_CLAIMS:] + more + directions
    # What all claims together predict is said when all of them have been.
    return texts[:FIRST_CLAIMS], texts[FIRST_CLAIMS:] + more + covered + directions


def claims_told(facts: Facts) -> list[str]:
    """Say what single columns, levels and cells predict, and what is left unsaid."""
    told = claim_texts(facts.study, facts.told_reasons[:MOST_REASONS])
    return told + _more_reasons(facts)


def _more_reasons(facts: Facts) -> list[str]:
    """Name the columns, and count the levels and cells, that are not written out."""
    more = facts.told_reasons[MOST_REASONS:]
    predicting = [reason for reason in more if reason.predicted.size]
    telling = [reason for reason in more if not reason.predicted.size]
    lines = more_columns(facts.study, predicting)
    lines += more_columns(
        facts.study,
        telling,
        ("rules outcomes out by itself", "rule outcomes out by themselves"),
    )
    n_levels = sum(reason.column is None for reason in more)
    if n_levels:
        what = "level or cell holds" if n_levels == 1 else "levels or cells hold"
        lines.append(f"{n_levels:,} more {what} one outcome only.")
    if not facts.is_every_column_tried:
        lines.append("There was no time to look at every column by itself.")
    return lines


def _coverage(facts: Facts) -> list[str]:
    """Say how much of what is separated the reasons predict."""
    n_left = int(facts.unpredicted.sum())
    if not facts.reasons or not facts.separated.any():
        return []
    if facts.whole_column is not None:
        name = facts.study.names[facts.whole_column]
        return [f"The simplest direction found uses one column, {name}."]
    if facts.whole_reason is not None:
        return ["No other row is separated."]
    if n_left == 0:
        return ["Together these predict all of the rows separated."]
    if is_one_outcome(facts.study):
        return []  # a constant predicts the others
    others = "row is" if n_left == 1 else f"{n_left:,} rows are"
    return [f"The other {others} predicted by columns together only."]


def _direction_lines(facts: Facts) -> list[str]:
    """Write out directions where single columns and cells do not explain all rows."""
    simplest, for_all = "The simplest direction found", "A direction for all of them"
    if facts.reasons and not facts.unpredicted.any():
        return []
    fewest = facts.fewest_columns
    every, was_tried = fewest.for_all
    if facts.reasons:
        return [_direction_text(facts, every, for_all, was_tried)]
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
        alone = _ALONE.get(
            facts.study.family, "the intercept alone predicts these rows"
        )
        return f"No column is needed: {alone}."
    terms = direction_terms(facts, partition)
    columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
    if not was_tried and n_columns > 1:
        columns = f"at most {columns}"
    if len(terms) > MOST_TERMS:
        names = listed([name for name, _ in terms])
        return f"{subject} uses {columns}: {names}; see `direction`."
    effect = effect_text(facts.study, int(facts.separated_by(partition).sum()))
    return f"{subject} uses {columns}: {terms_text(terms)}{effect}"


def direction_terms(
    facts: Facts, partition: AnyPartition
) -> list[tuple[str, Fraction]]:
    """Return the coefficients of a direction that are not zero, by name."""
    terms = [
        (name, Fraction(partition.w[j]))
        for name, j in facts.demands.named_columns
        if partition.w[j]
    ]
    if facts.study.strata is not None:  # the constants of groups may have doubled it
        common = gcd(*(factor.numerator for _, factor in terms))
        terms = [(name, factor / common) for name, factor in terms]
    return terms


def effect_text(study: Study, n_rows: int) -> str:
    """Say what a combination does to the rows."""
    first = second = ""
    if study.outcome.levels.size == 2:
        first, second = (outcome_text(study, k) for k in (0, 1))
    if study.family in _EFFECTS and (study.family != "binomial" or second):
        return _EFFECTS[study.family].format(
            name=study.outcome_name,
            first=first,
            second=second,
            rows=count_rows(n_rows),
            among=among(study),
        )
    if n_rows == 0:
        return ", along which some outcomes are ruled out."
    return (
        f", along which {count_rows(n_rows)} {is_are(n_rows)} predicted perfectly"
        f"{among(study)}."
    )


def estimate_lines(answer: Diagnosis) -> list[str]:
    """List the coefficients by verdict, the infinite ones first."""
    lines = _by_verdict(answer.estimates, _INFINITE)
    without = answer.estimates_without_aliased
    aliased = [n for n, found in answer.estimates.items() if found is Estimate.ALIASED]
    decided = {name: without[name] for name in aliased if name in without}
    left_out = f"With {listed(list(answer.collinear))} left out: "
    of_aliased = _by_verdict(decided, _INFINITE, left_out)
    if lines or of_aliased:
        of_aliased.append(_WALD)
    lines += of_aliased
    lines += _by_verdict(answer.estimates, _OTHERS)
    if aliased:
        lines.append(
            "Not identified, whatever the outcome (aliased): "
            f"{listed(aliased, MOST_NAMES)}."
        )
    return lines + _by_verdict(decided, _OTHERS, left_out)


def _by_verdict(
    estimates: Mapping[str, Estimate], verdicts: Mapping[Estimate, str], start: str = ""
) -> list[str]:
    """List the coefficients of each verdict on a line."""
    lines = []
    for verdict, text in verdicts.items():
        names = [name for name, found in estimates.items() if found is verdict]
        if names:
            said = text[0].lower() + text[1:] if start else text
            lines.append(f"{start}{said}: {listed(names, MOST_NAMES)}.")
    return lines


def _rows(facts: Facts) -> str:
    """Name the first rows separated, or a few that conflict."""
    names, present = facts.study.row_names, facts.study.present
    if facts.status is DiagnosisStatus.QUASI_COMPLETE and facts.separated.any():
        return separated_text(names, present[facts.separated])
    if facts.status is DiagnosisStatus.OVERLAP and facts.conflict.size:
        found = present[facts.conflict]
        return f"Rows that conflict{names.kind}: {names.some(found, MOST_ROWS)}."
    return ""


def separated_text(names: RowNames, rows: Index) -> str:
    """Name the first rows separated."""
    return f"Separated rows{names.kind}: {names.some(rows, MOST_ROWS)}."


def what_to_do(remedies: Sequence[Remedy]) -> str:
    """Say where remedies are found, and which comes first."""
    if not remedies:
        return ""
    if len(remedies) == 1:
        code = "; remedies() has the code" if remedies[0].code else ""
        return f"What to do: see below{code}."
    if any("penalty" in remedy.name for remedy in remedies):
        return (
            "What to do: use a penalty, or another remedy below; remedies() has the "
            "code."
        )
    return "What to do: see the remedies below; remedies() has the code."


def remedy_lines(remedies: Sequence[Remedy]) -> list[str]:
    """Name what is usually done, without choosing."""
    if not remedies:
        return []
    lines = ["Usual remedies, none chosen for you:"]
    lines += [f"  - {remedy.text}" for remedy in remedies]
    return lines


def _chance(answer: Diagnosis, facts: Facts) -> list[str]:
    """Say whether separation is informative at this size (binomial only).

    Cover's count is about complete separation, so of quasi-complete separation, which
    one rare level brings about under almost any labels, it says nothing.
    """
    study = facts.study  # the count is of directions without a penalty
    if study.family != "binomial" or study.held is not None:
        return []
    is_counted = facts.status is not DiagnosisStatus.QUASI_COMPLETE
    if not is_counted or answer.rank is None or study.outcome.levels.size < 2:
        return []
    held = facts.levels_held
    overlaps = facts.status is DiagnosisStatus.OVERLAP
    sentence = chance_sentence(
        held.shape[0], answer.rank, int(held[:, 1].sum()), overlaps
    )
    return [sentence] if sentence else []


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)
