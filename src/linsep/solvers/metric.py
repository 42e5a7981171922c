r"""The metric: coordinates in which rounds depend neither on units nor on correlation.

Replacing the learner's ``|w|^2 / 2`` by ``w^T H w / 2`` with ``H = sum_i q_i b_i
b_i^T`` is the same as running the plain loop on the rows ``b_i T``, where ``T`` is any
factor with ``T T^T = H^-1``. So the metric is a change of coordinates, computed once,
and every solver runs unchanged on the new rows.

The rows ``b_i`` must be normalised, or long rows would rule ``H``; normalised by a norm
that itself does not depend on coordinates, or units would. We use the norm of the
metric: the first one is ``H_0 = sum_i q_i a_i a_i^T``, the rows are then given unit
length in it, and ``H`` is formed from those (one step of Tyler's fixed point, 1987).
For an invertible ``B``, ``A B`` gives the same coordinates up to a rotation, hence the
same rounds.

Rank deficiency (dummy columns, constant columns, more columns than rows) is met by a
rank-revealing factorisation: coordinates span the row space only. Two factorisations
serve: pivoted QR of the rows, and for wide rows an eigendecomposition of their Gram
matrix, where the number of columns never appears.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Directions this small, relative to the largest, are rounding: a QR of doubles cannot
# tell them from zero. A separator that needs them is found by the exact ladder.
RANK_TOLERANCE = 1e-13
# The Gram matrix squares the condition, so its rounding reaches further up.
GRAM_TOLERANCE = 1e-11


@dataclass(frozen=True)
class Coordinates:
    """Rows in whitened coordinates, and the way back.

    Attributes
    ----------
    rows : ndarray of shape (m, rank)
        Unit rows ``(a_i T) / scale_i``; zero rows stay zero.
    scale : ndarray of shape (m,)
        The positive lengths divided out; 1 for a zero row.
    to_weights : callable
        Maps a vector ``u`` of shape (rank,) to ``w = T u`` of shape (d,), so that
        ``rows @ u = (A @ w) / scale`` up to rounding.
    """

    rows: NDArray[np.float64]
    scale: NDArray[np.float64]
    to_weights: Callable[[NDArray[np.float64]], NDArray[np.float64]]

    @property
    def rank(self) -> int:
        """Number of coordinates: the numerical rank of the rows."""
        return int(self.rows.shape[1])


def whiten(A: Any) -> Coordinates:
    """Return the coordinates of the metric for signed rows, ``q`` uniform.

    Parameters
    ----------
    A : ndarray or csr_matrix of shape (m, d)
        Signed rows.

    Returns
    -------
    Coordinates
        With ``rank <= min(m, d)`` columns.
    """
    m, d = A.shape
    wide = d > 2 * m
    if wide:
        basis = _gram_coordinates(A)
    else:
        dense = A.toarray() if hasattr(A, "toarray") else A
        basis = _qr_coordinates(dense)
    return rewhiten(basis, None)


def rewhiten(
    coordinates: Coordinates, weights: NDArray[np.float64] | None
) -> Coordinates:
    """Change to the metric ``H = sum_i q_i b_i b_i^T`` of the present unit rows.

    Parameters
    ----------
    coordinates : Coordinates
        The present coordinates.
    weights : ndarray of shape (m,) or None
        The distribution ``q``; ``None`` is uniform. Mixed half and half with the
        uniform one, so that no direction of the row space is lost.
    """
    rows = coordinates.rows
    m, rank = rows.shape
    if rank == 0:
        return coordinates
    q = np.full(m, 1.0 / m)
    if weights is not None:
        q = 0.5 * q + 0.5 * weights
    second_moment = (rows * q[:, None]).T @ rows
    values, vectors = np.linalg.eigh(second_moment * rank)
    floor = values[-1] * RANK_TOLERANCE
    inverse_root = vectors / np.sqrt(np.maximum(values, floor))
    unit, length = _normalised(rows @ inverse_root)

    def to_weights(u: NDArray[np.float64]) -> NDArray[np.float64]:
        return coordinates.to_weights(inverse_root @ u)

    return Coordinates(unit, coordinates.scale * length, to_weights)


def _normalised(
    rows: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows at unit length, and their lengths (1 for a zero row)."""
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    length[length == 0] = 1.0
    return rows / length[:, None], length


def power_of_two(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each value > 0 the power of two just above it; 1 for a zero."""
    _, exponent = np.frexp(values)
    # ldexp overflows at 1024: stay inside, a factor of two either way is harmless.
    return np.where(values > 0, np.ldexp(1.0, np.clip(exponent, -1000, 1000)), 1.0)


def _scaled(A: NDArray[np.float64]) -> tuple[NDArray[np.float64], Any, Any]:
    """Divide rows then columns by powers of two, so that no norm overflows.

    Only rows whose size is extreme are divided: dividing every row by its largest
    entry, which depends on units, would make the metric depend on them.
    """
    largest = np.abs(A).max(axis=1, initial=0.0)
    positive = largest[largest > 0]
    typical = np.median(positive, keepdims=True) if positive.size else np.ones(1)
    extreme = (largest > 1e6 * typical) | (largest < 1e-6 * typical)
    row_scale = np.where(extreme, power_of_two(largest), power_of_two(typical))
    scaled = A / row_scale[:, None]
    column_scale = power_of_two(np.abs(scaled).max(axis=0, initial=0.0))
    return scaled / column_scale, row_scale, column_scale


def _qr_coordinates(A: NDArray[np.float64]) -> Coordinates:
    """Whiten by a pivoted QR of the scaled rows: ``A T = Q``."""
    from scipy import linalg

    m, d = A.shape
    if m == 0 or d == 0:
        return Coordinates(np.zeros((m, 0)), np.ones(m), lambda u: np.zeros(d))
    scaled, row_scale, column_scale = _scaled(A)
    Q, R, pivots = linalg.qr(scaled, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.count_nonzero(diagonal > RANK_TOLERANCE * diagonal[0]))
    triangle = R[:rank, :rank]
    unit, length = _normalised(np.ascontiguousarray(Q[:, :rank]))

    def to_weights(u: NDArray[np.float64]) -> NDArray[np.float64]:
        w = np.zeros(d)
        w[pivots[:rank]] = linalg.solve_triangular(triangle, u)
        return np.asarray(w / column_scale)

    return Coordinates(unit, row_scale * length, to_weights)


def _gram_coordinates(A: Any) -> Coordinates:
    """Whiten in the row space: rows become those of U in ``A A^T = U diag(s) U^T``."""
    if hasattr(A, "toarray"):
        largest = np.asarray(abs(A).max(axis=1).toarray()).ravel()
    else:
        largest = np.abs(A).max(axis=1, initial=0.0)
    row_scale = power_of_two(largest)
    if hasattr(A, "multiply"):
        scaled = A.multiply(1.0 / row_scale[:, None]).tocsr()
        gram = (scaled @ scaled.T).toarray()
    else:
        scaled = A / row_scale[:, None]
        gram = scaled @ scaled.T
    values, vectors = np.linalg.eigh(gram)
    kept = values > GRAM_TOLERANCE * max(values[-1], np.finfo(float).tiny)
    roots, basis = np.sqrt(values[kept]), vectors[:, kept]
    unit, length = _normalised(np.ascontiguousarray(basis))

    def to_weights(u: NDArray[np.float64]) -> NDArray[np.float64]:
        # basis^T (A w) = u  for  w = A^T basis diag(1 / s) u.
        return np.asarray(scaled.T @ (basis @ (u / roots**2)))

    return Coordinates(unit, row_scale * length, to_weights)
