r"""A guess of the rows on the margin, by exchanging many rows at once.

Rows on the margin obey ``G_FF lambda + b s = 1`` and ``s . lambda = 0``, with the Gram
matrix ``G`` of the signed rows. Start from many of them; solve; let go of every row
whose multiplier came out negative, take back every row that is violated; repeat. Where
most rows are on the margin, as they are when the columns are more than the rows, four
to six solves find all of them (block principal pivoting: Kostreva, 1978; Júdice &
Pires, "A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems", Computers & Operations Research 21, 1994). It may also cycle:
what comes back is a guess, from which the active set goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linsep.arrays import Floats, Index, no_index
from linsep.solvers._factors import cholesky, solve_factored
from linsep.solvers.pieces import Check, gram_of, no_check

# Solves in a row that may pass without fewer rows being wrong.
PATIENCE = 3
# Added to the diagonal, as a share of its mean, so that dependent rows have a factor.
RIDGE = 1e-10


def rows_on_margin(
    rows: Floats,
    signs: Floats,
    free: bool,
    tolerance: float,
    check: Check = no_check,
    gram: Floats | None = None,
) -> Iterator[Index]:
    """Yield the best guess of the rows on the margin after each solve.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
        Signed rows, with ``signs`` as the last column if the offset is free.
    signs : ndarray of shape (m,)
    free : bool
        Whether there is an offset.
    tolerance : float
        Rows with margin ``>= 1 - tolerance`` are not violated.
    check : callable, default=no_check
        Called between pieces of the Gram matrix; raises to end it.
    gram : ndarray of shape (m, m) or None, default=None
        The Gram matrix, where it is known.

    Yields
    ------
    ndarray of int
        Rows whose multipliers came out positive in the best solve so far. The last is
        right if no row was wrong in it, and a start all the same if some were.
    """
    m, d = rows.shape
    gram = gram_of(rows, check) if gram is None else gram
    check()
    ridge = RIDGE * float(np.trace(gram)) / m
    held = np.ones(m, dtype=bool)
    if m > d:  # not all can be on the margin: those nearest along the sum of the rows
        along = gram.sum(axis=1)
        if free:  # the constant column is no part of it
            along -= signs * signs.sum()
        held[np.argsort(along, kind="stable")[d // 2 :]] = False
    best, least, waited = no_index(), m + 1, 0
    while waited < PATIENCE:
        index = np.flatnonzero(held)
        part = gram.copy() if index.size == m else gram[np.ix_(index, index)]
        part[np.diag_indices_from(part)] += ridge
        factor = cholesky(part)
        if factor is None or (free and np.ptp(signs[index]) == 0):
            return
        right = np.column_stack([np.ones(index.size), signs[index]])
        solved = solve_factored(factor, right)
        offset = 0.0
        if free:
            offset = float(signs[index] @ solved[:, 0] / (signs[index] @ solved[:, 1]))
        multipliers = solved[:, 0] - offset * solved[:, 1]
        weights = np.zeros(m)
        weights[index] = multipliers
        margins = gram @ weights + offset * signs
        violated = (margins < 1.0 - tolerance) & ~held
        dropped = index[multipliers < 0]
        n_wrong = dropped.size + np.count_nonzero(violated)
        waited += 1
        if n_wrong < least:
            best, least, waited = index[multipliers >= 0], n_wrong, 0
        yield best
        if n_wrong == 0:
            return
        held[dropped] = False
        held |= violated
