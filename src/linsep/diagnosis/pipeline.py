"""The steps from a design and an outcome to a `Diagnosis`."""

from __future__ import annotations

import time

import numpy as np

from linsep.diagnosis.exact.certificate import certificate_of, certified_rows
from linsep.diagnosis.exact.coefficients import Estimate, verdicts
from linsep.diagnosis.exact.columns import Columns, columns_of
from linsep.diagnosis.exact.demands import Demands, demands_of
from linsep.diagnosis.exact.facial_reduction import OutOfTime, Partition, Reduction
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.report.texts import combination_text
from linsep.diagnosis.report.whole_numbers import simplified
from linsep.diagnosis.status import Kind
from linsep.proof.exact import doubles_from
from linsep.rows.equal_rows import Groups, merge_equal_rows
from linsep.solvers.blas import calm_blas


def diagnose_study(
    study: Study, *, time_limit: float | None, seed: int, explain: bool = True
) -> Diagnosis:
    """Diagnose a regression.

    1. Equal rows are merged, and the outcome becomes demands on signed rows.
    2. Columns that add nothing are set aside (`linsep.diagnosis.exact.columns`).
    3. Rows are parted into separated and overlapped
       (`linsep.diagnosis.exact.facial_reduction`).
    4. Coefficients get their verdicts (`linsep.diagnosis.exact.coefficients`).
    """
    started = time.perf_counter()
    deadline = np.inf if time_limit is None else started + time_limit
    rng = np.random.default_rng(seed)

    def should_stop() -> bool:
        return time.perf_counter() > deadline

    with calm_blas(len(study.names)):
        groups = merge_equal_rows(study.X)
        demands = demands_of(
            study.family, groups, study.outcome, study.names, study.fit_intercept
        )
        columns = columns_of(demands.rows, rng, demands.order)
        search = Reduction(demands.rows, demands.equal, columns.kept, rng, should_stop)
        try:
            partition = search.run()
        except OutOfTime:
            return _undecided(study, groups, demands, columns, started, time_limit)
        partition = simplified(demands.rows, partition)
        kept = verdicts(demands.rows, partition, should_stop)
    return _decided(study, groups, demands, columns, partition, kept, started)


def _decided(
    study: Study,
    groups: Groups,
    demands: Demands,
    columns: Columns,
    partition: Partition,
    kept: dict[int, Estimate],
    started: float,
) -> Diagnosis:
    """Put what was found into the record."""
    from linsep.diagnosis.report.sentences import Story

    separated = demands.separated_observations(
        partition.overlapped, groups.group, study.outcome.has
    )
    status = _status(partition)
    names, order = demands.names, demands.order
    without = {
        name: kept[int(j)]
        for name, j in zip(names, order, strict=True)
        if int(j) in kept
    }
    estimates = {
        name: Estimate.ALIASED if columns.aliased[j] else kept[int(j)]
        for name, j in zip(names, order, strict=True)
    }
    exact = direction = None
    if status is not Kind.OVERLAP:
        exact = tuple(partition.w[int(j)] for j in order)
        small = max(map(abs, exact), default=0) < 1 << 53
        direction = np.array(exact, dtype=np.float64) if small else doubles_from(exact)
    basis = certified_rows(study, groups, demands)
    collinear = _collinear(demands, columns)
    story = Story(
        study, groups, demands, columns, partition, status, without, collinear
    )
    return Diagnosis(
        status=status,
        proved=True,
        family=study.family,
        rank=columns.rank,
        separated_rows=study.present[separated],
        overlapped_rows=study.present[~separated],
        direction=direction,
        exact_direction=exact,
        estimates=estimates,
        estimates_without_aliased=without,
        collinear=collinear,
        findings=story.findings(),
        coefficient_names=names,
        n_samples=study.n_given,
        n_features=len(study.names),
        n_distinct=int(groups.first.size),
        seconds=time.perf_counter() - started,
        message=story.message(separated),
        _sentences=lambda: story.sentences(separated),
        _certify=lambda: certificate_of(basis, partition),
        _reduced=lambda: (basis.rows.features(slice(None)), basis.labels),
    )


def _status(partition: Partition) -> Kind:
    if not partition.overlapped.any():
        return Kind.COMPLETE
    return Kind.OVERLAP if partition.overlapped.all() else Kind.QUASI_COMPLETE


def _undecided(
    study: Study,
    groups: Groups,
    demands: Demands,
    columns: Columns,
    started: float,
    time_limit: float | None,
) -> Diagnosis:
    """Say that the time ran out; collinearity is known all the same."""
    estimates = {
        name: Estimate.ALIASED if columns.aliased[j] else Estimate.UNDECIDED
        for name, j in zip(demands.names, demands.order, strict=True)
    }
    nothing = np.empty(0, dtype=np.intp)
    return Diagnosis(
        status=Kind.UNDECIDED,
        proved=False,
        family=study.family,
        rank=columns.rank,
        separated_rows=nothing,
        overlapped_rows=nothing,
        direction=None,
        exact_direction=None,
        estimates=estimates,
        estimates_without_aliased={
            name: estimate
            for name, estimate in estimates.items()
            if estimate is Estimate.UNDECIDED
        },
        collinear=_collinear(demands, columns),
        findings=(),
        coefficient_names=demands.names,
        n_samples=study.n_given,
        n_features=len(study.names),
        n_distinct=int(groups.first.size),
        seconds=time.perf_counter() - started,
        message=(
            f"Undecided: the time limit of {time_limit:g} s passed; allow more to "
            "go on."
        ),
    )


def _collinear(demands: Demands, columns: Columns) -> dict[str, str]:
    """Write each column that adds nothing as a combination of earlier ones."""
    names = {int(j): name for name, j in zip(demands.names, demands.order, strict=True)}
    kept = set(columns.kept.tolist())
    found = {}
    for j in (int(j) for j in demands.order):
        if j in kept:
            continue
        terms = columns.combinations.get(j)
        if terms is None:
            found[names[j]] = "a combination of earlier columns"
        elif not terms:
            found[names[j]] = "0"
        else:
            found[names[j]] = combination_text(
                [(names[column], factor) for column, factor in terms.items()]
            )
    return found
