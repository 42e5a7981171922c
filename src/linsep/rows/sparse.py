"""Rows of a sparse matrix in CSR form."""

from __future__ import annotations

from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.rows import _sweeps
from linsep.rows.matrix_rows import MatrixRows


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

        counts = np.diff(self.X.indptr)[index] + int(self.fit_intercept)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        data = np.empty(indptr[-1])
        indices = np.empty(indptr[-1], dtype=self.X.indices.dtype)
        _sweeps.take_rows(
            self.X.data,
            self.X.indices,
            self.X.indptr,
            self.signs,
            np.ascontiguousarray(index, dtype=np.intp),
            self.shape[1] - 1 if self.fit_intercept else -1,
            data,
            indices,
        )
        shape = index.size, self.shape[1]
        return sparse.csr_matrix((data, indices, indptr), shape=shape)

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
