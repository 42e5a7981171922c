"""The steps of the active set, for compiled code that holds the rows."""

from linsep.solvers._held_rows cimport HeldRows


cdef enum Ending:
    _OPTIMAL
    _CONFLICT
    _STEPS_EXHAUSTED
    _RUNNING


cdef class ActiveRows(HeldRows):
    cdef readonly Py_ssize_t entering, n_steps
    cdef readonly double beyond
    cdef bint _has_drifted  # since `u` was settled

    cdef double _margin(self, Py_ssize_t row) noexcept nogil
    cdef Py_ssize_t _most_violated(
        self, Py_ssize_t[::1] candidates, Py_ssize_t* n_left, double tolerance
    ) noexcept nogil
    cdef Ending _steps(
        self, Py_ssize_t[::1] candidates, double tolerance, Py_ssize_t last
    ) noexcept nogil
    cdef Ending _run(
        self, Py_ssize_t[::1] batch, double tolerance, double longest,
        Py_ssize_t max_steps, Py_ssize_t most_settled
    ) except? _RUNNING
    cdef double _take_out_drift(self, double noise) noexcept nogil
    cdef Py_ssize_t _price(self, double limit, Py_ssize_t[::1] worst) noexcept nogil
    cdef Ending _enter(self, Py_ssize_t last) noexcept nogil
    cdef Py_ssize_t _nearest(
        self, const double* signed, const double[::1] squares, double sign
    ) noexcept nogil
