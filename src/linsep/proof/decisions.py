"""Decision values whose signs are exact: which side of a hyperplane a row lies on.

A floating-point value settles its own sign where it is larger than its rigorous error
bound (see `linsep.rows.protocol`); elsewhere, and where a product overflowed, the value
is computed exactly and rounded once.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.proof.exact import IntegerRows, integers_from
from linsep.rows import as_dense
from linsep.rows.protocol import SMALLEST_SUBNORMAL, error_factor

# Rows made exact at a time.
ROWS_AT_A_TIME = 1000


def decisions(
    X: Any, coef: NDArray[np.float64], intercept: float
) -> NDArray[np.float64]:
    """Return ``x_i . coef + intercept`` with exact signs, for doubles as they are.

    Parameters
    ----------
    X : ndarray or sparse CSR matrix of shape (m, n_features)
        Finite rows.
    coef : ndarray of shape (n_features,)
    intercept : float

    Returns
    -------
    ndarray of shape (m,)
        Never of the wrong sign, and zero only where the exact value is.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1e200, -1e200], [1.0, -1.0]])
    >>> decisions(X, np.array([1e200, 1e200]), -1.0).tolist()
    [-1.0, -1.0]
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        values = np.asarray(X @ coef, dtype=np.float64).ravel() + intercept
        sizes = np.asarray(abs(X) @ np.abs(coef), dtype=np.float64).ravel()
        width = coef.size + 1
        error = error_factor(width) * (sizes + abs(intercept))
        settled = np.abs(values) > error + width * SMALLEST_SUBNORMAL
    doubtful = np.flatnonzero(~(settled & np.isfinite(sizes)))
    for start in range(0, doubtful.size, ROWS_AT_A_TIME):
        part = doubtful[start : start + ROWS_AT_A_TIME]
        values[part] = _exact(X[part], coef, intercept)
    return values


def _exact(X: Any, coef: NDArray[np.float64], intercept: float) -> list[float]:
    """Return the values exactly, each rounded once."""
    dense = np.asarray(as_dense(X), dtype=np.float64)
    rows = IntegerRows.from_floats(np.c_[dense, np.ones(len(dense))])
    w = np.append(coef, intercept)
    integers = integers_from(w)
    scale = next(
        (Fraction(float(a)) / b for a, b in zip(w, integers, strict=True) if b),
        Fraction(1),
    )
    products = rows.products(integers)
    return [
        _rounded(int(product) * Fraction(2) ** int(exponent) * scale)
        for product, exponent in zip(products, rows.exponents, strict=True)
    ]


def _rounded(value: Fraction) -> float:
    """Round to a double of the same sign: no overflow, and zero only for zero."""
    try:
        nearest = float(value)
    except OverflowError:
        nearest = float("inf")
    largest = float(np.finfo(np.float64).max)
    size = min(max(abs(nearest), SMALLEST_SUBNORMAL), largest) if value else 0.0
    return -size if value < 0 else size
