"""The fewest columns that still separate: a search by leaving columns out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.exact.demands import Demands
from linsep.diagnosis.exact.facial_reduction import Partition, Reduction
from linsep.diagnosis.exact.whole_numbers import simplified
from linsep.diagnosis.watch import OutOfTime, Watch

# With this many columns at most, pairs are tried one by one.
FEW_COLUMNS = 12


@dataclass(frozen=True, eq=False)
class FewestColumns:
    """Directions that use few columns.

    Attributes
    ----------
    demands : Demands
    partition : Partition
        With all columns.
    watch : Watch
        Ends the search; what it found by then stands.
    """

    demands: Demands
    partition: Partition
    watch: Watch

    @cached_property
    def for_all(self) -> Partition:
        """A partition that separates the same rows by few columns.

        No column of it can be left out, unless time was short; that no other choice of
        fewer columns would do is not proved.
        """
        best = self.partition
        if best.quotient.dimension > 1:
            used = self.columns_used(best)
            weight = np.abs([float(best.w[j]) for j in used])
            for column in used[np.argsort(weight, kind="stable")]:
                left = self.columns_used(best)
                if column not in left:
                    continue
                try:
                    smaller = self._parted(np.setdiff1d(left, [column]))
                except OutOfTime:
                    break
                if self.is_for_all(smaller):
                    best = smaller
        return best

    @cached_property
    def for_some(self) -> Partition | None:
        """A partition that separates some rows by one or two columns, if found."""
        kept = np.setdiff1d(self.partition.quotient.kept, self._free)
        if kept.size > FEW_COLUMNS:
            return None
        try:
            for size in (1, 2):
                for chosen in combinations(kept.tolist(), size):
                    found = self._parted(np.array(chosen, dtype=np.intp))
                    if any(found.w):
                        return found
        except OutOfTime:
            pass
        return None

    @property
    def was_cut_short(self) -> bool:
        """Whether the time ran out."""
        return self.watch.reason is not None

    def is_for_all(self, partition: Partition) -> bool:
        """Tell whether a partition separates all rows that can be."""
        return bool((partition.overlapped == self.partition.overlapped).all())

    def columns_used(self, partition: Partition) -> NDArray[np.intp]:
        """Return the columns a direction uses, constants not counted."""
        used = np.flatnonzero([value != 0 for value in partition.w])
        return np.setdiff1d(used, self._free)

    @cached_property
    def _free(self) -> NDArray[np.intp]:
        return np.intersect1d(self.demands.constants, self.partition.quotient.kept)

    def _parted(self, columns: NDArray[np.intp]) -> Partition:
        """Part the rows by these columns and the constants."""
        search = Reduction(
            self.demands.rows,
            self.demands.equal,
            np.union1d(columns, self._free).astype(np.intp),
            np.random.default_rng(0),
            self.watch.is_over,
            spans=False,
        )
        return simplified(self.demands.rows, search.run())
