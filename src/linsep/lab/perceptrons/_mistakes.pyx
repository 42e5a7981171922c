"""Compiled loops of the mistake-driven methods."""

from libc.math cimport hypot
from libc.stdint cimport int64_t

from linsep.solvers._blas cimport solve_triangle

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


def next_violation(
    const double[:, ::1] A,
    const Py_ssize_t[::1] order,
    Py_ssize_t start,
    const double[::1] w,
):
    """Return the first position >= start in ``order`` whose row has ``a . w <= 0``.

    Returns ``len(order)`` if there is none. A margin that is not a number is no margin.
    """
    cdef Py_ssize_t position
    with nogil:
        for position in range(start, order.shape[0]):
            if not margin_of(A, order[position], w) > 0.0:
                break
        else:
            position = order.shape[0]
    return position


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


def add_equation(double[:, ::1] triangle, double[::1] right, const double[::1] row):
    """Add the equation ``row . w = 1`` to the least squares ``triangle w = right``.

    Plane rotations in place, one a column; rotations keep lengths, so that
    large rows and a small ridge stand side by side.
    """
    cdef Py_ssize_t j, k, d = right.shape[0]
    cdef double length, cosine, sine, above, below, rest_right = 1.0
    cdef double[::1] rest = row.copy()
    with nogil:
        for j in range(d):
            length = hypot(triangle[j, j], rest[j])
            cosine, sine = triangle[j, j] / length, rest[j] / length
            triangle[j, j] = length
            for k in range(j + 1, d):
                above, below = triangle[j, k], rest[k]
                triangle[j, k] = cosine * above + sine * below
                rest[k] = cosine * below - sine * above
            above = right[j]
            right[j] = cosine * above + sine * rest_right
            rest_right = cosine * rest_right - sine * above


def solve_upper(
    const double[:, ::1] triangle, const double[::1] right, double[::1] w
):
    """Fill ``w`` (d,) so that ``triangle @ w = right``; the diagonal is positive."""
    w[:] = right
    solve_triangle(right.shape[0], &triangle[0, 0], triangle.shape[1], False, &w[0])
