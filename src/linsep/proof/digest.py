"""The digest of the data, computed fast; `linsep.proof.checker` defines it.

Dense and sparse, float32 and float64, -0.0 and 0.0, any memory order and any size of
chunk give the same digest, because only the non-zero entries are hashed, as doubles.
Rows without a zero name no columns, so dense data cost eight bytes an entry.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import is_sparse

# Entries handled at once: 8 MiB of doubles.
_CHUNK = 1 << 20

# Counts of non-zero entries, their columns in rows that have a zero, their values.
Parts = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def digest(X: Any, signs: NDArray[np.int8]) -> str:
    """Return the SHA-256 digest of data and signs, 64 hexadecimal digits.

    Parameters
    ----------
    X : ndarray or sparse CSR matrix of shape (n_samples, n_features)
        Real numbers that doubles hold exactly.
    signs : ndarray of shape (n_samples,), int8
        +1 or -1 for each row.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.5], [2.0, -0.0]])
    >>> digest(X, np.array([1, -1], dtype=np.int8))[:16]
    'b931cfe9bfcbe379'
    """
    n, d = X.shape
    hashes = [hashlib.sha256() for _ in range(3)]
    parts = _sparse_parts(X) if is_sparse(X) else _dense_parts(X)
    for part in parts:
        for stream, array in zip(hashes, part, strict=True):
            stream.update(array.tobytes())
    total = hashlib.sha256(b"linsep data 1\n" + struct.pack("<QQ", n, d))
    total.update(hashlib.sha256(signs.astype(np.int8).tobytes()).digest())
    for stream in hashes:
        total.update(stream.digest())
    return total.hexdigest()


def _dense_parts(X: NDArray[Any]) -> Iterator[Parts]:
    n, d = X.shape
    step = max(1, _CHUNK // max(1, d))
    for start in range(0, n, step):
        block = np.ascontiguousarray(X[start : start + step], dtype="<f8")
        filled = block != 0
        counts = np.count_nonzero(filled, axis=1)
        partial = filled[counts < d]
        if len(partial) == 0:
            yield counts.astype("<u4"), np.empty(0, "<u4"), block
        else:
            columns = np.nonzero(partial)[1]
            yield counts.astype("<u4"), columns.astype("<u4"), block[filled]


def _sparse_parts(X: Any) -> Iterator[Parts]:
    n, d = X.shape
    if not X.has_sorted_indices:
        X = X.sorted_indices()
    ends = np.searchsorted(X.indptr, np.arange(_CHUNK, X.indptr[-1], _CHUNK))
    edges = np.unique(np.concatenate([[0], ends, [n]]))
    for start, stop in pairwise(edges):
        entries = slice(X.indptr[start], X.indptr[stop])
        values, columns = X.data[entries].astype("<f8"), X.indices[entries]
        row = np.repeat(np.arange(stop - start), np.diff(X.indptr[start : stop + 1]))
        filled = values != 0
        values, columns, row = values[filled], columns[filled], row[filled]
        counts = np.bincount(row, minlength=stop - start)
        columns = columns[counts[row] < d]
        yield counts.astype("<u4"), columns.astype("<u4"), values
