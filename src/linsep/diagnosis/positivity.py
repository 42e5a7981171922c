"""Positivity: whose treatment a linear function of the covariates decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from linsep.arrays import Index, Mask
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.facts import Facts
from linsep.diagnosis.report.phrases import (
    count_rows,
    is_are,
    listed,
    outcome_text,
    terms_text,
)
from linsep.diagnosis.report.remedies import Diagnose, Reduced, reduced
from linsep.diagnosis.report.sentences import (
    MOST_ROWS,
    MOST_TERMS,
    claims_told,
    direction_terms,
)
from linsep.diagnosis.status import DiagnosisStatus
from linsep.diagnosis.watch import OutOfTime, Watch
from linsep.input import InputError
from linsep.wrapping import WIDTH, wrapped


@dataclass(frozen=True, repr=False, eq=False)
class Positivity:
    """Whose treatment is certain given the covariates; of `Diagnosis.positivity`.

    Attributes
    ----------
    treated, untreated : ndarray of int
        Row numbers, sorted, of the units that have the second or the first treatment
        for certain: some linear function of the covariates is above zero for treated
        units alone, and for these; or below zero for untreated ones alone.
    left : ndarray of int
        The rows of all others, which is what trimming leaves: no linear function
        decides for any of them, among all units or among themselves.
    combination : dict of str to Fraction
        The coefficients, those of zero left out, of one linear function that is above
        zero in the rows `treated`, below zero in `untreated`, zero in `left`, exactly.
    is_checked : bool
        Whether the rows left were diagnosed by themselves as well; else there were
        none, or there was no time, and what is said of them rests on the proof alone.
    """

    treated: Index
    untreated: Index
    left: Index
    combination: Mapping[str, Fraction]
    is_checked: bool
    _sentences: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether no linear function of the covariates decides for any unit."""
        return not self.combination

    def sentences(self) -> list[str]:
        """Return the lines of the summary, each whole."""
        return list(self._sentences)

    def summary(self, width: int = WIDTH) -> str:
        """Say for whom positivity fails, by which columns, and what trimming leaves."""
        return "\n".join(wrapped(line, width) for line in self._sentences)

    def __repr__(self) -> str:
        """Show the counts."""
        return (
            f"Positivity(holds={self.holds}, treated={self.treated.size}, "
            f"untreated={self.untreated.size}, left={self.left.size})"
        )


def positivity_of(facts: Facts, diagnose: Diagnose) -> Positivity:
    """Read a diagnosis of a treatment, and diagnose what trimming leaves.

    Raises
    ------
    InputError
        If the outcome is no treatment of two kinds, one in each row.
    """
    study = facts.study
    outcome = study.outcome
    if study.family != "binomial" or not outcome.is_labels or outcome.levels.size != 2:
        got = f"{outcome.levels.size} labels" if outcome.is_labels else "no labels"
        raise InputError(
            "positivity is asked of a treatment that some units had and others had "
            f"not, two labels with family='binomial', got {got} with "
            f"family={study.family!r}; of several treatments diagnose two at a time"
        )
    if study.held is not None:
        raise InputError(
            "positivity is about all linear functions of the covariates, got a penalty "
            "on some; leave penalized out"
        )
    is_second = outcome.has[:, 1]
    left = np.flatnonzero(~facts.separated)
    found: Reduced | None = None
    if 0 < left.size < facts.separated.size:
        try:
            every, watch = np.arange(len(study.names)), Watch(facts.seconds_left)
            found = reduced(study, left, every, diagnose, watch)
        except OutOfTime:
            pass
    is_checked = found is not None and found.status is DiagnosisStatus.OVERLAP
    terms = []
    if facts.separated.any():
        terms = direction_terms(facts, facts.fewest_columns.for_all[0])
    return Positivity(
        study.present[facts.separated & is_second],
        study.present[facts.separated & ~is_second],
        study.present[left],
        dict(terms),
        is_checked,
        tuple(_sentences(facts, terms, found if is_checked else None)),
    )


def _sentences(
    facts: Facts, terms: list[tuple[str, Fraction]], trimmed: Reduced | None
) -> list[str]:
    """Word it: for whom, by which columns, what is left."""
    study, n = facts.study, facts.separated.size
    if not terms:
        return [
            f"Positivity is not violated: no linear function of the covariates decides "
            f"{study.outcome_name} for any of {n:,} units (proved)."
        ]
    arms = [(1, "above"), (0, "below")]
    sure = {k: facts.separated & study.outcome.has[:, k] for k, _ in arms}
    arms = [arm for arm in arms if sure[arm[0]].any()]
    who = " and ".join(
        f"{outcome_text(study, k)} for {int(sure[k].sum()):,}" for k, _ in arms
    )
    n_left = int((~facts.separated).sum())
    does = [
        f"{side} 0 in {count_rows(int(sure[k].sum()))}, all {outcome_text(study, k)}"
        for k, side in arms
    ] + [f"0 in the {count_rows(n_left)} left"] * (n_left > 0)
    text = terms_text(terms)
    if len(terms) > MOST_TERMS:
        used = listed([name for name, _ in terms])
        text = f"A combination of {len(terms)} terms ({used}; see `combination`)"
    names = study.row_names
    rows = [
        f"For certain {outcome_text(study, k)}{names.kind}: "
        f"{names.some(study.present[sure[k]], MOST_ROWS)}."
        for k, _ in arms
    ]
    return [
        f"Positivity fails for {n - n_left:,} of {n:,} units: linear functions of the "
        f"covariates decide {who}.",
        *claims_told(facts),
        f"{text} is {'; '.join(does)}.",
        *rows,
        *_trimming(study, ~facts.separated, trimmed),
    ]


def _trimming(study: Study, is_left: Mask, trimmed: Reduced | None) -> list[str]:
    """Say what is left without the units decided, and what of the covariates."""
    if not is_left.any():
        return ["Trimming these units leaves nobody."]
    n_first, n_second = study.outcome.has[is_left].sum(axis=0).tolist()
    first, second = (outcome_text(study, k) for k in (0, 1))
    how = "by the same proof"
    if trimmed is not None:
        how = "diagnosed again by themselves"
    lines = [
        f"Trimming them leaves {count_rows(int(is_left.sum()))}, {n_second:,} with "
        f"{second} and {n_first:,} with {first}: no linear function decides for any of "
        f"these ({how}). What is estimated then is of units like these alone."
    ]
    if trimmed is not None and trimmed.columns.size < len(study.names):
        gone = np.setdiff1d(np.arange(len(study.names)), trimmed.columns)
        lines.append(
            f"Among these {listed([study.names[j] for j in gone])} {is_are(gone.size)} "
            "constant, or a combination of the other covariates."
        )
    return lines
