"""The compiled part of the opening: what is tried on the rows, and in which order."""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int8_t
from libc.string cimport memcpy

import sys

import numpy as np

from linsep.rows._sweeps cimport hull_sizes, length_above
from linsep.solvers._blas cimport dot
from linsep.solvers._descent cimport Descent, constant_beside
from linsep.solvers._unit_rows cimport (
    CONSTANT,
    LEAST,
    Unit,
    balance,
    least_products,
    step_of,
)
from linsep.solvers.blas import calm_blas

# Columns that stay in a core's cache while the rows are gone through.
cdef Py_ssize_t BLOCK_COLUMNS = 512
# Rows are whitened if the first round does not do and this takes so many multiply-adds.
cdef Py_ssize_t MOST_WHITENED = 1 << 15
# The active set is given so many steps a column (one to six are seen), as far as they
# are this many multiply-adds: some hundred milliseconds.
cdef Py_ssize_t STEPS_A_COLUMN = 12, MOST_WORK = 1 << 29
# Of so few rows each is compared with each.
cdef Py_ssize_t FEW_ROWS = 600
# Of so few that is done sooner than the active set is begun.
cdef Py_ssize_t SEEN_AT_ONCE = 32


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
    least_products(&X[0, 0], &signs[0], n, d, d, &w[0], 0.0, &down, &up)
    mean = balance(down, up, constant, &w[0], d)
    return mean > 0.0, weights, (length, weighed, longest)


cdef class Opening:
    """What the opening came to.

    Attributes
    ----------
    n_rounds : int
        Rounds of the descent, and steps of the active set.
    w : ndarray of shape (d,) or None
        Weights that seem to separate all rows, the intercept between the classes.
    margin_upper : float
        No hyperplane has a larger margin.
    conflict : tuple of ndarrays or None
        Rows that seem to be in conflict, and their weights.
    opposite : tuple of int or None
        The first row that seems opposite to an earlier one, behind that.
    may_be_opposite : bool
        Whether there may be two rows of opposite directions.
    """

    cdef readonly Py_ssize_t n_rounds
    cdef readonly object w, conflict, opposite
    cdef readonly double margin_upper
    cdef readonly bint may_be_opposite

    def __init__(self, Py_ssize_t n_rounds, w=None, double margin_upper=INFINITY):
        self.n_rounds, self.w, self.margin_upper = n_rounds, w, margin_upper
        self.may_be_opposite = True


def opened_rows(
    const double[:, :] X,
    const int8_t[::1] signs,
    bint centred,
    double tolerance,
    most_rounds,
    bint is_small,
    check,
):
    """Descend, then let the active set decide; see `linsep.solvers.opening.opened`.

    None where there are no unit rows. The active set is left to `is_small` rows, and out
    where there is a limit on the rounds.
    """
    cdef Opening found = Opening.__new__(Opening)
    cdef Unit unit = Unit()
    cdef Descent descent = Descent.__new__(Descent)
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], most
    cdef bint is_found, is_limited = most_rounds is not None
    cdef double constant = constant_beside(d) if centred else 0.0
    cdef double[3] sizes
    cdef double[::1] w
    found.n_rounds, found.margin_upper, found.may_be_opposite = 1, INFINITY, True
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
            found.n_rounds = 2
        found.n_rounds += descent._go_on(most - found.n_rounds, check)
    unit._weigh(descent._weights)
    is_found = descent.n_wrong == 0
    if not is_found and is_small and not is_limited:
        if n <= SEEN_AT_ONCE and k > d:
            found.opposite = unit._opposite()
            if found.opposite is not None:
                found.conflict = np.array(found.opposite), np.ones(2)
                return found
        most = min(STEPS_A_COLUMN * k, MOST_WORK // (n * k + 3 * k * k))
        with calm_blas(min(n, k), n_entries=size):
            decided = unit._decide(descent._order, descent.n_near, tolerance, most)
        n_taken, found.w, found.conflict = decided
        found.n_rounds += n_taken
        if found.conflict is not None:
            found.opposite = unit._opposite() if n <= FEW_ROWS else None
            found.may_be_opposite = found.opposite is not None or n > FEW_ROWS
            return found
    elif is_found:
        found.w = np.empty(k)
        w = found.w
        memcpy(&w[0], descent._w, k * sizeof(double))
    if found.w is not None:
        w = found.w
        if not is_found:  # by the descent, which knows the products
            descent._set(&w[0])
        unit._weights(&w[0], descent._products)
    if hull_sizes(
        &X[0, 0], step_of(X), d, NULL, unit._p, n, k > d, &signs[0], sizes
    ):
        found.margin_upper = length_above(sizes[0], sizes[1], sizes[2], n + k)
    return found
