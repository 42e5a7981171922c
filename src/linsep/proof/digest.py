"""The digest of the data, computed fast; `linsep.proof.checker` defines it.

Dense and sparse, float32 and float64, -0.0 and 0.0, any memory order and any size of
chunk give the same digest, because only the non-zero entries are hashed, as doubles.
Rows without a zero name no columns, so dense data cost eight bytes an entry.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import Rows, is_sparse, split

# Counts of non-zero entries, their columns in rows that have a zero, their values.
Parts = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def digest(rows: Rows) -> str:
    """Return the SHA-256 digest of data and signs, 64 hexadecimal digits.

    Parameters
    ----------
    rows : Rows of shape (m, d)
        The constant, if there is one, is no part of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep.rows import rows_from
    >>> X, signs = np.array([[0.0, 1.5], [2.0, -0.0]]), np.array([1, -1], dtype=np.int8)
    >>> digest(rows_from(X, signs, True))[:16]
    'b931cfe9bfcbe379'
    """
    n, d = rows.shape[0], rows.shape[1] - int(rows.fit_intercept)
    hashes = [hashlib.sha256() for _ in range(3)]
    for start, stop in split(n, rows.entries_a_row):
        block = rows.features(slice(start, stop))
        part = _sparse_part(block) if is_sparse(block) else _dense_part(block)
        for stream, array in zip(hashes, part, strict=True):
            stream.update(array.tobytes())
    total = hashlib.sha256(b"linsep data 1\n" + struct.pack("<QQ", n, d))
    total.update(hashlib.sha256(rows.signs.astype(np.int8).tobytes()).digest())
    for stream in hashes:
        total.update(stream.digest())
    return total.hexdigest()


def _dense_part(X: NDArray[Any]) -> Parts:
    block = np.ascontiguousarray(X, dtype="<f8")
    filled = block != 0
    counts = np.count_nonzero(filled, axis=1)
    partial = filled[counts < block.shape[1]]
    if len(partial) == 0:
        return counts.astype("<u4"), np.empty(0, "<u4"), block
    columns = np.nonzero(partial)[1]
    return counts.astype("<u4"), columns.astype("<u4"), block[filled]


def _sparse_part(X: Any) -> Parts:
    m, d = X.shape
    block = X if X.has_sorted_indices else X.sorted_indices()
    row = np.repeat(np.arange(m), np.diff(block.indptr))
    filled = block.data != 0
    values, columns, row = block.data[filled], block.indices[filled], row[filled]
    counts = np.bincount(row, minlength=m)
    columns = columns[counts[row] < d]
    return counts.astype("<u4"), columns.astype("<u4"), values.astype("<f8")
