"""Rows of many columns that are read in batches, parted by a few of them.

Some rows are parted in memory (`linsep.diagnosis.exact.ordered_partition`). Those of
them that overlap go on to do so when others join, so every direction that all rows
allow is one of those that vanish on them, the span of N. Where the direction w that was
found leaves no row on the wrong side, and N vanishes on every row that w leaves at
zero, exactly these overlap, and w separates the others. Rows that show otherwise join
those in memory, until there are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from linsep.arrays import Index, Mask
from linsep.diagnosis.exact.block_verdicts import block_verdicts
from linsep.diagnosis.exact.columns import Columns
from linsep.diagnosis.exact.large_columns import columns_of_any
from linsep.diagnosis.exact.ordered_partition import null_vectors, partition_in_order
from linsep.diagnosis.status import Estimate
from linsep.diagnosis.watch import OutOfTime, Watch, require_time
from linsep.rows import is_sparse, rows_from, split, stacked
from linsep.rows.blocks import MOST_KEPT, BlockRows
from linsep.rows.equal_rows import merge_equal_rows
from linsep.rows.matrix_rows import MatrixRows
from linsep.verified.sums import MOST_ENTRIES, counts_with, sample_size
from linsep.verified.vectors import (
    SparseVector,
    columns_held,
    columns_of,
    written_out,
)

# Rows that join at a time, for each column and at least; and how often.
JOINING_A_COLUMN, LEAST_JOINING = 10, 1_000
MOST_ROUNDS = 60


class Sampled(NamedTuple):
    """What is proved of all rows; see `linsep.diagnosis.exact.block_partition`."""

    overlapped: Mask
    w: tuple[int, ...]
    estimates: dict[int, Estimate]
    columns: Columns
    vanishing: list[SparseVector]


def parted_by_some(
    rows: BlockRows,
    order: Index,
    rng: np.random.Generator,
    watch: Watch,
    are_counts: bool,
) -> Sampled:
    """Part the rows, and judge the coefficients.

    Parameters
    ----------
    rows : BlockRows of shape (n, d)
    order : ndarray of shape (d,), int
        The columns in the order in which they are to be kept.
    rng : numpy.random.Generator
        Draws the rows to begin with, and those that join.
    watch : Watch
    are_counts : bool
        Whether directions must be zero on rows of positive sign.

    Raises
    ------
    OutOfTime
        Also where a few rows do not settle it.
    """
    n, d = rows.shape
    index = np.sort(rng.choice(n, sample_size(rows, n, d), replace=False))
    n_joining = max(JOINING_A_COLUMN * d, LEAST_JOINING)
    for _ in range(MOST_ROUNDS):
        found = _parted_in_memory(rows, index, order, rng, watch, are_counts)
        if found is None:
            break
        w, columns, basis, null = found
        looking = _Looking.of(w, basis, null, are_counts)
        seen = rows.fold(looking, _Seen.merged)
        failing = np.concatenate(seen.failing)
        if failing.size == 0:
            overlapped = np.concatenate(seen.overlapped)
            watch.begin("coefficients")
            estimates = _estimates(seen.separated, basis, columns, watch)
            entries = written_out(w, d)
            return Sampled(overlapped, entries, estimates, columns, basis + null)
        joining = rng.choice(failing, min(failing.size, n_joining), replace=False)
        index = np.union1d(index, joining)
        if index.size * rows.entries_a_row > 2 * MOST_ENTRIES:
            break
    watch.give_up(
        f"{d:,} columns are too many to part rows that are read in batches where a "
        "part of the rows in memory does not settle it; give fewer rows, or drop "
        "columns."
    )
    raise OutOfTime


def _parted_in_memory(
    rows: BlockRows,
    index: Index,
    order: Index,
    rng: np.random.Generator,
    watch: Watch,
    are_counts: bool,
) -> tuple[SparseVector, Columns, list[SparseVector], list[SparseVector]] | None:
    """Part some rows: a direction, their columns, and what vanishes.

    On the rows that overlap, and on all of them. None if that is not known.
    """
    memory = rows_from(rows.take(index))
    equal = (rows.signs[index] > 0) & are_counts
    columns = columns_of_any(memory, order, rng, watch.is_over)
    null = columns.vanishing
    if null is None:
        return None
    watch.begin("rows")
    counts = counts_with(equal)
    partition = partition_in_order(memory, equal, counts, columns, rng, watch)
    check = partial(require_time, watch.is_over)
    basis = null_vectors(memory, partition, columns, check)
    return SparseVector.from_values(partition.w), columns, basis, null


def _estimates(
    separated: Any, basis: list[SparseVector], columns: Columns, watch: Watch
) -> dict[int, Estimate]:
    """Judge the columns kept by the separated rows; None are too many of these."""
    found = dict.fromkeys(columns.kept.tolist(), Estimate.FINITE)
    used = columns_held(basis)
    if used.size == 0:
        return found
    if separated is None:
        return found | dict.fromkeys(used.tolist(), Estimate.UNDECIDED)
    block = rows_from(merge_equal_rows(separated).X)
    own = [vector.within(used) for vector in basis]
    every, places = np.arange(block.shape[0]), np.arange(used.size)
    judged = block_verdicts(block, every, own, places, watch.is_over)
    return found | {int(used[j]): verdict for j, verdict in judged.items()}


@dataclass(frozen=True)
class _Looking:
    """Looks at whether what is proved of some rows goes for those of a block.

    Of every row only the columns `used` count, which some vector holds, and in which
    most rows are like others; `own` are those of N among them.
    """

    used: Index
    own: Index
    w: SparseVector
    basis: list[SparseVector]
    null: list[SparseVector]
    are_counts: bool

    @classmethod
    def of(
        cls,
        w: SparseVector,
        basis: list[SparseVector],
        null: list[SparseVector],
        are_counts: bool,
    ) -> _Looking:
        """Say what is to hold of all rows: of w, of the basis N, and of any row."""
        used = columns_held([w, *basis, *null])
        return cls(
            used,
            np.searchsorted(used, columns_held(basis)),
            w.within(used),
            [vector.within(used) for vector in basis],
            [vector.within(used) for vector in null],
            are_counts,
        )

    def __call__(self, start: int, block: MatrixRows) -> _Seen:
        """Look at a block whose first row has this number."""
        parts = []
        for first, stop in [*split(*block.shape)] or [(0, 0)]:
            some = columns_of(block.take(np.arange(first, stop)), self.used)
            is_equal = (block.signs[first:stop] > 0) & self.are_counts
            parts.append(self._look(start + first, some, is_equal))
        return reduce(_Seen.merged, parts)

    def _look(self, start: int, some: Any, is_equal: Mask) -> _Seen:
        groups = merge_equal_rows(some)
        distinct, group = groups.X, groups.group
        sign = self.w.signs_on(distinct)
        is_zero = sign == 0
        is_outside = np.zeros(sign.size, dtype=bool)
        for vector in self.null:
            is_outside |= vector.signs_on(distinct) != 0
        zeros = np.flatnonzero(is_zero & ~is_outside)
        left = distinct[zeros]
        for vector in self.basis if zeros.size else ():
            is_outside[zeros] |= vector.signs_on(left) != 0
        fails = (is_outside | (sign < 0))[group] | (is_equal & ~is_zero[group])
        separated = columns_of(distinct[np.flatnonzero(sign > 0)], self.own)
        failing = start + np.flatnonzero(fails)
        return _Seen([failing], [is_zero[group]], separated)


class _Seen(NamedTuple):
    """What was seen of some rows.

    The numbers of those that fail, which of them all are at zero, and the distinct
    separated rows in the columns of the basis; None if these are too many.
    """

    failing: list[Index]
    overlapped: list[Mask]
    separated: Any

    def merged(self, other: _Seen) -> _Seen:
        """Merge with what was seen of later rows."""
        separated = None
        if self.separated is not None and other.separated is not None:
            both = self.separated, other.separated
            if sum(_n_entries(part) for part in both) <= MOST_KEPT:
                separated = stacked(both)
        return _Seen(
            self.failing + other.failing,
            self.overlapped + other.overlapped,
            separated,
        )


def _n_entries(matrix: Any) -> int:
    return int(matrix.nnz if is_sparse(matrix) else matrix.size)
