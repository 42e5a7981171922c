"""The diagonal metric: it takes out the scale of each column, and sparse stays sparse.

For rows too many and too wide for a factorisation, and for what is tried before one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from linsep.arrays import Floats
from linsep.rows import is_sparse
from linsep.solvers._sparse_rows import to_unit_length
from linsep.solvers.descent import constant_beside
from linsep.solvers.scaling import Balanced, row_squares

# Rounds are tried in this metric before sparse rows are factored where so many cost
# this share of it: easy margins take a dozen or two.
TRY_SHARE = 0.15
LEAST_TRIED, MOST_TRIED = 16, 100
# What a multiply-add of a round costs in those of a factorisation, since sparse rows
# are gathered entry by entry; and one of their inner products.
SPARSE_ROUND, SPARSE_PRODUCT = 14, 7


def rounds_worth_a_try(A: Any) -> int:
    """Return how many rounds in this metric cost little beside factoring sparse rows.

    0 where so few are worth it that they would seldom find a separator.
    """
    m, d = A.shape
    a_round = 2 * (A.nnz + m + d) * SPARSE_ROUND
    by_products = m * A.nnz * SPARSE_PRODUCT + m**3 // 3
    factoring = min(m * d * min(m, d), by_products)
    n_rounds = min(int(TRY_SHARE * factoring / max(1, a_round)), MOST_TRIED)
    return n_rounds if n_rounds >= LEAST_TRIED else 0


def unit_columns(
    A: Any, constant: bool = False, largest: Floats | None = None
) -> tuple[Any, Floats, Callable[[Floats], Floats]]:
    """Bring columns, then rows, to unit length; the dense `constant`, the last, longer.

    Returns the rows, their lengths, and what maps weights on these columns to weights
    on those of A. With the `largest` magnitude of each column A is changed in place.
    """
    scaled = Balanced.of(A, largest)
    values, scaled = scaled.values, replace(scaled, values=None)
    if is_sparse(values):
        unit, length, to_columns = _sparse_units(values)
    else:
        width = np.sqrt(np.einsum("ij,ij->j", values, values))
        to_columns = 1.0 / np.where(width > 0, width, 1.0)
        if constant:
            to_columns[-1] *= constant_beside(A.shape[1])
        values *= to_columns
        unit, length = normalised(values)

    def to_weights(u: Floats) -> Floats:
        return scaled.weights(to_columns * u)

    return unit, scaled.lengths(length), to_weights


def normalised(rows: Floats) -> tuple[Floats, Floats]:
    """Bring rows to unit length in place; return also the lengths, 1 for a zero."""
    length = np.sqrt(row_squares(rows))
    length[length == 0] = 1.0
    rows /= length[:, None]
    return rows, length


def _sparse_units(A: Any) -> tuple[Any, Floats, Floats]:
    """Bring columns, then rows of a CSR matrix to unit length, in place.

    Returns the rows, their lengths, and what the columns were multiplied by.
    """
    length, to_columns = np.empty(A.shape[0]), np.zeros(A.shape[1])
    to_unit_length(A.data, A.indices, A.indptr, to_columns, length)
    return A, length, to_columns
