"""Rows of a sparse matrix in CSR form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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

    def take(self, index: NDArray[np.intp]) -> Any:
        """Return the exact signed rows named by ``index``, a float64 CSR matrix."""
        from scipy import sparse

        signs = self.signs[index].astype(np.float64)
        rows = sparse.csr_matrix(self.X[index], dtype=np.float64, copy=True)
        rows.data *= np.repeat(signs, np.diff(rows.indptr))
        if self.fit_intercept:
            constant = sparse.csr_matrix(signs[:, None])
            rows = sparse.hstack([rows, constant], format="csr")
        return rows

    def _fill(
        self,
        start: int,
        stop: int,
        weights: NDArray[np.float64],
        constant: float,
        s: NDArray[np.float64],
        t: NDArray[np.float64],
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
