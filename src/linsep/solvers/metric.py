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
serve: pivoted QR of the rows, and for wide rows a pivoted Cholesky factor of their Gram
matrix, where the number of columns never appears. Rows too many and too wide for either
get the diagonal metric, which only takes out the scale of each column; sparse ones then
stay sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.rows import as_dense, is_sparse
from linsep.rows._sweeps import centred_rows
from linsep.solvers._factors import divided, orthonormal, packed
from linsep.solvers.diagonal_metric import normalised, unit_columns
from linsep.solvers.gram_factor import clear_factor, pivoted_cholesky
from linsep.solvers.pieces import Check, divided_by, gram_of, no_check, second_moment
from linsep.solvers.scaling import Balanced, exponents

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
MOMENT_FROM = 1_000_000

Largest = Floats | None


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
    scale: Floats
    to_weights: Callable[[Floats], Floats]
    is_diagonal: bool = False

    @property
    def rank(self) -> int:
        """Number of coordinates: the numerical rank of the rows."""
        return int(self.rows.shape[1])


def whiten(
    A: Any, *, constant: bool = False, diagonal: bool = False, check: Check = no_check
) -> Coordinates:
    """Return the coordinates of the metric ``H_0`` for signed rows.

    Parameters
    ----------
    A : ndarray or csr_matrix of shape (m, d)
        Signed rows.
    constant : bool, default=False
        Whether the last column is the signed constant. Then dense features are centred
        first: the metric is the same, but features far from zero lose no digits and
        constant ones get no weight beside the intercept. In the diagonal metric it is
        given a good share of the length of a row.
    diagonal : bool, default=False
        Whether the metric is to be diagonal, as it is beyond `MOST_COORDINATES`.
    check : callable, default=no_check
        Called between steps; raises to end them.

    Returns
    -------
    Coordinates
        With ``rank <= min(m, d)`` columns.
    """
    m, d = A.shape
    check()
    # Scaling may lose what is far below the rest; what overflows is looked at.
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        diagonal = diagonal or min(m, d) > MOST_COORDINATES
        if constant and not is_sparse(A) and m and d > 1:
            return _centred(A, check, diagonal)
        return _coordinates(A, check, diagonal, constant)


def _coordinates(
    A: Any, check: Check, diagonal: bool, constant: bool, largest: Largest = None
) -> Coordinates:
    """Whiten the rows as they are: in place, where the columns' `largest` is given."""
    m, d = A.shape
    if diagonal:
        return Coordinates(*unit_columns(A, constant, largest), is_diagonal=True)
    if d > WIDE * m:
        return _gram_coordinates(A, check, largest)
    return _dense_coordinates(as_dense(A), check, largest)


def _centred(A: Floats, check: Check, diagonal: bool) -> Coordinates:
    """Whiten ``s_i (x_i - c, 1)`` in place of ``s_i (x_i, 1)``, c the mean of x."""
    signs = A[:, -1]
    centre = (A.T @ signs)[:-1] / len(A)
    centre[~np.isfinite(centre)] = 0.0
    moved, largest = np.empty(A.shape), np.zeros(A.shape[1])
    centred_rows(np.ascontiguousarray(A), centre, moved, largest)
    if not np.isfinite(largest).all():  # at the end of the doubles: as they are
        return _coordinates(A, check, diagonal, constant=True)
    check()
    inner = _coordinates(moved, check, diagonal, True, largest)

    def to_weights(u: Floats) -> Floats:
        w = inner.to_weights(u)
        w[-1] -= centre @ w[:-1]
        return w

    return replace(inner, to_weights=to_weights)


def rewhiten(coordinates: Coordinates, weights: Floats) -> Coordinates:
    """Change to the metric ``H = sum_i q_i b_i b_i^T`` of the present unit rows.

    Parameters
    ----------
    coordinates : Coordinates
        The present coordinates.
    weights : ndarray of shape (m,)
        The distribution ``q``. Mixed half and half with the uniform one, so that no
        direction of the row space is lost.
    """
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
    unit, length = normalised(divided(rows, triangle))

    def to_weights(u: Floats) -> Floats:
        return coordinates.to_weights(_solved(triangle, u))

    return Coordinates(unit, coordinates.scale * length, to_weights)


