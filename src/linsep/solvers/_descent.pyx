"""Dual coordinate descent towards the largest margin of signed rows, compiled."""

from libc.stdint cimport uint64_t

import numpy as np

from linsep.solvers._blas cimport add_scaled, dot

# Rows that are visited again: those of less product, or of weight.
cdef double NEAR = 1.2
# The descent ends when all rows have this much of the product 1 that it is after.
cdef double ENOUGH = 0.3


cdef class Descent:
    """The descent over all rows, or over those that were near when they were looked at.

    A visit gives a row the weight, not below zero, with which ``a_i . w`` is 1 for ``w
    = sum_i weight_i a_i``: one coordinate of the dual of ``min |w|^2 / 2`` under ``a_i .
    w >= 1`` (Hsieh et al., 2008).

    Parameters
    ----------
    rows : ndarray of shape (n, k), C order
        Of unit length.
    seed : int
        Of the order of the visits, not 0.
    goal : float
        A row is on the wrong side, for `look`, if its product is not more than this.

    Attributes
    ----------
    w : ndarray of shape (k,)
    weights : ndarray of shape (n,)
    n_wrong, n_near : int
        How many rows were on the wrong side when they were looked at last, and how many
        near; all at first.
    has_enough : bool
        Whether the last descent ended because all near rows had enough.
    """

    cdef const double[:, ::1] _rows
    cdef double _goal
    cdef readonly object w
    cdef readonly object weights
    cdef readonly Py_ssize_t n_wrong, n_near
    cdef readonly bint has_enough
    cdef double[::1] _w
    cdef double[::1] _weights
    cdef Py_ssize_t[::1] _order
    cdef uint64_t _state

    def __init__(self, const double[:, ::1] rows, uint64_t seed, double goal):
        cdef Py_ssize_t n = rows.shape[0]
        self._rows, self._state, self._goal = rows, seed, goal
        self._w = self.w = np.zeros(rows.shape[1])
        self._weights = self.weights = np.zeros(n)
        self._order = np.arange(n)
        self.n_near = self.n_wrong = n

    def look(self):
        """Go through all rows; return `n_wrong`, and let those that are near be `near`.

        Only these are visited from here on.
        """
        cdef Py_ssize_t i, n = self._rows.shape[0], k = self._rows.shape[1]
        cdef double product
        with nogil:
            self.n_wrong = 0
            self.n_near = 0
            for i in range(n):
                product = dot(k, &self._rows[i, 0], &self._w[0])
                self.n_wrong += not product > self._goal
                if product < NEAR or self._weights[i] > 0.0:
                    self._order[self.n_near] = i
                    self.n_near += 1
        return self.n_wrong

    @property
    def near(self):
        """The rows that were near when they were looked at."""
        return np.asarray(self._order[: self.n_near])

    def descend(self, Py_ssize_t visits_a_row, Py_ssize_t most_rounds):
        """Visit the near rows in random order, over and over; return how often.

        Rows that need no more are left out, until the others have enough. A row gets at
        most ``visits_a_row`` visits on the average.
        """
        cdef Py_ssize_t n_left = visits_a_row * self.n_near, n_rounds = 0
        cdef Py_ssize_t n_active = self.n_near
        cdef bint was_all
        cdef double least
        with nogil:
            self.has_enough = False
            while n_left > 0 and n_rounds < most_rounds:
                was_all = n_active == self.n_near
                n_left -= n_active
                n_rounds += 1
                least = self._visit(&n_active)
                if least > ENOUGH:
                    if was_all:
                        self.has_enough = True
                        break
                    n_active = self.n_near
        return n_rounds

    cdef double _visit(self, Py_ssize_t* n_active) noexcept nogil:
        """Visit so many rows of the order once, and move those that are near to front.

        Returns the least product met.
        """
        cdef Py_ssize_t i, at, other, n = n_active[0], n_kept = 0
        cdef Py_ssize_t k = self._rows.shape[1]
        cdef Py_ssize_t* order = &self._order[0]
        cdef double product, weight, least = 1.0
        for at in range(n):
            other = at + self._below(n - at)
            i, order[other] = order[other], order[at]
            order[at] = order[n_kept]
            order[n_kept] = i
            product = dot(k, &self._rows[i, 0], &self._w[0])
            least = min(least, product)
            weight = self._weights[i]
            if product < 1.0 or weight > 0.0:
                self._weights[i] = max(weight + 1.0 - product, 0.0)
                weight = self._weights[i] - weight
                if weight != 0.0:
                    add_scaled(k, weight, &self._rows[i, 0], &self._w[0])
            if product < NEAR or self._weights[i] > 0.0:
                n_kept += 1
        n_active[0] = n_kept
        return least

    cdef Py_ssize_t _below(self, Py_ssize_t n) noexcept nogil:
        """Return a number from 0 to n - 1, n below 2^32 (Marsaglia's xorshift, 2003)."""
        self._state ^= self._state << 13
        self._state ^= self._state >> 7
        self._state ^= self._state << 17
        return <Py_ssize_t> ((self._state >> 32) * <uint64_t> n >> 32)
