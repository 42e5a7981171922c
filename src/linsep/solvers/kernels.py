"""Compiled loops of the solvers. Arrays first, settings last; all release the lock."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz"}

# A row whose weight is below exp(-60) of the largest adds less than the rounding of
# the sum, for any number of rows that fits in memory: it is not exponentiated.
NEGLIGIBLE = 60.0


@njit(cache=True, nogil=True, fastmath=FAST)
def _dots(A: Any, first: int, last: int, v: Any, w: Any, s: Any) -> Any:
    """Set ``s`` to ``a_i . v`` for a block; return the smallest ``a_i . v``, ``a_i . w``.

    Four rows at a time: ``v`` and ``w`` are loaded once for the four.
    """
    d = A.shape[1]
    low = np.inf
    low_w = np.inf
    i = first
    while i + 4 <= last:
        v0 = v1 = v2 = v3 = 0.0
        w0 = w1 = w2 = w3 = 0.0
        for j in range(d):
            vj = v[j]
            wj = w[j]
            a0 = A[i, j]
            a1 = A[i + 1, j]
            a2 = A[i + 2, j]
            a3 = A[i + 3, j]
            v0 += a0 * vj
            v1 += a1 * vj
            v2 += a2 * vj
            v3 += a3 * vj
            w0 += a0 * wj
            w1 += a1 * wj
            w2 += a2 * wj
            w3 += a3 * wj
        k = i - first
        s[k] = v0
        s[k + 1] = v1
        s[k + 2] = v2
        s[k + 3] = v3
        low = min(low, min(min(v0, v1), min(v2, v3)))
        low_w = min(low_w, min(min(w0, w1), min(w2, w3)))
        i += 4
    while i < last:
        dot_v = 0.0
        dot_w = 0.0
        for j in range(d):
            dot_v += A[i, j] * v[j]
            dot_w += A[i, j] * w[j]
        s[i - first] = dot_v
        low = min(low, dot_v)
        low_w = min(low_w, dot_w)
        i += 1
    return low, low_w


@njit(cache=True, nogil=True, fastmath=FAST)
def _add_weighted(A: Any, first: int, last: int, weights: Any, x: Any) -> None:
    """Add ``sum_i weights_i a_i`` of a block to ``x``, four rows at a time."""
    d = A.shape[1]
    i = first
    while i + 4 <= last:
        k = i - first
        p0 = weights[k]
        p1 = weights[k + 1]
        p2 = weights[k + 2]
        p3 = weights[k + 3]
        if p0 + p1 + p2 + p3 > 0.0:
            for j in range(d):
                x[j] += (p0 * A[i, j] + p1 * A[i + 1, j]) + (
                    p2 * A[i + 2, j] + p3 * A[i + 3, j]
                )
        i += 4
    while i < last:
        weight = weights[i - first]
        for j in range(d):
            x[j] += weight * A[i, j]
        i += 1


@njit(cache=True, nogil=True, fastmath=FAST)
def softmin_sweep(A: Any, start: int, stop: int, v: Any, w: Any, x: Any, s: Any) -> Any:
    """Fold rows start to stop into ``x = sum_i exp(low - a_i.v) a_i``.

    Returns ``(low, mass, low_w)``: the smallest ``a_i . v``, the sum of the weights
    ``exp(low - a_i . v)``, and the smallest ``a_i . w``. ``s`` is scratch, one entry a
    row of a block. A block of rows is read from memory once: the dot products bring it
    into cache, the weighted sum finds it there.
    """
    block = s.shape[0]
    low = np.inf
    low_w = np.inf
    mass = 0.0
    x[:] = 0.0
    for first in range(start, stop, block):
        last = min(first + block, stop)
        block_low, block_low_w = _dots(A, first, last, v, w, s)
        low_w = min(low_w, block_low_w)
        if block_low < low:
            # A new smallest margin rescales what was summed, as a streaming softmax.
            shrink = np.exp(block_low - low) if mass > 0.0 else 0.0
            mass *= shrink
            for j in range(x.shape[0]):
                x[j] *= shrink
            low = block_low
        heavy = False
        for k in range(last - first):
            distance = s[k] - low
            if distance < NEGLIGIBLE:
                s[k] = np.exp(-distance)
                mass += s[k]
                heavy = True
            else:
                s[k] = 0.0
        if heavy:
            _add_weighted(A, first, last, s, x)
    return low, mass, low_w
