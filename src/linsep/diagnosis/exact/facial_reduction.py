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
the proof that all of O overlaps, written out by `linsep.diagnosis.exact.certificate`.

Both steps run on a working set held in memory. One sweep over all rows then looks for
rows the ``w`` found fails on, and they join the working set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from linsep.arrays import Index, Mask
from linsep.diagnosis.exact.columns import some_of
from linsep.diagnosis.exact.quotient import Quotient
from linsep.diagnosis.watch import ShouldStop, require_time
from linsep.proof.answers import Conflict, never
from linsep.proof.signs import all_positive, exact_signs_of, settled_signs, vanishing
from linsep.rows import Rows
from linsep.rows.working_set import WorkingSet

# From here on one solve is dear enough to look for several conflicts at once.
MANY_DIMENSIONS = 20
# Lengths of the numbers tried for a direction, in bits.
LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24)


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
    """

    overlapped: Mask
    w: tuple[int, ...]
    quotient: Quotient
    working: Index
    conflicts: list[Conflict]


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

    rows: Rows
    equal: Mask
    kept: Index
    rng: np.random.Generator
    should_stop: ShouldStop = never
    spans: bool = True
    conflicts: list[Conflict] = field(default_factory=list)

    def run(self) -> Partition:
        """Find the partition.

        Raises
        ------
        OutOfTime
        """
        self.quotient = self._start()
        unequal = np.flatnonzero(~self.equal)
        self.positive = np.zeros(unequal.size, dtype=bool)
        working = WorkingSet(
            self.rows, self.rng, among=unequal, dimension=self.quotient.dimension
        )

        def decide(index: Index) -> tuple[int, ...]:
            w, left = self._reduce(np.sort(index))
            working.keep(left)
            return w

        def missed(w: tuple[int, ...]) -> Index:
            return self._sweep(w, unequal, working.n_added)

        w = working.decided(decide, missed)
        overlapped = np.ones(self.rows.shape[0], dtype=bool)
        overlapped[unequal[self.positive]] = False
        return Partition(
            overlapped, w, self.quotient, np.sort(working.index), self.conflicts
        )

    def _start(self) -> Quotient:
        """Restrict to where the equality rows vanish."""
        equal = np.flatnonzero(self.equal)
        space = Quotient.whole if self.spans else Quotient.on_columns
        quotient = space(self.rows, self.kept)
        while equal.size and quotient.dimension:
            require_time(self.should_stop)
            outside = equal[~vanishing(self.rows, quotient.basis, equal)]
            if outside.size == 0:
                break
            if quotient.basis is None:
                some = self.rng.permutation(outside)[: 3 * self.kept.size + 50]
            else:
                some = some_of(self.rows, outside, quotient.basis, self.rng)
            quotient = quotient.restricted(np.sort(some))
        return quotient

    def _reduce(self, working: Index) -> tuple[tuple[int, ...], Index]:
        """Reduce the working set until what is left of it is strictly separated."""
        while True:
            working = working[~vanishing(self.rows, self.quotient.basis, working)]
            if self.quotient.dimension == 0:
                working = working[:0]
            answer = self.quotient.decide(working, self.should_stop)
            if not isinstance(answer, Conflict):
                return answer, working
            found = [answer]
            if self.quotient.dimension >= MANY_DIMENSIONS:
                found += self.quotient.more_conflicts(working, answer, self.should_stop)
            self.conflicts.extend(found)
            rows = np.concatenate([np.asarray(conflict.rows) for conflict in found])
            self.quotient = self.quotient.restricted(rows)

    def _sweep(self, w: Sequence[int], unequal: Index, n_added: int) -> Index:
        """Look at all rows; return some on which ``w`` fails, and some where nearly.

        Which are positive is kept. No row is returned where ``w`` fails on none.
        """
        if self.quotient.dimension == 0:
            return unequal[:0]
        signs, relative = settled_signs(self.rows, w, unequal)
        self.positive = signs > 0
        rest = np.flatnonzero(~self.positive)
        rest = rest[~vanishing(self.rows, self.quotient.basis, unequal[rest])]
        doubtful = rest[signs[rest] == 0]
        self.positive[doubtful] = exact_signs_of(self.rows, w, unequal[doubtful]) > 0
        rest = rest[~self.positive[rest]]
        if rest.size == 0:
            return unequal[:0]
        worst = rest[np.argsort(relative[rest], kind="stable")][:n_added]
        near = np.flatnonzero(self.positive)
        if near.size > n_added:
            near = near[np.argpartition(relative[near], n_added - 1)[:n_added]]
        return unequal[np.union1d(worst, near)]


def simplified(rows: Rows, partition: Partition) -> Partition:
    """Round the coordinates of the direction as coarsely as the rows allow.

    It comes to be in small whole numbers, where there is room for it.

    Each coordinate keeps the same few leading bits, so units do not matter. Overlapped
    rows stay at zero, because only the coordinates ``u`` of ``w = N u`` are rounded.
    """
    quotient = partition.quotient
    if quotient.dimension < 2 or not any(partition.w):
        return partition
    separated = np.flatnonzero(~partition.overlapped)
    free = _free_columns(partition).tolist()
    u = [Fraction(partition.w[column]) for column in free]
    if quotient.basis is not None:
        u = [x / int(quotient.basis[free[k], k]) for k, x in enumerate(u)]
    for bits in LENGTHS:
        w = quotient.to_weights(_leading_bits(u, bits))
        if all_positive(rows, w, partition.working) and all_positive(
            rows, w, separated
        ):
            return replace(partition, w=w)
    return partition


def _leading_bits(values: list[Fraction], bits: int) -> list[int]:
    """Round each number to so many bits; all times one power of two, in integers."""
    exponents, mantissas = [], []
    for value in values:
        exponent = value.numerator.bit_length() - value.denominator.bit_length()
        if abs(value) >= Fraction(2) ** exponent:
            exponent += 1
        exponents.append(exponent - bits)
        mantissas.append(round(value / Fraction(2) ** (exponent - bits)))
    lowest = min(exponents)
    return [
        mantissa << (exponent - lowest)
        for mantissa, exponent in zip(mantissas, exponents, strict=True)
    ]


def _free_columns(partition: Partition) -> np.ndarray:
    """Return the columns in which ``w = N u`` shows the coordinates themselves."""
    quotient = partition.quotient
    if quotient.basis is None:
        return quotient.kept
    # The basis is diagonal on its free columns: one non-zero entry in their rows,
    # each in a column of its own.
    filled = np.array([[value != 0 for value in row] for row in quotient.basis])
    single = np.flatnonzero(filled.sum(axis=1) == 1)
    chosen: dict[int, int] = {}
    for column in single:
        chosen.setdefault(int(np.argmax(filled[column])), int(column))
    return np.array([chosen[k] for k in range(quotient.dimension)], dtype=np.intp)
