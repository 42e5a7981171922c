"""The opening: a few rounds of the loop over small dense rows, before all else.

Most small data need no metric and no working set: in coordinates that take out the mean
and the scale of each column a few rounds find a hyperplane. All of it is one compiled
call, since between compiled calls the interpreter would take ten times as long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linsep.arrays import Floats
from linsep.rows import DenseRows, Rows
from linsep.solvers._opening import opening
from linsep.solvers.blas import calm_blas
from linsep.solvers.bounds import length_above

# Entries of the rows, at most: a round then takes a few ten microseconds.
MOST_ENTRIES = 1 << 17
# Rounds; after the first few no more than this share of the rows may be on the wrong
# side, or the rest would be for nothing.
FIRST_ROUNDS, MOST_ROUNDS, MOST_WRONG = 6, 32, 0.05


@dataclass(frozen=True, slots=True)
class Opening:
    """What the opening came to.

    Attributes
    ----------
    n_rounds : int
    w : ndarray of shape (d,) or None
        Weights that seem to separate all rows, the intercept between the classes.
    margin_upper : float
        No hyperplane has a larger margin.
    """

    n_rounds: int
    w: Floats | None = None
    margin_upper: float = np.inf


def opened(rows: Rows, most_rounds: int | None = None) -> Opening | None:
    """Play a few rounds, `most_rounds` at most; None for rows that are not as needed.

    These are dense doubles in C order, few, none of them extreme.
    """
    if not isinstance(rows, DenseRows):
        return None
    X, constant = rows.X, rows.fit_intercept
    if not 0 < X.size <= MOST_ENTRIES or X.dtype != np.float64:
        return None
    if not X.flags.c_contiguous:
        return None
    first, most = FIRST_ROUNDS, MOST_ROUNDS
    if most_rounds is not None:
        first, most = min(first, most_rounds), min(most, most_rounds)
        if first == 0:
            return None
    with calm_blas(X.shape[1], n_entries=X.size):
        found = opening(X, rows.signs, constant, first, most, MOST_WRONG)
    if found is None:
        return None
    n_rounds, w, sizes = found
    if sizes is None:
        return Opening(n_rounds, w)
    return Opening(n_rounds, w, length_above(*sizes, sum(X.shape)))
