"""The compiled loop of Perceptron; imported only inside functions."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

SEPARATED, OUT_OF_UPDATES, OUT_OF_PASSES = 0, 1, 2


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
