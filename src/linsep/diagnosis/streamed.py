"""Regressions on data that are read in batches: two labels or counts, and words.

What a `linsep.diagnosis.pipeline` says of levels and cells needs the rows at hand. Here
the rows are parted and the coefficients judged, with the same proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from linsep.diagnosis.exact.block_partition import Parted, parted
from linsep.diagnosis.exact.coefficients import named_estimates
from linsep.diagnosis.exact.large_columns import echelon
from linsep.diagnosis.inputs.design import checked_features
from linsep.diagnosis.inputs.families import family_named
from linsep.diagnosis.inputs.outcomes import reads_as_event
from linsep.diagnosis.inputs.study import INTERCEPT
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.report.phrases import (
    collinear,
    collinear_lines,
    estimate_exists,
)
from linsep.diagnosis.report.premises import one_outcome_text
from linsep.diagnosis.report.remedies import Remedy
from linsep.diagnosis.report.sentences import (
    estimate_lines,
    remedy_lines,
    separated_text,
    what_to_do,
)
from linsep.diagnosis.report.streamed_remedies import RowsAnew, remedies_in_batches
from linsep.diagnosis.report.streamed_words import (
    claims_of_columns,
    direction_text,
    telling_rows,
)
from linsep.diagnosis.status import DiagnosisStatus, Estimate
from linsep.diagnosis.watch import OutOfTime, Watch, require_time
from linsep.input import InputError, Problem
from linsep.input.files.table import Request
from linsep.input.problem import is_on_cluster, streamed_problem
from linsep.input.row_names import RowNames
from linsep.input.streams import stream_of
from linsep.lazy import Lazy
from linsep.proof.certificate import Certificate
from linsep.proof.doubles import doubles_from
from linsep.rows.blocks import BlockRows, at_rest

# Families of which the rows may be read in batches, and what they are called.
_MODELS = {"binomial": "logistic regression", "poisson": "log link"}
# The first sentence of each verdict: of n rows, k separated.
_HEADLINES = {
    DiagnosisStatus.OVERLAP: "Overlap ({model}): no direction predicts any of the "
    "{n:,} rows perfectly.",
    DiagnosisStatus.COMPLETE: "Complete separation ({model}): all {n:,} rows are "
    "predicted perfectly.",
    DiagnosisStatus.QUASI_COMPLETE: "Quasi-complete separation ({model}): {k:,} of "
    "{n:,} rows are predicted perfectly.",
}
_OF_COUNTS = (
    "What to do: use a penalty, as Firth's or ridge; counts in batches come without "
    "code, for no more of them is read than which are zero."
)
_TURNED = {
    Estimate.PLUS: Estimate.MINUS,
    Estimate.MINUS: Estimate.PLUS,
}
_OTHERS = "What to do: get data with another outcome too."


def diagnose_streamed(
    read: Callable[[], Problem],
    watch: Watch,
    seed: int = 0,
    outcome_name: str = "y",
    family: str = "binomial",
) -> Diagnosis:
    """Diagnose a regression, binomial or Poisson, on data that are read in batches."""
    known = Diagnosis(DiagnosisStatus.UNDECIDED, family)
    try:
        problem = read()
        rows = problem.rows
        assert isinstance(rows, BlockRows)
        own, d = problem.feature_names, problem.n_features
        names = checked_features(None, own, d, rows.fit_intercept)
        known = replace(
            known,
            n_samples=rows.shape[0],
            n_features=problem.n_features,
            findings=problem.notes,
        )
        with at_rest(rows), rows.watched(lambda _: require_time(watch.is_over)):
            watch.begin("rows")
            rng = np.random.default_rng(seed)
            found = parted(rows, rng, watch, are_counts=family == "poisson")
            decided = _told(known, problem, names, found)
            words = _words(decided, problem, names, found, outcome_name, watch)
        return replace(decided, _sentences=Lazy(lambda: words), seconds=watch.seconds)
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        watch.interrupt()
    return replace(known, message=f"Undecided: {watch.reason}", seconds=watch.seconds)


def streamed_problem_of(
    given: Sequence[Any],
    fit_intercept: bool | None,
    missing: str | None,
    options: Mapping[str, Any],
) -> tuple[Callable[[], Problem], str] | None:
    """Return what reads a source that is read in batches, and the family.

    None if it is no such source.

    Raises
    ------
    InputError
        If an option goes with data in memory alone: other families, weights, orders.
    """
    is_formula = any(isinstance(part, str) and "~" in part for part in given)
    if len(given) != 2 or is_formula:
        return None
    source, y = given
    if not (isinstance(source, Problem) or is_on_cluster(source)):
        is_named = isinstance(y, str | int)
        source = stream_of(source, request=Request(target=y)) if is_named else None
    if source is None:
        return None
    family = "binomial"
    for name, value in options.items():
        if value is None:
            continue
        if name == "family" and (family := family_named(value)) in _MODELS:
            continue
        raise InputError(
            f"{name} goes with data held in memory, got a source that is read in "
            "batches, of which logistic regressions of two outcomes and regressions "
            "of counts (family='poisson') are diagnosed; read a part of it, or leave "
            "the option out"
        )

    def read() -> Problem:
        whole = fit_intercept is not False
        is_count = family == "poisson"
        given = source, y, whole, missing or "refuse"
        found = streamed_problem(*given, is_count=is_count)
        assert found is not None
        return found

    return read, family


def _told(
    known: Diagnosis, problem: Problem, names: tuple[str, ...], found: Parted
) -> Diagnosis:
    """Put what is proved into the record."""
    rows = problem.rows
    assert isinstance(rows, BlockRows)
    n, d = rows.shape
    n_overlapped = int(np.count_nonzero(found.overlapped))
    status = DiagnosisStatus.QUASI_COMPLETE
    if n_overlapped in (0, n):
        is_overlap = n_overlapped == n
        status = DiagnosisStatus.OVERLAP if is_overlap else DiagnosisStatus.COMPLETE
    columns = [(name, j) for j, name in enumerate(names)]
    if problem.fit_intercept:
        columns.insert(0, (INTERCEPT, d - 1))
    exact = direction = None
    w, estimates = found.w, found.estimates
    if problem.classes.size == 1 and not reads_as_event(problem.classes[0]):
        # The only class has the positive sign, but is what does not happen.
        w = tuple(-value for value in w)
        estimates = {j: _TURNED.get(found, found) for j, found in estimates.items()}
    if status is not DiagnosisStatus.OVERLAP:
        exact = tuple(w[j] for _, j in columns)
        direction = doubles_from(exact)

    def certificate() -> Certificate | None:
        rng = np.random.default_rng(0)
        with at_rest(rows):
            return found.certificate(rows, problem.classes, rng)

    return replace(
        known,
        status=status,
        message=" ".join(_verdict(known.family, status, found)),
        rank=found.columns.rank,
        separated_rows=problem.given(np.flatnonzero(~found.overlapped)),
        overlapped_rows=problem.given(np.flatnonzero(found.overlapped)),
        direction=direction,
        exact_direction=exact,
        coefficient_names=tuple(name for name, _ in columns),
        _anew=RowsAnew(rows, found.overlapped),
        _remedies=Lazy(lambda: _remedies(known.family, problem, names, found)),
        collinear=collinear(columns, found.columns),
        **named_estimates(columns, found.columns, estimates),
        _certificate=Lazy(certificate),
    )


def _remedies(
    family: str, problem: Problem, names: tuple[str, ...], found: Parted
) -> list[Remedy]:
    """Return what comes as code: of a logistic regression of two labels."""
    n, k = found.overlapped.size, int(np.count_nonzero(~found.overlapped))
    if family != "binomial" or k == 0 or problem.classes.size == 1:
        return []
    d, free = len(found.w), None
    if found.vanishing is not None:
        place = np.arange(d)
        place[len(names) :] = -1  # the constant is the last to be left out
        free = np.array(sorted(echelon(found.vanishing, place)), dtype=np.intp)
    return remedies_in_batches(names, problem.fit_intercept, k, n - k, free)


def _verdict(family: str, status: DiagnosisStatus, found: Parted) -> list[str]:
    """Return the verdict on the rows, and whether estimates exist."""
    exists = "No finite maximum likelihood estimate exists."
    if status is DiagnosisStatus.OVERLAP:
        exists = estimate_exists(found.columns.rank == len(found.w))
    n, k = found.overlapped.size, int(np.count_nonzero(~found.overlapped))
    headline = _HEADLINES[status].format(n=n, k=k, model=_MODELS[family])
    return [headline, exists]


def _words(
    known: Diagnosis,
    problem: Problem,
    names: tuple[str, ...],
    found: Parted,
    outcome_name: str,
    watch: Watch,
) -> list[str]:
    """Return the summary; what single columns predict as far as there is time.

    Ctrl-C ends the words, and takes nothing of what is proved.
    """
    rows = problem.rows
    assert isinstance(rows, BlockRows)
    separated = np.flatnonzero(~found.overlapped)
    headline, *last = _verdict(known.family, known.status, found)
    lines = [headline]
    is_count = known.family == "poisson"
    is_one = (rows.signs < 0).all() if is_count else problem.classes.size == 1
    if is_one:
        outcome = f"{outcome_name} = {problem.classes[0]}"
        lines.append(one_outcome_text(outcome, is_count))
    elif known.exact_direction is not None:
        study, is_all = None, False
        with suppress(OutOfTime, KeyboardInterrupt):
            outcomes = known.family, problem.classes, outcome_name
            study = telling_rows(rows, separated, outcomes, names)
            if study is not None:
                claims, is_all = claims_of_columns(study, separated, watch.is_over)
                lines += claims
        if not is_all:
            exact = map(Fraction, known.exact_direction)
            terms = list(zip(known.coefficient_names, exact, strict=True))
            given = study, terms, separated.size, rows.fit_intercept
            lines.append(direction_text(*given))
    if known.status is DiagnosisStatus.QUASI_COMPLETE:
        last.insert(0, separated_text(RowNames(), known.separated_rows))
    remedies = known.remedies()
    if separated.size:
        others = _OTHERS if is_one else _OF_COUNTS
        last.append(what_to_do(remedies) or others)
    lines.append(" ".join(last))
    lines += [f"{note}." for note in known.findings]
    lines += [*collinear_lines(known), *estimate_lines(known)]
    return lines + remedy_lines(remedies)
