"""The steps of the active set, for compiled code that holds the rows."""

from linsep.solvers._held_rows cimport HeldRows


cdef enum Ending:
    _OPTIMAL
    _CONFLICT
    _STEPS_EXHAUSTED
    _RUNNING


cdef class ActiveRows(HeldRows):
    cdef readonly Py_ssize_t entering, n_steps
    cdef double[::1] _margins

    cdef double _margin(self, Py_ssize_t row) noexcept nogil
    cdef Py_ssize_t _most_violated(
        self, const Py_ssize_t* candidates, Py_ssize_t n, double tolerance
    ) noexcept nogil
    cdef Ending _steps(
        self, const Py_ssize_t* candidates, Py_ssize_t n, double tolerance,
        Py_ssize_t last
    ) noexcept nogil
    cdef Ending _run(
        self, const Py_ssize_t* first, Py_ssize_t n_first, double tolerance,
        double longest, Py_ssize_t max_steps
    ) except? _RUNNING
    cdef Py_ssize_t _price(
        self, double limit, Py_ssize_t* worst, Py_ssize_t most
    ) noexcept nogil
    cdef Ending _enter(self, Py_ssize_t last) noexcept nogil
    cdef Py_ssize_t _nearest(
        self, const double* signed, const double[::1] squares, double sign
    ) noexcept nogil
