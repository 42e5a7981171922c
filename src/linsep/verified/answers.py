"""What a reduction proves, as one direction and as a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    rows: Rows,
    index: NDArray[np.intp],
    direction: SparseVector,
    rest: SparseVector,
) -> SparseVector:
    """Add directions so that the first decides on some rows."""
    if rest.columns.size == 0:
        return direction
    both = np.union1d(direction.columns, rest.columns)
    block = rows.take(index)[:, both]
    first, second = (_entries(vector, both) for vector in (direction, rest))
    scale = float(np.abs(second).max())
    falling, leading = block @ (second / scale), block @ first
    with np.errstate(divide="ignore"):
        needed = float((-falling / leading).max(initial=0.0)) * scale
    power = max(0, int(np.frexp(needed)[1]) + 1) if np.isfinite(needed) else 64
    unsigned = rows_from(block, np.ones(index.size, dtype=np.int8), False)
    while True:
        found = combination([(1 << power, direction), (1, rest)])
        inside = np.zeros(both.size, dtype=object)
        inside[np.searchsorted(both, found.columns)] = found.values
        signs, _ = signs_of(unsigned, inside.tolist(), np.arange(index.size))
        if (signs > 0).all():
            return found
        power += 1 + power // 4


def _entries(vector: SparseVector, columns: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the entries of a vector in some columns, rounded."""
    entries = np.zeros(columns.size)
    entries[np.searchsorted(columns, vector.columns)] = [
        float(v) for v in vector.values
    ]
    return entries
