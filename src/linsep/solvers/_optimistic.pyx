"""The compiled optimistic loop, and the sweep it asks the data player by.

`linsep.solvers.optimistic` states the round and its guarantee, `linsep.solvers.oracle`
the question; the names here are theirs. Rounds run without the interpreter: only rows
so many that several threads share a sweep come back to it, once a round, to start them.
"""

from libc.math cimport INFINITY, exp, fabs, log, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

import numpy as np

from linsep.rows import is_sparse
from linsep.rows.threads import map_in_threads
from linsep.solvers._blas cimport add_rows, add_scaled, dot, products

# A row whose weight is below exp(-60) of the largest adds less than the rounding of
# the sum, for any number of rows that fits in memory: it is not exponentiated.
cdef double NEGLIGIBLE = 60.0
cdef double GROWTH = 1.3
# Rounding a term of the divergence can suffer, relative to the terms it is the
# difference of: the sums of a sweep carry a few dozen roundings.
cdef double ROUNDING = 64 * 2.0**-52

ctypedef fused index:
    int32_t
    int64_t


cdef class Sweep:
    """Signed rows in memory, cut into parts that threads may share.

    Parameters
    ----------
    A : ndarray of shape (n, d), C order, or csr_matrix
    bounds : ndarray of int
        Where each part begins, and the last one ends: the answer depends on them, but
        not on the number of threads.
    block : int
        Rows that stay in a core's cache between their two readings.
    n_threads : int
    """

    cdef readonly Py_ssize_t n, d
    cdef Py_ssize_t _block, _n_parts
    cdef int _n_threads
    cdef const double[:, ::1] _dense
    cdef const double[::1] _data
    cdef const int32_t[::1] _indices, _indptr
    cdef const int64_t[::1] _long_indices, _long_indptr
    cdef bint _is_dense, _is_long
    cdef const Py_ssize_t[::1] _bounds
    # For each part: the weighted rows, scratch, the sum of weights, least products.
    cdef double[:, ::1] _x, _s, _of_parts
    cdef double *_mass
    cdef double *_low
    cdef double *_low_w
    # What is asked at present.
    cdef const double* _v
    cdef const double* _w

    def __init__(
        self, A, const Py_ssize_t[::1] bounds, Py_ssize_t block, int n_threads
    ):
        self.n, self.d = A.shape
        self._is_dense = not is_sparse(A)
        self._is_long = False
        if self._is_dense:
            self._dense = A
        else:
            self._data = A.data
            self._is_long = A.indices.dtype.itemsize == 8
            if self._is_long:
                self._long_indices, self._long_indptr = A.indices, A.indptr
            else:
                self._indices, self._indptr = A.indices, A.indptr
        self._bounds, self._n_parts = bounds, bounds.shape[0] - 1
        self._block, self._n_threads = block, n_threads
        self._x = np.empty((self._n_parts, self.d))
        self._s = np.empty((self._n_parts, 2 * block))
        self._of_parts = np.empty((3, self._n_parts))
        self._mass, self._low = &self._of_parts[0, 0], &self._of_parts[1, 0]
        self._low_w = &self._of_parts[2, 0]

    cdef void _fold_dense(self, Py_ssize_t part) noexcept nogil:
        """Fold a part of dense rows into ``x = sum_i exp(low - a_i . v) a_i``.

        A block of rows is read from memory once: the first product brings it into
        cache, the others find it there.
        """
        cdef Py_ssize_t d = self.d, i, m, first = self._bounds[part]
        cdef Py_ssize_t stop = self._bounds[part + 1]
        cdef double low = INFINITY, low_w = INFINITY, mass = 0.0, before, block_mass
        cdef double* x = &self._x[part, 0]
        cdef double* s = &self._s[part, 0]
        cdef double* of_w = s + self._block
        cdef const double* rows
        memset(x, 0, d * sizeof(double))
        while first < stop:
            m = min(self._block, stop - first)
            rows = &self._dense[first, 0]
            products(m, d, rows, self._v, s)
            if self._w != self._v:
                products(m, d, rows, self._w, of_w)
                low_w = min(low_w, least(m, of_w))
            before = low
            low = min(low, least(m, s))
            if low < before and mass > 0.0:
                mass = shrink(mass, before - low, d, x)
            block_mass = weigh(m, low, s)
            if block_mass > 0.0:
                mass += block_mass
                add_rows(m, d, rows, 1.0, s, x)
            first += m
        self._mass[part], self._low[part] = mass, low
        self._low_w[part] = low_w if self._w != self._v else low

    cdef void _fold_sparse(
        self, Py_ssize_t part, const index[::1] indices, const index[::1] indptr
    ) noexcept nogil:
        """Do what `_fold_dense` does, for the rows of a CSR matrix."""
        cdef Py_ssize_t i, m, first = self._bounds[part]
        cdef Py_ssize_t stop = self._bounds[part + 1]
        cdef index entry
        cdef double low = INFINITY, low_w = INFINITY, mass = 0.0, before
        cdef double of_v, of_w
        cdef double* x = &self._x[part, 0]
        cdef double* s = &self._s[part, 0]
        memset(x, 0, self.d * sizeof(double))
        while first < stop:
            m = min(self._block, stop - first)
            before = low
            for i in range(m):
                of_v = of_w = 0.0
                for entry in range(indptr[first + i], indptr[first + i + 1]):
                    of_v += self._data[entry] * self._v[indices[entry]]
                    of_w += self._data[entry] * self._w[indices[entry]]
                s[i] = of_v
                low = min(low, of_v)
                low_w = min(low_w, of_w)
            if low < before and mass > 0.0:
                mass = shrink(mass, before - low, self.d, x)
            mass += weigh(m, low, s)
            for i in range(m):
                if s[i] > 0.0:
                    for entry in range(indptr[first + i], indptr[first + i + 1]):
                        x[indices[entry]] += s[i] * self._data[entry]
            first += m
        self._mass[part], self._low[part], self._low_w[part] = mass, low, low_w

    cdef void _fold(self, Py_ssize_t part) noexcept nogil:
        if self._is_dense:
            self._fold_dense(part)
        elif self._is_long:
            self._fold_sparse(part, self._long_indices, self._long_indptr)
        else:
            self._fold_sparse(part, self._indices, self._indptr)

    def _fold_run(self, run):
        """Fold a run of parts: what one thread does."""
        cdef Py_ssize_t part, first, last
        first, last = run
        with nogil:
            for part in range(first, last):
                self._fold(part)

    cdef int _fold_in_threads(self) except -1 with gil:
        """Fold all parts, a run of them a thread."""
        ends = np.linspace(0, self._n_parts, self._n_threads + 1).astype(int).tolist()
        for _ in map_in_threads(self._fold_run, zip(ends, ends[1:])):
            pass
        return 0

    cdef int ask(
        self, const double* v, const double* w, double* x, double* f, double* margin,
        double* margin_w,
    ) except -1 nogil:
        """Answer at ``v``: the pseudoexample, ``f`` and both least products."""
        cdef Py_ssize_t part
        cdef double low = INFINITY, low_w = INFINITY, mass = 0.0, share
        self._v, self._w = v, w
        if self._n_threads > 1:
            self._fold_in_threads()
        else:
            for part in range(self._n_parts):
                self._fold(part)
        for part in range(self._n_parts):
            low = min(low, self._low[part])
            low_w = min(low_w, self._low_w[part])
        memset(x, 0, self.d * sizeof(double))
        for part in range(self._n_parts):
            share = exp(low - self._low[part])
            mass += share * self._mass[part]
            add_scaled(self.d, share, &self._x[part, 0], x)
        for part in range(self.d):
            x[part] /= mass
        f[0], margin[0], margin_w[0] = log(mass / self.n) - low, low, low_w
        return 0

    def answer(self, const double[::1] v, const double[::1] w):
        """Return ``f``, ``x``, and the least product with ``v`` and with ``w``."""
        cdef double f, margin, margin_w
        x = np.empty(self.d)
        cdef double[::1] out = x
        with nogil:
            self.ask(&v[0], &w[0], &out[0], &f, &margin, &margin_w)
        return f, x, margin, margin_w


