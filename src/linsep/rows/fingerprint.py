"""Whether rows that are read again are the rows that were read before.

A verdict over several readings is of one set of rows: not of a query that draws at
random, of a file that is being written, or of partitions that are computed anew in
another order.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows._sweeps import add_to_lanes
from linsep.rows.columns import ColumnsApart

# A prime, so that rows that change places change lanes.
LANES = 1021
# What a column, or an array of a sparse matrix, is moved on from the one before.
_STEP = 37


class Fingerprint:
    """What tells the rows read so far from others, at little cost.

    The bits are added up, four bytes at a time, those of every 1021st place together:
    so it does not matter where one matrix ends and the next begins.
    """

    def __init__(self) -> None:
        self._lanes = np.zeros(LANES, dtype=np.uint64)
        self._n_rows = self._n_entries = 0

    def add(self, X: Any, signs: NDArray[np.int8]) -> int:
        """Take in the next rows; return a number that other rows have by a rare chance.

        Parameters
        ----------
        X : ndarray, CSR matrix or ColumnsApart of shape (m, n_features)
        signs : ndarray of shape (m,), int8
        """
        if isinstance(X, ColumnsApart):
            for j, column in enumerate(X.columns):
                self._add(column, self._n_rows, _STEP * j)
        elif isinstance(X, np.ndarray):
            self._add(X, self._n_rows * X.shape[1])
        else:
            for step, entries in enumerate((X.data, X.indices.astype(np.int64))):
                self._add(entries, self._n_entries, _STEP * step)
            self._add(np.diff(X.indptr).astype(np.int64), self._n_rows, 2 * _STEP)
            self._n_entries += X.nnz
        self._add(signs.astype(np.int32), self._n_rows, -_STEP)
        self._n_rows += X.shape[0]
        return int.from_bytes(blake2b(self._lanes.tobytes(), digest_size=8).digest())

    def _add(self, values: NDArray[Any], first: int, step: int = 0) -> None:
        """Add numbers, the first of which has this place among those of its kind."""
        words = np.ascontiguousarray(values).reshape(-1).view(np.uint32)
        place = first * (values.itemsize // words.itemsize) + step
        add_to_lanes(words, place % LANES, self._lanes)
