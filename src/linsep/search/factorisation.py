"""All rows at once, parted by one factorisation: for data of very many columns."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from linsep.rows import Rows
from linsep.search.answers import Verdict
from linsep.search.hyperplane import Hyperplane
from linsep.search.limits import Monitor


def by_factorisation(
    rows: Rows, monitor: Monitor, start: NDArray[np.float64] | None = None
) -> Hyperplane | Verdict | None:
    """Part all rows by `linsep.verified`; None if that proves nothing.

    A `start` of shape (d,) near the estimate saves steps.
    """
    # SciPy's factorisations are loaded for those that need them.
    from linsep.verified.answers import combined
    from linsep.verified.overlap import Counts
    from linsep.verified.reduction import Reduction
    from linsep.verified.vectors import written_out

    n, d = rows.shape
    counts = Counts(np.ones(n), np.zeros(n))
    check = partial(monitor.stop_if_due, rounds=False)
    reduced = Reduction(rows, counts, start, check=check).run()
    if not reduced.is_proved:
        return None
    if reduced.overlapped.any():
        monitor.at_most(0.0)
        return Verdict.overlapping(reduced)
    return Hyperplane.rounded(written_out(combined(rows, reduced), d))
