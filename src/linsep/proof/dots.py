"""Exact dot products of double-precision rows, in integers.

A finite double is ``mantissa * 2^exponent`` with integers, so a dot product of doubles is
an integer times a power of two: no rounding, no overflow, subnormals included.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


def split_float(
    values: NDArray[np.float64],
) -> tuple[list[int], list[int]]:
    """Return integers with ``values = mantissa * 2^exponent`` exactly."""
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    return mantissa.tolist(), (exponent.astype(np.int64) - 53).tolist()


def integer_weights(w: NDArray[np.float64]) -> tuple[tuple[int, ...], int]:
    """Return integers and one exponent with ``w = integers * 2^exponent`` exactly."""
    mantissas, exponents = split_float(np.asarray(w, dtype=np.float64))
    used = [e for m, e in zip(mantissas, exponents, strict=True) if m]
    lowest = min(used, default=0)
    integers = tuple(
        m << (e - lowest) if m else 0
        for m, e in zip(mantissas, exponents, strict=True)
    )
    return integers, lowest


def rounded_weights(integers: Sequence[int]) -> tuple[NDArray[np.float64], int]:
    """Return the nearest doubles to ``integers * 2^exponent``, largest near 1.

    An entry too small beside the largest to be a normal double becomes zero.
    """
    exponent = -max((abs(value).bit_length() for value in integers), default=0)
    scale = 1 << -exponent
    w = np.array([float(Fraction(value, scale)) for value in integers])
    w[np.abs(w) < np.finfo(np.float64).tiny] = 0.0
    return w, exponent


def exact_dots(rows: Any, integers: Sequence[int], exponent: int = 0) -> list[Fraction]:
    """Return ``a_i . w`` exactly for each row, with ``w = integers * 2^exponent``.

    Parameters
    ----------
    rows : ndarray or csr_matrix of shape (m, d)
        Rows of finite doubles.
    integers : sequence of int, length d
        The weights, up to the power of two.
    exponent : int, default=0
        That power.
    """
    if hasattr(rows, "tocsr"):
        matrix = rows.tocsr()
        entries = [
            (matrix.indices[start:stop].tolist(), matrix.data[start:stop])
            for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
        ]
    else:
        columns = list(range(rows.shape[1]))
        entries = [(columns, row) for row in rows]
    return [_dot(columns, values, integers, exponent) for columns, values in entries]


def _dot(
    columns: list[int],
    values: NDArray[np.float64],
    integers: Sequence[int],
    exponent: int,
) -> Fraction:
    """Return one exact dot product."""
    mantissas, exponents = split_float(np.asarray(values, dtype=np.float64))
    terms = [
        (mantissa * integers[column], power)
        for column, mantissa, power in zip(columns, mantissas, exponents, strict=True)
        if mantissa and integers[column]
    ]
    lowest = min((power for _, power in terms), default=0)
    total = sum(product << (power - lowest) for product, power in terms)
    return total * Fraction(2) ** (lowest + exponent)


def round_down(value: Fraction) -> float:
    """Return a double not above ``value``; for a value past every double, the last."""
    try:
        nearest = float(value)
    except OverflowError:
        return float(np.copysign(np.finfo(np.float64).max, value.numerator))
    return nearest if Fraction(nearest) <= value else float(np.nextafter(nearest, -np.inf))
