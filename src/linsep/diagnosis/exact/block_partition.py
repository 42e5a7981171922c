"""The partition of rows that are read in batches, and the verdicts on coefficients.

That all rows overlap is proved by sums over them, which takes a few readings
(`linsep.verified.sums`). Otherwise, where columns are few, exact facial reduction parts
them, as it does rows in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import lcm

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats
from linsep.diagnosis.exact.coefficients import verdicts
from linsep.diagnosis.exact.columns import Columns, columns_of
from linsep.diagnosis.exact.facial_reduction import Partition, Reduction
from linsep.diagnosis.exact.large_columns import echelon
from linsep.diagnosis.status import Estimate
from linsep.diagnosis.watch import Watch, require_time
from linsep.proof.certificate import Certificate
from linsep.rows.blocks import BlockRows
from linsep.verified.answers import ordered_certificate
from linsep.verified.null_space import NullSpace
from linsep.verified.reduction import Reduced
from linsep.verified.sums import Chosen, overlapping
from linsep.verified.vectors import SparseVector

# Columns at most with which exact facial reduction is tried.
MOST_COLUMNS = 300


@dataclass(frozen=True)
class Parted:
    """What is proved of the rows and columns.

    Attributes
    ----------
    overlapped : ndarray of shape (n,), bool
    w : tuple of int
        A direction that separates the others; zero if there are none.
    estimates : mapping of int to Estimate
        By column; one that is left out depends on others.
    columns : Columns
        Which of them are independent.
    vanishing : list of SparseVector, or None
        A basis of all vectors that are zero on every overlapped row; None if not known.
    point : ndarray of shape (d,) or None
        Proves by sums that all rows overlap.
    are_counts : bool
        Whether directions must be zero on rows of positive sign, so that the rows
        alone are not what a certificate could be about.
    """

    overlapped: NDArray[np.bool_]
    w: tuple[int, ...]
    estimates: Mapping[int, Estimate]
    columns: Columns
    vanishing: list[SparseVector] | None
    point: Floats | None = None
    are_counts: bool = False

    def certificate(
        self,
        rows: BlockRows,
        classes: NDArray[np.generic],
        rng: np.random.Generator,
    ) -> Certificate | None:
        """Certify the partition; None where sums do not prove that rows overlap.

        Nor is there one of counts.
        """
        if self.are_counts:
            return None
        if not self.overlapped.any():
            return Certificate.for_separator(rows, classes, self.w)
        if self.vanishing is None:
            return None
        d = rows.shape[1]
        basis = echelon(self.vanishing, np.arange(d))
        free = np.array(sorted(basis), dtype=np.intp)
        pivots, point = np.setdiff1d(np.arange(d), free), self.point
        if point is None:
            chosen = Chosen.of(self.overlapped, pivots)
            found = overlapping(rows, rng, chosen=chosen)
            if found is None:
                return None
            point = np.zeros(d)
            point[pivots] = found
        is_whole = bool(self.overlapped.all())
        directions = [SparseVector.from_values(self.w)]
        null = [basis[column] for column in free.tolist()]
        reduced = Reduced(
            [] if is_whole else directions,
            np.asarray(self.overlapped, dtype=np.intp) * (not is_whole),
            point,
            np.arange(d),
            np.empty(0, dtype=np.intp),
            NullSpace(pivots, free, null, is_proved=True),
            is_proved=True,
        )
        return ordered_certificate(rows, classes, reduced)


def parted(
    rows: BlockRows, rng: np.random.Generator, watch: Watch, are_counts: bool = False
) -> Parted:
    """Part the rows, and judge the coefficients.

    Parameters
    ----------
    rows : BlockRows
    rng : numpy.random.Generator
    watch : Watch
    are_counts : bool
        Whether the positive signs are those of counts above zero, on which directions
        must be zero.

    Raises
    ------
    OutOfTime
        Also where there are too many columns for what is not overlap.
    """
    n, d = rows.shape
    check = partial(require_time, watch.is_over)
    found = overlapping(rows, rng, check, are_counts=are_counts)
    if found is not None:
        finite = dict.fromkeys(range(d), Estimate.FINITE)
        columns = Columns(np.arange(d), np.zeros(d, dtype=bool))
        every = np.ones(n, dtype=bool)
        return Parted(every, (0,) * d, finite, columns, [], found, are_counts)
    if d > MOST_COLUMNS:
        watch.give_up(
            f"it could not be proved by sums over the rows that all of them overlap, "
            f"and {d:,} columns are too many to part rows that are read in batches; "
            "give a part of the rows, or drop columns."
        )
        check()
    last = np.arange(d - int(rows.fit_intercept), d)
    order = np.append(last, np.arange(d - last.size))  # the intercept first
    columns = columns_of(rows, rng, order, watch.is_over)
    equal = (rows.signs > 0) & are_counts
    partition = Reduction(rows, equal, columns.kept, rng, watch.is_over).run()
    watch.begin("coefficients")
    estimates = verdicts(rows, partition, watch.is_over)
    return Parted(
        partition.overlapped,
        partition.w,
        estimates,
        columns,
        _vanishing(partition, columns),
        are_counts=are_counts,
    )


def _vanishing(partition: Partition, columns: Columns) -> list[SparseVector] | None:
    """Return what is zero on all overlapped rows, of columns kept and of the others."""
    basis = partition.quotient.basis
    if basis is None or len(columns.combinations) < columns.aliased.size - (
        columns.kept.size
    ):
        return None
    found = [SparseVector.from_values(column.tolist()) for column in basis.T]
    for j, terms in columns.combinations.items():
        unit = lcm(*(factor.denominator for factor in terms.values()))
        entries = {k: int(factor * unit) for k, factor in terms.items()}
        found.append(SparseVector.from_items(entries | {j: -unit}))
    return found
