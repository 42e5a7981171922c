"""The fewest columns that still separate: a search by leaving columns out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.exact.demands import Demands
from linsep.diagnosis.exact.facial_reduction import Partition, Reduction
from linsep.diagnosis.report.whole_numbers import simplified

# Entries all tries together may look at; beyond it the search ends where it is.
MOST_ENTRIES = 300_000_000
# With this many columns at most, pairs are tried one by one.
FEW_COLUMNS = 12


class Simplest:
    """Look for directions that use few columns.

    Parameters
    ----------
    demands : Demands
    partition : Partition
        With all columns.
    free : ndarray of int
        Columns that cost nothing: intercepts.
    """

    def __init__(
        self, demands: Demands, partition: Partition, free: NDArray[np.intp]
    ) -> None:
        self.demands = demands
        self.partition = partition
        self.free = np.intersect1d(free, partition.quotient.kept)
        m, d = demands.rows.shape
        self.tries_left = max(4, MOST_ENTRIES // max(1, m * d))

    def separating_all(self) -> Partition:
        """Return a partition that separates the same rows by few columns.

        No column of it can be left out; that no other choice of fewer columns would
        do is not proved.
        """
        best = self.partition
        if best.quotient.dimension > 1:
            used = self._used(best)
            weight = np.abs([float(best.w[j]) for j in used])
            for column in used[np.argsort(weight, kind="stable")]:
                if column not in self._used(best):
                    continue
                smaller = self._with(np.setdiff1d(self._used(best), [column]))
                if smaller is not None and self._same(smaller):
                    best = smaller
        return best

    def separating_some(self) -> Partition | None:
        """Return a partition that separates some rows by one or two columns."""
        kept = np.setdiff1d(self.partition.quotient.kept, self.free)
        if kept.size > FEW_COLUMNS:
            return None
        for size in (1, 2):
            for chosen in combinations(kept.tolist(), size):
                found = self._with(np.array(chosen, dtype=np.intp))
                if found is not None and any(found.w):
                    return found
        return None

    def _used(self, partition: Partition) -> NDArray[np.intp]:
        used = np.flatnonzero([value != 0 for value in partition.w])
        return np.setdiff1d(used, self.free)

    def _with(self, columns: NDArray[np.intp]) -> Partition | None:
        """Part the rows by these columns and the free ones; None: out of tries."""
        if self.tries_left <= 0:
            return None
        self.tries_left -= 1
        kept = np.union1d(columns, self.free).astype(np.intp)
        search = Reduction(
            self.demands.rows,
            self.demands.equal,
            kept,
            np.random.default_rng(0),
            spans=False,
        )
        return simplified(self.demands.rows, search.run())

    def _same(self, partition: Partition) -> bool:
        return bool((partition.overlapped == self.partition.overlapped).all())
