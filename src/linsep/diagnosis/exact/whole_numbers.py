"""A direction in small whole numbers, where the rows leave room for it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from linsep.diagnosis.exact.facial_reduction import Partition
from linsep.proof.signs import all_positive
from linsep.rows import Rows

# Lengths of the numbers tried, in bits.
LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24)


def simplified(rows: Rows, partition: Partition) -> Partition:
    """Round the coordinates of the direction as coarsely as the rows allow.

    Each coordinate keeps the same few leading bits, so units do not matter. Overlapped
    rows stay at zero, because only the coordinates ``u`` of ``w = N u`` are rounded.
    """
    quotient = partition.quotient
    if quotient.dimension < 2 or not any(partition.w):
        return partition
    separated = np.flatnonzero(~partition.overlapped)
    free = _free_columns(partition).tolist()
    u = [Fraction(partition.w[column]) for column in free]
    if quotient.basis is not None:
        u = [x / int(quotient.basis[free[k], k]) for k, x in enumerate(u)]
    for bits in LENGTHS:
        w = quotient.to_weights(_leading_bits(u, bits))
        if all_positive(rows, w, partition.working) and all_positive(
            rows, w, separated
        ):
            return replace(partition, w=w)
    return partition


def _leading_bits(values: list[Fraction], bits: int) -> list[int]:
    """Round each number to so many bits; all times one power of two, in integers."""
    exponents, mantissas = [], []
    for value in values:
        exponent = value.numerator.bit_length() - value.denominator.bit_length()
        if abs(value) >= Fraction(2) ** exponent:
            exponent += 1
        exponents.append(exponent - bits)
        mantissas.append(round(value / Fraction(2) ** (exponent - bits)))
    lowest = min(exponents)
    return [
        mantissa << (exponent - lowest)
        for mantissa, exponent in zip(mantissas, exponents, strict=True)
    ]


def _free_columns(partition: Partition) -> np.ndarray:
    """Return the columns in which ``w = N u`` shows the coordinates themselves."""
    quotient = partition.quotient
    if quotient.basis is None:
        return quotient.kept
    # The basis is diagonal on its free columns: one non-zero entry in their rows,
    # each in a column of its own.
    filled = np.array([[value != 0 for value in row] for row in quotient.basis])
    single = np.flatnonzero(filled.sum(axis=1) == 1)
    chosen: dict[int, int] = {}
    for column in single:
        chosen.setdefault(int(np.argmax(filled[column])), int(column))
    return np.array([chosen[k] for k in range(quotient.dimension)], dtype=np.intp)
