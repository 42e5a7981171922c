"""The fewest columns that still separate: a search by leaving columns out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from linsep.arrays import Index, Mask, no_index
from linsep.diagnosis.exact.demands import Demands
from linsep.diagnosis.exact.facial_reduction import Partition, Reduction, simplified
from linsep.diagnosis.exact.ordered_partition import AnyPartition
from linsep.diagnosis.exact.quotient import Quotient
from linsep.diagnosis.watch import OutOfTime, Watch
from linsep.proof.answers import Conflict
from linsep.proof.doubles import doubles_from
from linsep.proof.signs import vanishing
from linsep.rows import split
from linsep.rows.working_set import WorkingSet

# With this many columns at most, pairs are tried one by one.
FEW_COLUMNS = 12


@dataclass(frozen=True, eq=False)
class WholeDirection:
    """The direction found, of which no column is left out.

    Attributes
    ----------
    demands : Demands
    partition : Partition or OrderedPartition
        With all columns.
    """

    demands: Demands
    partition: AnyPartition

    @cached_property
    def for_all(self) -> tuple[AnyPartition, bool]:
        """The partition as it is; no column was tried to be left out."""
        return self.partition, False

    @cached_property
    def for_some(self) -> AnyPartition | None:
        """None: rows that few columns separate are not looked for."""
        return None

    def is_for_all(self, partition: AnyPartition) -> bool:
        """Tell whether a partition separates all rows that can be."""
        return bool((partition.overlapped == self.partition.overlapped).all())

    def columns_used(self, partition: AnyPartition) -> Index:
        """Return the columns a direction uses, constants not counted."""
        used = np.flatnonzero([value != 0 for value in partition.w])
        return np.setdiff1d(used, self.demands.constants)


@dataclass(frozen=True, eq=False)
class FewestColumns(WholeDirection):
    """Directions that use few columns, where there are not very many.

    Attributes
    ----------
    watch : Watch
        Ends the search; what it found by then stands.
    """

    partition: Partition
    watch: Watch

    @cached_property
    def for_all(self) -> tuple[Partition, bool]:
        """A partition that separates the same rows by few columns; all were tried.

        If so, no column of it can be left out. That no other choice of fewer columns
        would do is not proved.
        """
        best, were_tried = self.partition, True
        used = self.columns_used(best)
        weight = np.abs(doubles_from(best.w)[used])
        near = no_index()  # the rows of the last conflict
        try:
            for column in used[np.argsort(weight, kind="stable")]:
                left = self.columns_used(best)
                if best.quotient.dimension > 1 and column in left:
                    found = self._among(np.setdiff1d(left, [column]), near)
                    if isinstance(found, Conflict):
                        # It holds for fewer columns too, so this one stays.
                        near = np.array(found.rows)
                    else:
                        best = found
        except OutOfTime:
            were_tried = False
        if best is not self.partition:
            best = simplified(self.demands.rows, best)
        return best, were_tried

    @cached_property
    def for_some(self) -> Partition | None:
        """A partition that separates some rows by one or two columns, if found."""
        kept = np.setdiff1d(self.partition.quotient.kept, self._free)
        if kept.size > FEW_COLUMNS:
            return None
        try:
            for size in (1, 2):
                for chosen in combinations(kept.tolist(), size):
                    found = Reduction(
                        self.demands.rows,
                        self.demands.equal,
                        self._with_free(np.array(chosen)),
                        np.random.default_rng(0),
                        self.watch.is_over,
                        spans=False,
                    ).run()
                    if any(found.w):
                        return simplified(self.demands.rows, found)
        except OutOfTime:
            pass
        return None

    @cached_property
    def _free(self) -> Index:
        return np.intersect1d(self.demands.constants, self.partition.quotient.kept)

    def _with_free(self, columns: Index) -> Index:
        return np.union1d(columns, self._free).astype(np.intp)

    @cached_property
    def _separated(self) -> Index:
        return np.flatnonzero(~self.partition.overlapped)

    def _among(self, columns: Index, near: Index) -> Partition | Conflict:
        """Separate the same rows by these columns, or prove that they cannot.

        The search starts from the rows `near`.
        """
        rows, separated = self.demands.rows, self._separated
        space = self._space(self._with_free(columns))
        zero = separated[self._vanishing(space)]
        if zero.size:
            return Conflict((int(zero[0]),), (1,))
        working = WorkingSet(rows, 0, among=separated, dimension=space.dimension)
        answer = space.decide_among(separated, working, self.watch.is_over, start=near)
        if isinstance(answer, Conflict):
            return answer
        index = np.sort(working.index)
        return replace(self.partition, w=answer, quotient=space, working=index)

    def _space(self, columns: Index) -> Quotient:
        """Return all ``w`` on these columns that vanish on the overlapped rows."""
        rows, spanning = self.demands.rows, self.partition.quotient.spanning
        if spanning.size:
            return Quotient.on_columns(rows, columns).restricted(spanning)
        return Quotient.whole(rows, columns)  # whose rows are doubles, not integers

    def _vanishing(self, space: Quotient) -> Mask:
        """Tell which of the separated rows are zero in a space."""
        rows, separated = self.demands.rows, self._separated
        if space.basis is not None:
            return vanishing(rows, space.basis, separated)
        with np.errstate(over="ignore"):  # what overflows is not zero
            parts = [
                abs(space.engine_rows(separated[start:stop])).sum(axis=1)
                for start, stop in split(separated.size, 8 * rows.shape[1])
            ]
        return np.concatenate([np.ravel(part) == 0 for part in parts])
