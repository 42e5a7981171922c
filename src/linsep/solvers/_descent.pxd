"""The descent, for compiled code that holds the rows."""

from libc.stdint cimport uint64_t


cdef class Descent:
    cdef readonly Py_ssize_t n_wrong, n_near
    cdef readonly bint has_enough
    cdef object _owner
    cdef const double* _rows
    cdef const float* _short
    cdef Py_ssize_t _n, _k
    cdef double _goal
    cdef double* _w
    cdef double* _weights
    cdef double* _products  # of all rows, as they were when they were looked at
    cdef Py_ssize_t* _order
    cdef uint64_t _state

    cdef int _over(
        self, const double* rows, const float* short_rows, Py_ssize_t n, Py_ssize_t k,
        object owner
    ) except -1
    cdef void _begin(self) noexcept nogil
    cdef void _set(self, const double* w) noexcept nogil
    cdef void _look(self) noexcept nogil
    cdef Py_ssize_t _descend(
        self, Py_ssize_t visits_a_row, Py_ssize_t most_rounds
    ) noexcept nogil
    cdef Py_ssize_t _go_on(self, Py_ssize_t most_rounds, object check) except -1


cpdef double constant_beside(Py_ssize_t n_columns) noexcept
