"""All rows at once, parted by one factorisation: for data of very many columns."""

from __future__ import annotations

from functools import partial

import numpy as np

from linsep.arrays import Floats
from linsep.rows import Rows
from linsep.rows.blocks import BlockRows
from linsep.search.answers import Verdict
from linsep.search.hyperplane import Hyperplane
from linsep.search.limits import Monitor


def by_factorisation(
    rows: Rows, monitor: Monitor, start: Floats | None = None
) -> Hyperplane | Verdict | None:
    """Part all rows by `linsep.verified`; None if that proves nothing.

    Of rows that are read in blocks it can be proved that all overlap. A `start` of
    shape (d,) near the estimate saves steps, or is the proof.
    """
    # SciPy's factorisations are loaded for those that need them.
    from linsep.verified.answers import combined
    from linsep.verified.at_a_point import overlap_at
    from linsep.verified.overlap import Counts
    from linsep.verified.reduction import Reduction
    from linsep.verified.vectors import written_out

    n, d = rows.shape
    check = partial(monitor.stop_if_due, rounds=False)
    if isinstance(rows, BlockRows):
        from linsep.verified.sums import overlap_of_all

        found = overlap_of_all(rows, np.random.default_rng(0), check)
        if found is None:
            return None
        monitor.at_most(0.0)
        return Verdict.overlapping(found)
    counts = Counts(np.ones(n), np.zeros(n))
    reduced = None if start is None else overlap_at(rows, counts, start, check)
    if reduced is None:
        reduced = Reduction(rows, counts, start, check=check).run()
    if not reduced.is_proved:
        return None
    if reduced.overlapped.any():
        monitor.at_most(0.0)
        return Verdict.overlapping(reduced)
    return Hyperplane.rounded(written_out(combined(rows, reduced), d))
