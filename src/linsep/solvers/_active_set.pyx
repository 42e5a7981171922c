"""The compiled steps of the dual active set, on the rows that it holds.

With k active rows of d columns a step costs O(k d + k^2), besides the pricing of rows.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from linsep.solvers cimport _blas
from linsep.solvers._blas cimport add_scaled, dot, length, smallest
from linsep.solvers._held_rows cimport HeldRows, add_rows, products

# The endings for Python; the enumeration itself is in the declarations.
OPTIMAL, CONFLICT, STEPS_EXHAUSTED, RUNNING = (
    _OPTIMAL, _CONFLICT, _STEPS_EXHAUSTED, _RUNNING
)

# Violated rows worked off between two pricings of all rows; an eighth of d if more.
cdef Py_ssize_t BATCH = 16
# Rows of so few entries are all priced before each step.
cdef Py_ssize_t PRICED_AT_ONCE = 1 << 13
# Multiply-adds after which the caller is asked: some milliseconds.
cdef double A_WHILE = 1 << 24
# What rounding can take from a margin, relative to the size of what is summed.
cdef double NOISE = 16 * 2.0**-52

# Multipliers that fall slower than this share of the row's coefficients do not fall.
cdef double FALLING = 1e-12


def longest_of(const double[::1] squares):
    """Return the length of the longest of some vectors, whose squares are given."""
    cdef Py_ssize_t i
    cdef double largest = 0.0
    for i in range(squares.shape[0]):
        largest = max(largest, squares[i])
    return sqrt(largest)


cdef class ActiveRows(HeldRows):
    """Rows of a problem, of which some are active; for the rest see `HeldRows`.

    Attributes
    ----------
    direction : ndarray of shape (d + 1,)
        After a conflict ``a_entering = sum_i direction_i a_active(i)``, the first k
        entries count, every ``direction_i <= 0``, and the same for the signs.
    entering : int
        The row that entered last, or could not.
    n_steps : int
        Steps taken so far.
    beyond : float
        Once OPTIMAL, no row that is not active has a smaller margin; infinite for none.
    """

    def __init__(
        self, const double[:, ::1] rows, const double[::1] signs, bint free_offset
    ):
        self._begin(rows, signs, free_offset)
        self.n_steps = 0
        self.entering = -1
        self._has_drifted = False

    cdef double _margin(self, Py_ssize_t row) noexcept nogil:
        return dot(self._d, self._row(row), self._u) + (
            self._signs[row] * self.offset if self._free else 0.0
        )

    cdef Py_ssize_t _most_violated(
        self, Py_ssize_t[::1] candidates, Py_ssize_t* n_left, double tolerance
    ) noexcept nogil:
        """Return the candidate violated most that is not active; -1 for none.

        Those that are not violated are candidates no more, until rows are priced again.
        """
        cdef Py_ssize_t i, j, row, entering = -1, n = n_left[0]
        cdef double value, least = 1.0 - tolerance
        n_left[0] = 0
        for i in range(n):
            row = candidates[i]
            value = self._margin(row)
            if value < 1.0 - tolerance:
                candidates[n_left[0]] = row
                n_left[0] += 1
                if value < least:
                    for j in range(self.k):
                        if self._active[j] == row:
                            break
                    else:
                        least = value
                        entering = row
        return entering

    cdef Ending _steps(
        self, Py_ssize_t[::1] candidates, double tolerance, Py_ssize_t last
    ) noexcept nogil:
        """Make ``u`` the shortest with ``a_i . u + s_i offset >= 1`` on the candidates."""
        cdef Ending ending = _OPTIMAL
        cdef Py_ssize_t n_left = candidates.shape[0]
        while ending == _OPTIMAL:
            self.entering = self._most_violated(candidates, &n_left, tolerance)
            if self.entering < 0:
                break
            ending = self._enter(last)
        return ending

    def run(
        self, first, double tolerance, double longest,
        Py_ssize_t max_steps, Py_ssize_t most_settled=0,
    ):
        """Take steps on the rows named first, then on those violated most of all rows.

        A row at ``1 - tolerance``, or within rounding of 1, is satisfied; no row is
        longer than `longest`. Dual active-set steps; see `linsep.solvers.active_set`.
        The drift of many steps is taken out so many times at the end, as far as it hid
        violations. Returns OPTIMAL, CONFLICT (see `direction`), STEPS_EXHAUSTED, or
        after a while RUNNING: to be called again, with no row named.
        """
        batch = np.array(first, dtype=np.intp)
        return self._run(batch, tolerance, longest, max_steps, most_settled)

    cdef Ending _run(
        self, Py_ssize_t[::1] batch, double tolerance, double longest,
        Py_ssize_t max_steps, Py_ssize_t most_settled,
    ) except? _RUNNING:
        """Do what `run` says; the rows named are written over."""
        cdef Py_ssize_t i, before, m = self._rows.shape[0], d = self._d, n_settled = 0
        cdef Py_ssize_t size = 1 if m * d <= PRICED_AT_ONCE else max(BATCH, d // 8)
        cdef Py_ssize_t[::1] worst = np.empty(size, dtype=np.intp)
        cdef Py_ssize_t last = self.n_steps + max_steps
        cdef double noise, allowed, work = 0.0
        cdef Ending ending = _RUNNING
        cdef bint are_named = batch.shape[0] > 0
        with nogil:
            while work <= A_WHILE:
                # What counts as violated grows with the weights, between batches only.
                noise = longest * length(d, self._u) + fabs(self.offset) + 1.0
                noise *= NOISE
                allowed = max(tolerance, noise)
                if batch.shape[0] == 0:
                    batch = worst[: self._price(1.0 - allowed, worst)]
                before = self.n_steps
                ending = self._steps(batch, allowed, last)
                self._has_drifted = self._has_drifted or self.n_steps > before
                if ending != _OPTIMAL:
                    break
                # Without a step none is violated, or two roundings of a . u disagree.
                if self.n_steps == before and not are_named:
                    if n_settled == most_settled or not self._has_drifted:
                        break
                    n_settled += 1
                    if self._take_out_drift(noise) * longest <= noise:
                        break
                are_named, batch = False, batch[:0]
                ending = _RUNNING
                work += m * d + (self.n_steps - before) * d * (4 * self.k + size)
            self.beyond = INFINITY
            for i in range(m):
                self.beyond = min(self.beyond, self._margins[i])
        return ending

    cdef double _take_out_drift(self, double noise) noexcept nogil:
        """Correct `u` and the multipliers by the rows; by a new factor if need be.

        Returns how far `u` moved, infinitely far with a new factor.
        """
        cdef Py_ssize_t i, k = self.k, d = self._d
        cdef Py_ssize_t[::1] kept
        cdef double offset = self.offset
        cdef double* moved = self._z
        cdef bint is_good
        memcpy(moved, self._u, d * sizeof(double))
        is_good = self._settle() <= noise
        for i in range(k):
            is_good = is_good and self._multipliers[i] >= 0.0
        self._has_drifted = False
        if is_good and fabs(self.offset - offset) <= noise:
            add_scaled(d, -1.0, self._u, moved)
            return length(d, moved)
        if not is_good:
            kept = self._active[d + 1 :]  # room for as many
            memcpy(&kept[0], &self._active[0], k * sizeof(Py_ssize_t))
            self._start(kept[:k])
        return INFINITY

    cdef Py_ssize_t _price(self, double limit, Py_ssize_t[::1] worst) noexcept nogil:
        """Set the worst rows not active with margins below a limit; return how many."""
        cdef Py_ssize_t i, m = self._rows.shape[0]
        cdef double* margins = self._margins
        _blas.products(m, self._d, self._row(0), self._u, margins)
        if self._free:
            add_scaled(m, self.offset, &self._signs[0], margins)
        for i in range(self.k):
            margins[self._active[i]] = INFINITY
        return smallest(m, margins, limit, worst.shape[0], &worst[0])

    cdef Ending _enter(self, Py_ssize_t last) noexcept nogil:
        """Step until the entering row holds with equality; others may be dropped."""
        cdef Py_ssize_t i, leaving
        cdef double multiplier = 0.0, squared, ratio, longest, full, move
        cdef bint dependent
        while True:
            if self.n_steps >= last:
                return _STEPS_EXHAUSTED
            self.n_steps += 1
            squared = self._project_out(self.entering)
            dependent = squared == 0.0 or self.k == self._d
            longest = INFINITY
            leaving = -1
            for i in range(self.k):
                if self._direction[i] > FALLING * self._size:
                    ratio = max(self._multipliers[i], 0.0) / self._direction[i]
                    if ratio < longest:
                        longest = ratio
                        leaving = i
            full = INFINITY
            if not dependent:
                full = max(0.0, 1.0 - self._margin(self.entering)) / self._rise
            if full == INFINITY and longest == INFINITY:
                return _CONFLICT
            move = min(full, longest)
            multiplier += move
            add_scaled(self.k, -move, self._direction, self._multipliers)
            if not dependent:
                self.offset -= move * self._rho
                add_scaled(self._d, move, self._z, self._u)
            if full <= longest:
                self._multipliers[self.k] = multiplier
                self._append(self.entering, squared)
                return _OPTIMAL
            self._delete(leaving)

    def carriers(self):
        """Return the active rows of positive multipliers, the largest first, and these."""
        cdef Py_ssize_t i, at, n = 0
        rows, multipliers = np.empty(self.k, dtype=np.intp), np.empty(self.k)
        cdef Py_ssize_t[::1] row = rows
        cdef double[::1] largest = multipliers
        cdef double here
        for i in range(self.k):
            here, at = self._multipliers[i], n
            if here > 0.0:
                while at > 0 and largest[at - 1] < here:
                    row[at], largest[at] = row[at - 1], largest[at - 1]
                    at -= 1
                row[at], largest[at] = self._active[i], here
                n += 1
        return rows[:n], multipliers[:n]

    def nearest_rows(self, const double[::1] squares):
        """Return a row of each class, near each other; `squares` are of their lengths.

        The negative row nearest to the positive mean, then the positive one nearest to
        that: rows are signed, hence the sums in place of differences.
        """
        cdef Py_ssize_t i, n_positive = 0, m = self._rows.shape[0]
        cdef Py_ssize_t[::1] pair = np.empty(2, dtype=np.intp)
        cdef double* mean = self._z
        with nogil:
            memset(mean, 0, self._d * sizeof(double))
            for i in range(m):
                self._margins[i] = self._signs[i] > 0.0
                n_positive += self._signs[i] > 0.0
            add_rows(
                m, self._d, self._row(0), 1.0 / n_positive, self._margins, mean
            )
            pair[1] = self._nearest(mean, squares, -1.0)
            pair[0] = self._nearest(self._row(pair[1]), squares, 1.0)
        return np.asarray(pair)

    cdef Py_ssize_t _nearest(
        self, const double* signed, const double[::1] squares, double sign
    ) noexcept nogil:
        """Return which row of a class is nearest to one of the other, the first."""
        cdef Py_ssize_t i, nearest = -1, m = self._rows.shape[0]
        cdef double distance, least = INFINITY
        products(m, self._d, self._row(0), signed, self._margins)
        for i in range(m):
            distance = squares[i] + 2.0 * self._margins[i]
            if self._signs[i] == sign and (nearest < 0 or distance < least):
                nearest, least = i, distance
        return nearest
