"""The partition of rows that are read in batches, and the verdicts on coefficients.

That all rows overlap is proved by sums over them, which takes a few readings
(`linsep.verified.sums`). Otherwise, where columns are few, exact facial reduction parts
them, as it does rows in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.exact.coefficients import verdicts
from linsep.diagnosis.exact.columns import columns_of
from linsep.diagnosis.exact.facial_reduction import Reduction
from linsep.diagnosis.status import Estimate
from linsep.diagnosis.watch import Watch, require_time
from linsep.proof.certificate import Certificate
from linsep.rows.blocks import BlockRows
from linsep.verified.answers import ordered_certificate
from linsep.verified.reduction import Reduced
from linsep.verified.sums import overlapping

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
    rank : int
    estimates : mapping of int to Estimate
        By column; one that is left out depends on others.
    reduced : Reduced or None
        The proof by sums, if all rows overlap.
    """

    overlapped: NDArray[np.bool_]
    w: tuple[int, ...]
    rank: int
    estimates: Mapping[int, Estimate]
    aliased: NDArray[np.bool_]
    reduced: Reduced | None = None

    def certificate(self, rows: BlockRows, classes: NDArray[np.generic]) -> Certificate:
        """Certify that no row overlaps, or that all do."""
        if self.reduced is not None:
            return ordered_certificate(rows, classes, self.reduced)
        return Certificate.for_separator(rows, classes, self.w)


def parted(rows: BlockRows, rng: np.random.Generator, watch: Watch) -> Parted:
    """Part the rows, and judge the coefficients.

    Raises
    ------
    OutOfTime
        Also where there are too many columns for what is not overlap.
    """
    n, d = rows.shape
    check = partial(require_time, watch.is_over)
    found = overlapping(rows, rng, check)
    if found is not None:
        finite = dict.fromkeys(range(d), Estimate.FINITE)
        none = np.zeros(d, dtype=bool)
        return Parted(np.ones(n, dtype=bool), (0,) * d, d, finite, none, found)
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
    equal = np.zeros(n, dtype=bool)
    partition = Reduction(rows, equal, columns.kept, rng, watch.is_over).run()
    watch.begin("coefficients")
    estimates = verdicts(rows, partition, watch.is_over)
    return Parted(
        partition.overlapped, partition.w, columns.kept.size, estimates, columns.aliased
    )