def _dense_coordinates(A: Floats, check: Check, largest: Largest = None) -> Coordinates:
    """Whiten in the column space: by the second moment where that is safe, else QR."""
    m, d = A.shape
    if m == 0 or d == 0:
        return Coordinates(np.zeros((m, 0)), np.ones(m), lambda u: np.zeros(d))
    scaled = Balanced.of(A, largest)
    if m * d**2 > MOMENT_FROM:
        coordinates = _moment_coordinates(scaled, check)
        if coordinates is not None:
            return coordinates
    return _qr_coordinates(scaled)


def _moment_coordinates(scaled: Balanced, check: Check) -> Coordinates | None:
    """Whiten by a pivoted Cholesky factor of ``A^T A``: far quicker than a QR.

    It squares the condition, so None where a pivot is neither clearly zero nor clearly
    not.
    """
    moment = second_moment(scaled.values, check)
    columns = exponents(np.sqrt(moment.diagonal()))
    check()
    factor = clear_factor(np.ldexp(moment, -columns - columns[:, None]))
    if factor is None:
        return None
    rows, chosen = factor
    check()
    triangle = np.ldexp(rows[chosen].T, columns[chosen])
    values = packed(np.ascontiguousarray(scaled.values), chosen)
    return _of_columns(scaled, chosen, triangle, divided_by(values, triangle, check))


def _of_columns(
    scaled: Balanced, chosen: Index, triangle: Floats, rows: Floats
) -> Coordinates:
    """Return the coordinates ``rows``, some columns over a triangle, which are lost."""
    unit, length = normalised(rows)
    scaled = replace(scaled, values=None)  # which may be as large as the data

    def to_weights(u: Floats) -> Floats:
        w = np.zeros(scaled.columns.size)
        w[chosen] = _solved(triangle, u)
        return scaled.weights(w)

    return Coordinates(unit, scaled.lengths(length), to_weights)


def _solved(triangle: Floats, u: Floats) -> Floats:
    """Return ``inverse(triangle) @ u``, the triangle upper."""
    return divided(u, triangle.T, lower=True)


def _qr_coordinates(scaled: Balanced) -> Coordinates:
    """Whiten by a pivoted QR of the scaled rows: ``A T = Q``."""
    Q, triangle, chosen = orthonormal(scaled.values, RANK_TOLERANCE)
    return _of_columns(scaled, chosen, triangle, Q)


def _gram_coordinates(A: Any, check: Check, largest: Largest = None) -> Coordinates:
    """Whiten in the row space: ``A A^T = L L^T``, and the rows of L are whitened.

    Independent rows are then orthonormal: as good as the unit vectors.
    """
    m = A.shape[0]
    scaled = Balanced.of(A, largest)
    gram = gram_of(scaled.values, check)
    to_unit = np.ldexp(1.0, -exponents(np.sqrt(gram.diagonal())))
    check()
    L, pivots = pivoted_cholesky(gram * to_unit * to_unit[:, None], GRAM_TOLERANCE)
    L /= to_unit[:, None]
    triangle = L[pivots]
    if pivots.size < m:
        inner = _dense_coordinates(L, check)
    else:
        inner = Coordinates(
            np.eye(m), np.ones(m), lambda u: divided(u[pivots], triangle.T)
        )

    def to_weights(u: Floats) -> Floats:
        # A w = L v  for  w = A_p^T beta  with  L_p^T beta = v, p the pivots.
        beta = np.zeros(m)
        beta[pivots] = divided(inner.to_weights(u), triangle, lower=True)
        return scaled.weights(np.asarray(scaled.values.T @ beta))

    return Coordinates(inner.rows, scaled.lengths(inner.scale), to_weights)
