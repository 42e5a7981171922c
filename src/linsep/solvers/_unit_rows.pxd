"""Rows of unit length, for compiled code that searches among them."""

from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int8_t

cdef extern from "_unit_rows.h" nogil:
    # What is squared is between this and its inverse.
    double LEAST
    # A column that varies by less than this share of its values is constant.
    double CONSTANT
    void add_up(
        const double* X, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step, const double* base,
        double* sums, double* squares, double* sizes
    )
    void least_products(
        const double* X, const int8_t* signs, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step,
        const double* w, double constant, double* down, double* up
    )
    ptrdiff_t unit_rows_double(
        const double* X, const int8_t* signs, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step,
        const double* centre, const double* scale, double constant, double least,
        double* out, double* lengths
    )
    ptrdiff_t unit_rows_float(
        const double* X, const int8_t* signs, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step,
        const double* centre, const double* scale, double constant, double least,
        float* out, double* lengths
    )


cdef Py_ssize_t step_of(const double[:, :] X) noexcept nogil
cdef double balance(
    double down, double up, bint constant, double* w, Py_ssize_t d
) noexcept nogil


cdef class Unit:
    cdef const double[:, :] _X
    cdef const int8_t[::1] _signs
    cdef Py_ssize_t _n, _k
    cdef double _constant
    cdef double *_block
    cdef double *_unit
    cdef float *_short
    cdef double *_triangle
    cdef double *_centre
    cdef double *_scale
    cdef double *_lengths
    cdef double *_p

    cdef bint _over(
        self, const double[:, :] X, const int8_t[::1] signs, double constant,
        bint as_floats
    ) except -1
    cdef bint _whiten(self) except -1
    cdef void _weigh(self, const double* weights) noexcept nogil
    cdef tuple _decide(
        self, const Py_ssize_t* near, Py_ssize_t n_near, double tolerance,
        Py_ssize_t most_steps
    )
    cdef tuple _opposite(self)
    cdef bint _are_equal(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef void _weights(self, double* w, const double* products) noexcept nogil
