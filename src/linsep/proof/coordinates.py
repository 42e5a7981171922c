"""An exact change of basis: rows in coordinates where rounding is harmless again.

Write every row in terms of independent rows ``b`` of the same data, ``A = A' A_b``.
Then ``A w > 0`` exactly when ``A' v > 0`` with ``v = A_b w``, the rows of the basis
become unit vectors, and what made the columns of ``A`` nearly dependent is gone. The
``A'`` is computed exactly, or in ball arithmetic with enough bits, and only then
rounded. Where ``A`` comes from exponentially small margins, doubles solve ``A'`` at
ease, while on ``A`` they see noise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb_mat, ctx, fmpz_mat

from linsep.arrays import Floats
from linsep.proof import linear
from linsep.proof.exact import IntegerArray

# Exact elimination up to this many bits of result (about a second of work); beyond it
# ball arithmetic is cheaper.
_EXACT_BITS = 3e7
# The relative accuracy asked of ball arithmetic, in bits below the largest entry of a
# row; entries below that are taken as zero.
_ACCURACY = 45
# The exponent of zero: below that of any other number met here.
_FAR_BELOW = -(1 << 40)


def basis_coordinates(
    values: IntegerArray, basis: list[int]
) -> tuple[Floats, list[int]]:
    """Return every row in the coordinates of the basis, rounded to doubles.

    Parameters
    ----------
    values : integers of shape (m, r)
    basis : list of r int
        Independent rows.

    Returns
    -------
    tableau : ndarray of shape (m, r)
        ``values[k] = 2**levels[k] * sum_j tableau[k, j] * values[basis[j]]``, up to
        rounding; the largest magnitude of a row that is not zero lies in [1/2, 2].
    levels : list of m int
        0 for the rows of the basis.

    Examples
    --------
    >>> import numpy as np
    >>> tableau, levels = basis_coordinates(np.array([[1, 1], [0, 1], [6, 7]]), [0, 1])
    >>> tableau.tolist(), levels
    ([[1.0, 0.0], [0.0, 1.0], [1.5, 0.25]], [0, 0, 2])
    """
    m, r = values.shape
    left = linear.integer_matrix(values[basis].T)
    right = linear.integer_column([1] * r)
    _, size = linear.solve(left.transpose(), right)
    if size.bit_length() * float(m) * r > _EXACT_BITS:
        return _ball_columns(values, basis, left)
    # Short numbers come quickest by solving, long ones by elimination.
    if size.bit_length() <= r:
        return _rounded(*_solved_columns(values, basis, left))
    return _rounded(*_exact_columns(values, basis))


def _exact_columns(
    values: IntegerArray, basis: list[int]
) -> tuple[list[list[int]], int]:
    """Eliminate without fractions, the rows of the basis first."""
    m = values.shape[0]
    rest = np.setdiff1d(np.arange(m), basis)
    order = [*basis, *rest.tolist()]
    reduced, denominator, _ = linear.integer_matrix(values[order].T).rref()
    entries = linear.python_integers(reduced)
    columns: list[list[int]] = [[]] * m
    for position, row in enumerate(order):
        columns[row] = entries[position::m]
    return columns, int(denominator)


def _solved_columns(
    values: IntegerArray, basis: list[int], left: fmpz_mat
) -> tuple[list[list[int]], int]:
    """Solve for the other rows together."""
    m, r = values.shape
    rest = np.setdiff1d(np.arange(m), basis)
    right = linear.integer_matrix(values[rest].T)
    numerators, denominator = linear.solve(left, right)
    columns = [[0] * r for _ in range(m)]
    for position, row in enumerate(basis):
        columns[row][position] = denominator
    entries = linear.python_integers(numerators)
    for position, row in enumerate(rest.tolist()):
        columns[row] = entries[position :: rest.size]
    return columns, denominator


def _rounded(columns: list[list[int]], denominator: int) -> tuple[Floats, list[int]]:
    size = denominator.bit_length()
    tableau = np.zeros((len(columns), len(columns[0])))
    levels = []
    for k, column in enumerate(columns):
        largest = max(abs(entry).bit_length() for entry in column)
        level = largest - size if largest else 0
        below = denominator << max(level, 0)
        lift = max(-level, 0)
        tableau[k] = [(entry << lift) / below if entry else 0.0 for entry in column]
        levels.append(level)
    return tableau, levels


def _ball_columns(
    values: IntegerArray, basis: list[int], matrix: fmpz_mat
) -> tuple[Floats, list[int]]:
    """Solve in ball arithmetic, doubling the precision until the balls are small."""
    left = arb_mat(matrix)
    right = arb_mat(linear.integer_matrix(values.T))
    zero = [not row.any() for row in values]
    precision = 128
    while True:
        with ctx.workprec(precision):
            try:
                solution = left.solve(right, algorithm="precond")
            except ZeroDivisionError:
                precision *= 2
                continue
        rounded = _rounded_balls(solution, zero)
        if rounded is not None:
            return rounded
        precision *= 2


def _rounded_balls(
    solution: arb_mat, zero: list[bool]
) -> tuple[Floats, list[int]] | None:
    """Round the midpoints; None if a radius is not far below its row's largest."""
    m, r = len(zero), solution.nrows()
    entries = solution.entries()
    tableau = np.zeros((m, r))
    levels = [0] * m
    for k in range(m):
        if zero[k]:
            continue
        middles = [_dyadic(ball.mid()) for ball in entries[k::m]]
        radii = [_dyadic(ball.rad()) for ball in entries[k::m]]
        level = max(mantissa.bit_length() + power for mantissa, power in middles)
        worst = max(mantissa.bit_length() + power for mantissa, power in radii)
        if worst > level - _ACCURACY:
            return None
        tableau[k] = [
            math.ldexp(mantissa, power - level) for mantissa, power in middles
        ]
        levels[k] = level
    return tableau, levels


def _dyadic(number: Any) -> tuple[int, int]:
    """Return a mantissa of at most 64 bits and the power of two to multiply it by."""
    mantissa, power = (int(part) for part in number.man_exp())
    if mantissa == 0:
        return 0, _FAR_BELOW
    surplus = max(mantissa.bit_length() - 64, 0)
    return mantissa >> surplus, power + surplus
