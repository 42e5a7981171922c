"""A pivoted Cholesky factor of a Gram matrix: rows that stand for a feature space.

``K = L L^T`` up to rounding, so the rows of ``L`` have the inner products of the
feature space, and every linear solver runs on them unchanged. The pivots are landmark
rows that span the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Up to this many rows the whole Gram matrix is factored at once, without a rank limit.
WHOLE = 1500
# Landmarks at most for more rows than that.
MOST_LANDMARKS = 1500
# Pivots below this share of the largest are rounding.
RANK_TOLERANCE = 1e-12

Columns = Callable[[NDArray[np.intp]], NDArray[np.float64]]


@dataclass(frozen=True)
class GramFactor:
    """A pivoted Cholesky factor.

    Attributes
    ----------
    rows : ndarray of shape (n, rank)
        ``L``.
    landmarks : ndarray of shape (rank,)
        The rows chosen as pivots, in order.
    columns : ndarray of shape (n, rank)
        The Gram matrix's columns at the landmarks, as given.
    """

    rows: NDArray[np.float64]
    landmarks: NDArray[np.intp]
    columns: NDArray[np.float64]

    def dual(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``beta`` with ``sum_j beta_j k(., landmark_j) = v`` in the space."""
        from scipy.linalg import solve_triangular

        triangle = self.rows[self.landmarks]
        return np.asarray(solve_triangular(triangle.T, v.T, lower=False)).T


def gram_factor(columns: Columns, diagonal: NDArray[np.float64]) -> GramFactor:
    """Factor a Gram matrix given by its columns.

    Each pivot is the row with the largest part outside the span of those before it.
    Beyond 1,500 rows the factor stops after so many landmarks, each of which costs one
    column and O(n rank).

    Parameters
    ----------
    columns : callable
        Returns the named columns, shape (n, k).
    diagonal : ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> gram = np.array([[4.0, 2.0], [2.0, 1.0]])  # the second row is half the first
    >>> factor = gram_factor(lambda at: gram[:, at], gram.diagonal())
    >>> factor.landmarks.tolist(), factor.rows.tolist()
    ([0], [[2.0], [1.0]])
    """
    n = len(diagonal)
    floor = RANK_TOLERANCE * float(diagonal.max(initial=0.0))
    if n <= WHOLE:
        return _factor_whole(columns(np.arange(n)), floor)
    left = diagonal.astype(np.float64).copy()
    L = np.zeros((n, MOST_LANDMARKS))
    landmarks: list[int] = []
    kept = []
    while len(landmarks) < MOST_LANDMARKS:
        pivot = int(left.argmax())
        if left[pivot] <= floor:
            break
        j = len(landmarks)
        column = columns(np.array([pivot]))[:, 0]
        kept.append(column)
        L[:, j] = (column - L[:, :j] @ L[pivot, :j]) / np.sqrt(left[pivot])
        left -= L[:, j] ** 2
        landmarks.append(pivot)
        left[landmarks] = 0.0
    return GramFactor(
        np.ascontiguousarray(L[:, : len(landmarks)]),
        np.array(landmarks, dtype=np.intp),
        np.column_stack(kept) if kept else np.zeros((n, 0)),
    )


def _factor_whole(gram: NDArray[np.float64], floor: float) -> GramFactor:
    from scipy.linalg import lapack

    symmetric = 0.5 * (gram + gram.T)
    factor, pivots, rank, _ = lapack.dpstrf(symmetric, tol=floor, lower=1)
    order = np.asarray(pivots, dtype=np.intp) - 1
    rows = np.empty((len(gram), rank))
    rows[order] = np.tril(factor)[:, :rank]
    return GramFactor(rows, order[:rank], gram[:, order[:rank]])
