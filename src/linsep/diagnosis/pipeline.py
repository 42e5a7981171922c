"""The steps from a regression to its `Diagnosis`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
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
from linsep.diagnosis.exact.coefficients import named_estimates, verdicts
from linsep.diagnosis.exact.columns import Columns
from linsep.diagnosis.exact.demands import Demands, demands_of, equal_rows_of
from linsep.diagnosis.exact.facial_reduction import Partition, Reduction, simplified
from linsep.diagnosis.exact.large_columns import closed, columns_of_any, is_large
from linsep.diagnosis.exact.ordered_partition import (
    AnyPartition,
    OrderedPartition,
    league_order,
    null_vectors,
    partition_in_order,
    separated_at_once,
)
from linsep.diagnosis.exact.risk_set_partition import (
    RiskSetPartition,
    proving_part,
)
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.positivity import positivity_of
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.report.facts import Facts, budget_for_text
from linsep.diagnosis.report.page import shown_rows_of
from linsep.diagnosis.report.phrases import collinear
from linsep.diagnosis.report.refitting import design_of
from linsep.diagnosis.report.remedies import Remedy, remedies_of
from linsep.diagnosis.report.rows_table import table_of_rows
from linsep.diagnosis.report.sentences import findings, message, sentences
from linsep.diagnosis.status import DiagnosisStatus, Estimate
from linsep.diagnosis.watch import OutOfTime, Watch, require_time
from linsep.lazy import Lazy, LazyIfMade, LazyMapping
from linsep.proof.certificate import Certificate
from linsep.proof.doubles import doubles_from
from linsep.rows.equal_rows import Groups
from linsep.solvers.blas import calm_blas


def diagnose_study(study: Study, watch: Watch, seed: int = 0) -> Diagnosis:
    """Diagnose a regression; what is known by the time the watch ends it is kept.

    1. Equal rows are merged, and the outcome becomes demands on signed rows.
    2. Columns that add nothing are set aside (`linsep.diagnosis.exact.columns`).
    3. Rows are parted into separated and overlapped
       (`linsep.diagnosis.exact.facial_reduction`).
    4. Coefficients get their verdicts (`linsep.diagnosis.exact.coefficients`).

    Of a hundred columns and more the steps are the same by other means
    (`linsep.diagnosis.exact.ordered_partition`); verdicts wait until they are asked
    for. Where rows are few as well, it is tried first to separate all of them.
    """
    rng = np.random.default_rng(seed)
    quickly: Callable[[], dict[str, Any]] = dict
    known = Diagnosis(
        DiagnosisStatus.UNDECIDED,
        study.family,
        n_samples=study.n_given,
        n_features=len(study.names),
    )
    try:
        with calm_blas(len(study.names)):
            watch.begin("rank")
            groups = equal_rows_of(study)
            demands = demands_of(study, groups)
            unknown = dict.fromkeys(demands.names, Estimate.UNDECIDED)
            known = replace(
                known,
                coefficient_names=demands.names,
                estimates=unknown,
                estimates_without_aliased=unknown,
                n_distinct=int(groups.first.size),
            )
            at_once = _at_once(demands, watch)
            if at_once is not None:
                columns = Columns.open(demands.rows.shape[1])
                facts = Facts(study, groups, demands, columns, at_once)
                known = replace(known, **_parted(facts))
            columns = columns_of_any(demands.rows, demands.order, rng, watch.is_over)
            # Columns without a name are no coefficients.
            rank = None if columns.rank is None else columns.rank - demands.n_nameless
            known = replace(
                known,
                rank=rank,
                collinear=collinear(demands.named_columns, columns),
                **named_estimates(demands.named_columns, columns, {}),
            )
            watch.begin("rows")
            beside: dict[int, Estimate] | None = None
            if demands.is_written:
                partition = at_once or _partition(
                    study, groups, demands, columns, rng, watch
                )
            else:
                partition, beside = RiskSetPartition(study, columns, watch).run()
            facts = Facts(study, groups, demands, columns, partition)
            known = replace(known, **_parted(facts))
            known = replace(known, findings=findings(known, facts))
            watch.begin("coefficients")
            decided, quickly = _decided(demands, columns, partition, watch, beside)
            known = replace(known, **decided)
    except OutOfTime:
        pass
    except KeyboardInterrupt:
        watch.interrupt()
    if not known.proved:
        return replace(
            known, message=f"Undecided: {watch.reason}", seconds=watch.seconds
        )
    return _with_proof_and_words(known, facts, watch, quickly)


def _at_once(demands: Demands, watch: Watch) -> OrderedPartition | None:
    """Try to separate all rows, where they are so few that most labels allow it.

    By Cover's count half of all labels do where there are two rows a column. The
    constant of a group takes a row of it up, since the group has both outcomes.
    """
    m, d = (size - demands.n_nameless for size in demands.rows.shape)
    if not is_large(demands.rows) or m > 2 * d or not demands.is_written:
        return None
    return separated_at_once(demands, watch.is_over)


def _partition(
    study: Study,
    groups: Groups,
    demands: Demands,
    columns: Columns,
    rng: np.random.Generator,
    watch: Watch,
) -> AnyPartition:
    """Part the rows, by exact facial reduction alone where columns are few."""
    if is_large(demands.rows):
        counts = counts_of(study, groups, demands)
        hint = None if study.sides is None else league_order(study)
        return partition_in_order(
            demands.rows, demands.equal, counts, columns, rng, watch, hint
        )
    found = Reduction(
        demands.rows, demands.equal, columns.kept, rng, watch.is_over
    ).run()
    return simplified(demands.rows, found)


def _decided(
    demands: Demands,
    columns: Columns,
    partition: AnyPartition,
    watch: Watch,
    beside: dict[int, Estimate] | None,
) -> tuple[dict[str, Any], Callable[[], dict[str, Any]]]:
    """Decide the coefficients: now, or of very many columns when they are asked for.

    Those that were decided `beside` the partition are taken as they are.

    Returns
    -------
    found : dict of str to mapping
        Fields of the answer.
    quickly : callable
        Returns the same; of very many columns as far as they are decided in a second.
    """
    if isinstance(partition, Partition):
        beside = verdicts(demands.rows, partition, watch.is_over)
    if beside is not None:
        fields = named_estimates(demands.named_columns, columns, beside)
        return fields, lambda: fields
    assert isinstance(partition, OrderedPartition)

    def decided(limits: Watch) -> dict[str, Any]:
        named = demands.named_columns
        if not columns.is_open:
            found = _verdicts(demands, columns, partition, limits)
            return named_estimates(named, columns, found)
        # Which columns of a wide design are kept; their verdicts are left open.
        known = columns
        with suppress(OutOfTime):
            known = closed(demands.rows, columns, demands.order, limits.is_over)
        fields = {"collinear": collinear(named, known)}
        return fields | named_estimates(named, known, {})

    left = watch.seconds_left
    whole = LazyIfMade(lambda: decided(Watch(left)))

    def quickly() -> dict[str, Any]:
        if whole.is_made:
            return whole.value
        return decided(budget_for_text(left))

    names = ["estimates", "estimates_without_aliased"]
    names += ["collinear"] * columns.is_open
    lazy = {
        name: LazyMapping(partial(lambda k: whole.value[k], name)) for name in names
    }
    return lazy, quickly


def _verdicts(
    demands: Demands,
    columns: Columns,
    partition: OrderedPartition,
    watch: Watch,
) -> dict[int, Estimate]:
    """Decide the coefficients of very many columns."""
    if columns.kept.size == 0:
        return {}
    separated = np.flatnonzero(~partition.overlapped)
    if separated.size == 0:
        return dict.fromkeys(columns.kept.tolist(), Estimate.FINITE)
    check = partial(require_time, watch.is_over)
    try:
        basis = null_vectors(demands.rows, partition, columns, check)
    except OutOfTime:
        return {}
    return block_verdicts(demands.rows, separated, basis, columns.kept, watch.is_over)


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


def _with_proof_and_words(
    known: Diagnosis,
    facts: Facts,
    watch: Watch,
    quickly: Callable[[], dict[str, Any]],
) -> Diagnosis:
    """Add what is made when first asked for, in the time that is left."""
    left = watch.seconds_left
    facts = replace(facts, seconds_left=left)
    proof = Lazy(lambda: _proof(known, facts))

    def advice() -> list[Remedy]:
        with calm_blas(len(facts.study.names)):
            return remedies_of(facts, diagnose_study)

    def words() -> list[str]:
        answer = replace(known, **quickly())
        with calm_blas(len(facts.study.names)):
            return sentences(answer, facts, remedies.value)

    remedies = Lazy(advice)
    return replace(
        known,
        seconds=watch.seconds,
        _sentences=Lazy(words),
        _remedies=remedies,
        _rows=Lazy(lambda: table_of_rows(facts)),
        _positivity=LazyIfMade(lambda: positivity_of(facts, diagnose_study)),
        _design=LazyIfMade(lambda: design_of(facts.study, facts.separated)),
        _certificate=Lazy(lambda: proof.value[0].value),
        _certified=LazyIfMade(lambda: proof.value[1]),
        _shown=LazyIfMade(lambda: shown_rows_of(facts)),
    )


def _proof(
    known: Diagnosis, facts: Facts
) -> tuple[Lazy[Certificate | None], CertifiedRows | None]:
    """Return the certificate, made when it is asked for, and what it is about.

    Comparisons that are too many to be written down may be proved by some of them.
    """
    if facts.demands.is_written:
        rows = certified_rows(facts.study, facts.groups, facts.demands)
        left = facts.seconds_left
        return Lazy(lambda: _certificate(rows, facts.partition, left)), rows
    part, watch = None, Watch(facts.seconds_left)
    if known.status is DiagnosisStatus.OVERLAP:
        part = proving_part(
            facts.study, known.rank, lambda study: diagnose_study(study, watch)
        )
    if part is None or part._certificate is None or part._certified is None:
        return Lazy(lambda: None), None
    return part._certificate, part._certified.value


def _certificate(
    rows: CertifiedRows, partition: AnyPartition, seconds: float
) -> Certificate | None:
    """Write the proof out, unless there is no time."""
    try:
        return certificate_of(rows, partition, Watch(seconds).is_over)
    except OutOfTime:
        return None
