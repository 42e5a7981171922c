"""Rows over columns that stand apart, as Arrow keeps them: read in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index
from linsep.rows import _sweeps
from linsep.rows.dense import DenseRows
from linsep.rows.matrix_rows import Margins, MatrixRows


class ColumnsApart:
    """A matrix as a list of its columns.

    Parameters
    ----------
    columns : sequence of ndarray of shape (n,)
        All float32, or all float64; what is not contiguous is copied.
    n_rows : int
    dtype : dtype
        That of the columns.
    """

    def __init__(
        self, columns: Sequence[NDArray[Any]], n_rows: int, dtype: np.dtype[Any]
    ) -> None:
        self.columns = [np.ascontiguousarray(column, dtype) for column in columns]
        self.shape = n_rows, len(self.columns)
        self.dtype = dtype
        starts = [column.ctypes.data for column in self.columns]
        self.addresses = np.array(starts, dtype=np.uintp)

    def __getitem__(self, index: Index | slice) -> NDArray[Any]:
        """Return some rows as an ndarray."""
        size = len(range(self.shape[0])[index]) if isinstance(index, slice) else None
        rows = np.empty(
            (len(index) if size is None else size, self.shape[1]),  # type: ignore[arg-type]
            dtype=self.dtype,
        )
        for j, column in enumerate(self.columns):
            rows[:, j] = column[index]
        return rows


class ColumnRows(MatrixRows):
    """Signed rows over `ColumnsApart`; for the parameters see `MatrixRows`."""

    X: ColumnsApart

    def take(self, index: Index) -> Floats:
        """Return the exact signed rows named by ``index``, as float64 (m, d)."""
        some = DenseRows(self.X[index], self.signs[index], self.fit_intercept)
        return some.take(np.arange(index.size))

    def margins(self, w: Floats, index: Index | None = None) -> Margins:
        """Return the computed ``a_i . w`` and ``sum_j |a_ij w_j|`` of some rows."""
        if index is None:
            return super().margins(w)
        some = DenseRows(self.X[index], self.signs[index], self.fit_intercept)
        return some.margins(w)

    def _fill(
        self,
        start: int,
        stop: int,
        weights: Floats,
        constant: float,
        s: Floats,
        t: Floats,
    ) -> None:
        dtype = self.X.dtype
        addresses = self.X.addresses + np.uintp(start * dtype.itemsize)
        signs, is_single = self.signs[start:stop], dtype == np.float32
        _sweeps.scattered_margins(addresses, is_single, signs, weights, constant, s, t)
