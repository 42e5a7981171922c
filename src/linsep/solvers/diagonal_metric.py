"""The diagonal metric: it takes out the scale of each column, and sparse stays sparse.

For rows too many and too wide for a factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import is_sparse
from linsep.solvers.bounds import row_lengths
from linsep.solvers.scaling import Balanced, row_blocks, row_numbers

Floats = NDArray[np.float64]


def unit_columns(A: Any) -> tuple[Any, Floats, Callable[[Floats], Floats]]:
    """Bring columns, then rows, to unit length.

    Returns the rows, their lengths, and what maps weights on these columns to weights
    on those of A.
    """
    scaled = Balanced.of(A)
    values, scaled = scaled.values, replace(scaled, values=None)
    if is_sparse(values):
        unit, length, to_columns = _sparse_units(values)
    else:
        width = np.sqrt(np.square(values).sum(axis=0))
        to_columns = 1.0 / np.where(width > 0, width, 1.0)
        unit, length = normalised(values * to_columns)

    def to_weights(u: Floats) -> Floats:
        return scaled.weights(to_columns * u)

    return unit, scaled.lengths(length), to_weights


def normalised(rows: Floats) -> tuple[Floats, Floats]:
    """Bring rows to unit length in place; return also the lengths, 1 for a zero."""
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    length[length == 0] = 1.0
    rows /= length[:, None]
    return rows, length


def _sparse_units(A: Any) -> tuple[Any, Floats, Floats]:
    """Bring columns, then rows of a CSR matrix to unit length, in place.

    Returns the rows, their lengths, and what the columns were multiplied by.
    """
    width = np.zeros(A.shape[1])
    for _, part in row_blocks(A):
        squares = np.square(A.data[part])
        width += np.bincount(A.indices[part], squares, minlength=width.size)
    to_columns = 1.0 / np.sqrt(np.where(width > 0, width, 1.0))
    for _, part in row_blocks(A):
        A.data[part] *= to_columns[A.indices[part]]
    length = row_lengths(A)
    length[length == 0] = 1.0
    for here, part in row_blocks(A):
        A.data[part] /= length[row_numbers(A, here)]
    return A, length, to_columns
