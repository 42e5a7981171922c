"""What is usually done about separation: in words, and as code for the model at hand.

What leaves out rows or columns is advised only if a diagnosis of what is left says that
the estimate exists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from linsep.arrays import Index
from linsep.diagnosis.exact.large_columns import columns_of_any
from linsep.diagnosis.inputs.families import OF_GROUPS, OF_TIMES
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report import in_r, refitting
from linsep.diagnosis.report.facts import Facts, budget_for_text
from linsep.diagnosis.report.phrases import counted, is_are, listed
from linsep.diagnosis.report.premises import is_one_outcome
from linsep.diagnosis.status import DiagnosisStatus
from linsep.diagnosis.watch import OutOfTime, Watch
from linsep.report.page import Advice
from linsep.rows import rows_from

if TYPE_CHECKING:
    from linsep.diagnosis.record import Diagnosis

# Which penalise models whose rows are compared with one another.
_PACKAGES = {
    **dict.fromkeys(
        OF_TIMES, "; in R coxphf, in Python lifelines' CoxPHFitter, by penalizer"
    ),
    **dict.fromkeys(OF_GROUPS, "; in Python statsmodels, by fit_regularized"),
    "paired": "; in R BradleyTerry2, by br = TRUE",
}
# Designs of more columns are not fitted again by dense code.
MOST_COLUMNS = 2_000

Diagnose = Callable[[Study, Watch], "Diagnosis"]


@dataclass(frozen=True)
class Remedy(Advice):
    """One thing that is usually done about separation.

    Attributes
    ----------
    name : str
    why : str
        What it does, and which package does it.
    code : str
        Python that does it for this model, with `answer` the diagnosis; empty where
        there is none.
    leaves : str
        What of the model is left as it was, and what is not.
    r_code : str
        The same in R, with `d` the data; empty where there is none.
    """

    @property
    def text(self) -> str:
        """The remedy in a sentence."""
        return f"{self.name}: {self.why}."

    def __str__(self) -> str:
        said = fill(self.text, 88, break_on_hyphens=False, break_long_words=False)
        leaves = f"It leaves {self.leaves}." if self.leaves else ""
        return "\n\n".join(filter(None, [said, leaves, self.code]))


@dataclass(frozen=True)
class Reduced:
    """A regression without some rows and columns, and what a diagnosis says of it.

    Attributes
    ----------
    columns : ndarray of int
        Those left, of the study's, which are independent.
    status : DiagnosisStatus
    """

    columns: Index
    status: DiagnosisStatus


def remedies_of(facts: Facts, diagnose: Diagnose) -> list[Remedy]:
    """Return the remedies for a regression whose rows are separated.

    Parameters
    ----------
    facts : Facts
    diagnose : callable
        Diagnoses what is left of the regression.
    """
    study = facts.study
    if facts.status is DiagnosisStatus.OVERLAP:
        return []
    if is_one_outcome(study):
        return [
            Remedy(
                "data with another outcome too",
                "with one alone a constant predicts every row, and no method can "
                "estimate more",
            )
        ]
    if not study.is_by_columns:
        is_within = study.family in OF_GROUPS and not study.is_weighted
        return [
            Remedy(
                "Firth's or another penalty (a weakly informative prior)",
                f"it makes every estimate finite{_PACKAGES.get(study.family, '')}",
                refitting.within_groups(study) if is_within else "",
                "the model; estimates depend on the penalty",
            )
        ]
    watch = budget_for_text(facts.seconds_left)
    everything = np.arange(len(study.names))
    try:
        columns = _independent(study, np.arange(study.present.size), everything, watch)
    except OutOfTime:
        columns = everything
    found = []
    if not study.penalty:
        found = [_firth(study, columns), _penalty(study, columns)]
    if study.family in ("binomial", "multinomial"):
        found.append(
            Remedy(
                "exact (conditional) methods",
                "they condition on what the other columns determine, for small data; "
                "in R elrm, in SAS the EXACT statement",
                leaves="the model; estimates are median unbiased",
            )
        )
    try:
        for reduction in (_without_columns, _without_rows):
            found += reduction(facts, diagnose, watch)
    except OutOfTime:
        pass
    if facts.status is DiagnosisStatus.COMPLETE:
        found.append(
            Remedy(
                "fewer columns, or more data",
                "all rows are predicted, so nothing of the model is left to estimate",
            )
        )
    return found


def _firth(study: Study, columns: Index) -> Remedy:
    """Offer Firth's penalty, by a package where there is one."""
    is_plain = _is_logit(study) and study.outcome.is_labels
    where = "in R brglm2 (https://cran.r-project.org/package=brglm2)"
    if study.family == "binomial":
        where = (
            "in Python firthmodels (https://pypi.org/project/firthmodels), in R "
            "logistf and brglm2 (https://cran.r-project.org/package=brglm2)"
        )
    fits = is_plain and columns.size <= MOST_COLUMNS
    return Remedy(
        "Firth's penalty",
        f"it makes every estimate finite and less biased; {where}",
        refitting.firth(study, columns) if fits else "",
        "the model; profile likelihood intervals replace Wald's",
        in_r.firth(study),
    )


def _is_logit(study: Study) -> bool:
    """Tell whether it is a logistic regression of two outcomes."""
    return study.family == "binomial" and study.given.link == "Logit"


