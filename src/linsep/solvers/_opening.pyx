"""The compiled part of the opening: small dense rows, brought to unit length."""

from libc.math cimport INFINITY, fabs, frexp, isfinite, ldexp, sqrt
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int8_t
from libc.string cimport memset

import numpy as np

from linsep.rows._sweeps import hull_point
from linsep.solvers._active_set import CONFLICT, OPTIMAL, RUNNING, ActiveRows
from linsep.solvers._blas cimport dot, solve_triangle

cdef extern from "_opening.h" nogil:
    void add_up(const double* X, ptrdiff_t n, ptrdiff_t d, double* sums)
    void add_squares(
        const double* X, ptrdiff_t n, ptrdiff_t d, const double* centre, double* squares
    )
    ptrdiff_t unit_rows(
        const double* X, const int8_t* signs, ptrdiff_t n, ptrdiff_t d,
        const double* centre, const double* scale, double constant, double least,
        double* out, double* lengths
    )

# A column that varies by less than this share of its values is constant.
cdef double CONSTANT = 1e-12
# Columns that stay in a core's cache while the rows are gone through.
cdef Py_ssize_t BLOCK_COLUMNS = 512
# What is squared is between this and its inverse.
cdef double LEAST = 2.0**-100
# A column of which no more than this share, squared, is new depends on the others.
cdef double DEPENDENT = 1e-13
# Unit rows whose product is not below this are not opposite, whatever was rounded.
cdef double NEARLY_OPPOSITE = -1.0 + 1e-6


cdef bint _spread(
    const double[:, ::1] X, double* centre, double* scale, bint centred
) noexcept nogil:
    """Set what to take from each column, and what to multiply it by; tell if it works.

    That is its mean, unless it is not to be centred, and one over its deviation; 0 for
    a constant column.
    """
    cdef Py_ssize_t i, j, n = X.shape[0], d = X.shape[1]
    cdef double square, largest
    if centred:
        add_up(&X[0, 0], n, d, centre)
        for j in range(d):
            centre[j] /= n
    add_squares(&X[0, 0], n, d, centre, scale)
    for j in range(d):
        square = scale[j] / n
        if not isfinite(square) or square > 1.0 / LEAST or fabs(centre[j]) > 1.0 / LEAST:
            return False
        scale[j] = 1.0 / sqrt(square)
        if square < LEAST or scale[j] * CONSTANT * fabs(centre[j]) > 1.0:
            largest = 0.0
            for i in range(n):
                largest = max(largest, fabs(X[i, j] - centre[j]))
            if largest > CONSTANT * fabs(centre[j]):
                return False  # its square was lost
            scale[j] = 0.0
    return True


cdef double _balance(
    const double[:, ::1] X, const int8_t[::1] signs, bint constant, double[::1] w
) noexcept nogil:
    """Move the intercept to between the classes, and the least ``a_i . w`` to near 1.

    Returns that least product, before it is moved near 1.
    """
    cdef Py_ssize_t i, j, d = X.shape[1]
    cdef double total, down = INFINITY, up = INFINITY, least
    cdef int power
    for i in range(X.shape[0]):
        total = (w[d] if constant else 0.0) + dot(d, &X[i, 0], &w[0])
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
    return least


# A BLAS would use its threads for this, which wait for one another on a busy machine.
cdef bint _factor(const double[:, ::1] rows, double[:, ::1] R) noexcept nogil:
    """Set R, upper and zero before, to ``R^T R = rows^T rows``; False if it has none."""
    cdef Py_ssize_t i, a, b, k = rows.shape[1]
    cdef double square
    for i in range(rows.shape[0]):
        for a in range(k):
            for b in range(a, k):
                R[a, b] += rows[i, a] * rows[i, b]
    for a in range(k):
        square = R[a, a]
        for i in range(a):
            for b in range(a, k):
                R[a, b] -= R[i, a] * R[i, b]
        if not R[a, a] > DEPENDENT * square:
            return False
        R[a, a] = sqrt(R[a, a])
        for b in range(a + 1, k):
            R[a, b] /= R[a, a]
    return True


