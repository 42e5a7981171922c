"""Dual coordinate descent towards the largest margin of signed rows, compiled."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.math cimport sqrt
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

import sys

import numpy as np

cdef extern from "_descent.h" nogil:
    double visit_double(
        const double* rows, ptrdiff_t k, double near, double* w, double* weights,
        Py_ssize_t* order, Py_ssize_t* n_active, uint64_t* state
    )
    ptrdiff_t look_at_double(
        const double* rows, ptrdiff_t n, ptrdiff_t k, double near, double goal,
        const double* w, const double* weights, double* products, Py_ssize_t* order,
        Py_ssize_t* n_near
    )
    double visit_float(
        const float* rows, ptrdiff_t k, double near, double* w, double* weights,
        Py_ssize_t* order, Py_ssize_t* n_active, uint64_t* state
    )
    ptrdiff_t look_at_float(
        const float* rows, ptrdiff_t n, ptrdiff_t k, double near, double goal,
        const double* w, const double* weights, double* products, Py_ssize_t* order,
        Py_ssize_t* n_near
    )

# Rows that are visited again: those of less product, or of weight.
cdef double NEAR = 1.2
# The descent ends when all rows have this much of the product 1 that it is after.
cdef double ENOUGH = 0.3
# The share of the rows that may be on the wrong side when the descent has met each
# once, and the share of those that may still be there when it has gone on for a while,
# or more of it would be for nothing.
cdef double FIRST_WRONG = 0.125, STILL_WRONG = 0.75
# So many visits a row it gets between two looks at all rows, on the average: a share of
# what the active set needs.
cdef Py_ssize_t LEAST_VISITS = 8
cdef double VISITS_A_COLUMN = 0.25
MOST_VISITS = 100
# The constant is this share of a row's length: what is shorter is learnt slowly.
cdef double CONSTANT_SHARE = 1.0 / 3.0
# Multiply-adds of the visits between two checks: some ten milliseconds.
cdef Py_ssize_t BATCH = 1 << 27
cdef uint64_t SEED = 88_172_645_463_325_252


cdef class Descent:
    """The descent over all rows, or over those that were near when they were looked at.

    A visit gives a row the weight, not below zero, with which ``a_i . w`` is 1 for ``w
    = sum_i weight_i a_i``: one coordinate of the dual of ``min |w|^2 / 2`` under ``a_i .
    w >= 1`` (Hsieh et al., 2008).

    Parameters
    ----------
    rows : ndarray of shape (n, k), C order
        Of unit length.
    seed : int, default=None
        Of the order of the visits, not 0.
    goal : float, default=0.0
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

    def __init__(
        self, const double[:, ::1] rows, seed: int | None = None, double goal = 0.0
    ):
        self._over(&rows[0, 0], NULL, rows.shape[0], rows.shape[1], rows)
        self._goal = goal
        if seed is not None:
            self._state = seed

    cdef int _over(
        self, const double* rows, const float* short_rows, Py_ssize_t n, Py_ssize_t k,
        object owner
    ) except -1:
        """Start over rows that their owner holds for as long; of floats if they are."""
        PyMem_Free(self._w)
        self._w = <double*> PyMem_Calloc(k + 3 * n + 1, sizeof(double))
        if self._w == NULL:
            raise MemoryError
        self._owner, self._rows, self._short = owner, rows, short_rows
        self._n, self._k = n, k
        self._weights = self._w + k
        self._products = self._weights + n
        self._order = <Py_ssize_t*> (self._products + n)
        for i in range(n):
            self._order[i] = i
        self._state = SEED
        self.n_near = self.n_wrong = n
        return 0

    def __dealloc__(self):
        PyMem_Free(self._w)

    @property
    def w(self):
        """The vector."""
        return np.array(<double[:self._k]> self._w) if self._k else np.zeros(0)

    @property
    def weights(self):
        """The weights of the rows."""
        return np.array(<double[:self._n]> self._weights) if self._n else np.zeros(0)

    @property
    def near(self):
        """The rows that were near when they were looked at."""
        if self.n_near == 0:
            return np.zeros(0, dtype=np.intp)
        return np.array(<Py_ssize_t[:self.n_near]> self._order)

    def look(self):
        """Go through all rows; return `n_wrong`, and let those that are near be `near`.

        Only these are visited from here on.
        """
        with nogil:
            self._look()
        return self.n_wrong

    def descend(self, Py_ssize_t visits_a_row, Py_ssize_t most_rounds):
        """Visit the near rows in random order, over and over; return how often.

        Rows that need no more are left out, until the others have enough. A row gets at
        most ``visits_a_row`` visits on the average.
        """
        cdef Py_ssize_t n_rounds
        with nogil:
            n_rounds = self._descend(visits_a_row, most_rounds)
        return n_rounds

    cdef void _begin(self) noexcept nogil:
        """Meet each row once, one round, and look at where they are then."""
        self._descend(1, 1)
        self._look()

    cdef void _set(self, const double* w) noexcept nogil:
        """Take another vector, and look at all rows."""
        memcpy(self._w, w, self._k * sizeof(double))
        self._look()

    cdef void _look(self) noexcept nogil:
        if self._short != NULL:
            self.n_wrong = look_at_float(
                self._short, self._n, self._k, NEAR, self._goal, self._w, self._weights,
                self._products, self._order, &self.n_near,
            )
        else:
            self.n_wrong = look_at_double(
                self._rows, self._n, self._k, NEAR, self._goal, self._w, self._weights,
                self._products, self._order, &self.n_near,
            )

    cdef Py_ssize_t _descend(
        self, Py_ssize_t visits_a_row, Py_ssize_t most_rounds
    ) noexcept nogil:
        cdef Py_ssize_t n_left = visits_a_row * self.n_near, n_rounds = 0
        cdef Py_ssize_t n_active = self.n_near
        cdef bint was_all
        cdef double least
        self.has_enough = False
        while n_left > 0 and n_rounds < most_rounds:
            was_all = n_active == self.n_near
            n_left -= n_active
            n_rounds += 1
            if self._short != NULL:
                least = visit_float(
                    self._short, self._k, NEAR, self._w, self._weights, self._order,
                    &n_active, &self._state,
                )
            else:
                least = visit_double(
                    self._rows, self._k, NEAR, self._w, self._weights, self._order,
                    &n_active, &self._state,
                )
            if least > ENOUGH:
                if was_all:
                    self.has_enough = True
                    break
                n_active = self.n_near
        return n_rounds

    cdef Py_ssize_t _go_on(self, Py_ssize_t most_rounds, object check) except -1:
        cdef Py_ssize_t visits, a_batch, first, n_rounds = 0
        cdef double most_wrong = max(FIRST_WRONG * self._n, 1.0)
        visits = LEAST_VISITS + <Py_ssize_t> (VISITS_A_COLUMN * self._k)
        visits = min(visits, <Py_ssize_t> MOST_VISITS)
        while 0 < self.n_wrong <= most_wrong and n_rounds < most_rounds:
            most_wrong = STILL_WRONG * self.n_wrong
            a_batch = max(1, min(visits, BATCH // max(1, self.n_near * self._k)))
            for first in range(0, visits, a_batch):
                if check is not None:
                    check()
                with nogil:
                    n_rounds += self._descend(a_batch, most_rounds - n_rounds)
                if self.has_enough:
                    break
            with nogil:
                self._look()
        return n_rounds


def begun(const double[:, ::1] rows, double goal = 0.0):
    """Meet each of the unit rows once, one round, and look at where they are then.

    A row counts as one on the wrong side unless it has more than `goal` of the product
    1 that is sought.
    """
    cdef Descent descent = Descent(rows, None, goal)
    with nogil:
        descent._begin()
    return descent


def gone_on(Descent descent, Py_ssize_t most_rounds = sys.maxsize, check=None):
    """Go on until no row is on the wrong side, or too many are; return the rounds.

    `check` is called now and then, and raises to end it.
    """
    return descent._go_on(most_rounds, check)


cpdef double constant_beside(Py_ssize_t n_columns) noexcept:
    """Return the constant that goes with columns of unit variance."""
    return max(1.0, CONSTANT_SHARE * sqrt(n_columns))
