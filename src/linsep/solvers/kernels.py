"""Compiled loops of the solvers. Arrays first, settings last; all release the lock."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from linsep.solvers.prefetch import prefetch

FAST = {"reassoc", "contract", "nsz"}

# A row whose weight is below exp(-60) of the largest adds less than the rounding of
# the sum, for any number of rows that fits in memory: it is not exponentiated.
NEGLIGIBLE = 60.0

# A projection is refined unless R's diagonal varies by less than this factor and the
# part of the row that is left is at least this share of it, squared.
WELL_CONDITIONED = 100.0
MOSTLY_NEW = 0.01


@njit(cache=True, nogil=True, fastmath=FAST)
def _dot(a: Any, b: Any) -> Any:
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def _four_dots(A: Any, i: int, v: Any, w: Any) -> Any:
    """Return ``a . v`` of four rows and their least ``a . w``."""
    v0 = v1 = v2 = v3 = 0.0
    w0 = w1 = w2 = w3 = 0.0
    for j in range(A.shape[1]):
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
    return v0, v1, v2, v3, min(min(w0, w1), min(w2, w3))


@njit(cache=True, nogil=True, fastmath=FAST)
def _block_margins(A: Any, first: int, last: int, v: Any, w: Any, s: Any) -> Any:
    """Set ``s`` to ``a . v`` for a block; return the least of it and of ``a . w``."""
    d = A.shape[1]
    low = np.inf
    low_w = np.inf
    fours = first + (last - first) // 4 * 4
    for i in range(first, fours, 4):
        # Half of what comes two blocks on; the weighted sum asks for the other half.
        ahead = (i + 2 * s.shape[0]) * d
        prefetch(A, ahead, ahead + 2 * d)
        k = i - first
        s[k], s[k + 1], s[k + 2], s[k + 3], least_w = _four_dots(A, i, v, w)
        low = min(low, min(min(s[k], s[k + 1]), min(s[k + 2], s[k + 3])))
        low_w = min(low_w, least_w)
    for i in range(fours, last):
        s[i - first] = _dot(A[i], v)
        low = min(low, s[i - first])
        low_w = min(low_w, _dot(A[i], w))
    return low, low_w


@njit(cache=True, nogil=True, fastmath=FAST)
def _add_weighted(A: Any, first: int, last: int, weights: Any, x: Any) -> None:
    """Add ``sum_i weights_i a_i`` of a block to ``x``, four rows at a time."""
    d = A.shape[1]
    fours = first + (last - first) // 4 * 4
    for i in range(first, fours, 4):
        ahead = (i + 2 * weights.shape[0]) * d
        prefetch(A, ahead + 2 * d, ahead + 4 * d)
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
    for i in range(fours, last):
        weight = weights[i - first]
        for j in range(d):
            x[j] += weight * A[i, j]


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
        block_low, block_low_w = _block_margins(A, first, last, v, w, s)
        low_w = min(low_w, block_low_w)
        if block_low < low:
            # A new smallest margin rescales what was summed, as a streaming softmax.
            shrink = np.exp(block_low - low) if mass > 0.0 else 0.0
            mass *= shrink
            for j in range(x.shape[0]):
                x[j] *= shrink
            low = block_low
        for k in range(last - first):
            distance = s[k] - low
            s[k] = np.exp(-distance) if distance < NEGLIGIBLE else 0.0
            mass += s[k]
        _add_weighted(A, first, last, s, x)
    return low, mass, low_w


@njit(cache=True, nogil=True, fastmath=FAST)
def softmin_sweep_sparse(
    data: Any,
    indices: Any,
    indptr: Any,
    start: int,
    stop: int,
    v: Any,
    w: Any,
    x: Any,
    s: Any,
) -> Any:
    """Do what `softmin_sweep` does, for the rows of a CSR matrix."""
    block = s.shape[0]
    low = np.inf
    low_w = np.inf
    mass = 0.0
    x[:] = 0.0
    for first in range(start, stop, block):
        last = min(first + block, stop)
        block_low = np.inf
        for i in range(first, last):
            dot_v = 0.0
            dot_w = 0.0
            for entry in range(indptr[i], indptr[i + 1]):
                dot_v += data[entry] * v[indices[entry]]
                dot_w += data[entry] * w[indices[entry]]
            s[i - first] = dot_v
            block_low = min(block_low, dot_v)
            low_w = min(low_w, dot_w)
        if block_low < low:
            shrink = np.exp(block_low - low) if mass > 0.0 else 0.0
            mass *= shrink
            for j in range(x.shape[0]):
                x[j] *= shrink
            low = block_low
        for i in range(first, last):
            distance = s[i - first] - low
            if distance < NEGLIGIBLE:
                weight = np.exp(-distance)
                mass += weight
                for entry in range(indptr[i], indptr[i + 1]):
                    x[indices[entry]] += weight * data[entry]
    return low, mass, low_w


@njit(cache=True, nogil=True, fastmath=FAST)
def _four_rows(R: Any, i: int, first: int, last: int, b: Any) -> Any:
    """Return the products of four rows of R, from i on, with part of ``b``."""
    s0 = s1 = s2 = s3 = 0.0
    for j in range(first, last):
        bj = b[j]
        s0 += R[i, j] * bj
        s1 += R[i + 1, j] * bj
        s2 += R[i + 2, j] * bj
        s3 += R[i + 3, j] * bj
    return s0, s1, s2, s3


@njit(cache=True, nogil=True, fastmath=FAST)
def _solve_gram(R: Any, k: int, b: Any) -> None:
    """Overwrite ``b[:k]`` by the solution of ``R^T R c = b``, R upper triangular.

    Four rows at a time, which halves what is read and written of ``b``: their own
    triangle first, then all that is right of it.
    """
    fours = k // 4 * 4
    for i in range(0, fours, 4):
        for row in range(i, i + 4):
            b[row] /= R[row, row]
            for j in range(row + 1, i + 4):
                b[j] -= R[row, j] * b[row]
        b0, b1, b2, b3 = b[i], b[i + 1], b[i + 2], b[i + 3]
        for j in range(i + 4, k):
            b[j] -= (R[i, j] * b0 + R[i + 1, j] * b1) + (
                R[i + 2, j] * b2 + R[i + 3, j] * b3
            )
    for row in range(fours, k):
        b[row] /= R[row, row]
        for j in range(row + 1, k):
            b[j] -= R[row, j] * b[row]
    for row in range(k - 1, fours - 1, -1):
        for j in range(row + 1, k):
            b[row] -= R[row, j] * b[j]
        b[row] /= R[row, row]
    for i in range(fours - 4, -1, -4):
        s0, s1, s2, s3 = _four_rows(R, i, i + 4, k, b)
        b[i] -= s0
        b[i + 1] -= s1
        b[i + 2] -= s2
        b[i + 3] -= s3
        for row in range(i + 3, i - 1, -1):
            for j in range(row + 1, i + 4):
                b[row] -= R[row, j] * b[j]
            b[row] /= R[row, row]


@njit(cache=True, nogil=True, fastmath=FAST)
def active_products(A: Any, active: Any, k: int, z: Any, out: Any) -> None:
    """Set ``out[:k]`` to the products of the active rows with ``z``, four at a time."""
    fours = k // 4 * 4
    for i in range(0, fours, 4):
        a0, a1 = A[active[i]], A[active[i + 1]]
        a2, a3 = A[active[i + 2]], A[active[i + 3]]
        s0 = s1 = s2 = s3 = 0.0
        for j in range(z.shape[0]):
            zj = z[j]
            s0 += a0[j] * zj
            s1 += a1[j] * zj
            s2 += a2[j] * zj
            s3 += a3[j] * zj
        out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3
    for i in range(fours, k):
        out[i] = _dot(A[active[i]], z)


@njit(cache=True, nogil=True, fastmath=FAST)
def add_active(A: Any, active: Any, k: int, amounts: Any, scale: float, z: Any) -> None:
    """Add ``scale sum_i amounts_i a_active(i)`` to ``z``, four rows at a time."""
    fours = k // 4 * 4
    for i in range(0, fours, 4):
        a0, a1 = A[active[i]], A[active[i + 1]]
        a2, a3 = A[active[i + 2]], A[active[i + 3]]
        c0, c1 = scale * amounts[i], scale * amounts[i + 1]
        c2, c3 = scale * amounts[i + 2], scale * amounts[i + 3]
        for j in range(z.shape[0]):
            z[j] += (c0 * a0[j] + c1 * a1[j]) + (c2 * a2[j] + c3 * a3[j])
    for i in range(fours, k):
        row = A[active[i]]
        amount = scale * amounts[i]
        for j in range(z.shape[0]):
            z[j] += amount * row[j]


@njit(cache=True, nogil=True, fastmath=FAST)
def project_out(A: Any, active: Any, k: int, R: Any, a: Any, c: Any, z: Any) -> Any:
    """Split ``a`` into ``sum_i c_i a_active(i) + z`` with ``z`` orthogonal to them.

    The factor R alone (no Q) with one step of refinement: as accurate as a QR. The
    refinement, half the cost, is left out where R is well conditioned by its diagonal
    and most of ``a`` is new, so that no digits cancelled.
    Returns ``|z|^2``.
    """
    least = np.inf
    largest = 0.0
    for i in range(k):
        least = min(least, abs(R[i, i]))
        largest = max(largest, abs(R[i, i]))
    enough = MOSTLY_NEW * _dot(a, a) if largest <= WELL_CONDITIONED * least else np.inf
    correction = np.empty(k)
    z[:] = a
    c[:k] = 0.0
    squared = 0.0
    for _ in range(2):
        active_products(A, active, k, z, correction)
        _solve_gram(R, k, correction)
        add_active(A, active, k, correction, -1.0, z)
        for i in range(k):
            c[i] += correction[i]
        squared = _dot(z, z)
        if squared >= enough:
            break
    return squared


@njit(cache=True, nogil=True, fastmath=FAST)
def append_column(R: Any, k: int, c: Any, residual: float) -> None:
    """Append to R the row that is ``sum_i c_i a_i`` plus a residual of that norm."""
    R[k, :k] = 0.0
    fours = k // 4 * 4
    for i in range(0, fours, 4):
        # Below the diagonal R is zero, so that four rows can start at the same column.
        s0, s1, s2, s3 = _four_rows(R, i, i, k, c)
        R[i, k] = s0
        R[i + 1, k] = s1
        R[i + 2, k] = s2
        R[i + 3, k] = s3
    for i in range(fours, k):
        R[i, k] = _dot(R[i, i:k], c[i:k])
    R[k, k] = residual


@njit(cache=True, nogil=True, fastmath=FAST)
def delete_column(R: Any, k: int, position: int) -> None:
    """Remove one column of the k in R and rotate R back to triangular form."""
    for i in range(k):
        for j in range(position, k - 1):
            R[i, j] = R[i, j + 1]
    for i in range(position, k - 1):
        a = R[i, i]
        b = R[i + 1, i]
        radius = np.hypot(a, b)
        cosine = a / radius
        sine = b / radius
        R[i, i] = radius
        R[i + 1, i] = 0.0
        for j in range(i + 1, k - 1):
            upper = R[i, j]
            lower = R[i + 1, j]
            R[i, j] = cosine * upper + sine * lower
            R[i + 1, j] = cosine * lower - sine * upper


OPTIMAL, CONFLICT, STEPS_EXHAUSTED = 0, 1, 2


@njit(cache=True, nogil=True, fastmath=FAST)
def active_set_steps(
    A: Any,
    candidates: Any,
    active: Any,
    k: int,
    multipliers: Any,
    R: Any,
    u: Any,
    direction: Any,
    tolerance: float,
    max_steps: int,
) -> Any:
    """Make ``u`` the shortest vector with ``a_i . u >= 1`` on the candidate rows.

    Dual active-set steps of Goldfarb & Idnani (1983); see `linsep.solvers.active_set`.
    Returns ``(status, k, entering, n_steps)``. On CONFLICT ``a_entering`` equals
    ``sum_i direction_i a_active(i)`` with every ``direction_i <= 0``.
    """
    d = A.shape[1]
    z = np.empty(d)
    n_steps = 0
    while True:
        entering = -1
        smallest = 1.0 - tolerance
        for candidate in candidates:
            value = _dot(A[candidate], u)
            if value < smallest:
                smallest = value
                entering = candidate
        if entering < 0:
            return OPTIMAL, k, entering, n_steps
        a = A[entering]
        multiplier = 0.0
        while True:
            if n_steps >= max_steps:
                return STEPS_EXHAUSTED, k, entering, n_steps
            n_steps += 1
            squared = project_out(A, active, k, R, a, direction, z)
            size = 1.0
            for i in range(k):
                size += abs(direction[i])
            dependent = squared <= (1e-13 * size) ** 2 or k == d
            longest = np.inf
            leaving = -1
            for i in range(k):
                if direction[i] > 1e-12 * size:
                    ratio = max(multipliers[i], 0.0) / direction[i]
                    if ratio < longest:
                        longest = ratio
                        leaving = i
            full = np.inf
            if not dependent:
                full = max(0.0, 1.0 - _dot(a, u)) / squared
            if full == np.inf and longest == np.inf:
                return CONFLICT, k, entering, n_steps
            length = min(full, longest)
            multiplier += length
            for i in range(k):
                multipliers[i] -= length * direction[i]
            if not dependent:
                for j in range(d):
                    u[j] += length * z[j]
            if full <= longest:
                append_column(R, k, direction, np.sqrt(squared))
                active[k] = entering
                multipliers[k] = multiplier
                k += 1
                break
            delete_column(R, k, leaving)
            for i in range(leaving, k - 1):
                active[i] = active[i + 1]
                multipliers[i] = multipliers[i + 1]
            k -= 1


@njit(cache=True, nogil=True, fastmath=FAST)
def polish_active(
    A: Any, active: Any, k: int, R: Any, multipliers: Any, u: Any
) -> None:
    """Recompute ``u`` as the shortest vector with ``a_i . u = 1`` on the active rows.

    ``u = sum_i multipliers_i a_i`` with ``R^T R multipliers = 1``; two corrections of
    the residual ``1 - a_i . u`` recover what the products lost.
    """
    step = np.empty(k)
    multipliers[:k] = 0.0
    u[:] = 0.0
    for _ in range(3):
        for i in range(k):
            step[i] = 1.0 - _dot(A[active[i]], u)
        _solve_gram(R, k, step)
        for i in range(k):
            row = A[active[i]]
            multipliers[i] += step[i]
            for j in range(u.shape[0]):
                u[j] += step[i] * row[j]
