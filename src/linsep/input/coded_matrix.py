"""Columns of numbers and of levels, in their order, to one matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.arrays import Index, Reals
from linsep.input.growing_matrix import GrowingMatrix
from linsep.input.levels import MOST_LEVELS
from linsep.rows import split

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Beyond this size, or with a text of very many levels, and if it saves half, the matrix
# is kept sparse.
_LARGE_BYTES = 256 * 2**20


@dataclass(frozen=True)
class CodedColumn:
    """A column of the data and the columns of the matrix it becomes.

    Numbers have no `places`. A text has one for every row: which of its columns is 1
    there, or -1 for none of them.
    """

    names: tuple[str, ...]
    places: Index | None = None


def coded_matrix(
    columns: Sequence[CodedColumn],
    blocks: Iterable[Reals],
    n_rows: int,
    dtype: Any,
    *,
    is_sparse: bool | None = None,
    in_memory: bool = True,
) -> Reals | csr_array:
    """Fill the matrix with the numbers of the blocks, and 0 and 1 for the levels.

    The blocks hold the columns of numbers, some rows each. Whether the matrix is sparse
    is told by its size if not said.
    """
    starts = np.cumsum([0, *(len(column.names) for column in columns)])
    numeric = np.array(
        [s for s, c in zip(starts, columns, strict=False) if c.places is None],
        dtype=np.intp,
    )
    indicated = [
        np.where(c.places >= 0, s + c.places, -1)
        for s, c in zip(starts, columns, strict=False)
        if c.places is not None
    ]
    shape = (n_rows, int(starts[-1]))
    size = np.dtype(dtype).itemsize
    # A sparse entry takes its value and an index of four bytes.
    sparse_bytes = n_rows * len(columns) * (size + 4)
    has_many = any(len(column.names) >= MOST_LEVELS for column in columns)
    least = 0 if has_many else _LARGE_BYTES
    if is_sparse is None:
        is_sparse = n_rows * shape[1] * size > max(least, 2 * sparse_bytes)
    if is_sparse:
        return _sparse(shape, blocks, numeric, indicated, dtype)
    X = GrowingMatrix(*shape, dtype, in_memory=in_memory)
    first = 0
    for block in blocks:
        for start, stop in split(len(block), shape[1]):
            part = np.zeros((stop - start, shape[1]), dtype=dtype)
            part[:, numeric] = block[start:stop]
            for places in indicated:
                own = places[first + start : first + stop]
                rows = np.flatnonzero(own >= 0)
                part[rows, own[rows]] = 1
            X.append(part)
        first += len(block)
    return X.matrix()


def _sparse(
    shape: tuple[int, int],
    blocks: Iterable[Reals],
    numeric: Index,
    indicated: Sequence[Index],
    dtype: Any,
) -> csr_array:
    """Do the same in CSR: the numbers, plus the columns of 0 and 1."""
    from scipy.sparse import csr_array, vstack

    places = np.stack(indicated, axis=1)
    is_entry = places >= 0
    indices = places[is_entry]
    indptr = np.append(0, np.cumsum(is_entry.sum(axis=1)))
    X = csr_array((np.ones(indices.size, dtype=dtype), indices, indptr), shape=shape)
    parts = []
    for block in blocks:
        part = csr_array(block)
        entries = (part.data, numeric[part.indices], part.indptr)
        parts.append(csr_array(entries, shape=(len(block), shape[1])))
    if parts:
        X = csr_array(vstack(parts, format="csr") + X)
    X.eliminate_zeros()
    return X
