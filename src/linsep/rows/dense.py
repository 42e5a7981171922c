"""Rows of a dense array: float64 or float32, C or F order, memory-mapped or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import _sweeps
from linsep.rows.protocol import Scan, split, sweep


class DenseRows:
    """Signed rows over a dense array, which is never copied nor written to.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float64 or float32
        The user's array. C- and F-ordered arrays are read in place; other layouts
        are made contiguous a chunk at a time.
    signs : ndarray of shape (n_samples,), int8
        +1 or -1 for each row.
    fit_intercept : bool
        Whether a constant column is appended.
    """

    def __init__(
        self, X: NDArray[Any], signs: NDArray[np.int8], fit_intercept: bool
    ) -> None:
        self.X = X.view()
        self.X.flags.writeable = False
        self.signs = signs
        self.fit_intercept = fit_intercept

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of columns with the constant counted."""
        return self.X.shape[0], self.X.shape[1] + int(self.fit_intercept)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype the data are read in."""
        return self.X.dtype

    def take(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the exact signed rows named by ``index``, as float64 (m, d)."""
        n_features = self.X.shape[1]
        signs = self.signs[index].astype(np.float64)
        rows = np.empty((len(signs), n_features + int(self.fit_intercept)))
        rows[:, :n_features] = self.X[index]
        rows[:, n_features:] = 1.0
        rows *= signs[:, None]
        return rows

    def scan(self, w: NDArray[np.float64], k: int, *, by_margin: bool = False) -> Scan:
        """Sweep all rows once; see `linsep.rows.protocol.Scan`."""
        n_features = self.X.shape[1]
        weights = np.ascontiguousarray(w[:n_features], dtype=np.float64)
        constant = float(w[n_features]) if self.fit_intercept else 0.0
        by_column = self.X.flags.f_contiguous and not self.X.flags.c_contiguous

        def margins(start: int, stop: int) -> tuple[Any, Any]:
            s = np.empty(stop - start)
            t = np.empty(stop - start)
            signs = self.signs[start:stop]
            if by_column:
                _sweeps.column_major_margins(
                    self.X.T, start, stop, signs, weights, constant, s, t
                )
            else:
                chunk = np.ascontiguousarray(self.X[start:stop])
                _sweeps.row_major_margins(chunk, signs, weights, constant, s, t)
            return s, t

        n, d = self.shape
        return sweep(split(n, d), margins, self.signs, d, min(k, n), by_margin)