def means_apart(const double[:, ::1] X, const int8_t[::1] signs, bint constant):
    """Weigh each column by how far the classes' means are apart, over its variance.

    One reading of the rows, and another for the intercept. Returns whether these
    weights separate, the weights, and what `hull_point` says of equal weights on the
    rows of each class; None where numbers are too large.
    """
    cdef Py_ssize_t i, j, first, size, n = X.shape[0], d = X.shape[1], n_up = 0
    cdef double[:, ::1] sums = np.zeros((3, d))
    cdef double[::1] squares = np.zeros(n)
    cdef double up, down, mean, spread, longest = 0.0, weighed = 0.0, length = 0.0
    cdef const double* x
    cdef double *total
    cdef double *signed
    cdef double *square
    for i in range(n):
        n_up += signs[i] > 0
    if constant and n_up in (0, n):
        return None
    up = 0.5 / n_up if constant else 1.0 / n
    down = 0.5 / (n - n_up) if constant else up
    for first in range(0, d, BLOCK_COLUMNS):
        size = min(BLOCK_COLUMNS, d - first)
        total, signed, square = &sums[0, first], &sums[1, first], &sums[2, first]
        for i in range(n):
            x = &X[i, first]
            mean = signs[i] * (up if signs[i] > 0 else down)
            for j in range(size):
                total[j] += x[j]
                signed[j] += mean * x[j]
                square[j] += x[j] * x[j]
            squares[i] += dot(size, x, x)
    for i in range(n):
        weighed += (up if signs[i] > 0 else down) * sqrt(squares[i])
        longest = max(longest, sqrt(squares[i]))
    if not LEAST < longest < 1.0 / LEAST:
        return None
    length = sqrt(dot(d, &sums[1, 0], &sums[1, 0]))
    weights = np.zeros(d + constant)
    cdef double[::1] w = weights
    for j in range(d):
        mean = sums[0, j] / n if constant else 0.0
        spread = sums[2, j] / n - mean * mean
        if spread > CONSTANT * sums[2, j] / n:
            w[j] = sums[1, j] / spread
    return _balance(X, signs, constant, w) > 0.0, weights, (length, weighed, longest)


