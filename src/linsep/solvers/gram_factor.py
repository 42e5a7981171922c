"""A pivoted Cholesky factor of a Gram matrix: rows that stand for a feature space.

``K = L L^T`` up to rounding, so the rows of ``L`` have the inner products of the
feature space, and every linear solver runs on them unchanged. The pivots are landmark
rows that span the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linsep.arrays import Floats, Index
from linsep.solvers import _factors
from linsep.solvers._factors import divided
from linsep.solvers.scaling import row_squares

# Up to this many rows the whole Gram matrix is factored at once, without a rank limit.
WHOLE = 1500
# Landmarks at most for more rows than that.
MOST_LANDMARKS = 1500
# Pivots below this share of the largest are rounding.
RANK_TOLERANCE = 1e-12
# Squared pivots above the first are there, below the second not; in between rounding
# decides, and a QR must tell.
CLEARLY_POSITIVE = 1e-9
CLEARLY_ZERO = 1e-13

Columns = Callable[[Index], Floats]


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

    rows: Floats
    landmarks: Index
    columns: Floats

    def dual(self, v: Floats) -> Floats:
        """Return ``beta`` with ``sum_j beta_j k(., landmark_j) = v`` in the space."""
        return divided(v, self.rows[self.landmarks], lower=True)


def gram_factor(columns: Columns, diagonal: Floats) -> GramFactor:
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
    if n <= WHOLE:
        gram = columns(np.arange(n))
        rows, pivots = pivoted_cholesky(0.5 * (gram + gram.T), RANK_TOLERANCE)
        return GramFactor(rows, pivots, gram[:, pivots])
    floor = RANK_TOLERANCE * float(diagonal.max(initial=0.0))
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


def pivoted_cholesky(gram: Floats, tolerance: float) -> tuple[Floats, Index]:
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
    >>> L, pivots = pivoted_cholesky(rows @ rows.T, 1e-13)
    >>> pivots.tolist(), L.tolist()
    ([1, 2], [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    """
    m = gram.shape[0]
    if m == 0:
        return np.zeros((0, 0)), np.zeros(0, dtype=np.intp)
    largest = float(np.diag(gram).max(initial=0.0))
    factor, order = _factors.pivoted_cholesky(gram, tolerance * largest)
    rows = np.empty(factor.shape)
    rows[order] = factor
    return rows, order[: factor.shape[1]]


def clear_factor(gram: Floats) -> tuple[Floats, Index] | None:
    """Return `pivoted_cholesky`, or None where rounding would decide on the rank."""
    rows, pivots = pivoted_cholesky(gram, CLEARLY_POSITIVE)
    left_over = gram.diagonal() - row_squares(rows)
    left_over[pivots] = 0.0
    is_clear = np.abs(left_over).max() <= CLEARLY_ZERO * gram.diagonal().max()
    return (rows, pivots) if is_clear else None
