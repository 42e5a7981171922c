"""Rows that hold with equality, side by side, and the factor of their Gram matrix.

A projection on them is a few products with a BLAS. The triangular factor R of their
Gram matrix (its Cholesky factor) is updated as rows come and go: with k rows of d
columns that costs O(k d + k^2).
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memmove, memset

import numpy as np

from linsep.solvers._blas cimport (
    add_scaled,
    dot,
    factor_gram,
    solve_triangle,
)

# A projection is refined unless R's diagonal varies by less than this factor and the
# part of the row that is left is at least this share of it, squared.
cdef double WELL_CONDITIONED = 100.0
cdef double MOSTLY_NEW = 0.01
# A row whose new part is below this share of what it is made of depends on the others.
cdef double DEPENDENT = 1e-13
# The same for rows put into a new factor; and where that is made by LAPACK, of so many
# rows or more: their Gram matrix then holds the share's square to eight digits.
cdef double INDEPENDENT = 1e-10
cdef double CLEARLY_INDEPENDENT = 1e-4
cdef Py_ssize_t MANY_ROWS = 32


cdef class HeldRows:
    """Rows that hold with equality, their factor and multipliers, and the vector.

    Parameters
    ----------
    rows : ndarray of shape (m, d), C order
    signs : ndarray of shape (m,)
        The coefficient of the offset in each row.
    free_offset : bool
        Whether there is an offset.

    Attributes
    ----------
    k : int
        How many rows are active.
    active, multipliers, direction : ndarray of shape (d + 1,)
        The first k entries count.
    factor : ndarray of shape (d + 1, d + 1)
        R, upper triangular: the first k rows and columns count.
    u : ndarray of shape (d,)
    offset : float
        The present hyperplane: ``rows @ u + signs * offset >= 1`` is sought.
    """

    cdef void _begin(
        self, const double[:, ::1] rows, const double[::1] signs, bint free_offset
    ):
        """Hold no row yet."""
        cdef Py_ssize_t m = rows.shape[0], d = rows.shape[1]
        # One entry more than d everywhere: no column at all is a case too.
        cdef Py_ssize_t width = d + 1
        self._rows, self._signs, self._free, self._d = rows, signs, free_offset, d
        self.k = 0
        self.offset = 0.0
        # To have one array looks odd, and takes a third of the time that ten do.
        room = np.zeros(7 * width + width * max(d, 1) + m)
        numbers = np.zeros(2 * width, dtype=np.intp)
        self.active, self.factor = numbers[:width], np.zeros((width, width))
        self.multipliers, self.direction = room[:width], room[width : 2 * width]
        self.u = room[2 * width : 2 * width + d]
        self._active, self._room, self._R = numbers, room, self.factor
        self._multipliers, self._direction = &self._room[0], &self._room[width]
        self._u, self._z = &self._room[2 * width], &self._room[3 * width]
        self._c, self._half = &self._room[4 * width], &self._room[5 * width]
        self._half_signs, self._held = &self._room[6 * width], &self._room[7 * width]
        self._margins = self._held + width * max(d, 1)

    cdef const double* _row(self, Py_ssize_t i) noexcept nogil:
        return &self._rows[i, 0]

    cdef double _project_out(self, Py_ssize_t row) noexcept nogil:
        """Split ``a`` into ``sum_i direction_i a_active(i) + z``; return the new part.

        That is the square of what is left of ``a`` by the active rows, or 0 if it
        depends on them. ``z`` is orthogonal to them; with a free offset the multipliers
        keep ``sum_i lambda_i s_i = 0`` instead, and the offset moves by ``-rho`` for
        each unit of the entering multiplier. The square of ``z`` is the rise, and the
        size is that of the direction.

        R alone (no Q) with one step of refinement is as accurate as a QR. The
        refinement, more than half the cost, is left out where R is well conditioned by
        its diagonal and most of ``a`` is new, so that no digits cancelled.
        """
        cdef Py_ssize_t i, k = self.k, d = self._d
        cdef const double* a = self._row(row)
        cdef double square = dot(d, a, a), squared, least, curvature
        cdef double* z = self._z
        cdef double* c = self._c
        cdef double* half = self._half
        cdef double* signs = self._half_signs
        cdef double* direction = self._direction
        cdef int tries
        products(k, d, self._held, a, half)
        self._solve_triangle(True, half)
        squared = square - dot(k, half, half)
        self._rho, self._size = 0.0, 1.0
        memcpy(z, a, d * sizeof(double))
        memcpy(direction, half, k * sizeof(double))
        if squared >= MOSTLY_NEW * square and self._is_well_conditioned():
            self._rise = squared
            if self._free and k > 0:
                curvature = dot(k, signs, signs)
                self._rho = (dot(k, half, signs) - self._signs[row]) / curvature
                self._rise += self._rho * self._rho * curvature
                add_scaled(k, -self._rho, signs, direction)
            self._solve_triangle(False, direction)
            add_rows(k, d, self._held, -1.0, direction, z)
            for i in range(k):
                self._size += fabs(direction[i])
            return squared
        self._solve_triangle(False, direction)
        add_rows(k, d, self._held, -1.0, direction, z)
        products(k, d, self._held, z, c)
        self._solve_triangle(True, c)
        add_scaled(k, 1.0, c, half)
        self._solve_triangle(False, c)
        add_rows(k, d, self._held, -1.0, c, z)
        add_scaled(k, 1.0, c, direction)
        for i in range(k):
            self._size += fabs(direction[i])
        self._rise = squared = dot(d, z, z)
        if self._free and k > 0:
            self._balance(self._signs[row])
        least = DEPENDENT * self._size
        return squared if squared > least * least * square else 0.0

    cdef bint _is_well_conditioned(self) noexcept nogil:
        """Tell whether R is, by its diagonal."""
        cdef Py_ssize_t i
        cdef double least = INFINITY, largest = 0.0
        for i in range(self.k):
            least = min(least, fabs(self._R[i, i]))
            largest = max(largest, fabs(self._R[i, i]))
        return largest <= WELL_CONDITIONED * least

    cdef void _balance(self, double sign) noexcept nogil:
        """Correct a projection so that the multipliers keep ``sum_i lambda_i s_i = 0``.

        With ``G y = s`` for the Gram matrix ``G`` and the signs ``s`` of the active
        rows, ``direction - rho y`` and ``z + rho A_S^T y`` solve the bordered system.
        """
        cdef Py_ssize_t i
        cdef double excess = -sign
        cdef double curvature = self._signs_solved()
        for i in range(self.k):
            excess += self._signs[self._active[i]] * self._direction[i]
        self._rho = excess / curvature
        add_scaled(self.k, -self._rho, self._c, self._direction)
        add_rows(
            self.k, self._d, self._held, self._rho, self._c, self._z
        )
        self._rise = dot(self._d, self._z, self._z)

    cdef double _signs_solved(self) noexcept nogil:
        """Set c to the solution of ``G c = s``; return ``s . c``."""
        cdef Py_ssize_t i
        cdef double curvature = 0.0
        memcpy(self._c, self._half_signs, self.k * sizeof(double))
        self._solve_triangle(False, self._c)
        for i in range(self.k):
            curvature += self._signs[self._active[i]] * self._c[i]
        return curvature

    cdef void _solve_triangle(self, bint transposed, double* b) noexcept nogil:
        cdef Py_ssize_t stride = self._R.shape[1]
        if self.k >= FEW_ROWS:
            solve_triangle(self.k, &self._R[0, 0], stride, transposed, b)
        elif transposed:
            solve_few_transposed(self.k, &self._R[0, 0], stride, b)
        else:
            solve_few(self.k, &self._R[0, 0], stride, b)

    cdef void _append(self, Py_ssize_t row, double squared) noexcept nogil:
        """Make the row that was projected last active; its new part is given."""
        cdef Py_ssize_t i, k = self.k, d = self._d
        for i in range(k):
            self._R[i, k] = self._half[i]
            self._R[k, i] = 0.0
        self._R[k, k] = sqrt(squared)
        self._half_signs[k] = (
            self._signs[row] - dot(k, self._half, self._half_signs)
        ) / self._R[k, k]
        memcpy(self._held + k * d, self._row(row), d * sizeof(double))
        self._active[k] = row
        self.k = k + 1

    cdef void _delete(self, Py_ssize_t position) noexcept nogil:
        """Let an active row go, and rotate R back to triangular form."""
        cdef Py_ssize_t i, k = self.k, d = self._d, stride = self._R.shape[1]
        drop_column(k, &self._R[0, 0], stride, position, self._half_signs)
        for i in range(position, k - 1):
            self._active[i] = self._active[i + 1]
            self._multipliers[i] = self._multipliers[i + 1]
        memmove(
            self._held + position * d,
            self._held + (position + 1) * d,
            (k - 1 - position) * d * sizeof(double),
        )
        self.k = k - 1

    def delete(self, Py_ssize_t position):
        """Let go of the active row at a position."""
        self._delete(position)

    def start(self, wanted):
        """Make the rows named active, as far as their multipliers are positive.

        Returns whether a start was made; both classes must be among them if the offset
        is free.
        """
        cdef Py_ssize_t[::1] kept = np.array(wanted, dtype=np.intp)
        cdef bint is_made
        with nogil:
            is_made = self._start(kept)
        return is_made

    cdef bint _start(self, Py_ssize_t[::1] kept) noexcept nogil:
        """Do what `start` does, with the rows named in an array that is written to."""
        cdef Py_ssize_t i, n = kept.shape[0], n_held = -1
        cdef double balance
        while n != n_held:
            self._hold(kept[:n])
            n_held, n, balance = self.k, 0, 0.0
            for i in range(n_held):
                balance += self._signs[self._active[i]]
            if n_held == 0 or (self._free and fabs(balance) == n_held):
                memset(self._u, 0, self._d * sizeof(double))
                self.k, self.offset = 0, 0.0
                return False
            self._settle()
            for i in range(n_held):
                if self._multipliers[i] >= 0.0:
                    kept[n] = self._active[i]
                    n += 1
        return True

    cdef void _hold(self, const Py_ssize_t[::1] wanted) noexcept nogil:
        """Make the independent ones of the rows named active, and no others."""
        cdef Py_ssize_t i
        cdef const double* a
        cdef double squared
        if MANY_ROWS <= wanted.shape[0] <= self._d and self._hold_at_once(wanted):
            return
        self.k = 0
        for i in range(wanted.shape[0]):
            if self.k == self._d:
                break
            a = self._row(wanted[i])
            squared = self._project_out(wanted[i])
            if squared > INDEPENDENT * INDEPENDENT * dot(self._d, a, a):
                self._append(wanted[i], squared)

    cdef bint _hold_at_once(self, const Py_ssize_t[::1] wanted) noexcept nogil:
        """Factor the rows' Gram matrix; tell whether all are clearly independent."""
        cdef Py_ssize_t i, j, k = wanted.shape[0], d = self._d
        cdef double* a
        for i in range(k):
            self._active[i] = wanted[i]
            self._half_signs[i] = self._signs[wanted[i]]
            memcpy(self._held + i * d, self._row(wanted[i]), d * sizeof(double))
        if not factor_gram(k, d, self._held, &self._R[0, 0], self._R.shape[1]):
            return False
        for i in range(k):
            for j in range(i):
                self._R[i, j] = 0.0
            a = self._held + i * d
            if not self._R[i, i] > CLEARLY_INDEPENDENT * sqrt(dot(d, a, a)):
                return False
        self.k = k
        self._solve_triangle(True, self._half_signs)
        return True

    cdef double _settle(self) noexcept nogil:
        """Recompute ``u`` and the offset so that every active row is at 1.

        Solves ``A_S u + s offset = 1``, ``u = A_S^T lambda``, ``s . lambda = 0`` with
        three corrections of the residuals, so ``u`` is as good as a least-norm solution
        by QR. Returns the largest residual that was corrected last.
        """
        cdef Py_ssize_t i, k = self.k, d = self._d
        cdef int tries
        cdef double imbalance, curvature = 0.0, move, largest = 0.0
        cdef double* step = self._c
        cdef double* solved = self._half
        for i in range(k):
            self._multipliers[i] = 0.0
        memset(self._u, 0, d * sizeof(double))
        self.offset = 0.0
        if self._free:
            curvature = self._signs_solved()
            memcpy(solved, step, k * sizeof(double))
        for tries in range(4):
            imbalance, largest = 0.0, 0.0
            products(k, d, self._held, self._u, step)
            for i in range(k):
                step[i] = 1.0 - step[i]
                if self._free:
                    step[i] -= self._signs[self._active[i]] * self.offset
                largest = max(largest, fabs(step[i]))
                if self._free:
                    imbalance += self._signs[self._active[i]] * self._multipliers[i]
            self._solve_triangle(True, step)
            self._solve_triangle(False, step)
            if self._free:
                for i in range(k):
                    imbalance += self._signs[self._active[i]] * step[i]
                move = imbalance / curvature
                self.offset += move
                add_scaled(k, -move, solved, step)
            add_rows(k, d, self._held, 1.0, step, self._u)
            add_scaled(k, 1.0, step, self._multipliers)
        return largest
