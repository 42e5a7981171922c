"""The compiled part of the opening: a few rounds over small dense rows, in one call."""

from libc.math cimport INFINITY, exp, fabs, frexp, isfinite, ldexp, sqrt
from libc.stdint cimport int8_t

import numpy as np

from linsep.solvers._blas cimport products
from linsep.solvers._optimistic import Loop, Sweep

# A column that varies by less than this share of its values is constant.
cdef double CONSTANT = 1e-12
# What is squared is between this and its inverse.
cdef double LEAST = 2.0**-100
# Rows that stay in a core's cache between their two readings, in entries.
cdef Py_ssize_t BLOCK_ENTRIES = 1 << 12


cdef bint _spread(
    const double[:, ::1] X, double[::1] centre, double[::1] scale, bint centred
) noexcept nogil:
    """Set what to take from each column, and what to multiply it by; tell if it works.

    That is its mean, unless it is not to be centred, and one over its deviation; 0 for
    a constant column.
    """
    cdef Py_ssize_t i, j, n = X.shape[0], d = X.shape[1]
    cdef double size, peak, square, distance
    if centred:
        for i in range(n):
            for j in range(d):
                centre[j] += X[i, j]
        for j in range(d):
            centre[j] /= n
    for i in range(n):
        for j in range(d):
            distance = X[i, j] - centre[j]
            scale[j] += distance * distance
    for j in range(d):
        square = scale[j] / n
        if not isfinite(square) or square > 1.0 / LEAST or fabs(centre[j]) > 1.0 / LEAST:
            return False
        peak = sqrt(square)
        if peak <= CONSTANT * fabs(centre[j]):
            scale[j] = 0.0
        elif square < LEAST:
            return False
        else:
            scale[j] = 1.0 / peak
    return True


cdef bint _unit_rows(
    const double[:, ::1] X, const int8_t[::1] signs, const double[::1] centre,
    const double[::1] scale, bint constant, double[:, ::1] out, double[::1] lengths,
) noexcept nogil:
    """Set the signed rows, of unit length, and their lengths; False if one is zero."""
    cdef Py_ssize_t i, j, d = X.shape[1]
    cdef double square
    for i in range(X.shape[0]):
        square = 1.0 if constant else 0.0
        for j in range(d):
            out[i, j] = signs[i] * ((X[i, j] - centre[j]) * scale[j])
            square += out[i, j] * out[i, j]
        if constant:
            out[i, d] = signs[i]
        if square < LEAST:
            return False
        lengths[i] = sqrt(square)
        for j in range(out.shape[1]):
            out[i, j] /= lengths[i]
    return True


cdef void _balance(
    const double[:, ::1] X, const int8_t[::1] signs, bint constant, double[::1] w
) noexcept nogil:
    """Move the intercept to between the classes, and the least ``a_i . w`` to near 1."""
    cdef Py_ssize_t i, j, d = X.shape[1]
    cdef double total, down = INFINITY, up = INFINITY, least
    cdef int power
    for i in range(X.shape[0]):
        total = w[d] if constant else 0.0
        for j in range(d):
            total += X[i, j] * w[j]
        if signs[i] > 0:
            up = min(up, total)
        else:
            down = min(down, -total)
    least = min(down, up)
    if constant and isfinite(down - up):
        w[d] += 0.5 * (down - up)
        least = 0.5 * (down + up)
    if least > LEAST and least < 1.0 / LEAST:
        frexp(least, &power)
        for j in range(w.shape[0]):
            w[j] = ldexp(w[j], 1 - power)


cdef tuple _hull_point(
    const double[:, ::1] X, const int8_t[::1] signs, bint balanced, double[::1] p
):
    """Return the length of ``sum_i p_i s_i x_i``, ``sum_i p_i |x_i|``, and the longest.

    The weights are normalised first, to equal mass on both classes if `balanced`; None
    if there is but one.
    """
    cdef Py_ssize_t i, j, n = X.shape[0], d = X.shape[1]
    cdef double down = 0.0, up = 0.0, square, weight, weighed = 0.0, longest = 0.0
    cdef double[::1] total = np.zeros(d)
    for i in range(n):
        if signs[i] > 0:
            up += p[i]
        else:
            down += p[i]
    if not balanced:
        down = up = 0.5 * (down + up)
    if not (down > 0.0 and up > 0.0):
        return None
    for i in range(n):
        weight = 0.5 * p[i] / (up if signs[i] > 0 else down)
        square = 0.0
        for j in range(d):
            square += X[i, j] * X[i, j]
            total[j] += signs[i] * weight * X[i, j]
        square = sqrt(square)
        weighed += weight * square
        longest = max(longest, square)
    square = 0.0
    for j in range(d):
        square += total[j] * total[j]
    return sqrt(square), weighed, longest


def opening(
    const double[:, ::1] X,
    const int8_t[::1] signs,
    bint constant,
    Py_ssize_t first_rounds,
    Py_ssize_t most_rounds,
    double most_wrong,
):
    """Play a few rounds in coordinates without the mean and the scale of the columns.

    After the first rounds no more than a share of the rows may be on the wrong side.
    Returns the rounds played and, if they found a hyperplane, its weights and what
    `_hull_point` says of the last weights on the rows; else None and None. All is None
    where the numbers are too large, too small, or a row is zero.
    """
    cdef Py_ssize_t i, n = X.shape[0], d = X.shape[1], k = d + constant, n_wrong = 0
    cdef double[:, ::1] work = np.zeros((2, d))
    cdef double[::1] centre = work[0], scale = work[1]
    unit = np.empty((n, k))
    cdef double[:, ::1] rows = unit
    cdef double[:, ::1] of_rows = np.empty((2, n))
    cdef double[::1] lengths = of_rows[0], margins = of_rows[1]
    cdef double[:, ::1] vectors
    cdef double[::1] w
    cdef double least = INFINITY
    if not (
        _spread(X, centre, scale, constant)
        and _unit_rows(X, signs, centre, scale, constant, rows, lengths)
    ):
        return None
    bounds = np.array([0, n])
    loop = Loop(Sweep(unit, bounds, max(4, BLOCK_ENTRIES // k), 1), 1.0, 0.5)
    found = loop.advance(first_rounds, 0.0)
    vectors = loop.vectors()
    products(n, k, &rows[0, 0], &vectors[1, 0], &margins[0])
    if not found and most_rounds > first_rounds:
        for i in range(n):
            n_wrong += margins[i] <= 0.0
        if n_wrong <= most_wrong * n:
            found = loop.advance(most_rounds, 0.0)
            vectors = loop.vectors()
            products(n, k, &rows[0, 0], &vectors[1, 0], &margins[0])
    if not found:
        return loop.n_rounds, None, None
    weights = np.empty(k)
    w = weights
    i = 1 if loop.margin > 0.0 else 0
    if constant:
        w[d] = vectors[i, d]
    for j in range(d):
        w[j] = vectors[i, j] * scale[j]
        if constant:
            w[d] -= centre[j] * w[j]
    _balance(X, signs, constant, w)
    for i in range(n):
        least = min(least, margins[i])
    for i in range(n):
        margins[i] = exp(least - margins[i]) / lengths[i]
    return loop.n_rounds, weights, _hull_point(X, signs, constant, margins)
