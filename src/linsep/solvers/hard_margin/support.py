"""One support among many: where rows tie, the first of them are named."""

from __future__ import annotations

import numpy as np

from linsep.arrays import Floats
from linsep.solvers.scaling import row_squares

# More rows than this on the margin, beyond those active, are left as they are.
MOST_TIES = 200
# A combination this close to the target, relative to its parts, counts as equal.
CLOSE = 1e-9


def lowest_support(rows: Floats, multipliers: Floats) -> Floats:
    """Move the multipliers to the first rows that can carry the same solution.

    Parameters
    ----------
    rows : ndarray of shape (k, d)
        All the signed rows on the margin, by row number, the sign last if there is a
        free intercept.
    multipliers : ndarray of shape (k,)
        Not negative; zero on the rows that are on the margin only.

    Returns
    -------
    ndarray of shape (k,)
        Multipliers with the same ``sum_i lambda_i a_i``: the last row is dropped if
        the others can do without it, then the last but one, and so on.
    """
    from scipy.optimize import nnls

    if not 0 < np.count_nonzero(multipliers == 0) <= MOST_TIES:
        return multipliers
    scale = np.sqrt(row_squares(rows))
    scale[scale == 0] = 1.0
    unit = (rows / scale[:, None]).T
    target = unit @ (multipliers * scale)
    size = float((multipliers * scale).sum())
    kept = list(range(len(rows)))
    best = multipliers * scale
    for row in range(len(rows) - 1, -1, -1):
        if best[row] == 0:  # not needed already
            kept.remove(row)
            continue
        others = [i for i in kept if i != row]
        if not others:
            break
        solution, residual = nnls(unit[:, others], target)
        if residual <= CLOSE * size:
            kept = others
            best = np.zeros(len(rows))
            best[others] = solution
    return np.asarray(best / scale)
