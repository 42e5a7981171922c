"""Exact integers as doubles: where they are rounded, and what that loses.

The way back from `linsep.proof.exact`; what doubles say of integers is always settled
by integers where rounding leaves a doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from linsep.arrays import Floats, Mask
from linsep.proof.exact import IntegerArray

SMALLEST_NORMAL = float(np.finfo(np.float64).smallest_normal)


def doubles_from(integers: Sequence[int]) -> Floats:
    """Return integers divided by a power of two and rounded to doubles.

    The largest magnitude lands in [1/2, 1]. Every entry is correct to one unit
    roundoff, except that what falls under the smallest subnormal becomes 0.

    Examples
    --------
    >>> doubles_from([1 << 2000, -(1 << 1998), 0]).tolist()
    [0.5, -0.125, 0.0]
    """
    largest = max((abs(int(value)).bit_length() for value in integers), default=0)
    scale = 1 << largest
    # Division of Python integers rounds correctly at any size.
    return np.array([int(value) / scale for value in integers], dtype=np.float64)


def is_lost(floats: Floats, integers: Sequence[int]) -> Mask:
    """Tell which integers are too small or too large for the doubles of them.

    A double below the normal range may be off by more than its last place.
    """
    sizes = np.abs(floats)
    lost = ~((sizes >= SMALLEST_NORMAL) & (sizes < np.inf))
    lost[lost] = [integers[j] != 0 for j in np.flatnonzero(lost).tolist()]
    return lost


def scale_of(floats: Floats, integers: Sequence[int]) -> Fraction:
    """Return what integers are to be multiplied by to be the doubles of them.

    Read off the largest, so right up to its rounding; 1 if all are zero.
    """
    if not any(integers):
        return Fraction(1)
    largest = max(range(len(integers)), key=lambda j: abs(integers[j]))
    return Fraction(float(floats[largest])) / integers[largest]


def row_bits(values: IntegerArray) -> list[int]:
    """Return, for each row of integers, the bit length of its largest magnitude."""
    if values.dtype != object:
        largest = np.abs(values).max(axis=1, initial=0)
        return [int(value).bit_length() for value in largest]
    return [max((abs(v).bit_length() for v in row), default=0) for row in values]


def scaled_doubles(values: IntegerArray) -> Floats:
    """Round integers to doubles, each row divided by a power of two just above it."""
    bits = row_bits(values)
    if values.dtype != object:
        floats = values.astype(np.float64)
        return np.asarray(np.ldexp(floats, -np.array(bits)[:, np.newaxis]))
    scales = np.array([1 << b for b in bits], dtype=object)[:, np.newaxis]
    return np.asarray(values / scales, dtype=np.float64)