def _penalty(study: Study, columns: Index) -> Remedy:
    """Offer a ridge or another prior."""
    where = (
        "in R ordinalNet"
        if study.family == "ordinal"
        else "scikit-learn (https://scikit-learn.org), by C"
    )
    if study.family == "poisson":
        where = "scikit-learn (https://scikit-learn.org), by alpha"
    fits = study.family in ("poisson", "multinomial") or _is_logit(study)
    return Remedy(
        "another penalty (ridge, a weakly informative prior)",
        "it makes every estimate finite, as large as its strength allows; of columns "
        f"in like units; {where}",
        refitting.penalty(study, columns) if fits else "",
        "the model; estimates depend on the strength chosen",
        in_r.penalty(study),
    )


def _without_columns(facts: Facts, diagnose: Diagnose, watch: Watch) -> list[Remedy]:
    """Leave out the columns that predict, if the estimate exists without them."""
    study = facts.study
    guilty = [
        reason.column
        for reason in facts.reasons
        if reason.column is not None and reason.predicted.size
    ]
    if not guilty or facts.status is not DiagnosisStatus.QUASI_COMPLETE:
        return []
    left = np.setdiff1d(np.arange(len(study.names)), np.array(guilty))
    found = reduced(study, np.arange(study.present.size), left, diagnose, watch)
    if found is None or found.status is not DiagnosisStatus.OVERLAP:
        return []
    names = listed([study.names[j] for j in guilty])
    merged = _left_levels(study, guilty)
    return [
        Remedy(
            "merging the levels or leaving out the columns that predict perfectly",
            f"without {names} the estimate exists (checked){merged}",
            refitting.reduction(study, None, found.columns),
            f"a smaller model, that says nothing of {names}",
        )
    ]


def _left_levels(study: Study, guilty: Sequence[int]) -> str:
    """Say what becomes of levels whose columns are left out, if there are any."""
    codings = [study.codings[j] for j in guilty]
    factors = {coding.factor for coding in codings if coding.levels} - {None}
    if not factors:
        return ""
    if all(_has_reference(study, factor) for factor in factors):
        return "; a level without its column is merged with the reference"
    return (
        "; of a factor all of whose levels have columns, one without its column has "
        "the effect zero, and is merged with none"
    )


def _has_reference(study: Study, factor: str | None) -> bool:
    """Tell whether some level of a factor has no column."""
    own = [coding for coding in study.codings if coding.factor == factor]
    if factor in study.factors:
        return len(own) < len(study.factors[factor].levels)
    return any(coding.has_reference for coding in own)


def _without_rows(facts: Facts, diagnose: Diagnose, watch: Watch) -> list[Remedy]:
    """Drop the separated rows, if the estimate exists for the others."""
    study, separated = facts.study, np.flatnonzero(facts.separated)
    left = np.flatnonzero(~facts.separated)
    if separated.size == 0 or left.size == 0:
        return []
    everything = np.arange(len(study.names))
    # Where each row is one demand, the rows left overlap by the proof at hand.
    is_proved = study.family in ("binomial", "poisson")
    found = reduced(study, left, everything, diagnose, watch, is_proved)
    if found is None:
        return []
    count = counted(study, separated)
    if found.status is not DiagnosisStatus.OVERLAP:
        return [
            Remedy(
                "not a remedy",
                f"dropping the {count} separated does not bring the estimate back: the "
                "rows left are separated again",
            )
        ]
    gone = [study.names[j] for j in np.setdiff1d(everything, found.columns)]
    code = refitting.reduction(study, separated, found.columns)
    return [rows_left_out(count, gone, code, in_r.without_rows(study, separated))]


def rows_left_out(
    count: str, gone: Sequence[str], code: str, r_code: str = ""
) -> Remedy:
    """Offer to drop the rows separated, and what is then constant or collinear."""
    without = ""
    if gone:
        what = "column" if len(gone) == 1 else "columns"
        without = (
            f" and the {what} {listed(list(gone))}, which {is_are(len(gone))} constant "
            "or collinear among the rows left,"
        )
    return Remedy(
        "leaving rows out",
        f"dropping the {count} separated{without} brings the estimate back "
        "(checked), and leaves what was finite as it was",
        code,
        "every estimate that was finite, as it was; nothing of the rest",
        r_code,
    )


def reduced(
    study: Study,
    rows: Index,
    columns: Index,
    diagnose: Diagnose,
    watch: Watch,
    is_proved: bool = False,
) -> Reduced | None:
    """Diagnose a part of a regression on independent columns; None if time ran out.

    With `is_proved` the rows are known to overlap, so that no time is needed.
    """
    kept = _independent(study, rows, columns, watch)
    if kept.size == 0 and not study.has_own_constant:
        return None
    answer = diagnose(study.part(rows, kept), Watch(watch.seconds_left))
    if answer.proved:
        return Reduced(kept, answer.status)
    return Reduced(kept, DiagnosisStatus.OVERLAP) if is_proved else None


def _independent(study: Study, rows: Index, columns: Index, watch: Watch) -> Index:
    """Return the columns that are no combination of a constant and of those before."""
    X = study.X if rows.size == study.X.shape[0] else study.X[rows]
    if columns.size < X.shape[1]:
        X = X[:, columns]
    free = study.has_own_constant
    signed = rows_from(X, fit_intercept=free)
    order = np.arange(columns.size)
    if free:
        order = np.append(columns.size, order)
    found = columns_of_any(signed, order, np.random.default_rng(0), watch.is_over)
    if found.is_open:
        raise OutOfTime
    kept = np.asarray(found.kept)
    return columns[np.sort(kept[kept < columns.size])]
