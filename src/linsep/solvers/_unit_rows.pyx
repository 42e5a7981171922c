"""Dense rows in coordinates without the columns' means and scales, of unit length."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from libc.math cimport INFINITY, fabs, frexp, isfinite, ldexp, sqrt
from libc.stdint cimport int8_t
from libc.string cimport memcpy, memset

import numpy as np

from linsep.solvers._active_set cimport _CONFLICT, _OPTIMAL, _RUNNING, ActiveRows, Ending
from linsep.solvers._blas cimport dot, solve_triangle

# A column of which no more than this share, squared, is new depends on the others.
cdef double DEPENDENT = 1e-13
# Less of a product with a unit row may be what was rounded to a float.
cdef double ROUNDED = 1e-4
# Unit rows whose product is not below this are not opposite, whatever was rounded.
cdef double NEARLY_OPPOSITE = -1.0 + 1e-6


cdef Py_ssize_t step_of(const double[:, :] X) noexcept nogil:
    """Return how many numbers a row begins after the one before; each is in one piece."""
    return X.strides[0] // <Py_ssize_t> sizeof(double)


cdef bint _spread(
    const double[:, :] X, double* centre, double* scale, double* sizes, bint centred
) noexcept nogil:
    """Set what to take from each column, and what to multiply it by; tell if it works.

    That is its mean, unless it is not to be centred, and one over its deviation; 0 for
    a constant column. The sizes are room for a number of each column, zero.
    """
    cdef Py_ssize_t i, j, n = X.shape[0], d = X.shape[1]
    cdef double square, mean, largest
    add_up(
        &X[0, 0], n, d, step_of(X), &X[0, 0] if centred else NULL, centre, scale, sizes
    )
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


cdef double balance(
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


cdef class Unit:
    """Small dense rows in coordinates without the mean and the scale of the columns.

    The rows are signed, and of unit length; the constant is their last column, if any.
    """

    cdef bint _over(
        self, const double[:, :] X, const int8_t[::1] signs, double constant,
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
                &X[0, 0], &signs[0], n, d, step_of(X), self._centre, self._scale,
                constant, LEAST, self._short, self._lengths,
            )
        self._unit = self._block + held
        return n == unit_rows_double(
            &X[0, 0], &signs[0], n, d, step_of(X), self._centre, self._scale,
            constant, LEAST, self._unit, self._lengths,
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
        cdef Py_ssize_t[::1] first = np.empty(n_near, dtype=np.intp)
        cdef Ending ending = _RUNNING
        memcpy(&first[0], near, n_near * sizeof(Py_ssize_t))
        while ending == _RUNNING:  # the rows are of unit length
            ending = active._run(
                first, tolerance, 1.0, most_steps - active.n_steps, 0
            )
            first = first[:0]
        k = active.k
        cdef Py_ssize_t[::1] held = active._active
        cdef const double* shares = active._multipliers
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
                &self._X[0, 0], &self._signs[0], self._n, d, step_of(self._X), w,
                product, &down, &up
            )
        balance(down, up, k > d, w, d)
