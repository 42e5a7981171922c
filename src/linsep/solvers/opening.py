"""The opening: a few rounds of the loop over small dense rows, before all else.

Most small data need no metric and no working set: in coordinates that take out the mean
and the scale of each column a few rounds find a hyperplane, or a few steps a conflict.
All of it is a few compiled calls: between more of them the interpreter would take ten
times as long as they do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linsep.arrays import Floats, Index
from linsep.rows import DenseRows, Rows
from linsep.solvers._opening import Unit
from linsep.solvers.active_set import TOLERANCE
from linsep.solvers.blas import calm_blas
from linsep.solvers.bounds import length_above

# Entries of the rows, at most: a round then takes a few ten microseconds.
MOST_ENTRIES = 1 << 17
# Rounds in all, and one row in how many may be on the wrong side then, or the next
# rounds would be for nothing: of data that were not separated in the end it was more.
STAGES = ((8, 50), (16, 200), (32, 1))
ALL_ROUNDS = STAGES[-1][0]
# Rows of so few entries are given to the active set too, with so many steps a column.
FEW_ENTRIES, STEPS_A_COLUMN = 1 << 12, 40


@dataclass(frozen=True, slots=True)
class Opening:
    """What the opening came to.

    Attributes
    ----------
    n_rounds : int
        Rounds of the loop, and steps of the active set.
    w : ndarray of shape (d,) or None
        Weights that seem to separate all rows, the intercept between the classes.
    margin_upper : float
        No hyperplane has a larger margin.
    conflict : tuple of ndarrays or None
        Rows that seem to be in conflict, and their weights.
    may_be_opposite : bool
        Whether two of all the rows may point in opposite directions; certain if not.
    """

    n_rounds: int
    w: Floats | None = None
    margin_upper: float = np.inf
    conflict: tuple[Index, Floats] | None = None
    may_be_opposite: bool = True


def opened(rows: Rows, most_rounds: int | None = None) -> Opening | None:
    """Play a few rounds, `most_rounds` at most; None for rows that are not as needed.

    These are dense doubles in C order, few, none of them extreme.
    """
    if not isinstance(rows, DenseRows):
        return None
    X, (n, d) = rows.X, rows.shape
    if not 0 < X.size <= MOST_ENTRIES or X.dtype != np.float64 or most_rounds == 0:
        return None
    if not X.flags.c_contiguous:
        return None
    with calm_blas(d, n_entries=X.size):
        unit = Unit(X, rows.signs, rows.fit_intercept)
        if not unit.is_usable:
            return None
        n_rounds, u = unit.play(STAGES, most_rounds or ALL_ROUNDS)
        if u is None and X.size <= FEW_ENTRIES and most_rounds is None:
            n_steps, u, conflict = unit.decide(TOLERANCE, STEPS_A_COLUMN * d)
            n_rounds += n_steps
            if conflict is not None:
                may_be = unit.may_be_opposite()
                return Opening(n_rounds, conflict=conflict, may_be_opposite=may_be)
    if u is None:
        return Opening(n_rounds)
    w, sizes = unit.weights(u), unit.hull_point()
    upper = np.inf if sizes is None else length_above(*sizes, n + d)
    return Opening(n_rounds, w, upper)
