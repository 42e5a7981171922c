"""The compiled part of the opening: small dense rows, brought to unit length."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from libc.math cimport INFINITY, fabs, frexp, isfinite, ldexp, sqrt
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int8_t
from libc.string cimport memcpy, memset

import sys

import numpy as np

from linsep.rows._sweeps cimport hull_sizes
from linsep.solvers._active_set cimport _CONFLICT, _OPTIMAL, _RUNNING, ActiveRows, Ending
from linsep.solvers._blas cimport dot, solve_triangle
from linsep.solvers._descent cimport Descent
from linsep.solvers.blas import calm_blas

cdef extern from "_opening.h" nogil:
    void add_up(
        const double* X, ptrdiff_t n, ptrdiff_t d, const double* base, double* sums,
        double* squares, double* sizes
    )
    void least_products(
        const double* X, const int8_t* signs, ptrdiff_t n, ptrdiff_t d, const double* w,
        double constant, double* down, double* up
    )
    ptrdiff_t unit_rows_double(
        const double* X, const int8_t* signs, ptrdiff_t n, ptrdiff_t d,
        const double* centre, const double* scale, double constant, double least,
        double* out, double* lengths
    )
    ptrdiff_t unit_rows_float(
        const double* X, const int8_t* signs, ptrdiff_t n, ptrdiff_t d,
        const double* centre, const double* scale, double constant, double least,
        float* out, double* lengths
    )

# A column that varies by less than this share of its values is constant.
cdef double CONSTANT = 1e-12
# Columns that stay in a core's cache while the rows are gone through.
cdef Py_ssize_t BLOCK_COLUMNS = 512
# What is squared is between this and its inverse.
cdef double LEAST = 2.0**-100
# A column of which no more than this share, squared, is new depends on the others.
cdef double DEPENDENT = 1e-13
# Less of a product with a unit row may be what was rounded to a float.
cdef double ROUNDED = 1e-4
# Unit rows whose product is not below this are not opposite, whatever was rounded.
cdef double NEARLY_OPPOSITE = -1.0 + 1e-6
# Rows are whitened if the first round does not do and this takes so many multiply-adds.
cdef Py_ssize_t MOST_WHITENED = 1 << 15
# The active set is given so many steps a column (one to six are seen), as far as they
# are this many multiply-adds: some hundred milliseconds.
cdef Py_ssize_t STEPS_A_COLUMN = 12, MOST_WORK = 1 << 29
# Of so few rows each is compared with each.
cdef Py_ssize_t FEW_ROWS = 600
# Of so few that is done sooner than the active set is begun.
cdef Py_ssize_t SEEN_AT_ONCE = 32


cdef bint _spread(
    const double[:, ::1] X, double* centre, double* scale, double* sizes, bint centred
) noexcept nogil:
    """Set what to take from each column, and what to multiply it by; tell if it works.

    That is its mean, unless it is not to be centred, and one over its deviation; 0 for
    a constant column. The sizes are room for a number of each column, zero.
    """
    cdef Py_ssize_t i, j, n = X.shape[0], d = X.shape[1]
    cdef double square, mean, largest
    add_up(&X[0, 0], n, d, &X[0, 0] if centred else NULL, centre, scale, sizes)
    for j in range(d):
        if scale[j] > n / LEAST or fabs(X[0, j]) > 1.0 / LEAST:
            return False
        mean = centre[j] / n
        square = scale[j] / n - (mean * mean if centred else 0.0)
        centre[j] = X[0, j] + mean if centred else 0.0
        if sizes[j] == 0.0:
            continue
        scale[j] = 1.0 / sqrt(max(square, 0.0))
        if square < LEAST or scale[j] * CONSTANT * fabs(centre[j]) > 1.0:
            largest = 0.0
            for i in range(n):
                largest = max(largest, fabs(X[i, j] - centre[j]))
            if largest > CONSTANT * fabs(centre[j]):
                return False  # its square was lost
            scale[j] = 0.0
    return True


cdef double _balance(
    double down, double up, bint constant, double* w, Py_ssize_t d
) noexcept nogil:
    """Move the intercept to between the classes, and the least ``a_i . w`` to near 1.

    It is at least `down` for the rows of one class, `up` for those of the other. Returns
    the least, before it is moved near 1.
    """
    cdef Py_ssize_t j
    cdef double shift, least = min(down, up)
    cdef int power
    if constant and isfinite(down - up):
        w[d] += 0.5 * (down - up)
        least = 0.5 * (down + up)
    if least > LEAST and least < 1.0 / LEAST:
        frexp(least, &power)
        shift = ldexp(1.0, 1 - power)
        for j in range(d + constant):
            w[j] *= shift
    return least


# A BLAS would use its threads for this, which wait for one another on a busy machine.
cdef bint _factor(
    const double* rows, Py_ssize_t n, Py_ssize_t k, double* R
) noexcept nogil:
    """Set R, upper and zero before, to ``R^T R = rows^T rows``; False if it has none."""
    cdef Py_ssize_t i, a, b
    cdef double square
    for i in range(n):
        for a in range(k):
            for b in range(a, k):
                R[a * k + b] += rows[i * k + a] * rows[i * k + b]
    for a in range(k):
        square = R[a * k + a]
        for i in range(a):
            for b in range(a, k):
                R[a * k + b] -= R[i * k + a] * R[i * k + b]
        if not R[a * k + a] > DEPENDENT * square:
            return False
        R[a * k + a] = sqrt(R[a * k + a])
        for b in range(a + 1, k):
            R[a * k + b] /= R[a * k + a]
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
    least_products(&X[0, 0], &signs[0], n, d, &w[0], 0.0, &down, &up)
    mean = _balance(down, up, constant, &w[0], d)
    return mean > 0.0, weights, (length, weighed, longest)


cdef class Unit:
    """Small dense rows in coordinates without the mean and the scale of the columns.

    The rows are signed, and of unit length; the constant is their last column, if any.
    """

    cdef const double[:, ::1] _X
    cdef const int8_t[::1] _signs
    cdef Py_ssize_t _n, _k
    cdef double _constant
    cdef double *_block
    cdef double *_unit
    cdef float *_short
    cdef double *_triangle
    cdef double *_centre
    cdef double *_scale
    cdef double *_lengths
    cdef double *_p

    cdef bint _over(
        self, const double[:, ::1] X, const int8_t[::1] signs, double constant,
        bint as_floats
    ) except -1:
        """Take the rows, and the constant as a further column unless that is 0.

        Of many rows the descent needs no more than floats, in half the memory.

        Returns whether there are unit rows: no number is too large or too small, no row
        zero.
        """
        cdef Py_ssize_t n = X.shape[0], d = X.shape[1], held = 2 * n + 3 * d
        self._X, self._signs, self._constant = X, signs, constant
        self._n, self._k = n, d + (constant > 0.0)
        self._block = <double*> PyMem_Malloc(
            held * sizeof(double)
            + n * self._k * (sizeof(float) if as_floats else sizeof(double))
        )
        if self._block == NULL:
            raise MemoryError
        memset(self._block, 0, held * sizeof(double))
        self._p, self._lengths = self._block, self._block + n
        self._centre, self._scale = self._block + 2 * n, self._block + 2 * n + d
        sizes = self._scale + d
        if not _spread(X, self._centre, self._scale, sizes, constant > 0.0):
            return False
        if as_floats:
            self._short = <float*> (self._block + held)
            return n == unit_rows_float(
                &X[0, 0], &signs[0], n, d, self._centre, self._scale, constant, LEAST,
                self._short, self._lengths,
            )
        self._unit = self._block + held
        return n == unit_rows_double(
            &X[0, 0], &signs[0], n, d, self._centre, self._scale, constant, LEAST,
            self._unit, self._lengths,
        )

    def __dealloc__(self):
        PyMem_Free(self._block)
        PyMem_Free(self._triangle)

    cdef bint _whiten(self) except -1:
        """Change to coordinates in which the rows have unit second moment.

        Returns whether that was done: not so where they hardly span the space.
        """
        cdef Py_ssize_t i, j, k = self._k
        cdef double *row
        cdef double* triangle = <double*> PyMem_Calloc(k * k, sizeof(double))
        if triangle == NULL:
            raise MemoryError
        for i in range(self._n):
            for j in range(k):
                self._unit[i * k + j] *= self._lengths[i]
        if _factor(self._unit, self._n, k, triangle):
            self._triangle = triangle
        else:
            PyMem_Free(triangle)
        for i in range(self._n):
            row = self._unit + i * k
            if self._triangle != NULL:
                solve_triangle(k, triangle, k, True, row)
                self._lengths[i] = sqrt(dot(k, row, row))
            for j in range(k):
                row[j] /= self._lengths[i]
        return self._triangle != NULL

    cdef void _weigh(self, const double* weights) noexcept nogil:
        """Take weights on the unit rows, from which those on the rows as given follow."""
        cdef Py_ssize_t i
        for i in range(self._n):
            self._p[i] = weights[i] / self._lengths[i]

    cdef tuple _decide(
        self, const Py_ssize_t* near, Py_ssize_t n_near, double tolerance,
        Py_ssize_t most_steps,
    ):
        """Let the active set decide; return its steps, and a vector, or a conflict.

        It looks at the rows that are `near` first. The vector seems to separate. Of a
        conflict come the rows, and their weights. Both are None where the steps do not
        do.
        """
        cdef Py_ssize_t i, n = self._n, k
        rows = <double[:n, :self._k]> self._unit
        cdef ActiveRows active = ActiveRows(rows, np.zeros(n), False)
        cdef Ending ending = _RUNNING
        while ending == _RUNNING:  # the rows are of unit length
            ending = active._run(
                near, n_near, tolerance, 1.0, most_steps - active.n_steps
            )
            n_near = 0
        k = active.k
        cdef Py_ssize_t[::1] held = active._active
        cdef double[::1] shares = active._multipliers
        if ending == _OPTIMAL:
            memset(self._p, 0, n * sizeof(double))
            for i in range(k):
                self._p[held[i]] = max(shares[i], 0.0) / self._lengths[held[i]]
            return active.n_steps, active.u, None
        if ending != _CONFLICT:
            return active.n_steps, None, None
        shares = active._direction
        conflict, weights = np.empty(k + 1, dtype=np.intp), np.empty(k + 1)
        cdef Py_ssize_t[::1] members = conflict
        cdef double[::1] p = weights
        for i in range(k):
            members[i], p[i] = held[i], max(-shares[i], 0.0) / self._lengths[held[i]]
        members[k], p[k] = active.entering, 1.0 / self._lengths[active.entering]
        return active.n_steps, None, (conflict, weights)

    cdef tuple _opposite(self):
        """Return the first row that seems opposite to an earlier one, and that; or None.

        None is certain: no two rows point in opposite directions. With the constant
        these are one point with both labels, and seen exactly.
        """
        cdef Py_ssize_t i, j, k = self._k
        for i in range(self._n):
            for j in range(i):
                if self._constant > 0.0:
                    if self._signs[i] != self._signs[j] and self._are_equal(i, j):
                        return j, i
                elif dot(k, self._unit + i * k, self._unit + j * k) < NEARLY_OPPOSITE:
                    return j, i
        return None

    cdef bint _are_equal(self, Py_ssize_t i, Py_ssize_t j) noexcept:
        """Tell whether two points are the same."""
        cdef Py_ssize_t column
        for column in range(self._X.shape[1]):
            if self._X[i, column] != self._X[j, column]:
                return False
        return True

    cdef void _weights(self, double* w, const double* products) noexcept nogil:
        """Turn a vector into weights on the columns, the intercept between the classes.

        Over a power of two, so that the least ``a_i . w`` is near 1. The vector has these
        products with the unit rows.
        """
        cdef Py_ssize_t i, j, d = self._X.shape[1], k = self._k
        cdef double product, down = INFINITY, up = INFINITY, least = INFINITY
        for i in range(self._n):
            least = min(least, products[i])
            product = products[i] * self._lengths[i]
            if self._signs[i] > 0:
                up = min(up, product)
            else:
                down = min(down, product)
        if self._triangle != NULL:
            solve_triangle(k, self._triangle, k, False, w)
        if k > d:
            w[d] *= self._constant
        for j in range(d):
            w[j] *= self._scale[j]
            if k > d:
                w[d] -= self._centre[j] * w[j]
        if self._short != NULL and least < ROUNDED:
            product = w[d] if k > d else 0.0
            least_products(
                &self._X[0, 0], &self._signs[0], self._n, d, w, product, &down, &up
            )
        _balance(down, up, k > d, w, d)


def opened_rows(
    const double[:, ::1] X,
    const int8_t[::1] signs,
    double constant,
    double tolerance,
    most_rounds,
    bint is_small,
    check,
):
    """Descend, then let the active set decide; see `linsep.solvers.opening.opened`.

    Returns the rounds, weights on the columns, what `hull_point` says of weights on the
    rows, a conflict, the first two rows that seem opposite, and whether there may be
    such; None where there are no unit rows. The active set is left to `is_small` rows,
    and out where there is a limit on the rounds.
    """
    cdef Unit unit = Unit()
    cdef Descent descent = Descent.__new__(Descent)
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], n_rounds = 1, most
    cdef bint is_found, is_limited = most_rounds is not None
    cdef double[3] sizes
    cdef double[::1] w
    if not unit._over(X, signs, constant, not is_small):
        return None
    cdef Py_ssize_t k = unit._k, size = n * d
    most = most_rounds if is_limited else sys.maxsize
    descent._over(unit._unit, unit._short, n, k, None)
    descent._begin()
    if descent.n_wrong:
        if is_small and n * k * k <= MOST_WHITENED and most > 1 and unit._whiten():
            descent._over(unit._unit, unit._short, n, k, None)
            descent._begin()
            n_rounds = 2
        n_rounds += descent._go_on(most - n_rounds, check)
    unit._weigh(descent._weights)
    is_found = descent.n_wrong == 0
    weights = None
    if not is_found and is_small and not is_limited:
        pair = unit._opposite() if n <= SEEN_AT_ONCE and k > d else None
        if pair is not None:
            return n_rounds, None, None, (np.array(pair), np.ones(2)), pair, True
        most = min(STEPS_A_COLUMN * k, MOST_WORK // (n * k + 3 * k * k))
        with calm_blas(min(n, k), n_entries=size):
            decided = unit._decide(descent._order, descent.n_near, tolerance, most)
        n_taken, weights, conflict = decided
        n_rounds += n_taken
        if conflict is not None:
            pair = unit._opposite() if n <= FEW_ROWS else None
            return n_rounds, None, None, conflict, pair, pair is not None or n > FEW_ROWS
    elif is_found:
        weights = np.empty(k)
        w = weights
        memcpy(&w[0], descent._w, k * sizeof(double))
    if weights is not None:
        w = weights
        if not is_found:  # by the descent, which knows the products
            descent._set(&w[0])
        unit._weights(&w[0], descent._products)
    is_bound = hull_sizes(&X[0, 0], d, NULL, unit._p, n, k > d, &signs[0], sizes)
    bound = (sizes[0], sizes[1], sizes[2]) if is_bound else None
    return n_rounds, weights, bound, None, None, True
