"""The dual simplex in floating point: a fast guess of where the exact one ends.

It follows the pivots of `linsep.proof.simplex` on a dense tableau, one rank-one update
each, and may be wrong in any way: its only output is a basis to start from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# Entries smaller than this, relative to the largest of their row, are taken as zero.
_TOLERANCE = 1e-9
# A tableau that grew this much has lost most of its digits.
_GROWTH_LIMIT = 1e12


def guess_basis(
    tableau: NDArray[np.float64],
    basis: list[int],
    should_stop: Callable[[], bool],
) -> tuple[list[int], int | None]:
    """Pivot in floating point from the given basis.

    Parameters
    ----------
    tableau : ndarray of shape (m, r)
        Every row in the coordinates of the basis: ``a_k = sum_j tableau[k, j] b_j``,
        rows of comparable size. Overwritten.
    basis : list of r int
        The rows of the basis, so ``tableau[basis]`` is the identity.
    should_stop : callable
        Asked between pivots.

    Returns
    -------
    basis : list of r int
        The last basis reached.
    row : int or None
        The row that, with the basis, looks like a conflict; None if there is none.
    """
    with np.errstate(all="ignore"):  # an overflow only spoils the guess
        return _pivot(tableau, list(basis), should_stop)


def _pivot(
    tableau: NDArray[np.float64], basis: list[int], should_stop: Callable[[], bool]
) -> tuple[list[int], int | None]:
    r = len(basis)
    # Unequal costs make ties of the ratio test, and so stalling, unlikely.
    cost = np.random.default_rng(0).uniform(1.0, 2.0, r)
    for _ in range(20 * (r + 10)):
        margins = tableau.sum(axis=1)
        lengths = np.sqrt(1.0 + np.einsum("ij,ij->i", tableau, tableau))
        row = int(np.argmin((margins - 1.0) / lengths))  # steepest edge
        worst = int(np.argmin(margins / lengths))
        if margins[worst] > _TOLERANCE * lengths[worst] or should_stop():
            return basis, None
        if margins[row] > 0:
            row = worst
        entering = tableau[row, :].copy()
        eligible = np.flatnonzero(entering > _TOLERANCE * np.abs(entering).max())
        if eligible.size == 0:
            return basis, row
        ratios = cost[eligible] / entering[eligible]
        leaving = int(eligible[np.argmin(ratios)])
        factor = tableau[:, leaving] / entering[leaving]
        cost -= entering * ratios.min()
        cost[leaving] = ratios.min()
        np.maximum(cost, 0.0, out=cost)
        entering[leaving] = 0.0
        tableau -= np.outer(factor, entering)
        tableau[:, leaving] = factor
        basis[leaving] = row
        if not np.abs(factor).max() < _GROWTH_LIMIT:
            break
    return basis, None
