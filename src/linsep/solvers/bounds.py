"""Margin bounds in the user's own units, safe against rounding.

The margin of a hyperplane is the Euclidean distance from it to the nearest sample, in
the units of the features, with the intercept free. Weak duality: for weights ``p`` on
the rows with equal mass on both classes, every unit ``coef`` and every intercept obey
``min_i y_i (coef . x_i + intercept) <= |sum_i p_i y_i x_i|``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index, Signs
from linsep.rows import is_sparse
from linsep.rows._sweeps import hull_point, length, length_above
from linsep.solvers._sparse_rows import hull_point as sparse_hull_point
from linsep.solvers._sparse_rows import squares_of_rows
from linsep.solvers.scaling import exponent_above, row_squares, shifted

EPS = float(np.finfo(np.float64).eps)
# Below this a product with 1 - EPS is no longer sure to be smaller.
SUBNORMAL = float(np.finfo(np.float64).tiny) / EPS
# Rows the longest of which is between this and its inverse are multiplied as they are,
# and so are weights the largest of which is.
NEAR_ONE, FAR_FROM_ONE = 2.0**100, 2.0**-100


def norm(values: Floats) -> float:
    """Return the Euclidean norm, without overflow or underflow on the way."""
    return length(values)


def row_lengths(rows: Any) -> Floats:
    """Return the Euclidean lengths of rows, dense or sparse."""
    if is_sparse(rows):
        squares = np.empty(rows.shape[0])
        squares_of_rows(rows.data, rows.indptr, squares)
    else:
        squares = row_squares(rows)
    return np.asarray(np.sqrt(squares))


def longest_row(rows: Any) -> float:
    """Return the Euclidean length of the longest row, dense or sparse."""
    return float(row_lengths(rows).max(initial=0.0))


def margin_upper(
    rows: Any,
    weights: Floats,
    fit_intercept: bool,
    index: Index | None = None,
    signs: Signs | None = None,
) -> float:
    """Return an upper bound on the margin of any data that contain these rows.

    Parameters
    ----------
    rows : ndarray or csr_matrix of shape (k, d)
        Signed rows; with an intercept the last column is the signed constant.
    weights : ndarray of shape (k,)
        Non-negative weights, not all zero.
    fit_intercept : bool
        With an intercept the two classes are brought to equal mass first, as the free
        intercept demands; one class alone leaves the margin unbounded (inf).
    index : ndarray of shape (k,), int, or None, default=None
        The rows meant, where `rows` holds others too.
    signs : ndarray of int8 or None, default=None
        Given with features of doubles only: for them to be signed, all of `rows`.
    """
    index = np.arange(rows.shape[0]) if index is None else index
    if is_sparse(rows):
        p = weights / weights.sum()
        sizes, exponent = _of_sparse(rows, p, fit_intercept, index)
    else:
        # Weights near the ends of the doubles are brought to a sum of 1 first.
        largest = norm(weights)
        p = weights if FAR_FROM_ONE < largest < NEAR_ONE else weights / weights.sum()
        rows = np.ascontiguousarray(rows)
        sizes, exponent = hull_point(rows, index, p, fit_intercept, signs), 0
        if sizes is not None and not 1.0 / NEAR_ONE < sizes[2] < NEAR_ONE:
            part = rows[index]
            features = part[:, : part.shape[1] - (fit_intercept and signs is None)]
            exponent = exponent_above(features)
            features[:] = shifted(features, -exponent)
            signs = None if signs is None else signs[index]
            sizes = hull_point(part, None, p, fit_intercept, signs)
    if sizes is None:
        return np.inf
    bound = length_above(*sizes, index.size + rows.shape[1])
    # Relative slack vanishes among subnormals: the last step is rounded up.
    return math.nextafter(_ldexp(bound, exponent), math.inf) if bound else 0.0


def _of_sparse(
    rows: Any, p: Floats, balanced: bool, index: Index
) -> tuple[tuple[float, float, float] | None, int]:
    """Return what `hull_point` does of sparse rows times ``2**-k``, and k."""
    places, d = (rows.indices, rows.indptr), rows.shape[1]
    sizes = sparse_hull_point(rows.data, *places, index, p, d, balanced)
    # Near 1 what underflows is far below the bound on rounding.
    if sizes is None or 1.0 / NEAR_ONE < sizes[2] < NEAR_ONE:
        return sizes, 0
    rows = rows[index]
    data, is_feature = rows.data, rows.indices < d - int(balanced)
    exponent = exponent_above(data[is_feature])
    data[is_feature] = np.ldexp(data[is_feature], -exponent)
    places, every = (rows.indices, rows.indptr), np.arange(index.size)
    return sparse_hull_point(data, *places, every, p, d, balanced), exponent


def margin_lower(slack: float, coef: Floats) -> float:
    """Return the margin of a hyperplane whose smallest ``a_i . w`` is ``slack``.

    ``slack`` is a lower bound already, but for the rounding to the nearest subnormal;
    the division is rounded down. No features at all, or none used, means there is no
    hyperplane: the margin is infinite.
    """
    size = length(coef)
    if FAR_FROM_ONE < size < NEAR_ONE and FAR_FROM_ONE < abs(slack) < NEAR_ONE:
        share = slack / size
        return math.nextafter(share - abs(share) * (coef.size + 8) * EPS, -math.inf)
    largest = float(np.abs(coef).max(initial=0.0))
    if largest == 0.0:
        return np.inf if slack > 0 else 0.0
    if slack == 0.0 or not np.isfinite(slack):
        return float(slack)
    if abs(slack) < SUBNORMAL:
        slack = math.nextafter(slack, -math.inf)
    # Mantissas and exponents apart: only the last step can leave the normal range.
    exponent = math.frexp(largest)[1] if not 1.0 / NEAR_ONE < largest < NEAR_ONE else 0
    mantissa, power = math.frexp(slack)
    share = mantissa / norm(np.ldexp(coef, -exponent) if exponent else coef)
    share -= abs(share) * (coef.size + 8) * EPS
    bound = _ldexp(share, power - exponent)
    return math.nextafter(bound, -math.inf) if bound else min(0.0, slack)


def _ldexp(value: float, exponent: int) -> float:
    """Return ``value 2^exponent``, infinite where it leaves the doubles."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)
