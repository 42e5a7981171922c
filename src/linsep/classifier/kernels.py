"""Compiled loops over the training rows: each reads them once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from linsep.solvers.kernels import FAST


@njit(cache=True, nogil=True, fastmath=FAST)
def column_moments(X: Any, share: Any) -> Any:
    """Return each column's mean, largest magnitude, and the same about the mean.

    Last comes the mean square about the mean; ``share`` sums to one.
    """
    n, d = X.shape
    mean = np.zeros(d)
    largest = np.zeros(d)
    for i in range(n):
        for j in range(d):
            mean[j] += share[i] * X[i, j]
            largest[j] = max(largest[j], abs(X[i, j]))
    peak = np.zeros(d)
    square = np.zeros(d)
    for i in range(n):
        for j in range(d):
            distance = X[i, j] - mean[j]
            peak[j] = max(peak[j], abs(distance))
            square[j] += share[i] * (distance * distance)
    return mean, largest, peak, square


@njit(cache=True, nogil=True)
def moved_rows(X: Any, origin: Any, scale: Any, signs: Any) -> Any:
    """Return new rows ``sign (x - origin) / scale``."""
    n, d = X.shape
    out = np.empty((n, d))
    for i in range(n):
        for j in range(d):
            out[i, j] = signs[i] * ((X[i, j] - origin[j]) / scale[j])
    return out
