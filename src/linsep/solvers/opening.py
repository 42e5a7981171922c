"""The opening: dual coordinate descent over small dense rows, before all else.

Most small data need no metric and no working set: in coordinates that take out the mean
and the scale of each column a few visits to each row find a hyperplane, or a few steps
of the active set a conflict. All of it is a few compiled calls: between more of them
the interpreter would take ten times as long as they do. Larger data of many columns,
pictures and representations, are tried by the descent too: it is over before their
metric would be formed.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from linsep.arrays import Floats, Index
from linsep.rows import DenseRows, Rows
from linsep.solvers._opening import Unit, means_apart
from linsep.solvers.active_set import TOLERANCE
from linsep.solvers.blas import calm_blas
from linsep.solvers.bounds import length_above
from linsep.solvers.descent import begun, constant_beside, gone_on, is_worth_it
from linsep.solvers.pieces import Check, no_check

# Entries of the rows, at most: a round then takes some ten microseconds.
MOST_ENTRIES = 1 << 17
# The same of rows that have many columns, and are copied in memory.
MOST_LONG = 20_000_000
# Rows of so many columns each, and no more entries, are tried by their means first.
WIDE, MOST_WIDE = 2, 1 << 27
# Of fewer entries the active set decides at once what the first round does not.
FEW_ENTRIES = 32
# Rows are whitened if the first round does not do and this takes so many multiply-adds.
MOST_WHITENED = 1 << 15
# The active set is given so many steps a column (one to six are seen), as far as they
# are this many multiply-adds: some hundred milliseconds.
STEPS_A_COLUMN, MOST_WORK = 12, 1 << 29
# Of so few rows each is compared with each.
FEW_ROWS = 600


class Opening(NamedTuple):
    """What the opening came to.

    Attributes
    ----------
    n_rounds : int
        Rounds of the descent, and steps of the active set.
    w : ndarray of shape (d,) or None
        Weights that seem to separate all rows, the intercept between the classes.
    margin_upper : float
        No hyperplane has a larger margin.
    conflict : tuple of ndarrays or None
        Rows that seem to be in conflict, and their weights.
    opposite : tuple of int or None
        The first row that seems opposite to an earlier one, behind that.
    may_be_opposite : bool
        Whether there may be two rows of opposite directions.
    """

    n_rounds: int
    w: Floats | None = None
    margin_upper: float = np.inf
    conflict: tuple[Index, Floats] | None = None
    opposite: tuple[int, int] | None = None
    may_be_opposite: bool = True


def opened(
    rows: Rows, most_rounds: int | None = None, check: Check = no_check
) -> Opening | None:
    """Descend, then let the active set decide; None for rows that are not as needed.

    These are dense, few, and none of them extreme. With `most_rounds` there are no more
    than these, and no active set; `check` is called between steps, and raises to end.
    """
    if not isinstance(rows, DenseRows) or most_rounds == 0:
        return None
    (n, d), X = rows.shape, rows.X
    is_held = type(X) is np.ndarray  # and not mapped
    if d > WIDE * n and is_held and X.size <= MOST_WIDE:
        found = _from_means(rows)
        if found is not None:
            return found
    is_small = X.size <= MOST_ENTRIES
    is_long = is_held and is_worth_it(d) and X.size <= MOST_LONG
    if X.size == 0 or not (is_small or is_long):
        return None
    X = np.ascontiguousarray(X, dtype=np.float64)
    with calm_blas(0, n_entries=d):
        constant = constant_beside(X.shape[1]) if rows.fit_intercept else 0.0
        unit = Unit(X, rows.signs, constant)
        if not unit.is_usable:
            return None
        descent, n_rounds = begun(unit.rows), 1
        if descent.n_wrong and (X.size > FEW_ENTRIES or most_rounds is not None):
            is_whitened = n * d**2 <= MOST_WHITENED and most_rounds != 1
            if is_whitened and unit.whiten():
                descent, n_rounds = begun(unit.rows), 2
            most = (most_rounds or sys.maxsize) - n_rounds
            n_rounds += gone_on(descent, most, check)
        unit.weigh(descent.weights)
        u = None if descent.n_wrong else descent.w
        if u is None and most_rounds is None and is_small:
            n_steps = min(STEPS_A_COLUMN * d, MOST_WORK // (n * d + 3 * d**2))
            with calm_blas(min(n, d), n_entries=X.size):
                decided = unit.decide(descent.near, TOLERANCE, n_steps)
            n_taken, u, conflict = decided
            n_rounds += n_taken
            if conflict is not None:
                if n > FEW_ROWS:
                    return Opening(n_rounds, conflict=conflict)
                pair = unit.opposite()
                return Opening(n_rounds, None, np.inf, conflict, pair, pair is not None)
    sizes = unit.hull_point()
    upper = np.inf if sizes is None else length_above(*sizes, n + d)
    return Opening(n_rounds, None if u is None else unit.weights(u), upper)


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
