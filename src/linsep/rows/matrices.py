"""Dense or sparse: told here, and nowhere else.

A matrix of the package is an ndarray or a SciPy matrix, in CSR form unless said. Code
that must treat the two apart asks `is_sparse`; code that wants numbers to look at takes
`as_dense`; code that wants signed rows to sweep takes `rows_from`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Signs
from linsep.rows.columns import ColumnRows, ColumnsApart
from linsep.rows.dense import DenseRows
from linsep.rows.sparse import SparseRows


def is_sparse(X: Any) -> bool:
    """Whether a matrix is one of SciPy's sparse ones."""
    return hasattr(X, "tocsr")


def is_masked(X: Any) -> bool:
    """Whether an array is masked; the part of NumPy that makes them is not loaded."""
    return "numpy.ma" in sys.modules and np.ma.isMaskedArray(X)


def as_dense(X: Any) -> NDArray[Any]:
    """Return a matrix as an ndarray: itself, or a sparse one written out."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def stacked(parts: Sequence[Any]) -> Any:
    """Put matrices under each other, all dense or all sparse."""
    if not is_sparse(parts[0]):
        return np.concatenate(parts)
    from scipy import sparse

    return sparse.vstack(parts, format="csr")


def rows_from(
    X: Any, signs: Signs | None = None, fit_intercept: bool = False
) -> DenseRows | SparseRows | ColumnRows:
    """Return the signed rows over a matrix.

    Parameters
    ----------
    X : ndarray, CSR matrix or ColumnsApart of shape (n_samples, n_features)
        Read in place; see `DenseRows`, `SparseRows` and `ColumnRows`.
    signs : ndarray of shape (n_samples,), int8, optional
        +1 or -1 for each row; by default rows are as they stand.
    fit_intercept : bool, default=False
        Whether a constant column is appended.
    """
    if signs is None:
        signs = np.ones(X.shape[0], dtype=np.int8)
    if isinstance(X, ColumnsApart):
        return ColumnRows(X, signs, fit_intercept)
    backend = SparseRows if is_sparse(X) else DenseRows
    return backend(X, signs, fit_intercept)
