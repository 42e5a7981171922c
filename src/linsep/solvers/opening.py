"""The opening: dual coordinate descent over small dense rows, before all else.

Most small data need no metric and no working set: in coordinates that take out the mean
and the scale of each column a few visits to each row find a hyperplane, or a few steps
of the active set a conflict. All of it is a few compiled calls: between more of them
the interpreter would take ten times as long as they do. Larger data of many columns,
pictures and representations, are tried by the descent too: it is over before their
metric would be formed.
"""

from __future__ import annotations

import numpy as np

from linsep.rows import DenseRows, Rows
from linsep.rows._sweeps import length_above
from linsep.solvers._opening import Opening, means_apart, opened_rows
from linsep.solvers.active_set import TOLERANCE
from linsep.solvers.blas import calm_blas
from linsep.solvers.descent import is_worth_it
from linsep.solvers.pieces import Check

# Entries of the rows, at most: a round then takes some ten microseconds.
MOST_ENTRIES = 1 << 17
# The same of rows that have many columns, and are copied in memory.
MOST_LONG = 20_000_000
# Rows of so many columns each are tried by their means first, if they have more entries
# than few and no more than most.
WIDE, FEW_WIDE, MOST_WIDE = 2, 1 << 18, 1 << 27


def opened(
    rows: Rows, most_rounds: int | None = None, check: Check | None = None
) -> Opening | None:
    """Descend, then let the active set decide; None for rows that are not as needed.

    These are dense, few, and none of them extreme. With `most_rounds` there are no more
    than these, and no active set; `check` is called between steps, and raises to end.
    """
    if not isinstance(rows, DenseRows) or most_rounds == 0:
        return None
    (n, d), X = rows.shape, rows.X
    is_held = type(X) is np.ndarray  # and not mapped
    if d > WIDE * n and is_held and FEW_WIDE < X.size <= MOST_WIDE:
        found = _from_means(rows)
        if found is not None:
            return found
    is_small = X.size <= MOST_ENTRIES
    if X.size == 0 or not (
        is_small or (is_held and X.size <= MOST_LONG and is_worth_it(d))
    ):
        return None
    if X.dtype != np.float64 or X.strides[1] != X.itemsize or not X.flags.aligned:
        X = np.ascontiguousarray(X, dtype=np.float64)
    centred = rows.fit_intercept
    return opened_rows(X, rows.signs, centred, TOLERANCE, most_rounds, is_small, check)


def _from_means(rows: DenseRows) -> Opening | None:
    """Try the weights that the means of the classes and the variances name.

    Where columns are many they separate more often than not, and two readings of the
    rows cost little beside their Gram matrix.
    """
    X, (n, d) = rows.X, rows.shape
    if X.dtype != np.float64 or not X.flags.c_contiguous:
        return None
    with calm_blas(0, n_entries=X.size):
        found = means_apart(X, rows.signs, rows.fit_intercept)
    if found is None or not found[0]:
        return None
    _, w, sizes = found
    return Opening(1, w, length_above(*sizes, n + d))
