"""Pivoted Cholesky factors: few rows that span the rest, by their inner products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import as_dense


def gram_factor(
    gram: NDArray[np.float64], tolerance: float
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return ``L`` with ``L @ L.T = gram`` up to rounding, and the pivots.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
        Symmetric, positive semidefinite.
    tolerance : float
        Pivots below this share of the largest end the factorisation.

    Returns
    -------
    L : ndarray of shape (m, rank), C order
        Lower triangular in the order of the pivots: ``L[pivots]``.
    pivots : ndarray of shape (rank,)
        The rows that span the others, in the order chosen.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> L, pivots = gram_factor(rows @ rows.T, 1e-13)
    >>> pivots.tolist(), L.tolist()
    ([1, 2], [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    """
    from scipy.linalg import lapack

    m = gram.shape[0]
    if m == 0:
        return np.zeros((0, 0)), np.zeros(0, dtype=np.intp)
    largest = float(np.diag(gram).max(initial=0.0))
    factor, order, rank, _ = lapack.dpstrf(gram, tol=tolerance * largest, lower=1)
    rows = np.empty((m, rank))
    rows[order - 1] = np.tril(factor)[:, :rank]
    return rows, np.asarray(order[:rank] - 1, dtype=np.intp)


def gram_of(rows: Any) -> NDArray[np.float64]:
    """Return the inner products of rows, dense or sparse."""
    return as_dense(rows @ rows.T)
