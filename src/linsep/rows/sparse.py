"""Rows of a sparse matrix in CSR form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import _sweeps
from linsep.rows.protocol import Scan, split, sweep


class SparseRows:
    """Signed rows over a CSR matrix, which is never copied nor written to.

    Parameters
    ----------
    X : csr_matrix or csr_array of shape (n_samples, n_features)
        Canonical: no duplicate entries. float64 or float32.
    signs : ndarray of shape (n_samples,), int8
        +1 or -1 for each row.
    fit_intercept : bool
        Whether a constant column is appended.
    """

    def __init__(self, X: Any, signs: NDArray[np.int8], fit_intercept: bool) -> None:
        self.X = X
        self.signs = signs
        self.fit_intercept = fit_intercept

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of columns with the constant counted."""
        return self.X.shape[0], self.X.shape[1] + int(self.fit_intercept)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype the data are read in."""
        dtype: np.dtype[Any] = np.dtype(self.X.dtype)
        return dtype

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

    def scan(self, w: NDArray[np.float64], k: int, *, by_margin: bool = False) -> Scan:
        """Sweep all rows once; see `linsep.rows.protocol.Scan`."""
        n_features = self.X.shape[1]
        weights = np.ascontiguousarray(w[:n_features], dtype=np.float64)
        constant = float(w[n_features]) if self.fit_intercept else 0.0

        def margins(start: int, stop: int) -> tuple[Any, Any]:
            s = np.empty(stop - start)
            t = np.empty(stop - start)
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
            return s, t

        n, d = self.shape
        entries_a_row = 1 + self.X.nnz // max(1, n)
        longest = int(np.diff(self.X.indptr).max(initial=0)) + 1
        width = min(d, longest)
        chunks = split(n, entries_a_row)
        return sweep(chunks, margins, self.signs, width, min(k, n), by_margin)