cdef inline double least(Py_ssize_t n, const double* s) noexcept nogil:
    cdef Py_ssize_t i
    cdef double low = INFINITY
    for i in range(n):
        low = min(low, s[i])
    return low


cdef inline double shrink(
    double mass, double distance, Py_ssize_t d, double* x
) noexcept nogil:
    """Rescale what was summed before a new least product, as a streaming softmax."""
    cdef Py_ssize_t j
    cdef double share = exp(-distance)
    for j in range(d):
        x[j] *= share
    return share * mass


cdef inline double weigh(Py_ssize_t n, double low, double* s) noexcept nogil:
    """Replace products by the weights ``exp(low - s_i)``; return their sum."""
    cdef Py_ssize_t i
    cdef double distance, mass = 0.0
    for i in range(n):
        distance = s[i] - low
        s[i] = exp(-distance) if distance < NEGLIGIBLE else 0.0
        mass += s[i]
    return mass


cdef class Loop:
    """The state of the loop, and its rounds.

    Parameters
    ----------
    sweep : Sweep
    step_size : float
        The first step tried.
    floor : float
        A step this short is accepted untested; inf accepts and holds the first step.

    Attributes
    ----------
    n_rounds : int
    step_sum, step_size, f : float
        ``S_t``, the last step and ``f_t`` of `linsep.solvers.optimistic`.
    margin, margin_play : float
        As in its `Round`.
    """

    cdef readonly Py_ssize_t n_rounds
    cdef readonly double step_sum, step_size, f, margin, margin_play
    cdef Sweep _sweep
    cdef double _floor
    cdef bint _adaptive
    cdef object _vectors
    cdef double[:, ::1] _held
    cdef double *_play
    cdef double *_total
    cdef double *_x
    cdef double *_G
    cdef double *_new_total
    cdef double *_new_x

    def __init__(self, Sweep sweep, double step_size, double floor):
        self._sweep, self.step_size, self._floor = sweep, step_size, floor
        self._adaptive = floor < INFINITY
        self.n_rounds = 0
        self.step_sum = self.f = self.margin = self.margin_play = 0.0
        self._held = self._vectors = np.zeros((6, sweep.d))
        self._play, self._total = &self._held[0, 0], &self._held[1, 0]
        self._x, self._G = &self._held[2, 0], &self._held[3, 0]
        self._new_total, self._new_x = &self._held[4, 0], &self._held[5, 0]
        cdef double ignored
        cdef double* v = self._total  # zero, so that the weights are equal
        sweep.ask(v, v, self._x, &ignored, &ignored, &ignored)

    def vectors(self):
        """Return copies of the play, the total, the pseudoexample and weighted sum."""
        return self._vectors[:4].copy()

    def advance(self, Py_ssize_t until, double enough):
        """Play until so many rounds are done, but one at least, or a separator is met.

        The average or, with ``enough == 0``, the play must separate; the average with
        more than this share of the best margin there can be. Returns whether it does.
        """
        cdef double reach
        with nogil:
            while True:
                self._round()
                if self.margin > 0.0 or self.margin_play > 0.0:
                    if enough == 0.0:
                        break
                    reach = sqrt(dot(self._sweep.d, self._G, self._G))
                    reach *= sqrt(dot(self._sweep.d, self._total, self._total))
                    if self.margin > enough * reach / self.step_sum:
                        break
                if self.n_rounds >= until:
                    with gil:
                        return False
        return True

    cdef int _round(self) except -1 nogil:
        """Play one round; an adaptive step is halved until it is accepted."""
        cdef Py_ssize_t j, d = self._sweep.d
        cdef double eta = self.step_size, f, margin, margin_play
        cdef double gain, drift, divergence, allowance
        if self._adaptive and self.n_rounds > 0:
            eta *= GROWTH
        while True:
            for j in range(d):
                self._play[j] = self._G[j] + eta * self._x[j]
                self._new_total[j] = self._total[j] + eta * self._play[j]
            self._sweep.ask(
                self._new_total, self._play, self._new_x,
                &f, &margin, &margin_play,
            )
            self.n_rounds += 1
            drift = 0.0
            for j in range(d):
                drift += (self._new_x[j] - self._x[j]) ** 2
            gain = -eta * dot(d, self._play, self._new_x)
            divergence = gain - (f - self.f)
            allowance = ROUNDING * (fabs(gain) + fabs(f) + fabs(self.f))
            if 0.5 * eta * eta * drift <= divergence + allowance or eta <= self._floor:
                break
            eta *= 0.5
        memcpy(self._total, self._new_total, d * sizeof(double))
        memcpy(self._x, self._new_x, d * sizeof(double))
        for j in range(d):
            self._G[j] += eta * self._x[j]
        self.step_sum += eta
        self.step_size, self.f = eta, f
        self.margin, self.margin_play = margin, margin_play
        return 0
