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

from linsep.arrays import Signs
from linsep.rows._sweeps import add_to_lanes
from linsep.rows.columns import ColumnsApart

# A prime, so that rows that change places change lanes.
LANES = 1021
# What a column, or an array of a sparse matrix, is moved on from the one before.
_STEP = 37
_WORD = 4  # bytes that are added up at a time


class Fingerprint:
    """What tells the rows read so far from others, at little cost.

    The bits are added up, four bytes at a time, those of every 1021st place together:
    so it does not matter where one matrix ends and the next begins.
    """

    def __init__(self) -> None:
        self._lanes = np.zeros(LANES, dtype=np.uint64)
        self._n_rows = self._n_entries = 0

    def add(self, X: Any, signs: Signs) -> int:
        """Take in the next rows; return a number that other rows have by a rare chance.

        Parameters
        ----------
        X : ndarray, CSR matrix or ColumnsApart of shape (m, n_features)
        signs : ndarray of shape (m,), int8
        """
        if isinstance(X, ColumnsApart):
            self._add_all(
                X.addresses,
                X.shape[0] * X.dtype.itemsize,
                self._n_rows,
                X.dtype.itemsize,
            )
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
        values = np.ascontiguousarray(values)
        address = np.array([values.ctypes.data], dtype=np.uintp)
        self._add_all(address, values.nbytes, first, values.itemsize, step)

    def _add_all(
        self,
        addresses: NDArray[np.uintp],
        n_bytes: int,
        first: int,
        itemsize: int,
        step: int = 0,
    ) -> None:
        """Add numbers that lie apart, so many bytes from each address on."""
        place = (first * (itemsize // _WORD) + step) % LANES
        add_to_lanes(addresses, n_bytes // _WORD, place, _STEP, self._lanes)
