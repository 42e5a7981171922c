"""Exact vectors of whole numbers that are zero on most columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np

from linsep.arrays import Index, Signs, no_index
from linsep.proof.exact import python_vector
from linsep.proof.signs import row_signs
from linsep.rows import is_sparse
from linsep.verified._moments import pick_entries

# Sums of whole numbers below this are exact in doubles.
WHOLE = 2.0**53


@dataclass(frozen=True)
class SparseVector:
    """A vector that is zero on all columns but these.

    Attributes
    ----------
    columns : ndarray of int
        Increasing.
    values : tuple of int
        None of them zero.
    """

    columns: Index
    values: tuple[int, ...]

    @classmethod
    def from_items(cls, entries: dict[int, int]) -> SparseVector:
        """Take the entries that are not zero, without a common factor."""
        held = sorted((j, value) for j, value in entries.items() if value)
        divisor = gcd(*(value for _, value in held)) or 1
        return cls(
            np.array([j for j, _ in held], dtype=np.intp),
            tuple(value // divisor for _, value in held),
        )

    @classmethod
    def from_values(cls, values: Iterable[int]) -> SparseVector:
        """Take the values of all columns, without a common factor."""
        return cls.from_items(dict(enumerate(values)))

    def items(self) -> Iterable[tuple[int, int]]:
        """Return the entries that are not zero, with their columns."""
        return zip(self.columns.tolist(), self.values, strict=True)

    def placed(self, columns: Index) -> SparseVector:
        """Return the vector with column j called ``columns[j]``, which increase."""
        return SparseVector(columns[self.columns], self.values)

    def within(self, columns: Index) -> SparseVector:
        """Return the vector with column ``columns[j]`` called j; they increase."""
        return SparseVector(np.searchsorted(columns, self.columns), self.values)

    def signs_on(self, matrix: Any) -> Signs:
        """Return the exact sign of its product with every row of a matrix."""
        some = columns_of(matrix, self.columns)
        entries = some.data if is_sparse(some) else some
        size = float(np.abs(entries).max(initial=0.0))
        length = max(map(abs, self.values), default=0) * max(1, len(self.values))
        is_small = length < WHOLE and size * length < WHOLE
        if is_small and bool((entries == np.rint(entries)).all()):
            # Whole numbers this small are added up without rounding.
            products = some @ np.array(self.values, dtype=np.float64)
            return np.asarray(np.sign(products), dtype=np.int8)
        return row_signs(some, list(self.values))


def unit_vector(column: int) -> SparseVector:
    """Return the vector that is one in a column."""
    return SparseVector(np.array([column]), (1,))


def combination(terms: Iterable[tuple[int, SparseVector]]) -> SparseVector:
    """Return the sum of vectors times whole numbers."""
    total: dict[int, int] = {}
    for factor, vector in terms:
        for column, value in vector.items():
            total[column] = total.get(column, 0) + factor * value
    return SparseVector.from_items(total)


def columns_held(vectors: Iterable[SparseVector]) -> Index:
    """Return the columns that some vector holds, in increasing order."""
    return np.unique(np.concatenate([no_index(), *(v.columns for v in vectors)]))


def columns_of(matrix: Any, columns: Index, rows: Index | None = None) -> Any:
    """Return some columns, in increasing order, of a dense or CSR matrix.

    If rows are named, those alone. All rows and columns are the matrix itself.
    """
    n, d = matrix.shape
    if rows is None or np.array_equal(rows, np.arange(n)):
        if np.array_equal(columns, np.arange(d)):
            return matrix
        rows = np.arange(n)
    elif not is_sparse(matrix):
        matrix = matrix[rows]
    if not is_sparse(matrix):
        return matrix[:, columns] if columns.size < d else matrix
    from scipy import sparse

    place: Any = np.full(d, -1, dtype=matrix.indices.dtype)
    place[columns] = np.arange(columns.size)
    most = int(np.diff(matrix.indptr)[rows].sum())
    indptr = np.zeros(rows.size + 1, dtype=matrix.indptr.dtype)
    indices, data = np.empty(most, dtype=place.dtype), np.empty(most)
    given = matrix.indptr, matrix.indices, matrix.data
    pick_entries(*given, rows, place, indptr, indices, data)
    held = slice(int(indptr[-1]))
    return sparse.csr_array(
        (data[held], indices[held], indptr), shape=(rows.size, columns.size)
    )


def written_out(vector: SparseVector, d: int) -> tuple[int, ...]:
    """Return all d entries."""
    whole = python_vector([0] * d)
    whole[vector.columns] = python_vector(vector.values)
    return tuple(whole.tolist())
