r"""Facial reduction: the exact partition of rows into separated and overlapped.

Every ``w`` with ``a_i . w >= 0`` for all rows (and ``= 0`` for equality rows) is a
*recession direction*. The *overlapped* rows O are those that every such ``w`` leaves at
zero; on all other rows S one ``w`` is positive at once (Albert & Anderson, "On the
existence of maximum likelihood estimates in logistic regression models", Biometrika 71,
1984, doi:10.1093/biomet/71.1.1). They are found by alternating two exact steps:

1. A conflict, ``p > 0`` on a few rows with ``sum p_i a_i`` in the span L of the rows
   known to overlap, shows that those rows overlap too; they join L. So does every row
   that lies in L. The search goes on in the space ``w = N u`` where L vanishes.
2. A ``w`` positive on all rows outside L ends it: those are S, the rows in L are O.

L grows with every conflict, so there are at most rank-many. The conflicts span L with
positive weights, so every row of L has a place in a positive sum that vanishes: that is
the proof that all of O overlaps, written out by `linsep.diagnosis.exact.overlap_proof`.

Both steps run on a working set held in memory. One sweep over all rows then looks for
rows the ``w`` found fails on, and they join the working set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.exact.columns import some_of
from linsep.diagnosis.exact.quotient import Conflict, Quotient
from linsep.diagnosis.exact.sweeps import AnyRows, exact_signs_of, signs_of, vanishing
from linsep.diagnosis.watch import OutOfTime, require_time
from linsep.proof.simplex import never

# Rows to begin with, and rows a sweep adds, per dimension.
SAMPLE_A_DIMENSION = 20
ADDED_A_DIMENSION = 10
LEAST_SAMPLE = 1000
# From here on one solve is dear enough to look for several conflicts at once.
MANY_DIMENSIONS = 20
LEAST_ADDED = 100


@dataclass
class Partition:
    """What facial reduction found.

    Attributes
    ----------
    overlapped : ndarray of shape (m,), bool
        Rows that every recession direction leaves at zero.
    w : tuple of int
        A recession direction that is positive on every other row.
    quotient : Quotient
        The space ``w = N u`` in which the overlapped rows vanish.
    working : ndarray of int
        Separated rows that matter, to start further questions from.
    conflicts : list of Conflict
        The steps that proved the overlap, in order.
    n_sweeps : int
        Sweeps over all rows.
    """

    overlapped: NDArray[np.bool_]
    w: tuple[int, ...]
    quotient: Quotient
    working: NDArray[np.intp]
    conflicts: list[Conflict]
    n_sweeps: int


@dataclass
class Reduction:
    """The search for the partition; see the module's text.

    Parameters
    ----------
    rows : Rows of shape (m, d)
        Signed rows: ``a_i . w >= 0`` is demanded.
    equal : ndarray of shape (m,), bool
        Rows of which ``a_i . w = 0`` is demanded.
    kept : ndarray of int
        Independent columns; ``w`` is zero elsewhere.
    spans : bool
        Whether they span all columns.
    rng : numpy.random.Generator
    should_stop : callable
        Asked between steps; a true answer raises `OutOfTime`.
    """

    rows: AnyRows
    equal: NDArray[np.bool_]
    kept: NDArray[np.intp]
    rng: np.random.Generator
    should_stop: Callable[[], bool] = never
    spans: bool = True
    conflicts: list[Conflict] = field(default_factory=list)
    n_sweeps: int = 0

    def run(self) -> Partition:
        """Find the partition.

        Raises
        ------
        OutOfTime
        """
        quotient = self._start()
        unequal = np.flatnonzero(~self.equal)
        working = self._sample(unequal, quotient)
        while True:
            quotient, w, working = self._reduce(quotient, working)
            positive, violators, near = self._sweep(quotient, w, unequal)
            if violators.size == 0:
                break
            n_added = max(ADDED_A_DIMENSION * quotient.dimension, LEAST_ADDED)
            working = np.union1d(working, violators[:n_added])
            working = np.union1d(working, near[:n_added])
        overlapped = np.ones(self.rows.shape[0], dtype=bool)
        overlapped[unequal[positive]] = False
        return Partition(
            overlapped, w, quotient, working, self.conflicts, self.n_sweeps
        )

    def _start(self) -> Quotient:
        """Restrict to where the equality rows vanish."""
        equal = np.flatnonzero(self.equal)
        space = Quotient.whole if self.spans else Quotient.on_columns
        quotient = space(self.rows, self.kept)
        while equal.size and quotient.dimension:
            require_time(self.should_stop)
            outside = equal[~vanishing(self.rows, quotient.basis, equal)]
            self.n_sweeps += 1
            if outside.size == 0:
                break
            if quotient.basis is None:
                some = self.rng.permutation(outside)[: 3 * self.kept.size + 50]
            else:
                some = some_of(self.rows, outside, quotient.basis, self.rng)
            quotient = quotient.restricted(np.sort(some))
        return quotient

    def _sample(
        self, unequal: NDArray[np.intp], quotient: Quotient
    ) -> NDArray[np.intp]:
        """Draw rows to begin with, a tenth of them from each sign."""
        size = max(SAMPLE_A_DIMENSION * quotient.dimension, LEAST_SAMPLE)
        if unequal.size <= 1.5 * size:
            return unequal
        drawn = [self.rng.choice(unequal, size, replace=False)]
        for sign in (-1, 1):
            members = unequal[self.rows.signs[unequal] == sign]
            share = min(members.size, size // 10)
            drawn.append(self.rng.choice(members, share, replace=False))
        return np.unique(np.concatenate(drawn))

    def _reduce(
        self, quotient: Quotient, working: NDArray[np.intp]
    ) -> tuple[Quotient, tuple[int, ...], NDArray[np.intp]]:
        """Reduce the working set until what is left of it is strictly separated."""
        while True:
            require_time(self.should_stop)
            working = working[~vanishing(self.rows, quotient.basis, working)]
            if working.size == 0 or quotient.dimension == 0:
                return quotient, (0,) * self.rows.shape[1], working
            answer = quotient.decide(working, self.should_stop)
            if answer is None:
                raise OutOfTime
            if not isinstance(answer, Conflict):
                return quotient, answer, working
            found = [answer]
            if quotient.dimension >= MANY_DIMENSIONS:
                found += quotient.more_conflicts(working, answer, self.should_stop)
            self.conflicts.extend(found)
            rows = np.concatenate([np.asarray(conflict.rows) for conflict in found])
            quotient = quotient.restricted(rows)

    def _sweep(
        self, quotient: Quotient, w: Sequence[int], unequal: NDArray[np.intp]
    ) -> tuple[NDArray[np.bool_], NDArray[np.intp], NDArray[np.intp]]:
        """Look at all rows: which are positive, which fail, which nearly fail."""
        self.n_sweeps += 1
        if quotient.dimension == 0:
            return np.zeros(unequal.size, bool), unequal[:0], unequal[:0]
        signs, relative = signs_of(self.rows, w, unequal)
        positive = signs > 0
        rest = np.flatnonzero(~positive)
        rest = rest[~vanishing(self.rows, quotient.basis, unequal[rest])]
        doubtful = rest[signs[rest] == 0]
        positive[doubtful] = exact_signs_of(self.rows, w, unequal[doubtful]) > 0
        rest = rest[~positive[rest]]
        if rest.size == 0:
            return positive, unequal[:0], unequal[:0]
        worst = rest[np.argsort(relative[rest], kind="stable")]
        n_near = max(ADDED_A_DIMENSION * quotient.dimension, LEAST_ADDED)
        at = np.flatnonzero(positive)
        if at.size > n_near:
            at = at[np.argpartition(relative[at], n_near - 1)[:n_near]]
        return positive, unequal[worst], unequal[at]
