"""The compiled part of the dual active set: its factor, and its steps.

The active rows are kept side by side, so that a step is a few products with a BLAS. The
triangular factor R of their Gram matrix (its Cholesky factor) is updated as rows come
and go: with k active rows of d columns a step costs O(k d + k^2).
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memmove, memset

import numpy as np

from linsep.solvers._blas cimport (
    add_rows,
    add_scaled,
    dot,
    drop_column,
    factor_gram,
    length,
    products,
    smallest,
    solve_gram,
    solve_triangle,
)

OPTIMAL, CONFLICT, STEPS_EXHAUSTED, RUNNING = 0, 1, 2, 3
cdef enum Ending:
    _OPTIMAL, _CONFLICT, _STEPS_EXHAUSTED, _RUNNING

# Violated rows worked off between two pricings of all rows; an eighth of d if more.
cdef Py_ssize_t BATCH = 32
# Rows of so few entries are all priced before each step.
cdef Py_ssize_t FEW_ENTRIES = 1 << 13
# Multiply-adds after which the caller is asked: some milliseconds.
cdef double A_WHILE = 1 << 24
# What rounding can take from a margin, relative to the size of what is summed.
cdef double NOISE = 16 * 2.0**-52

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
# Multipliers that fall slower than this share of the row's coefficients do not fall.
cdef double FALLING = 1e-12


cdef class ActiveRows:
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
        The first k entries count. After a conflict ``a_entering = sum_i direction_i
        a_active(i)``, every ``direction_i <= 0``, and the same for the signs.
    factor : ndarray of shape (d + 1, d + 1)
        R, upper triangular: the first k rows and columns count.
    u : ndarray of shape (d,)
    offset : float
        The present hyperplane: ``rows @ u + signs * offset >= 1`` is sought.
    entering : int
        The row that entered last, or could not.
    n_steps : int
        Steps taken so far.
    """

    cdef readonly Py_ssize_t k, entering, n_steps
    cdef readonly double offset
    cdef readonly object active, multipliers, direction, factor, u
    cdef const double[:, ::1] _rows
    cdef const double[::1] _signs
    cdef bint _free
    cdef Py_ssize_t _d
    cdef Py_ssize_t[::1] _active
    cdef double[::1] _multipliers, _direction, _u, _z, _c, _y, _margins
    # The entering row's and the signs' solutions of ``R^T c = b``.
    cdef double[::1] _half, _half_signs
    cdef double[:, ::1] _R, _held

    def __init__(
        self, const double[:, ::1] rows, const double[::1] signs, bint free_offset
    ):
        d = rows.shape[1]
        self._rows, self._signs, self._free, self._d = rows, signs, free_offset, d
        self.k = self.n_steps = 0
        self.entering = -1
        self.offset = 0.0
        self.active = np.zeros(d + 1, dtype=np.intp)
        self.multipliers = np.zeros(d + 1)
        self.direction = np.zeros(d + 1)
        self.factor = np.zeros((d + 1, d + 1))
        self.u = np.zeros(d)
        self._active, self._multipliers = self.active, self.multipliers
        self._direction, self._R, self._u = self.direction, self.factor, self.u
        # One entry more than d everywhere: no column at all is a case too.
        self._held = np.zeros((d + 1, max(d, 1)))
        self._z, self._c, self._y = np.zeros(d + 1), np.zeros(d + 1), np.zeros(d + 1)
        self._half, self._half_signs = np.zeros(d + 1), np.zeros(d + 1)
        self._margins = np.empty(rows.shape[0])

    cdef inline const double* _row(self, Py_ssize_t i) noexcept nogil:
        return &self._rows[i, 0]

    cdef double _project_out(self, const double* a) noexcept nogil:
        """Split ``a`` into ``sum_i direction_i a_active(i) + z``; return ``|z|^2``.

        ``z`` is orthogonal to the active rows. R alone (no Q) with one step of
        refinement is as accurate as a QR. The refinement, half the cost, is left out
        where R is well conditioned by its diagonal and most of ``a`` is new, so that no
        digits cancelled.
        """
        cdef Py_ssize_t i, k = self.k, d = self._d
        cdef double least = INFINITY, largest = 0.0, enough = INFINITY, squared = 0.0
        cdef double* z = &self._z[0]
        cdef double* c = &self._c[0]
        cdef int tries
        for i in range(k):
            least = min(least, fabs(self._R[i, i]))
            largest = max(largest, fabs(self._R[i, i]))
            self._direction[i] = self._half[i] = 0.0
        if largest <= WELL_CONDITIONED * least:
            enough = MOSTLY_NEW * dot(d, a, a)
        memcpy(z, a, d * sizeof(double))
        for tries in range(2):
            products(k, d, &self._held[0, 0], z, c)
            self._solve_triangle(True, c)
            add_scaled(k, 1.0, c, &self._half[0])
            self._solve_triangle(False, c)
            add_rows(k, d, &self._held[0, 0], -1.0, c, z)
            add_scaled(k, 1.0, c, &self._direction[0])
            squared = dot(d, z, z)
            if squared >= enough:
                break
        return squared

    cdef void _solve_triangle(self, bint transposed, double* b) noexcept nogil:
        solve_triangle(self.k, &self._R[0, 0], self._R.shape[1], transposed, b)

    cdef void _append(self, Py_ssize_t row, double residual) noexcept nogil:
        """Make the row that was projected last active; its rest has that length."""
        cdef Py_ssize_t i, k = self.k, d = self._d
        for i in range(k):
            self._R[i, k] = self._half[i]
            self._R[k, i] = 0.0
        self._half_signs[k] = (
            self._signs[row] - dot(k, &self._half[0], &self._half_signs[0])
        ) / residual
        self._R[k, k] = residual
        memcpy(&self._held[k, 0], self._row(row), d * sizeof(double))
        self._active[k] = row
        self.k = k + 1

    cdef void _delete(self, Py_ssize_t position) noexcept nogil:
        """Let an active row go, and rotate R back to triangular form."""
        cdef Py_ssize_t i, k = self.k, stride = self._R.shape[1]
        drop_column(k, &self._R[0, 0], stride, position, &self._half_signs[0])
        for i in range(position, k - 1):
            self._active[i] = self._active[i + 1]
            self._multipliers[i] = self._multipliers[i + 1]
        memmove(
            &self._held[position, 0],
            &self._held[position + 1, 0],
            (k - 1 - position) * self._d * sizeof(double),
        )
        self.k = k - 1

    cdef double _balance(self) noexcept nogil:
        """Correct a projection so that the multipliers keep ``sum_i lambda_i s_i = 0``.

        With ``G y = s`` for the Gram matrix ``G`` and the signs ``s`` of the active
        rows, ``direction - rho y`` and ``z + rho A_S^T y`` solve the bordered system;
        the offset then moves by ``-rho`` for each unit of the entering multiplier.
        """
        cdef Py_ssize_t i, k = self.k
        cdef double excess = -self._signs[self.entering], curvature, rho
        curvature = self._signs_solved()
        for i in range(k):
            excess += self._signs[self._active[i]] * self._direction[i]
        rho = excess / curvature
        add_scaled(k, -rho, &self._y[0], &self._direction[0])
        add_rows(k, self._d, &self._held[0, 0], rho, &self._y[0], &self._z[0])
        return rho

    cdef double _signs_solved(self) noexcept nogil:
        """Set y to the solution of ``G y = s``; return ``s . y``."""
        cdef Py_ssize_t i
        cdef double curvature = 0.0
        memcpy(&self._y[0], &self._half_signs[0], self.k * sizeof(double))
        self._solve_triangle(False, &self._y[0])
        for i in range(self.k):
            curvature += self._signs[self._active[i]] * self._y[i]
        return curvature

    cdef double _margin(self, Py_ssize_t row) noexcept nogil:
        return dot(self._d, self._row(row), &self._u[0]) + (
            self._signs[row] * self.offset if self._free else 0.0
        )

    cdef Py_ssize_t _most_violated(
        self, const Py_ssize_t[::1] candidates, double tolerance
    ) noexcept nogil:
        """Return the candidate violated most that is not active; -1 for none."""
        cdef Py_ssize_t i, j, entering = -1
        cdef double value, limit = 1.0 - tolerance
        for i in range(candidates.shape[0]):
            value = self._margin(candidates[i])
            if value < limit:
                for j in range(self.k):
                    if self._active[j] == candidates[i]:
                        break
                else:
                    limit = value
                    entering = candidates[i]
        return entering

    def steps(
        self, const Py_ssize_t[::1] candidates, double tolerance, Py_ssize_t max_steps
    ):
        """Make ``u`` the shortest with ``a_i . u + s_i offset >= 1`` on the candidates.

        Dual active-set steps; see `linsep.solvers.active_set`. Returns OPTIMAL,
        CONFLICT (see `direction`) or STEPS_EXHAUSTED.
        """
        cdef Ending ending
        with nogil:
            ending = self._steps(candidates, tolerance, self.n_steps + max_steps)
        return ending

    cdef Ending _steps(
        self, const Py_ssize_t[::1] candidates, double tolerance, Py_ssize_t last
    ) noexcept nogil:
        cdef Ending ending = _OPTIMAL
        while ending == _OPTIMAL:
            self.entering = self._most_violated(candidates, tolerance)
            if self.entering < 0:
                break
            ending = self._enter(last)
        return ending

    def run(
        self, const Py_ssize_t[::1] first, double tolerance, double longest,
        Py_ssize_t max_steps,
    ):
        """Take steps on the rows named first, then on those violated most of all rows.

        A row at ``1 - tolerance``, or within rounding of 1, is satisfied; no row is
        longer than `longest`. Returns what `steps` does, or after a while RUNNING: to
        be called again, with no row named.
        """
        cdef Py_ssize_t before, m = self._rows.shape[0], d = self._d
        cdef Py_ssize_t size = 1 if m * d <= FEW_ENTRIES else max(BATCH, d // 8)
        cdef Py_ssize_t[::1] worst = np.empty(size, dtype=np.intp)
        cdef Py_ssize_t last = self.n_steps + max_steps
        cdef const Py_ssize_t[::1] batch = first
        cdef double allowed, work = 0.0
        cdef Ending ending = _RUNNING
        with nogil:
            while work <= A_WHILE:
                # What counts as violated grows with the weights, between batches only.
                allowed = longest * length(d, &self._u[0]) + fabs(self.offset) + 1.0
                allowed = max(tolerance, NOISE * allowed)
                if batch.shape[0] == 0:
                    batch = worst[: self._price(1.0 - allowed, worst)]
                before = self.n_steps
                ending = self._steps(batch, allowed, last)
                # Without a step none is violated, or two roundings of a . u disagree.
                if ending != _OPTIMAL or (self.n_steps == before and not first.shape[0]):
                    break
                first = batch = batch[:0]
                ending = _RUNNING
                work += m * d + (self.n_steps - before) * d * (4 * self.k + size)
        return ending

    cdef Py_ssize_t _price(self, double limit, Py_ssize_t[::1] worst) noexcept nogil:
        """Set the worst rows not active with margins below a limit; return how many."""
        cdef Py_ssize_t i, m = self._rows.shape[0]
        cdef double* margins = &self._margins[0]
        products(m, self._d, self._row(0), &self._u[0], margins)
        if self._free:
            add_scaled(m, self.offset, &self._signs[0], margins)
        for i in range(self.k):
            margins[self._active[i]] = INFINITY
        return smallest(m, margins, limit, worst.shape[0], &worst[0])

    cdef Ending _enter(self, Py_ssize_t last) noexcept nogil:
        """Step until the entering row holds with equality; others may be dropped."""
        cdef Py_ssize_t i, leaving, d = self._d
        cdef const double* a = self._row(self.entering)
        cdef double multiplier = 0.0, squared, rise, size, rho, ratio, longest, full
        cdef double length, threshold
        cdef bint dependent
        while True:
            if self.n_steps >= last:
                return _STEPS_EXHAUSTED
            self.n_steps += 1
            rise = squared = self._project_out(a)
            size = 1.0
            for i in range(self.k):
                size += fabs(self._direction[i])
            threshold = DEPENDENT * size
            dependent = (
                squared <= threshold * threshold * dot(d, a, a) or self.k == d
            )
            rho = 0.0
            if self._free and self.k > 0:
                rho = self._balance()
                rise = dot(d, &self._z[0], &self._z[0])
            longest = INFINITY
            leaving = -1
            for i in range(self.k):
                if self._direction[i] > FALLING * size:
                    ratio = max(self._multipliers[i], 0.0) / self._direction[i]
                    if ratio < longest:
                        longest = ratio
                        leaving = i
            full = INFINITY
            if not dependent:
                full = max(0.0, 1.0 - self._margin(self.entering)) / rise
            if full == INFINITY and longest == INFINITY:
                return _CONFLICT
            length = min(full, longest)
            multiplier += length
            add_scaled(self.k, -length, &self._direction[0], &self._multipliers[0])
            if not dependent:
                self.offset -= length * rho
                add_scaled(d, length, &self._z[0], &self._u[0])
            if full <= longest:
                self._multipliers[self.k] = multiplier
                self._append(self.entering, sqrt(squared))
                return _OPTIMAL
            self._delete(leaving)

    def delete(self, Py_ssize_t position):
        """Let go of the active row at a position."""
        self._delete(position)

    def start(self, wanted):
        """Make the rows named active, as far as their multipliers are positive.

        Returns whether a start was made; both classes must be among them if the offset
        is free.
        """
        cdef Py_ssize_t[::1] kept = np.array(wanted, dtype=np.intp)
        cdef Py_ssize_t i, n = kept.shape[0], n_held
        cdef double balance
        cdef bint goes_on = True
        with nogil:
            while goes_on:
                self._hold(kept[:n])
                n_held, n, balance = self.k, 0, 0.0
                for i in range(n_held):
                    balance += self._signs[self._active[i]]
                if n_held == 0 or (self._free and fabs(balance) == n_held):
                    memset(&self._u[0], 0, self._d * sizeof(double))
                    self.k, self.offset = 0, 0.0
                    break
                self._settle()
                for i in range(n_held):
                    if self._multipliers[i] >= 0.0:
                        kept[n] = self._active[i]
                        n += 1
                goes_on = n < n_held
        return not goes_on

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
            squared = self._project_out(a)
            if squared > INDEPENDENT * INDEPENDENT * dot(self._d, a, a):
                self._append(wanted[i], sqrt(squared))

    cdef bint _hold_at_once(self, const Py_ssize_t[::1] wanted) noexcept nogil:
        """Factor the rows' Gram matrix; tell whether all are clearly independent."""
        cdef Py_ssize_t i, j, k = wanted.shape[0], d = self._d
        cdef double* a
        for i in range(k):
            self._active[i] = wanted[i]
            self._half_signs[i] = self._signs[wanted[i]]
            memcpy(&self._held[i, 0], self._row(wanted[i]), d * sizeof(double))
        if not factor_gram(k, d, &self._held[0, 0], &self._R[0, 0], self._R.shape[1]):
            return False
        for i in range(k):
            for j in range(i):
                self._R[i, j] = 0.0
            a = &self._held[i, 0]
            if not self._R[i, i] > CLEARLY_INDEPENDENT * sqrt(dot(d, a, a)):
                return False
        self.k = k
        self._solve_triangle(True, &self._half_signs[0])
        return True

    cdef void _settle(self) noexcept nogil:
        """Recompute ``u`` and the offset so that every active row is at 1.

        Solves ``A_S u + s offset = 1``, ``u = A_S^T lambda``, ``s . lambda = 0`` with
        three corrections of the residuals, so ``u`` is as good as a least-norm solution
        by QR.
        """
        cdef Py_ssize_t i, k = self.k, d = self._d
        cdef int tries
        cdef double imbalance, curvature = 0.0, move
        cdef double* step = &self._c[0]
        for i in range(k):
            self._multipliers[i] = 0.0
        memset(&self._u[0], 0, d * sizeof(double))
        self.offset = 0.0
        if self._free:
            curvature = self._signs_solved()
        for tries in range(4):
            imbalance = 0.0
            products(k, d, &self._held[0, 0], &self._u[0], step)
            for i in range(k):
                step[i] = 1.0 - step[i]
                if self._free:
                    step[i] -= self._signs[self._active[i]] * self.offset
                    imbalance += self._signs[self._active[i]] * self._multipliers[i]
            solve_gram(k, &self._R[0, 0], self._R.shape[1], step)
            if self._free:
                for i in range(k):
                    imbalance += self._signs[self._active[i]] * step[i]
                move = imbalance / curvature
                self.offset += move
                add_scaled(k, -move, &self._y[0], step)
            add_rows(k, d, &self._held[0, 0], 1.0, step, &self._u[0])
            add_scaled(k, 1.0, step, &self._multipliers[0])
