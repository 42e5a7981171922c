"""The working set: the few rows that matter, held in memory, grown by scans.

Start from a random sample, solve it, sweep all rows once for those with the smallest
margins, add them, go on. Near-violators are added too: adding violators only took
twice the passes on planted data.

Should many passes go by, Clarkson's reweighting takes over ("Las Vegas algorithms for
linear and integer programming when the dimension is small", 1995): sample 9 d^2 rows by
weight, double the weight of every violator when together they hold at most ``2 / (9 d -
1)`` of the mass. The expected number of scans is then O(d log n), whatever the margin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import Rows, Scan, is_sparse

# The sample to start from, and the rows a scan adds, per column.
SAMPLE_A_COLUMN = 20
ADDED_A_COLUMN = 10
LEAST_SAMPLE = 1000
LEAST_ADDED = 100
# Rows beyond this many per column are let go, those furthest from the hyperplane.
KEPT_A_COLUMN = 80
# Entries a working set aims to stay under: 160 MB of float64.
MOST_ENTRIES = 20_000_000
# Passes after which Clarkson's reweighting begins; four to seven is the rule.
CLARKSON_AFTER = 15


class WorkingSet:
    """Rows gathered from a backend.

    Parameters
    ----------
    source : Rows
        All the rows.
    rng : numpy.random.Generator
        Draws the sample.

    Attributes
    ----------
    index : ndarray of shape (m,)
        The rows held, by their number in the source.
    rows : ndarray or csr_matrix of shape (m, d)
        Those rows, signed.
    """

    def __init__(self, source: Rows, rng: np.random.Generator) -> None:
        self.source = source
        self._rng = rng
        n, d = source.shape
        self.size = min(
            max(SAMPLE_A_COLUMN * d, LEAST_SAMPLE),
            max(MOST_ENTRIES // source.entries_a_row, 2 * d),
        )
        self.n_added = max(ADDED_A_COLUMN * d, LEAST_ADDED)
        self._doublings = np.zeros(0, dtype=np.uint8)
        self.index = np.empty(0, dtype=np.intp)
        self.rows: Any = None
        # Data little larger than the sample are simply all taken.
        everything = n <= 1.5 * self.size
        self.add(np.arange(n) if everything else self._sample())

    @property
    def is_complete(self) -> bool:
        """Whether every row there is has been taken."""
        return self.index.size == self.source.shape[0]

    def _sample(self) -> NDArray[np.intp]:
        """Draw rows at random, a tenth of them from each class if it has so many."""
        n = self.source.shape[0]
        drawn = [self._rng.choice(n, self.size, replace=False)]
        for sign in (-1, 1):
            members = np.flatnonzero(self.source.signs == sign)
            share = min(members.size, self.size // 10)
            drawn.append(self._rng.choice(members, share, replace=False))
        return np.unique(np.concatenate(drawn))

    def add(self, index: NDArray[np.intp]) -> int:
        """Take rows not held yet, none named twice; return how many there were."""
        new = np.setdiff1d(index, self.index) if self.index.size else index
        if new.size:
            taken = self.source.take(new)
            self.rows = taken if self.rows is None else _stack(self.rows, taken)
            self.index = np.concatenate([self.index, new])
        return int(new.size)

    def positions(self, index: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where the named rows are held; rows not held are left out."""
        order = np.argsort(self.index)
        at = np.searchsorted(self.index, index, sorter=order)
        at = order[np.minimum(at, self.index.size - 1)]
        return np.asarray(at[self.index[at] == index])

    def grow(self, scan: Scan, support: NDArray[np.intp], n_passes: int) -> int:
        """Take the rows a scan found, and let go of some when there are too many.

        Parameters
        ----------
        scan : Scan
            The last scan.
        support : ndarray of int
            Rows (by source number) that carry weight in the last solution: kept.
        n_passes : int
            Passes so far; decides whether to reweight.

        Returns
        -------
        int
            How many violated or unsettled rows were not held before: 0 means that
            floating point cannot make progress on this working set.
        """
        n_bad = scan.n_violations + scan.n_unsettled
        n_new = int(np.setdiff1d(scan.index[:n_bad], self.index).size)
        most = max(KEPT_A_COLUMN * self.source.shape[1], 4 * self.size)
        if self.index.size + scan.index.size > most:
            self._keep(np.union1d(support, scan.index))
        self.add(scan.index)
        if n_passes > CLARKSON_AFTER:
            self._reweight(scan.index[:n_bad], n_passes)
        return n_new

    def _keep(self, index: NDArray[np.intp]) -> None:
        """Let go of every row but those named."""
        kept = np.sort(self.positions(index))
        self.index, self.rows = self.index[kept], self.rows[kept]

    def _reweight(self, violators: NDArray[np.intp], n_passes: int) -> None:
        """Double the violators' weights if they are light; draw a weighted sample."""
        n, d = self.source.shape
        if self._doublings.size == 0:
            self._doublings = np.zeros(n, dtype=np.uint8)
        mass = np.ldexp(
            1.0, self._doublings.astype(np.intc) - int(self._doublings.max())
        )
        if mass[violators].sum() * (9 * d - 1) <= 2 * mass.sum():
            self._doublings[violators] = np.minimum(self._doublings[violators], 254) + 1
        size = min(9 * d**2, max(MOST_ENTRIES // max(1, d), 2 * d), n)
        # The largest of u^(1/mass) are a sample without replacement (Efraimidis &
        # Spirakis, 2006); in logarithms, so that no small weight underflows.
        keys = np.log(self._rng.random(n)) / mass
        self.add(np.argpartition(-keys, size - 1)[:size])


def _stack(rows: Any, more: Any) -> Any:
    """Put rows under rows, dense or sparse."""
    if is_sparse(rows):
        from scipy import sparse

        return sparse.vstack([rows, more], format="csr")
    return np.concatenate([rows, more])
