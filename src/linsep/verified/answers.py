"""What a reduction proves, as one direction and as a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.proof.certificate import Certificate
from linsep.proof.signs import signs_of
from linsep.rows import Rows, rows_from
from linsep.verified.reduction import Reduced
from linsep.verified.vectors import SparseVector, combination


def ordered_certificate(
    rows: Rows, classes: Any, reduced: Reduced, sign: int = 1
) -> Certificate:
    """Certify a reduction that is proved, of these rows or (-1) of their negatives."""
    columns, space = reduced.columns, reduced.space
    return Certificate.for_order(
        rows,
        classes,
        directions=[
            [(j, sign * value) for j, value in direction.items()]
            for direction in reduced.directions
        ],
        dependent=[]
        if space is None
        else [vector.placed(columns).items() for vector in space.basis],
        free=[] if space is None else columns[space.free].tolist(),
        eliminated=reduced.eliminated.tolist(),
        point=[]
        if reduced.point is None
        else [(j, sign * reduced.point[j]) for j in columns.tolist()],
    )


def combined(rows: Rows, reduced: Reduced) -> SparseVector:
    """Make one direction, positive on all separated rows and zero on the others.

    From the last direction to the first, each counts so much that the rows it
    separates stay on their side.
    """
    whole = SparseVector.from_items({})
    for k in range(len(reduced.directions) - 1, -1, -1):
        direction = reduced.directions[k]
        index = np.flatnonzero(reduced.stage == k)
        whole = _outweighed(rows, index, direction, whole)
    return whole


def _outweighed(
    rows: Rows, index: Index, direction: SparseVector, rest: SparseVector
) -> SparseVector:
    """Add directions so that the first decides on some rows."""
    if rest.columns.size == 0:
        return direction
    both = np.union1d(direction.columns, rest.columns)
    block = rows.take(index)[:, both]
    (first, bits), (second, more) = (_scaled(v, both) for v in (direction, rest))
    # What overflows or is lost here is made up for below.
    with np.errstate(all="ignore"):
        needed = float((-(block @ second) / (block @ first)).max(initial=0.0))
    power = int(np.frexp(needed)[1]) + 1 + more - bits if np.isfinite(needed) else 64
    power = max(0, power)
    unsigned = rows_from(block, np.ones(index.size, dtype=np.int8), False)
    while True:
        found = combination([(1 << power, direction), (1, rest)])
        inside = np.zeros(both.size, dtype=object)
        inside[np.searchsorted(both, found.columns)] = found.values
        signs, _ = signs_of(unsigned, inside.tolist(), np.arange(index.size))
        if (signs > 0).all():
            return found
        power += 1 + power // 4


def _scaled(vector: SparseVector, columns: Index) -> tuple[Floats, int]:
    """Return the entries in some columns over a power of two, rounded, and its log."""
    bits = max(value.bit_length() for value in vector.values)
    entries = np.zeros(columns.size)
    entries[np.searchsorted(columns, vector.columns)] = [
        value / (1 << bits) for value in vector.values
    ]
    return entries, bits
