"""The working set: the few rows that matter, held in memory, grown by sweeps.

Start from a random sample, decide it, sweep all rows once for those on which the answer
fails, add the worst of them, go on: `WorkingSet.decided` is that loop. A search for a
hyperplane adds near-violators too (`WorkingSet.grow`): adding violators only took twice
the passes on planted data. Of the sample it keeps the rows near the first hyperplane
(`WorkingSet.let_go`).

Should many passes go by, Clarkson's reweighting takes over ("Las Vegas algorithms for
linear and integer programming when the dimension is small", 1995): sample 9 d^2 rows by
weight, double the weight of every violator when together they hold at most ``2 / (9 d -
1)`` of the mass. The expected number of scans is then O(d log n), whatever the margin.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from linsep.arrays import Floats, Index, Mask
from linsep.rows import Rows, Scan, SparseRows, split, stacked

Answer = TypeVar("Answer")

# The sample to start from, and the rows a sweep adds, per dimension.
SAMPLE_A_DIMENSION = 20
ADDED_A_DIMENSION = 10
LEAST_SAMPLE = 1000
LEAST_ADDED = 100
# Rows beyond this many per column are let go, those furthest from the hyperplane.
KEPT_A_COLUMN = 80
# Of a sample so many are kept once it has been solved: half of the steps of the next
# solve were for rows that are not near any better hyperplane. Later what was let go
# would now and then be missed, and passes with it.
NEAR_A_COLUMN = 3
# Entries a working set aims to stay under: 160 MB of float64.
MOST_ENTRIES = 20_000_000
# Passes after which Clarkson's reweighting begins; four to seven is the rule.
CLARKSON_AFTER = 15


class WorkingSet:
    """Rows of a backend by their numbers; their values are gathered when asked for.

    Parameters
    ----------
    source : Rows
        All the rows.
    rng : numpy.random.Generator or int
        Draws the sample; a seed becomes a generator when there is one to be drawn.
    among : ndarray of int or None, default=None
        The rows there are to choose from; None is all of them.
    dimension : int or None, default=None
        Says how many rows to take: that of the answers sought, >= 0. None is the number
        of columns.
    start : ndarray of int or None, default=None
        Rows to begin with in place of a sample.

    Attributes
    ----------
    index : ndarray of shape (m,)
        The rows held, by their number in the source, in the order they came.
    size : int
        Rows of a sample.
    n_added : int
        Rows that a sweep should add.
    """

    def __init__(
        self,
        source: Rows,
        rng: np.random.Generator | int,
        *,
        among: Index | None = None,
        dimension: int | None = None,
        start: Index | None = None,
    ) -> None:
        self.source = source
        self._seed = rng
        self._among = among
        d = source.shape[1]
        width = d if dimension is None else dimension
        self.size = min(
            max(SAMPLE_A_DIMENSION * width, LEAST_SAMPLE),
            max(MOST_ENTRIES // source.entries_a_row, 2 * d),
        )
        self.n_added = max(ADDED_A_DIMENSION * width, LEAST_ADDED)
        self._doublings = np.zeros(0, dtype=np.uint8)
        self._gathered: Any = None
        self.index = self._sample() if start is None else start

    @cached_property
    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self._seed)  # a generator stays what it is

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows held, and of columns."""
        return self.index.size, self.source.shape[1]

    @property
    def rows(self) -> Any:
        """The rows held, signed: ndarray or csr_matrix of shape (m, d).

        A copy of all rows of a large sparse matrix is made anew each time.
        """
        if self.is_complete and isinstance(self.source, SparseRows):
            return self.source.take(self.index)
        n_gathered = 0 if self._gathered is None else self._gathered.shape[0]
        if self._gathered is None or n_gathered < self.index.size:
            taken = self.source.take(self.index[n_gathered:])
            if n_gathered:
                taken = stacked([self._gathered, taken])
            self._gathered = taken
        return self._gathered

    @property
    def is_complete(self) -> bool:
        """Whether every row there is has been taken."""
        return self.index.size == self.source.shape[0]

    def _sample(self) -> Index:
        """Draw rows at random, a tenth of them from each sign if it has so many."""
        among, signs = self._among, self.source.signs
        n = self.source.shape[0] if among is None else among.size
        # Data little larger than the sample are simply all taken.
        if n <= 1.5 * self.size:
            return np.arange(n) if among is None else among
        if among is not None:
            signs = signs[among]
        drawn = [self._rng.choice(n, self.size, replace=False)]
        for sign in (-1, 1):
            members = np.flatnonzero(signs == sign)
            share = min(members.size, self.size // 10)
            drawn.append(self._rng.choice(members, share, replace=False))
        chosen = np.unique(np.concatenate(drawn))
        return chosen if among is None else among[chosen]

    def add(self, index: Index) -> int:
        """Take rows not held yet, none named twice; return how many there were."""
        new = self._not_held(index)
        self.index = np.concatenate([self.index, np.sort(new)])
        return int(new.size)

    def keep(self, index: Index) -> None:
        """Let go of every row but those named."""
        kept = np.sort(self.positions(index))
        if self._gathered is not None:
            self._gathered = self.rows[kept]
        self.index = self.index[kept]

    def positions(self, index: Index) -> Index:
        """Return where the named rows are held; rows not held are left out."""
        at, is_held = self._places(index)
        return at[is_held]

    def _not_held(self, index: Index) -> Index:
        """Return the named rows that are not held."""
        return index[~self._places(index)[1]]

    def _places(self, index: Index) -> tuple[Index, Mask]:
        """Return where the named rows are held, and whether they are."""
        if self.index.size == 0 or index.size == 0:
            return np.zeros(index.size, np.intp), np.zeros(index.size, np.bool_)
        order = np.argsort(self.index)
        at = np.searchsorted(self.index, index, sorter=order)
        at = order[np.minimum(at, self.index.size - 1)]
        return at, self.index[at] == index

    def decided(
        self, decide: Callable[[Index], Answer], missed: Callable[[Answer], Index]
    ) -> Answer:
        """Decide the rows held, take those the answer fails on, until none are left.

        Parameters
        ----------
        decide : callable
            Given the numbers of the rows held, returns an answer for them, or raises.
        missed : callable
            Given an answer, returns rows to take because it fails on some of all the
            rows: none where it does not. At least one of them must be new.
        """
        while True:
            answer = decide(self.index)
            more = missed(answer)
            if more.size == 0:
                return answer
            self.add(more)

    def wanted(self, n_passes: int) -> int:
        """Return how many of the smallest margins the next sweep should name.

        Reweighting needs every violator by name, the usual growth only the worst.
        """
        return self.source.shape[0] if n_passes >= CLARKSON_AFTER else self.n_added

    def grow(self, scan: Scan, support: Index, n_passes: int) -> int:
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
        # A sweep that names every violator names more than there is room for.
        worst = scan.index[: self.n_added]
        n_new = self._not_held(worst[:n_bad]).size
        most = max(KEPT_A_COLUMN * self.source.shape[1], 4 * self.size)
        if self.index.size + worst.size > most:
            self.keep(np.union1d(support, worst))
        self.add(worst)
        if n_passes > CLARKSON_AFTER:
            self._reweight(scan.index[:n_bad], n_passes)
        return n_new

    def let_go(self, w: Floats, support: Index) -> None:
        """Let go of rows far from a hyperplane, but for `support`; not if all are held.

        What one of them may still be needed for, the next sweep finds. Near is what has
        a small margin for the size of its terms, as in a sweep.
        """
        most = max(NEAR_A_COLUMN * self.source.shape[1], LEAST_ADDED)
        if self.is_complete or self.index.size <= most:
            return
        rows, score = self.rows, np.empty(self.index.size)
        with np.errstate(all="ignore"):
            for start, stop in split(*rows.shape):
                part = rows[start:stop]
                score[start:stop] = (part @ w) / (abs(part) @ np.abs(w))
        near = np.argpartition(score, most)[:most]
        self.keep(np.union1d(support, self.index[near]))

    def _reweight(self, violators: Index, n_passes: int) -> None:
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
