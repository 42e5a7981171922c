"""The partition of very many rows and columns, as directions in order and one point.

`linsep.verified` parts the rows as far as it goes; what it leaves, if that is small
enough, is settled by exact facial reduction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index, Mask, no_index
from linsep.diagnosis.exact.columns import Columns, columns_of
from linsep.diagnosis.exact.demands import Demands
from linsep.diagnosis.exact.facial_reduction import Partition, Reduction
from linsep.diagnosis.exact.large_columns import echelon, without
from linsep.diagnosis.inputs.paired import (
    components,
    reference_players,
    who_beat_whom,
)
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.watch import ShouldStop, Watch, require_time
from linsep.proof import linear
from linsep.proof.exact import IntegerRows, integers_from
from linsep.proof.signs import all_positive
from linsep.rows import Rows, as_dense, rows_from
from linsep.solvers._factors import cholesky, solve_factored
from linsep.solvers.bounds import row_lengths
from linsep.solvers.engines import Kind, solve
from linsep.solvers.pieces import gram_of
from linsep.verified.answers import combined
from linsep.verified.overlap import Counts
from linsep.verified.parts import Check
from linsep.verified.reduction import Reduced
from linsep.verified.reduction import Reduction as VerifiedReduction
from linsep.verified.vectors import SparseVector, unit_vector, written_out

# What is left is settled exactly up to this many columns.
MOST_EXACT = 1_000
# Rows at most through which the shortest vector is sought.
MOST_FACTORED = 4_000
# Rounds and steps at most to separate all rows at once.
MOST_ROUNDS = 5_000


@dataclass(frozen=True)
class OrderedPartition:
    """What `linsep.verified` found, and exact facial reduction after it.

    Attributes
    ----------
    reduced : Reduced
        The directions in order, the stage of each row, and the point.
    w : tuple of int
        One direction that is positive on every separated row.
    rest : Partition or None
        Of the rows and columns that were settled exactly.
    rest_rows : ndarray of int
        The rows of `rest`.
    """

    reduced: Reduced
    w: tuple[int, ...]
    rest: Partition | None = None
    rest_rows: Index = field(default_factory=no_index)

    @property
    def overlapped(self) -> Mask:
        """Rows that every recession direction leaves at zero."""
        return self.reduced.overlapped


AnyPartition = Partition | OrderedPartition


def partition_in_order(
    rows: Rows,
    equal: Mask,
    counts: Counts,
    columns: Columns,
    rng: np.random.Generator,
    watch: Watch,
    hint: SparseVector | None = None,
) -> OrderedPartition:
    """Part the rows, at zero where `equal`; a `hint` is a direction to be tried first.

    Raises
    ------
    OutOfTime
        Also where what is left is too large to be settled exactly.
    """
    check = partial(require_time, watch.is_over)
    known = columns.null_vectors if columns.is_well_conditioned else None
    reduced = VerifiedReduction(rows, counts, known=known, hint=hint, check=check).run()
    rest, left = None, np.flatnonzero(reduced.overlapped)
    if not reduced.is_proved:
        if reduced.columns.size > MOST_EXACT:
            watch.give_up(
                f"{left.size:,} rows and {reduced.columns.size:,} columns are left "
                "that no factorisation in double precision settles, and that are too "
                "many for exact arithmetic."
            )
            require_time(watch.is_over)
        reduced, rest = _settled_exactly(rows, equal, reduced, left, rng, watch)
    whole = combined(rows, reduced)
    # Columns that add nothing are exchanged for the others.
    for column, vector in columns.null_vectors.items():
        whole = without(whole, vector, column)
    w = written_out(whole, rows.shape[1])
    return OrderedPartition(reduced, w, rest, left)


# What overflowed is no separator.
@np.errstate(all="ignore")
def separated_at_once(
    demands: Demands, should_stop: ShouldStop
) -> OrderedPartition | None:
    """Return the partition if the engines separate all rows without further ado."""
    rows = demands.rows
    m = rows.shape[0]
    if demands.equal.any():
        return None
    every = np.arange(m)
    block = rows.take(every)
    found = None
    if m <= min(rows.shape[1], MOST_FACTORED):
        found = _through_all(block, partial(require_time, should_stop))
    if found is None:
        candidate = solve(
            block,
            constant=rows.fit_intercept,
            max_rounds=MOST_ROUNDS,
            should_stop=lambda _: should_stop(),
        )
        if candidate.kind is not Kind.SEPARATOR:
            return None
        found = candidate.w
    if not np.isfinite(found).all():
        return None
    for w in _coarser(found):
        if all_positive(rows, w, every):
            break
    else:
        return None
    stage = np.zeros(m, dtype=np.intp)
    reduced = Reduced([SparseVector.from_values(w)], stage, is_proved=True)
    return OrderedPartition(reduced, tuple(w))


def _through_all(block: Any, check: Check) -> Floats | None:
    """Return the shortest w with ``a_i . w`` the same for all rows, of length one.

    Independent rows have one; None where they are not, as far as doubles show.
    """
    lengths = row_lengths(block)
    if not (lengths > 0).all() or not np.isfinite(lengths).all():
        return None
    gram = gram_of(block, check) / lengths / lengths[:, np.newaxis]
    check()
    lower = cholesky(gram)
    if lower is None:
        return None
    p = solve_factored(lower, np.ones(lengths.size)) / lengths
    return np.asarray(block.T @ p)


def _coarser(w: Floats) -> Iterator[list[int]]:
    """Yield a vector in whole numbers, at first rounded to few bits."""
    largest = float(np.abs(w).max(initial=0.0))
    if largest > 0:
        unit = int(np.frexp(largest)[1])
        for bits in (2, 4, 8, 16, 24):
            yield [int(value) for value in np.rint(np.ldexp(w, bits - unit))]
    yield integers_from(w)


def _settled_exactly(
    whole: Rows,
    equal: Mask,
    reduced: Reduced,
    left: Index,
    rng: np.random.Generator,
    watch: Watch,
) -> tuple[Reduced, Partition]:
    rows = rows_from(whole.take(left)[:, reduced.columns])
    order = np.arange(reduced.columns.size)
    kept = columns_of(rows, rng, order, watch.is_over).kept
    rest = Reduction(rows, equal[left], kept, rng, watch.is_over).run()
    directions, stage = list(reduced.directions), reduced.stage.copy()
    if any(rest.w):
        entries = SparseVector.from_values(rest.w)
        directions.append(entries.placed(reduced.columns))
        stage[left[rest.overlapped]] = len(directions)
    return replace(reduced, directions=directions, stage=stage), rest


def null_vectors(
    rows: Rows, partition: OrderedPartition, columns: Columns, check: Check
) -> list[SparseVector]:
    """Return a basis of all w on kept columns that vanish on the overlapped rows."""
    reduced, rest = partition.reduced, partition.rest
    d = rows.shape[1]
    is_exchangeable = len(columns.null_vectors) == d - columns.kept.size
    if rest is None and is_exchangeable:
        filled = reduced.columns
        space = [] if reduced.space is None else reduced.space.basis
        found = [vector.placed(filled) for vector in space]
        among = np.arange(d)
    else:
        spanning = np.flatnonzero(partition.overlapped)
        if rest is not None:
            spanning = partition.rest_rows[rest.quotient.spanning]
        among = columns.kept
        block = as_dense(rows.take(spanning)[:, among])
        some = np.flatnonzero(block.any(axis=0))
        null = linear.null_basis(IntegerRows.from_floats(block[:, some]).values)
        filled = among[some]
        found = [
            SparseVector.from_values(column.tolist()).placed(filled)
            for column in null.T
        ]
    found += [unit_vector(j) for j in np.setdiff1d(among, filled).tolist()]
    if among.size < d or not columns.null_vectors:
        return found
    # Columns left out are exchanged for those kept; what then is zero, or depends on
    # others, vanishes on all rows.
    is_left_out = np.ones(d, dtype=bool)
    is_left_out[columns.kept] = False
    for k, vector in enumerate(found):
        if k % 1000 == 0:
            check()
        for column in vector.columns[is_left_out[vector.columns]].tolist():
            found[k] = without(found[k], columns.null_vectors[column], column)
    return list(echelon(found, np.arange(d)).values())


def league_order(study: Study) -> SparseVector | None:
    """Return strengths that rise with the group, if groups come in such an order.

    Whoever beat someone of another group is in a higher one. A guess: it is for others
    to check, as where there are covariates.
    """
    assert study.sides is not None
    n = len(study.players)
    wins = who_beat_whom(study)
    rank = components(wins, n, by_wins=True)
    winners, losers = wins.T
    across = rank[winners] != rank[losers]
    if not across.any():
        return None
    if (rank[winners] <= rank[losers])[across].all():  # numbered from the top
        rank = -rank
    references = reference_players(study.sides, n)
    zero = np.zeros(n, dtype=np.intp)
    league = components(study.sides, n)
    zero[league[references]] = rank[references]
    strengths = np.delete(rank - zero[league], references)
    first = 1 if study.family == "davidson" else 0
    values = enumerate(strengths.tolist(), first)
    return SparseVector.from_items({j: value for j, value in values if value})
