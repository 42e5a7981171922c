"""The steps from a regression to its `Diagnosis`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linsep.diagnosis.exact.block_verdicts import block_verdicts
from linsep.diagnosis.exact.certificate import (
    CertifiedRows,
    certificate_of,
    certified_rows,
    counts_of,
)
from linsep.diagnosis.exact.coefficients import verdicts
from linsep.diagnosis.exact.columns import Columns, columns_of
from linsep.diagnosis.exact.demands import Demands, demands_of
from linsep.diagnosis.exact.facial_reduction import Partition, Reduction
from linsep.diagnosis.exact.large_columns import columns_of_many
from linsep.diagnosis.exact.ordered_partition import (
    AnyPartition,
    null_vectors,
    partition_in_order,
)
from linsep.diagnosis.exact.whole_numbers import simplified
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.report.facts import Facts
from linsep.diagnosis.report.phrases import combination_text
from linsep.diagnosis.report.sentences import findings, message, sentences
from linsep.diagnosis.status import DiagnosisStatus, Estimate
from linsep.diagnosis.watch import OutOfTime, Watch, require_time
from linsep.lazy import Lazy
from linsep.proof.certificate import Certificate
from linsep.proof.exact import doubles_from
from linsep.rows.equal_rows import Groups, merge_equal_rows
from linsep.solvers.blas import calm_blas

# Designs of more columns are settled by factorisations (`linsep.verified`).
MOST_EXACT = 100


def diagnose_study(study: Study, watch: Watch, seed: int = 0) -> Diagnosis:
    """Diagnose a regression; what is known by the time the watch ends it is kept.

    1. Equal rows are merged, and the outcome becomes demands on signed rows.
    2. Columns that add nothing are set aside (`linsep.diagnosis.exact.columns`).
    3. Rows are parted into separated and overlapped
       (`linsep.diagnosis.exact.facial_reduction`).
    4. Coefficients get their verdicts (`linsep.diagnosis.exact.coefficients`).
    """
    rng = np.random.default_rng(seed)
    known = Diagnosis(
        DiagnosisStatus.UNDECIDED,
        study.family,
        n_samples=study.n_given,
        n_features=len(study.names),
    )
    try:
        with calm_blas(len(study.names)):
            watch.begin("rank")
            groups = merge_equal_rows(study.X)
            demands = demands_of(study, groups)
            unknown = dict.fromkeys(demands.names, Estimate.UNDECIDED)
            known = replace(
                known,
                coefficient_names=demands.names,
                estimates=unknown,
                estimates_without_aliased=unknown,
                n_distinct=int(groups.first.size),
            )
            columns = _columns(demands, rng, watch)
            known = replace(
                known,
                rank=columns.rank,
                collinear=_collinear(demands, columns),
                **_estimates(demands, columns, {}),
            )
            watch.begin("rows")
            partition = _partition(study, groups, demands, columns, rng, watch)
            facts = Facts(study, groups, demands, columns, partition)
            known = replace(known, **_parted(facts))
            known = replace(known, findings=findings(known, facts))
            watch.begin("coefficients")
            found = _verdicts(demands, columns, partition, watch)
            known = replace(known, **_estimates(demands, columns, found))
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        watch.interrupt()
    if not known.proved:
        return replace(
            known, message=f"Undecided: {watch.reason}", seconds=watch.seconds
        )
    return _with_proof_and_words(known, facts, watch)


def _columns(demands: Demands, rng: np.random.Generator, watch: Watch) -> Columns:
    """Find the independent columns, by elimination where they are few."""
    if is_large(demands):
        check = partial(require_time, watch.is_over)
        found = columns_of_many(demands.rows, demands.order, check)
        if found is not None:
            return found
    return columns_of(demands.rows, rng, demands.order, watch.is_over)


def is_large(demands: Demands) -> bool:
    """Tell whether there are more columns than exact elimination is quick for."""
    return demands.rows.shape[1] > MOST_EXACT


def _partition(
    study: Study,
    groups: Groups,
    demands: Demands,
    columns: Columns,
    rng: np.random.Generator,
    watch: Watch,
) -> AnyPartition:
    """Part the rows, by exact facial reduction alone where columns are few."""
    if is_large(demands):
        counts = counts_of(study, groups, demands)
        return partition_in_order(demands, counts, columns, rng, watch)
    found = Reduction(
        demands.rows, demands.equal, columns.kept, rng, watch.is_over
    ).run()
    return simplified(demands.rows, found)


def _verdicts(
    demands: Demands,
    columns: Columns,
    partition: AnyPartition,
    watch: Watch,
) -> dict[int, Estimate]:
    """Decide the coefficients."""
    if isinstance(partition, Partition):
        return verdicts(demands.rows, partition, watch.is_over)
    separated = np.flatnonzero(~partition.overlapped)
    if separated.size == 0:
        return dict.fromkeys(columns.kept.tolist(), Estimate.FINITE)
    basis = null_vectors(demands.rows, partition, columns)
    return block_verdicts(demands.rows, separated, basis, columns.kept, watch.is_over)


def _estimates(
    demands: Demands, columns: Columns, found: Mapping[int, Estimate]
) -> dict[str, Any]:
    """Name the verdicts on the columns kept, with and without those left out."""
    verdict = {j: found.get(j, Estimate.UNDECIDED) for j in columns.kept.tolist()}
    return {
        "estimates": {
            name: Estimate.ALIASED if columns.aliased[j] else verdict[j]
            for name, j in demands.named_columns
        },
        "estimates_without_aliased": {
            name: verdict[j] for name, j in demands.named_columns if j in verdict
        },
    }


def _collinear(demands: Demands, columns: Columns) -> dict[str, str]:
    """Write each column that adds nothing as a combination of earlier ones."""
    names = {j: name for name, j in demands.named_columns}
    kept = set(columns.kept.tolist())
    found = {}
    for name, j in demands.named_columns:
        terms = columns.combinations.get(j)
        if j in kept:
            continue
        if terms is None:
            found[name] = "a combination of earlier columns"
        else:
            found[name] = combination_text(
                [(names[column], factor) for column, factor in terms.items()]
            )
    return found


def _parted(facts: Facts) -> dict[str, Any]:
    """Say what the partition of the rows settles."""
    study, partition = facts.study, facts.partition
    exact = direction = None
    if facts.status is not DiagnosisStatus.OVERLAP:
        exact = tuple(partition.w[j] for _, j in facts.demands.named_columns)
        small = max(map(abs, exact), default=0) < 1 << 53
        direction = np.array(exact, dtype=np.float64) if small else doubles_from(exact)
    return {
        "status": facts.status,
        "message": message(facts),
        "separated_rows": study.present[facts.separated],
        "overlapped_rows": study.present[~facts.separated],
        "direction": direction,
        "exact_direction": exact,
    }


def _with_proof_and_words(known: Diagnosis, facts: Facts, watch: Watch) -> Diagnosis:
    """Add what is made when first asked for, in the time that is left."""
    rows = certified_rows(facts.study, facts.groups, facts.demands)
    left = watch.seconds_left
    facts = replace(facts, seconds_left=left)
    return replace(
        known,
        seconds=watch.seconds,
        _sentences=Lazy(lambda: _words(known, facts)),
        _certificate=Lazy(lambda: _certificate(rows, facts.partition, left)),
        _certified=rows,
    )


def _words(known: Diagnosis, facts: Facts) -> list[str]:
    """Word the facts; those not found yet are found now."""
    with calm_blas(len(facts.study.names)):
        return sentences(known, facts)


def _certificate(
    rows: CertifiedRows, partition: AnyPartition, seconds: float
) -> Certificate | None:
    """Write the proof out, unless there is no time for it."""
    try:
        return certificate_of(rows, partition, Watch(seconds).is_over)
    except OutOfTime:
        return None
