"""Rows of a sparse matrix in CSR form."""

from __future__ import annotations

from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.rows import _sweeps
from linsep.rows.matrix_rows import MatrixRows
from linsep.rows.protocol import split


class SparseRows(MatrixRows):
    """Signed rows over a CSR matrix, float64 or float32, without duplicate entries.

    For the parameters see `MatrixRows`.
    """

    @property
    def entries_a_row(self) -> int:
        """Entries that a row holds, the constant counted, on average, rounded up."""
        n_entries: int = self.X.nnz
        return 1 + n_entries // max(1, self.shape[0])

    @property
    def n_terms(self) -> int:
        """Terms of a dot product at most: the entries of the longest row."""
        longest = int(np.diff(self.X.indptr).max(initial=0)) + 1
        return min(self.shape[1], longest)

    def take(self, index: Index) -> Any:
        """Return the exact signed rows named by ``index``, a float64 CSR matrix."""
        from scipy import sparse

        extra = int(self.fit_intercept)
        counts = np.diff(self.X.indptr)[index] + extra
        indptr = np.concatenate([[0], np.cumsum(counts)])
        data = np.empty(indptr[-1])
        indices = np.empty(indptr[-1], dtype=self.X.indices.dtype)
        # Some rows at a time: what is copied on the way is far less than the rows.
        for start, stop in split(index.size, 8 * self.entries_a_row):
            block, signs = self._block(index[start:stop]), self.signs[index[start:stop]]
            here = slice(int(indptr[start]), int(indptr[stop]))
            is_entry: Any = slice(None)
            if extra:
                last = indptr[start + 1 : stop + 1] - 1
                data[last], indices[last] = signs, self.shape[1] - 1
                is_entry = np.ones(here.stop - here.start, dtype=bool)
                is_entry[last - here.start] = False
            data[here][is_entry] = block.data * np.repeat(signs, np.diff(block.indptr))
            indices[here][is_entry] = block.indices
        shape = index.size, self.shape[1]
        return sparse.csr_matrix((data, indices, indptr), shape=shape)

    def _block(self, index: Index) -> Any:
        """Return rows as they were given; those of a run are copied in one piece."""
        first = int(index[0]) if index.size else 0
        is_run = np.array_equal(index, np.arange(first, first + index.size))
        return self.X[first : first + index.size] if is_run else self.X[index]

    def _fill(
        self,
        start: int,
        stop: int,
        weights: Floats,
        constant: float,
        s: Floats,
        t: Floats,
    ) -> None:
        _sweeps.sparse_margins(
            self.X.data,
            self.X.indices,
            self.X.indptr[start : stop + 1],
            self.signs[start:stop],
            weights,
            constant,
            s,
            t,
        )