cdef class Unit:
    """Small dense rows in coordinates without the mean and the scale of the columns.

    Parameters
    ----------
    X : ndarray of shape (n, d), C order
    signs : ndarray of shape (n,), int8
    constant : float
        What the signed constant is as a further column; 0 for none.

    Attributes
    ----------
    rows : ndarray of shape (n, d), or (n, d + 1) with the constant
        The signed rows, of unit length.
    is_usable : bool
        Whether there are unit rows: no number is too large or too small, no row zero.
    """

    cdef readonly bint is_usable
    cdef const double[:, ::1] _X
    cdef const int8_t[::1] _signs
    cdef bint _constant
    cdef readonly object rows
    cdef double[:, ::1] _unit
    cdef double _constant_value
    cdef double[::1] _held
    cdef object _weights
    cdef double[:, ::1] _triangle
    cdef bint _is_whitened
    cdef double *_centre
    cdef double *_scale
    cdef double *_lengths
    cdef double *_p

    def __init__(
        self, const double[:, ::1] X, const int8_t[::1] signs, double constant
    ):
        cdef Py_ssize_t n = X.shape[0], d = X.shape[1]
        cdef bint centred = constant > 0.0
        self._X, self._signs, self._constant = X, signs, centred
        self._constant_value = constant
        held = np.zeros(2 * (n + d))
        self._held, self._weights = held, held[:n]
        self._p, self._lengths = &self._held[0], &self._held[n]
        self._centre, self._scale = &self._held[2 * n], &self._held[2 * n] + d
        self._unit = self.rows = np.empty((n, d + centred))
        self.is_usable = _spread(X, self._centre, self._scale, centred) and (
            unit_rows(
                &X[0, 0], &signs[0], n, d, self._centre, self._scale,
                self._constant_value, LEAST, &self._unit[0, 0], self._lengths,
            )
            == n
        )

    def whiten(self):
        """Change to coordinates in which the rows have unit second moment.

        Returns whether that was done: not so where they hardly span the space.
        """
        cdef Py_ssize_t i, j, n = self._unit.shape[0], k = self._unit.shape[1]
        cdef double[:, ::1] triangle = np.zeros((k, k))
        for i in range(n):
            for j in range(k):
                self._unit[i, j] *= self._lengths[i]
        self._is_whitened = _factor(self._unit, triangle)
        if self._is_whitened:
            self._triangle = triangle
        for i in range(n):
            if self._is_whitened:
                solve_triangle(k, &triangle[0, 0], k, True, &self._unit[i, 0])
                self._lengths[i] = sqrt(dot(k, &self._unit[i, 0], &self._unit[i, 0]))
            for j in range(k):
                self._unit[i, j] /= self._lengths[i]
        return self._is_whitened

    def weigh(self, const double[::1] weights):
        """Take weights on the unit rows, from which those on the rows as given follow."""
        cdef Py_ssize_t i
        for i in range(self._unit.shape[0]):
            self._p[i] = weights[i] / self._lengths[i]

    def decide(self, near, double tolerance, Py_ssize_t most_steps):
        """Let the active set decide; return its steps, and a vector, or a conflict.

        It looks at the rows that are `near` first. The vector seems to separate. Of a
        conflict come the rows, and their weights. Both are None where the steps do not
        do.
        """
        cdef Py_ssize_t i, n = self._unit.shape[0]
        active = ActiveRows(self.rows, np.zeros(n), False)
        ending = RUNNING
        while ending == RUNNING:  # the rows are of unit length
            left = most_steps - active.n_steps
            ending = active.run(near, tolerance, 1.0, left)
            near = near[:0]
        cdef Py_ssize_t k = active.k
        cdef Py_ssize_t[::1] rows = active.active
        cdef double[::1] shares = active.multipliers
        if ending == OPTIMAL:
            memset(self._p, 0, n * sizeof(double))
            for i in range(k):
                self._p[rows[i]] = max(shares[i], 0.0) / self._lengths[rows[i]]
            return active.n_steps, active.u, None
        if ending != CONFLICT:
            return active.n_steps, None, None
        shares = active.direction
        conflict, weights = np.empty(k + 1, dtype=np.intp), np.empty(k + 1)
        cdef Py_ssize_t[::1] members = conflict
        cdef double[::1] p = weights
        for i in range(k):
            members[i], p[i] = rows[i], max(-shares[i], 0.0) / self._lengths[rows[i]]
        members[k], p[k] = active.entering, 1.0 / self._lengths[active.entering]
        return active.n_steps, None, (conflict, weights)

    def opposite(self):
        """Return the first row that seems opposite to an earlier one, and that; or None.

        None is certain: no two rows point in opposite directions. With the constant
        these are one point with both labels, and seen exactly.
        """
        cdef Py_ssize_t i, j, k = self._unit.shape[1]
        for i in range(self._unit.shape[0]):
            for j in range(i):
                if self._constant:
                    if self._signs[i] != self._signs[j] and self._are_equal(i, j):
                        return j, i
                elif dot(k, &self._unit[i, 0], &self._unit[j, 0]) < NEARLY_OPPOSITE:
                    return j, i
        return None

    cdef bint _are_equal(self, Py_ssize_t i, Py_ssize_t j) noexcept:
        """Tell whether two points are the same."""
        cdef Py_ssize_t column
        for column in range(self._X.shape[1]):
            if self._X[i, column] != self._X[j, column]:
                return False
        return True

    def weights(self, const double[::1] u):
        """Return a vector's weights on the columns, the intercept between the classes.

        Over a power of two, so that the least ``a_i . w`` is near 1.
        """
        cdef Py_ssize_t j, d = self._X.shape[1], k = self._unit.shape[1]
        weights = np.array(u)
        cdef double[::1] w = weights
        if self._is_whitened:
            solve_triangle(k, &self._triangle[0, 0], k, False, &w[0])
        if self._constant:
            w[d] *= self._constant_value
        for j in range(d):
            w[j] *= self._scale[j]
            if self._constant:
                w[d] -= self._centre[j] * w[j]
        _balance(self._X, self._signs, self._constant, w)
        return weights

    def hull_point(self):
        """Return how long ``sum_i p_i s_i x_i`` is, of the last weights on the rows.

        Also ``sum_i p_i |x_i|``, and the longest; None if only one class has weight.
        """
        return hull_point(self._X, None, self._weights, self._constant, self._signs)
