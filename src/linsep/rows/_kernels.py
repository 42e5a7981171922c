"""Compiled sweeps: a dot product and the size of its terms, for a range of rows.

``reassoc`` and ``contract`` let the compiler use wide registers and fused
multiply-adds; the error bound of `linsep.rows.protocol` holds for every order of
summation. Not-a-number and infinity keep their meaning, so overflow is seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz"}
NEGATIVE_ZERO = np.uint64(1 << 63)
HALF = np.uint64(32)


@njit(cache=True, nogil=True, fastmath=FAST)
def row_major_margins(X: Any, signs: Any, w: Any, constant: Any, s: Any, t: Any) -> Any:
    """Set ``s = sign (x . w + constant)`` and ``t`` for C-ordered rows."""
    n, d = X.shape
    for i in range(n):
        total = constant
        size = abs(constant)
        for j in range(d):
            term = np.float64(X[i, j]) * w[j]
            total += term
            size += abs(term)
        s[i] = signs[i] * total
        t[i] = size


@njit(cache=True, nogil=True, fastmath=FAST)
def column_major_margins(
    columns: Any,
    start: Any,
    stop: Any,
    signs: Any,
    w: Any,
    constant: Any,
    s: Any,
    t: Any,
) -> Any:
    """Set ``s`` and ``t`` for rows start to stop, data given column by column."""
    s[:] = constant
    t[:] = abs(constant)
    for j in range(columns.shape[0]):
        weight = w[j]
        for i in range(stop - start):
            term = np.float64(columns[j, start + i]) * weight
            s[i] += term
            t[i] += abs(term)
    for i in range(stop - start):
        s[i] *= signs[i]


@njit(cache=True, nogil=True, fastmath=FAST)
def sparse_margins(
    data: Any,
    indices: Any,
    indptr: Any,
    signs: Any,
    w: Any,
    constant: Any,
    s: Any,
    t: Any,
) -> Any:
    """Set ``s`` and ``t`` for the CSR rows named by ``indptr``."""
    for i in range(s.shape[0]):
        total = constant
        size = abs(constant)
        for entry in range(indptr[i], indptr[i + 1]):
            term = np.float64(data[entry]) * w[indices[entry]]
            total += term
            size += abs(term)
        s[i] = signs[i] * total
        t[i] = size


@njit(cache=True, nogil=True)
def row_hashes(bits: Any, factors: Any, out: Any) -> None:
    """Sum the folded bits of each row's doubles, each column's times its factor.

    Doubles of whole numbers differ in high bits only, so the high half is folded into
    the low one. A negative zero equals zero, and so does its hash.
    """
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for j in range(bits.shape[1]):
            value = bits[i, j]
            if value == NEGATIVE_ZERO:
                value = np.uint64(0)
            total += (value ^ (value >> HALF)) * factors[j]
        out[i] = total
