"""A direction in small whole numbers, where the rows leave room for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linsep.diagnosis.exact.facial_reduction import Partition
from linsep.proof.exact import doubles_from, integers_from
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
    u = doubles_from(partition.w)[_free_columns(partition)]
    if quotient.basis is not None:
        scale = quotient.basis[_free_columns(partition), np.arange(u.size)]
        u = u / scale.astype(np.float64)
    mantissa, exponent = np.frexp(u)
    for bits in LENGTHS:
        short = np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)
        w = quotient.to_weights(integers_from(short))
        if all_positive(rows, w, partition.working) and all_positive(
            rows, w, separated
        ):
            return replace(partition, w=w)
    return partition


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
