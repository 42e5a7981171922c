r"""The metric: coordinates in which rounds depend neither on units nor on correlation.

Replacing the learner's ``|w|^2 / 2`` by ``w^T H w / 2`` with ``H = sum_i q_i b_i
b_i^T`` is the same as running the plain loop on the rows ``b_i T``, where ``T`` is any
factor with ``T T^T = H^-1``. So the metric is a change of coordinates, computed once,
and every solver runs unchanged on the new rows.

The rows must be normalised, or long rows would set the pace; normalised by a norm that
itself does not depend on coordinates, or units would. We use the norm of the metric: it
is first ``H_0 = sum_i a_i a_i^T``, and the rows get unit length in it. At a restart
``H`` is formed anew from those unit rows and the data player's weights (one step of
Tyler's fixed point, 1987). For an invertible ``B``, ``A B`` gives the same coordinates
up to a rotation, hence the same rounds.

Rank deficiency (dummy columns, constant columns, more columns than rows) is met by a
rank-revealing factorisation: coordinates span the row space only. Two factorisations
serve: pivoted QR of the rows, and for wide rows an eigendecomposition of their Gram
matrix, where the number of columns never appears. Rows too many and too wide for either
get the diagonal metric, which only takes out the scale of each column; sparse ones then
stay sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import as_dense, is_sparse

# Directions this small, relative to the largest, are rounding: a QR of doubles cannot
# tell them from zero. A separator that needs them is found by the exact ladder.
RANK_TOLERANCE = 1e-13
# The Gram matrix squares the condition, so its rounding reaches further up.
GRAM_TOLERANCE = 1e-11
# More columns than this per row are not factorised but met in the row space.
WIDE = 2
# Beyond this many coordinates factorising costs minutes, and the metric is diagonal.
MOST_COORDINATES = 3000
# Multiply-adds of a QR from which its time is worth saving.
MOMENT_FROM = 20_000_000
# Squared pivots above the first are there, below the second not; in between rounding
# decides, and a QR must tell.
CLEARLY_POSITIVE = 1e-9
CLEARLY_ZERO = 1e-13
# Rows this many powers of two from the typical one are scaled on their own.
EXTREME_ROW_BITS = 20
# Powers of two beyond this one are near the end of the doubles.
SAFE_EXPONENT = 1000


@dataclass(frozen=True)
class Coordinates:
    """Rows in whitened coordinates, and the way back.

    Attributes
    ----------
    rows : ndarray, or csr_matrix in the diagonal metric, of shape (m, rank)
        Unit rows ``(a_i T) / scale_i``; zero rows stay zero.
    scale : ndarray of shape (m,)
        The positive lengths divided out; 1 for a zero row.
    to_weights : callable
        Maps a vector ``u`` of shape (rank,) to ``w = T u`` of shape (d,), so that
        ``rows @ u = (A @ w) / scale`` up to rounding.
    is_diagonal : bool
        Whether this is the diagonal metric.
    """

    rows: Any
    scale: NDArray[np.float64]
    to_weights: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    is_diagonal: bool = False

    @property
    def rank(self) -> int:
        """Number of coordinates: the numerical rank of the rows."""
        return int(self.rows.shape[1])


def whiten(A: Any, *, constant: bool = False) -> Coordinates:
    """Return the coordinates of the metric ``H_0`` for signed rows.

    Parameters
    ----------
    A : ndarray or csr_matrix of shape (m, d)
        Signed rows.
    constant : bool, default=False
        Whether the last column is the signed constant. Then dense features are centred
        first: the metric is the same, but features far from zero lose no digits and
        constant ones get no weight beside the intercept.

    Returns
    -------
    Coordinates
        With ``rank <= min(m, d)`` columns.
    """
    m, d = A.shape
    with np.errstate(under="ignore"):  # scaling may lose what is far below the rest
        if min(m, d) > MOST_COORDINATES:
            return _diagonal_coordinates(A)
        if constant and not is_sparse(A) and m and d > 1:
            return _centred(A)
        if d > WIDE * m:
            return _gram_coordinates(A)
        return _dense_coordinates(as_dense(A))


def _centred(A: NDArray[np.float64]) -> Coordinates:
    """Whiten ``s_i (x_i - c, 1)`` in place of ``s_i (x_i, 1)``, c the mean of x."""
    signs = A[:, -1]
    with np.errstate(over="ignore", invalid="ignore"):
        centre = (A.T @ signs)[:-1] / len(A)
    centre = np.where(np.isfinite(centre), centre, 0.0)
    moved = A.copy()
    moved[:, :-1] -= signs[:, None] * centre
    inner = whiten(moved)

    def to_weights(u: NDArray[np.float64]) -> NDArray[np.float64]:
        w = inner.to_weights(u)
        w[-1] -= centre @ w[:-1]
        return w

    return Coordinates(inner.rows, inner.scale, to_weights)


def rewhiten(coordinates: Coordinates, weights: NDArray[np.float64]) -> Coordinates:
    """Change to the metric ``H = sum_i q_i b_i b_i^T`` of the present unit rows.

    Parameters
    ----------
    coordinates : Coordinates
        The present coordinates.
    weights : ndarray of shape (m,)
        The distribution ``q``. Mixed half and half with the uniform one, so that no
        direction of the row space is lost.
    """
    from scipy.linalg import solve_triangular

    rows = coordinates.rows
    m, rank = rows.shape
    if rank == 0:
        return coordinates
    q = 0.5 / m + 0.5 * weights
    root = rows * np.sqrt(rank * q)[:, None]
    second_moment = root.T @ root
    try:
        triangle = np.linalg.cholesky(second_moment).T
    except np.linalg.LinAlgError:  # directions lost to rounding: leave things be
        return coordinates
    unit, length = _normalised(_divided(rows, triangle))

    def to_weights(u: NDArray[np.float64]) -> NDArray[np.float64]:
        return coordinates.to_weights(solve_triangular(triangle, u))

    return Coordinates(unit, coordinates.scale * length, to_weights)


def _normalised(
    rows: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows at unit length, and their lengths (1 for a zero row)."""
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    length[length == 0] = 1.0
    return rows / length[:, None], length


