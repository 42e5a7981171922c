"""The compiled loop of Perceptron."""

from libc.stdint cimport int64_t

SEPARATED, OUT_OF_UPDATES, OUT_OF_PASSES = 0, 1, 2


cdef inline double margin_of(
    const double[:, ::1] A, Py_ssize_t i, const double[::1] w
) noexcept nogil:
    """Return ``a_i . w``, summed from the left."""
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(A.shape[1]):
        total += A[i, j] * w[j]
    return total


def perceptron_passes(
    const double[:, ::1] A,
    const Py_ssize_t[::1] order,
    double[::1] w,
    int64_t[::1] counts,
    Py_ssize_t n_passes,
    Py_ssize_t n_updates,
):
    """Make up to ``n_passes`` passes and ``n_updates`` updates of Perceptron in place.

    Returns the passes begun, the updates made, the inner products computed, and why
    it ended: a pass met no violated row (SEPARATED), one more update was needed than
    allowed (OUT_OF_UPDATES), or all passes were made (OUT_OF_PASSES).
    """
    cdef Py_ssize_t passes, position, i, j, products = 0, updates = 0
    cdef bint clean
    with nogil:
        for passes in range(n_passes):
            clean = True
            for position in range(A.shape[0]):
                i = order[position]
                products += 1
                if margin_of(A, i, w) > 0.0:
                    continue
                if updates == n_updates:
                    with gil:
                        return passes + 1, updates, products, OUT_OF_UPDATES
                clean = False
                updates += 1
                counts[i] += 1
                for j in range(A.shape[1]):
                    w[j] += A[i, j]
            if clean:
                with gil:
                    return passes + 1, updates, products, SEPARATED
    return n_passes, updates, products, OUT_OF_PASSES
