"""On which side of a hyperplane a row lies, beyond doubt.

A sign is settled by a dot product in doubles where its rounding error allows
(`linsep.rows.rounding`), and by integer arithmetic elsewhere. Weights are integers, and
so exact; a dot product sees them rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index, Mask, Signs
from linsep.proof.doubles import SMALLEST_NORMAL, doubles_from, is_lost, scale_of
from linsep.proof.exact import (
    IntegerArray,
    exact_signs,
    exact_values,
    integer_product,
    integers_from,
    primitive,
)
from linsep.rows import Rows, rows_from, split
from linsep.rows.rounding import SMALLEST_SUBNORMAL, certain_signs, rounding_error

Weights = Floats | Sequence[int]


def settled_signs(rows: Rows, w: Sequence[int], index: Index) -> tuple[Signs, Floats]:
    """Return the signs of ``a_i . w`` that doubles settle, for the rows named.

    Parameters
    ----------
    rows : Rows of shape (m, d)
    w : sequence of d int
    index : ndarray of shape (k,)

    Returns
    -------
    signs : ndarray of shape (k,), int8
        Exact, or 0 where rounding leaves a doubt.
    relative : ndarray of shape (k,)
        ``(a_i . w) / sum_j |a_ij w_j|``, in [-1, 1]; 0 where it is unknown.
    """
    floats = doubles_from(w)
    products, sizes = rows.margins(floats, index)
    lost, more = is_lost(floats, w), None
    if lost.any():
        # Such a weight is off by at most 2^-1075, far below the normal range.
        more = rows.margins(np.where(lost, SMALLEST_NORMAL, 0.0), index)[1]
    signs = np.empty(index.size, dtype=np.int8)
    for start, stop in split(index.size, rows.shape[1]):
        product, size = products[start:stop], sizes[start:stop]
        error = rounding_error(size, rows.n_terms)
        if more is not None:
            error += more[start:stop]
        signs[start:stop] = certain_signs(product, size, error)
        with np.errstate(divide="ignore", invalid="ignore"):
            product /= size
        product[~((size > 0) & np.isfinite(size))] = 0.0
    return signs, products


def exact_signs_of(rows: Rows, w: Sequence[int], index: Index) -> Signs:
    """Return the exact sign of ``a_i . w`` for the rows named, in integers."""
    signs = np.zeros(index.size, dtype=np.int8)
    for start, stop in split(index.size, rows.shape[1]):
        signs[start:stop] = exact_signs(rows.take(index[start:stop]), w)
    return signs


def signs_of(rows: Rows, w: Sequence[int], index: Index) -> tuple[Signs, Floats]:
    """Return the exact signs of ``a_i . w`` for the rows named, and relative margins.

    As `settled_signs`, with what that leaves in doubt settled in integers.
    """
    signs, relative = settled_signs(rows, w, index)
    doubtful = np.flatnonzero(signs == 0)
    signs[doubtful] = exact_signs_of(rows, w, index[doubtful])
    return signs, relative


def all_positive(rows: Rows, w: Sequence[int], index: Index) -> bool:
    """Tell exactly whether ``a_i . w > 0`` for all rows named."""
    signs, _ = settled_signs(rows, w, index)
    if (signs < 0).any():
        return False
    return bool((exact_signs_of(rows, w, index[signs == 0]) > 0).all())


def row_signs(A: Any, w: Weights) -> Signs:
    """Return the exact sign of ``a_i . w`` for every row of a matrix.

    Parameters
    ----------
    A : ndarray or sparse CSR matrix of shape (m, d), float64
        Finite entries of any magnitude, subnormals included.
    w : ndarray of shape (d,), float64, or sequence of d integers
        Taken at its exact value.

    Returns
    -------
    ndarray of shape (m,), int8
        -1, 0 or 1 for each row.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, -1.0], [1.0, -1.0 - 2**-52]])
    >>> row_signs(A, [1, 1]).tolist()
    [0, -1]
    """
    integers = integers_from(w) if isinstance(w, np.ndarray) else [int(v) for v in w]
    m, d = A.shape
    if len(integers) != d:
        raise ValueError(
            f"w must have one entry per column of A, got {len(integers)}"
            f" for {d} columns"
        )
    rows = rows_from(A, np.ones(m, dtype=np.int8), False)
    return signs_of(rows, integers, np.arange(m))[0]


def vanishing(rows: Rows, basis: IntegerArray | None, index: Index) -> Mask:
    """Return which of the rows named have ``a_i N = 0``, exactly.

    Parameters
    ----------
    rows : Rows of shape (m, d)
    basis : integers of shape (d, q), or None
        ``N``; None is the identity, which only rows of zeros satisfy.
    index : ndarray of shape (k,)

    Returns
    -------
    ndarray of shape (k,), bool
    """
    result = np.empty(index.size, dtype=bool)
    # What overflows is no zero, or left to integers.
    with np.errstate(over="ignore", invalid="ignore"):
        for start, stop in split(index.size, rows.shape[1]):
            result[start:stop] = _vanishing_block(rows.take(index[start:stop]), basis)
    return result


def _vanishing_block(block: Any, basis: IntegerArray | None) -> Mask:
    """Do it for rows in memory, column after column of the basis."""
    if basis is None:
        return np.asarray(np.asarray(abs(block).sum(axis=1)).ravel() == 0)
    left = np.arange(block.shape[0])
    for column in basis.T:
        used = np.flatnonzero(column)
        part = block[left][:, used] if left.size < block.shape[0] else block[:, used]
        left = left[row_signs(part, column[used].tolist()) == 0]
    result = np.zeros(block.shape[0], dtype=bool)
    result[left] = True
    return result


def decisions(
    X: Any, w: Floats, exact: Sequence[int] | None, fit_intercept: bool
) -> Floats:
    """Return ``x_i . w`` (plus the intercept, last in `w`) with exact signs.

    Parameters
    ----------
    X : ndarray or sparse CSR matrix of shape (m, n_features)
        Finite rows as the user gave them, not signed.
    w : ndarray of shape (d,)
        The weights, taken as they are.
    exact : sequence of d int, or None
        Weights that `w` is only the nearest doubles of, up to a power of two.
    fit_intercept : bool

    Returns
    -------
    ndarray of shape (m,)
        Never of the wrong sign, and zero only where the exact value is.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1e200, -1e200], [1.0, -1.0]])
    >>> decisions(X, np.array([1e200, 1e200, -1.0]), None, True).tolist()
    [-1.0, -1.0]
    """
    integers = integers_from(w) if exact is None else exact
    rows = rows_from(X, np.ones(X.shape[0], dtype=np.int8), fit_intercept)
    values, sizes = rows.margins(w)
    error = rounding_error(sizes, rows.n_terms)
    if exact is not None and is_lost(w, exact).any():
        error[:] = np.inf
    doubtful = np.flatnonzero(certain_signs(values, sizes, error) == 0)
    scale = scale_of(w, integers)
    for start, stop in split(doubtful.size, rows.shape[1]):
        part = doubtful[start:stop]
        values[part] = [
            _rounded(value) for value in exact_values(rows.take(part), integers, scale)
        ]
    return values


def _rounded(value: Fraction) -> float:
    """Round to a double of the same sign: no overflow, and zero only for zero."""
    try:
        nearest = float(value)
    except OverflowError:
        nearest = float("inf")
    largest = float(np.finfo(np.float64).max)
    size = min(max(abs(nearest), SMALLEST_SUBNORMAL), largest) if value else 0.0
    return -size if value < 0 else size


def shortened(values: IntegerArray, w: Sequence[int]) -> list[int]:
    """Round `w` as coarsely as ``values @ w > 0`` allows.

    Doubles are tried first, then fixed point with ever more bits, then `w` itself.
    """
    short, bits = integers_from(doubles_from(w)), 53
    while not (integer_product(values, short) > 0).all():
        bits *= 2
        surplus = max(abs(value).bit_length() for value in w) - bits
        if surplus <= 0:
            return primitive(w)
        half = 1 << (surplus - 1)
        short = [(value + half) >> surplus for value in w]
    return primitive(short)
