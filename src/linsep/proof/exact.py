"""Doubles as exact integers: the one place where floats stop being approximate.

Every finite double is ``mantissa * 2**exponent`` with integers on both sides. A row
multiplied by a positive number separates the same way, so each row is multiplied by
the power of two that makes its entries integers with no common factor of two. No
bit is lost, from the smallest subnormal to the largest double, and everything above
this module is integer arithmetic.

A vector is handed about as a list of Python integers: it has no size limit, and a
positive common factor does not change what a vector separates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linsep.arrays import Floats, Signs
from linsep.rows import as_dense, is_sparse

# Integers as numpy holds them: int64 where they fit, else Python integers.
IntegerArray = NDArray[Any]

# int64 holds magnitudes below 2**63; one bit is kept spare.
INT64_BITS = 62
# Doubles hold every integer up to this.
_WHOLE = 2**53
# An exponent above every double's, given to zeros so that they never set the scale.
NO_EXPONENT = np.iinfo(np.int64).max


@dataclass(frozen=True)
class IntegerRows:
    """Rows as exact integers: row ``i`` is ``2**exponents[i] * values[i]``.

    Attributes
    ----------
    values : ndarray of shape (m, d), int64 or object
        Integers; the entries of a row have no common factor of two.
    exponents : ndarray of shape (m,), int64
        The power of two taken out of each row, 0 for a row of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> rows = IntegerRows.from_floats(np.array([[0.5, 3.0], [0.0, 2.0**-1074]]))
    >>> rows.values.tolist(), rows.exponents.tolist()
    ([[1, 6], [0, 1]], [-1, -1074])
    """

    values: IntegerArray
    exponents: NDArray[np.int64]

    @classmethod
    def from_floats(cls, A: Any) -> IntegerRows:
        """Read rows of finite doubles, dense or sparse of shape (m, d), without loss.

        Raises
        ------
        ValueError
            If `A` is not two-dimensional or holds an infinity or a NaN.
        """
        dense = np.asarray(as_dense(A), dtype=np.float64)
        if dense.ndim != 2:
            raise ValueError(f"A must have two dimensions, got {dense.ndim}")
        m, d = dense.shape
        whole = _whole_rows(dense)
        if whole is not None:
            return cls(*whole)
        values, exponents = _integer_entries(dense.ravel(), np.arange(m + 1) * d)
        return cls(values.reshape(m, d), exponents)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        m, d = self.values.shape
        return m, d

    def take(self, index: ArrayLike) -> IntegerRows:
        """Return the named rows, in the order named."""
        chosen = np.asarray(index, dtype=np.intp)
        return IntegerRows(self.values[chosen], self.exponents[chosen])

    def products(self, w: Sequence[int]) -> IntegerArray:
        """Return ``values @ w`` exactly, shape (m,)."""
        return integer_product(self.values, w)


def integer_product(values: IntegerArray, w: Sequence[int]) -> IntegerArray:
    """Return the exact product of integers of shape (m, d) with an integer vector."""
    # The sum of |w| bounds both the products and, for rows of zeros, the entries of w.
    bound = max(1, magnitude(values)) * sum(map(abs, w))
    if values.dtype != object and bound < 1 << 63:
        return np.asarray(values @ np.array(w, dtype=np.int64))
    # Dot products of Python integers; an empty sum is the integer 0.
    return np.asarray(values.astype(object) @ python_vector(w), dtype=object)


def exact_values(
    A: Any, w: Sequence[int], scale: Fraction = Fraction(1)
) -> list[Fraction]:
    """Return every ``scale a_i . w`` exactly, for rows of shape (m, d)."""
    rows = IntegerRows.from_floats(A)
    scales = {int(e): scale * Fraction(2) ** int(e) for e in set(rows.exponents)}
    return [
        int(product) * scales[int(e)]
        for product, e in zip(rows.products(w), rows.exponents, strict=True)
    ]


def exact_signs(A: Any, w: Sequence[int]) -> Signs:
    """Return the sign of every ``a_i . w``, without any rounding.

    Parameters
    ----------
    A : ndarray or sparse CSR matrix of shape (m, d), float64
        The rows; every entry finite.
    w : sequence of d integers

    Returns
    -------
    ndarray of shape (m,), int8
        -1, 0 or 1 for each row.
    """
    whole = _whole_products(A, w)
    if whole is not None:
        return _signs(whole)
    if not is_sparse(A):
        used = [j for j, value in enumerate(w) if value]
        rows = IntegerRows.from_floats(A if len(used) == len(w) else A[:, used])
        return _signs(rows.products([w[j] for j in used]))
    values, _ = _integer_entries(A.data, A.indptr)
    terms = values.astype(object) * python_vector(w)[A.indices]
    # reduceat cannot sum an empty run, so rows without entries are left at 0.
    sums = np.zeros(A.shape[0], dtype=object)
    filled = np.flatnonzero(np.diff(A.indptr))
    sums[filled] = np.add.reduceat(terms, A.indptr[filled])
    return _signs(sums)


def _whole_products(A: Any, w: Sequence[int]) -> Floats | None:
    """Return ``A w`` where doubles compute it without rounding, else None.

    Sums of integers are exact in any order while no partial sum reaches 2^53.
    """
    if any(abs(value) > _WHOLE for value in w):
        return None
    weights = np.array([float(value) for value in w])
    entries = A.data if is_sparse(A) else A
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.asarray(abs(A) @ np.abs(weights)).ravel()
        if not (sizes < _WHOLE).all() or (entries != np.rint(entries)).any():
            return None
    return np.asarray(A @ weights).ravel()


def python_vector(w: Sequence[int]) -> IntegerArray:
    """Return integers as an array of Python integers."""
    vector = np.empty(len(w), dtype=object)
    vector[:] = [int(value) for value in w]
    return vector


def integers_from(w: ArrayLike) -> list[int]:
    """Return doubles, shape (d,), as integers times a positive power of two.

    Examples
    --------
    >>> integers_from([0.75, -1.0])
    [3, -4]
    """
    flat = np.asarray(w, dtype=np.float64).ravel()
    values, _ = _integer_entries(flat, np.array([0, flat.size]))
    return [int(value) for value in values]


def magnitude(values: IntegerArray) -> int:
    """Return the largest magnitude among integers, 0 for none."""
    return 0 if values.size == 0 else int(max(values.max(), -values.min()))


def primitive(integers: Sequence[int]) -> list[int]:
    """Divide integers by their greatest common divisor.

    Examples
    --------
    >>> primitive([6, -9, 0])
    [2, -3, 0]
    """
    divisor = max(math.gcd(*integers), 1)
    return [value // divisor for value in integers]


def unscaled(weights: Sequence[int], exponents: NDArray[np.int64]) -> list[int]:
    """Turn weights of scaled rows into weights of the rows as they were given.

    ``sum_i p_i values_i = 0`` is ``sum_i (p_i 2**-exponents_i) a_i = 0``.
    """
    top = int(exponents.max())
    return primitive(
        [p << (top - int(e)) for p, e in zip(weights, exponents, strict=True)]
    )


def _whole_rows(dense: Floats) -> tuple[IntegerArray, NDArray[np.int64]] | None:
    """Do what `_integer_entries` does for rows of whole numbers, three times as fast.

    None where a number is not whole, or too large to be told from its neighbours.
    """
    if dense.size == 0 or not (np.abs(dense) < _WHOLE).all():
        return None
    values = dense.astype(np.int64)
    if not (values == dense).all():
        return None
    # The lowest bit that is set in any entry of a row, by which all can be divided.
    joined = np.bitwise_or.reduce(values, axis=1)
    zeros = np.frexp((joined & -joined).astype(np.float64))[1] - (joined != 0)
    return values >> zeros[:, np.newaxis], zeros.astype(np.int64)


def _integer_entries(
    flat: Floats, indptr: NDArray[Any]
) -> tuple[IntegerArray, NDArray[np.int64]]:
    """Scale runs ``flat[indptr[i]:indptr[i + 1]]`` to integers, each by its own power.

    Returns the integers, int64 where all of them fit, and the powers.
    """
    if not np.isfinite(flat).all():
        raise ValueError("A must be finite, got an infinity or a NaN")
    fraction, exponent = np.frexp(flat)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    # The lowest set bit is a power of two, which frexp reads off exactly.
    lowest = (mantissa & -mantissa).astype(np.float64)
    held = mantissa != 0
    zeros = np.frexp(lowest)[1] - held
    mantissa >>= zeros
    power = np.where(held, exponent.astype(np.int64) - 53 + zeros, NO_EXPONENT)

    runs = np.diff(indptr)
    filled = np.flatnonzero(runs)
    least = np.full(runs.size, NO_EXPONENT, dtype=np.int64)
    least[filled] = np.minimum.reduceat(power, np.asarray(indptr)[filled])
    shift = held * (power - np.repeat(least, runs))
    least[least == NO_EXPONENT] = 0

    length = np.frexp(np.abs(mantissa).astype(np.float64))[1] + shift
    if (length <= INT64_BITS).all():
        return mantissa << shift, least
    return np.left_shift(mantissa.astype(object), shift.astype(object)), least


def _signs(values: IntegerArray) -> Signs:
    return (values > 0).astype(np.int8) - (values < 0).astype(np.int8)