def _exponents(largest: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each value > 0 the exponent of the power of two above it, else 0."""
    return np.frexp(largest)[1].astype(np.int64)


def _shifted(A: Any, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Any:
    """Multiply rows and columns by powers of two: exact, but for underflow to zero."""
    if is_sparse(A):
        shifted = A.tocsr(copy=True)
        of_row = np.repeat(rows, np.diff(shifted.indptr))
        shifted.data = np.ldexp(shifted.data, of_row + columns[shifted.indices])
        return shifted
    if np.abs(columns).max(initial=0) > SAFE_EXPONENT or rows.any():
        return np.ldexp(A, rows[:, None] + columns)
    return A * np.ldexp(1.0, columns)  # the usual case, in a tenth of the time


def _largest(A: Any, axis: int) -> NDArray[np.float64]:
    """Return the largest magnitude along an axis of a dense or CSR matrix."""
    if is_sparse(A):
        return np.asarray(abs(A).max(axis=axis).toarray(), dtype=np.float64).ravel()
    return np.asarray(np.abs(A).max(axis=axis, initial=0.0))


def _scaled(A: Any) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """Scale columns and extreme rows by powers of two, so that no norm overflows.

    Returns the scaled rows and the exponents taken out of rows and columns. Only rows
    of extreme size are scaled on their own: scaling every row by its largest entry,
    which depends on units, would make the metric depend on them.
    """
    m = A.shape[0]
    columns = _exponents(_largest(A, 0))
    by_row = _exponents(_largest(_shifted(A, np.zeros(m, np.int64), -columns), 1))
    typical = int(np.median(by_row)) if m else 0
    rows = np.where(np.abs(by_row - typical) > EXTREME_ROW_BITS, by_row - typical, 0)
    scaled = _shifted(A, -rows, -columns)
    if not rows.any():
        return scaled, rows, columns
    # Scaling the rows may have left a column small.
    again = _exponents(_largest(scaled, 0))
    return _shifted(scaled, np.zeros(m, np.int64), -again), rows, columns + again


def _unscaled(
    w: NDArray[np.float64], columns: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Take the column exponents out of weights, over a common power of two if need be.

    Weights too small beside the largest for any double become zero.
    """
    fraction, exponent = np.frexp(w)
    exponent = exponent.astype(np.int64) - columns
    used = exponent[w != 0]
    if used.size and (used.max() > SAFE_EXPONENT or used.min() < -SAFE_EXPONENT):
        exponent -= used.max()
    return np.asarray(np.ldexp(fraction, np.maximum(exponent, -5000)))


def _row_lengths(
    length: NDArray[np.float64], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the lengths of rows before scaling, kept within the range of doubles."""
    return np.ldexp(length, np.clip(rows, -SAFE_EXPONENT, SAFE_EXPONENT))


def _dense_coordinates(A: NDArray[np.float64]) -> Coordinates:
    """Whiten in the column space: by the second moment where that is safe, else QR."""
    m, d = A.shape
    if m == 0 or d == 0:
        return Coordinates(np.zeros((m, 0)), np.ones(m), lambda u: np.zeros(d))
    scaled, rows, columns = _scaled(A)
    if m * d**2 > MOMENT_FROM:
        coordinates = _moment_coordinates(scaled, rows, columns)
        if coordinates is not None:
            return coordinates
    return _qr_coordinates(scaled, rows, columns)


def _moment_coordinates(
    scaled: NDArray[np.float64], rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> Coordinates | None:
    """Whiten by a pivoted Cholesky factor of ``A^T A``: far quicker than a QR.

    It squares the condition, so None where a pivot is neither clearly zero nor clearly
    not.
    """
    from scipy.linalg import lapack, solve_triangular

    length = np.sqrt(np.einsum("ij,ij->j", scaled, scaled))
    columns = columns + _exponents(length)
    unit_columns = np.ldexp(scaled, -_exponents(length))
    moment = unit_columns.T @ unit_columns
    factor, pivots, rank, _ = lapack.dpstrf(moment, tol=-1.0)
    steps = np.diag(factor) ** 2
    rank = int(np.count_nonzero(steps[:rank] > CLEARLY_POSITIVE * steps[0]))
    chosen = pivots[:rank] - 1
    triangle = np.triu(factor[:rank, :rank])
    if _left_over(moment, triangle, chosen) > CLEARLY_ZERO * steps[0]:
        return None
    unit, row_length = _normalised(_divided(unit_columns[:, chosen], triangle))

    def to_weights(u: NDArray[np.float64]) -> NDArray[np.float64]:
        w = np.zeros(scaled.shape[1])
        w[chosen] = solve_triangular(triangle, u)
        return _unscaled(w, columns)

    return Coordinates(unit, _row_lengths(row_length, rows), to_weights)


def _left_over(
    moment: NDArray[np.float64], triangle: NDArray[np.float64], chosen: NDArray[np.intp]
) -> float:
    """Return the largest square that the chosen columns leave of the other ones."""
    from scipy.linalg import solve_triangular

    others = np.setdiff1d(np.arange(len(moment)), chosen)
    if others.size == 0:
        return 0.0
    explained = solve_triangular(triangle, moment[np.ix_(chosen, others)], trans="T")
    squares = np.diag(moment)[others] - np.einsum("ij,ij->j", explained, explained)
    return float(np.abs(squares).max())


def _divided(
    rows: NDArray[np.float64], triangle: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``rows @ inverse(triangle)``, the triangle upper, in C order."""
    from scipy.linalg import blas

    # In Fortran's eyes rows is its transpose, so this solves in place of one copy.
    solved = blas.dtrsm(1.0, triangle, np.ascontiguousarray(rows).T, trans_a=1)
    return np.ascontiguousarray(solved.T)


def _qr_coordinates(
    scaled: NDArray[np.float64], rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> Coordinates:
    """Whiten by a pivoted QR of the scaled rows: ``A T = Q``."""
    from scipy import linalg

    d = scaled.shape[1]
    Q, R, pivots = linalg.qr(scaled, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.count_nonzero(diagonal > RANK_TOLERANCE * diagonal[0]))
    triangle = R[:rank, :rank]
    unit, length = _normalised(np.ascontiguousarray(Q[:, :rank]))

    def to_weights(u: NDArray[np.float64]) -> NDArray[np.float64]:
        w = np.zeros(d)
        w[pivots[:rank]] = linalg.solve_triangular(triangle, u)
        return _unscaled(w, columns)

    return Coordinates(unit, _row_lengths(length, rows), to_weights)


def _gram_coordinates(A: Any) -> Coordinates:
    """Whiten in the row space: rows become those of U in ``A A^T = U diag(s) U^T``."""
    scaled, rows, columns = _scaled(A)
    gram = scaled @ scaled.T
    gram = as_dense(gram)
    values, vectors = np.linalg.eigh(gram)
    kept = values > GRAM_TOLERANCE * max(values[-1], np.finfo(float).tiny)
    basis, kept_values = vectors[:, kept], values[kept]
    unit, length = _normalised(np.ascontiguousarray(basis))

    def to_weights(u: NDArray[np.float64]) -> NDArray[np.float64]:
        # basis^T (A w) = u  for  w = A^T basis diag(1 / s) u.
        w = np.asarray(scaled.T @ (basis @ (u / kept_values)))
        return _unscaled(w, columns)

    return Coordinates(unit, _row_lengths(length, rows), to_weights)


def _diagonal_coordinates(A: Any) -> Coordinates:
    """Bring columns, then rows, to unit length; sparse stays sparse."""
    from scipy import sparse

    scaled, rows, columns = _scaled(A)
    squares = scaled.multiply(scaled) if is_sparse(scaled) else scaled**2
    width = np.sqrt(np.asarray(squares.sum(axis=0), dtype=np.float64).ravel())
    to_columns = 1.0 / np.where(width > 0, width, 1.0)
    if is_sparse(scaled):
        moved = sparse.csr_matrix(scaled.multiply(to_columns))
        length = np.sqrt(np.asarray(moved.multiply(moved).sum(axis=1)).ravel())
        length[length == 0] = 1.0
        unit: Any = sparse.csr_matrix(moved.multiply(1.0 / length[:, None]))
    else:
        unit, length = _normalised(scaled * to_columns)

    def to_weights(u: NDArray[np.float64]) -> NDArray[np.float64]:
        return _unscaled(to_columns * u, columns)

    return Coordinates(unit, _row_lengths(length, rows), to_weights, is_diagonal=True)
