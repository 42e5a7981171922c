"""The diagonal metric: it takes out the scale of each column, and sparse stays sparse.

For rows too many and too wide for a factorisation, and for a few rounds before one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from linsep.arrays import Floats
from linsep.rows import is_sparse
from linsep.solvers.bounds import row_lengths
from linsep.solvers.scaling import Balanced, row_blocks, row_numbers, row_squares

# Rounds are tried in this metric before a factorisation where so many cost this share
# of it: easy margins take a dozen or two.
TRY_SHARE = 0.15
LEAST_TRIED, MOST_TRIED = 16, 100
# What a multiply-add of a round costs in those of a factorisation: dense rows wait for
# memory, sparse ones are gathered entry by entry; and one of their inner products.
DENSE_ROUND, SPARSE_ROUND, SPARSE_PRODUCT = 4, 14, 7


def rounds_worth_a_try(A: Any) -> int:
    """Return how many rounds in this metric cost little beside factoring the rows.

    0 where so few are worth it that they would seldom find a separator.
    """
    m, d = A.shape
    n_entries = A.size  # those held, of a sparse matrix
    a_round = 2 * n_entries * DENSE_ROUND
    factoring = m * d * min(m, d)
    if is_sparse(A):
        a_round = 2 * (n_entries + m + d) * SPARSE_ROUND
        by_products = m * n_entries * SPARSE_PRODUCT + m**3 // 3
        factoring = min(factoring, by_products)
    n_rounds = min(int(TRY_SHARE * factoring / max(1, a_round)), MOST_TRIED)
    return n_rounds if n_rounds >= LEAST_TRIED else 0


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
        width = np.sqrt(np.einsum("ij,ij->j", values, values))
        to_columns = 1.0 / np.where(width > 0, width, 1.0)
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
