"""Compiled loops of the mistake-driven methods; imported only inside functions."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

SEPARATED, OUT_OF_UPDATES, OUT_OF_PASSES = 0, 1, 2


@njit(cache=True)
def next_violation(
    A: NDArray[np.float64], order: NDArray[np.intp], start: int, w: NDArray[np.float64]
) -> int:
    """Return the first position >= start in ``order`` whose row has ``a . w <= 0``.

    Returns ``len(order)`` if there is none. A margin that is not a number is no margin.
    """
    d = A.shape[1]
    for position in range(start, order.size):
        i = order[position]
        margin = 0.0
        for j in range(d):
            margin += A[i, j] * w[j]
        if not margin > 0.0:
            return position
    return order.size


@njit(cache=True)
def perceptron_passes(
    A: NDArray[np.float64],
    order: NDArray[np.intp],
    w: NDArray[np.float64],
    counts: NDArray[np.int64],
    n_passes: int,
    n_updates: int,
) -> tuple[int, int, int, int]:
    """Make up to ``n_passes`` passes and ``n_updates`` updates of Perceptron in place.

    Returns the passes begun, the updates made, the inner products computed, and why
    it ended: a pass met no violated row (SEPARATED), one more update was needed than
    allowed (OUT_OF_UPDATES), or all passes were made (OUT_OF_PASSES).
    """
    n, d = A.shape
    inner_products = 0
    updates = 0
    for passes in range(n_passes):
        clean = True
        for position in range(n):
            i = order[position]
            margin = 0.0
            for j in range(d):
                margin += A[i, j] * w[j]
            inner_products += 1
            if not margin > 0.0:
                if updates == n_updates:
                    return passes + 1, updates, inner_products, OUT_OF_UPDATES
                clean = False
                updates += 1
                counts[i] += 1
                for j in range(d):
                    w[j] += A[i, j]
        if clean:
            return passes + 1, updates, inner_products, SEPARATED
    return n_passes, updates, inner_products, OUT_OF_PASSES


@njit(cache=True)
def add_equation(
    triangle: NDArray[np.float64], right: NDArray[np.float64], row: NDArray[np.float64]
) -> None:
    """Add the equation ``row . w = 1`` to the least squares ``triangle w = right``.

    Plane rotations in place, one a column; rotations keep lengths, so that
    large rows and a small ridge stand side by side.
    """
    d = right.size
    rest, rest_right = row.copy(), 1.0
    for j in range(d):
        length = np.hypot(triangle[j, j], rest[j])
        cosine, sine = triangle[j, j] / length, rest[j] / length
        triangle[j, j] = length
        for k in range(j + 1, d):
            above, below = triangle[j, k], rest[k]
            triangle[j, k] = cosine * above + sine * below
            rest[k] = cosine * below - sine * above
        above = right[j]
        right[j] = cosine * above + sine * rest_right
        rest_right = cosine * rest_right - sine * above


@njit(cache=True)
def solve_triangle(
    triangle: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``w`` (d,) with ``triangle @ w = right``; the diagonal is positive."""
    d = right.size
    w = right.copy()
    for j in range(d - 1, -1, -1):
        for k in range(j + 1, d):
            w[j] -= triangle[j, k] * w[k]
        w[j] /= triangle[j, j]
    return w
