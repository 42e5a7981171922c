"""Rows of a dense array: float64 or float32, C or F order, memory-mapped or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Signs, no_index
from linsep.rows import _sweeps
from linsep.rows.mapped import MappedRows
from linsep.rows.matrix_rows import MatrixRows
from linsep.rows.protocol import CHUNK_ENTRIES, NO_NUMBERS, Scan, split
from linsep.rows.rounding import error_bound

NO_ROWS = no_index()


class DenseRows(MatrixRows):
    """Signed rows over a dense array, read in place if its rows or columns are.

    Other layouts are made contiguous a chunk at a time; for the parameters see
    `MatrixRows`.
    """

    def __init__(self, X: NDArray[Any], signs: Signs, fit_intercept: bool) -> None:
        super().__init__(X.view(), signs, fit_intercept)
        self.X.flags.writeable = False

    @property
    def is_plain(self) -> bool:
        """Whether the array is of doubles in memory, one row right after the other."""
        X = self.X
        return type(X) is np.ndarray and X.dtype == np.float64 and X.flags.c_contiguous

    def take(self, index: Index) -> Floats:
        """Return the exact signed rows named by ``index``, as float64 (m, d)."""
        rows = np.empty((len(index), self.shape[1]))
        if not isinstance(self.X, MappedRows):
            _sweeps.signed_rows(self.X, self.signs, index, rows)
            return rows
        for start, stop in split(index.size, 4 * self.entries_a_row):
            part = index[start:stop]  # a copy of these lets go of the file's pages
            given, every = self.X[part], np.arange(part.size)
            _sweeps.signed_rows(given, self.signs[part], every, rows[start:stop])
        return rows

    def scan(self, w: Floats, k: int, *, by_margin: bool = False) -> Scan:
        """Sweep all rows once; see `linsep.rows.protocol.Scan`."""
        n, X = self.shape[0], self.X
        is_by_rows = X.strides[1] == X.itemsize
        if not is_by_rows or X.size > CHUNK_ENTRIES or 0 < 2 * k < n:
            return super().scan(w, k, by_margin=by_margin)
        bounds = error_bound(len(w))
        index, values, score = NO_ROWS, NO_NUMBERS, NO_NUMBERS
        if k == 0:
            w = np.ascontiguousarray(w, dtype=np.float64)
            told = _sweeps.JUDGED[X.itemsize](X, self.signs, w, *bounds)
        else:
            given = (self.signs, *self._split(w))
            s, t, score = np.empty(n), np.empty(n), np.empty(n)
            _sweeps.row_major_margins(X, *given, s, t)
            told = _sweeps.judge_margins(s, t, self.signs, *bounds, by_margin, score)
            # Most rows are wanted: they are ranked sooner than some are found.
            index = np.argsort(score, kind="stable")[:k]
            values, score = s[index], score[index]
        return Scan(*told[:5], index, values, told[5], score)

    def margin(self, w: Floats) -> float:
        """Return `Scan.margin` of a sweep over a few rows, for doubles w."""
        if self.X.strides[1] != self.X.itemsize:
            return self.scan(w, 0).margin
        judged = _sweeps.JUDGED[self.X.itemsize]
        told = judged(self.X, self.signs, w, *error_bound(len(w)))
        return min(told[0], told[1])

    def _fill(
        self,
        start: int,
        stop: int,
        weights: Floats,
        constant: float,
        s: Floats,
        t: Floats,
    ) -> None:
        given = self.signs[start:stop], weights, constant, s, t
        chunk = self.X[start:stop]
        column_step, size = chunk.strides[1], chunk.itemsize
        if chunk.strides[0] == size != column_step:  # a column is in one piece
            columns = chunk.ctypes.data + column_step * np.arange(chunk.shape[1])
            is_single = chunk.dtype == np.float32
            _sweeps.scattered_margins(columns.astype(np.uintp), is_single, *given)
            return
        if column_step != size:  # nor is a row
            chunk = np.ascontiguousarray(chunk)
        _sweeps.row_major_margins(chunk, *given)
