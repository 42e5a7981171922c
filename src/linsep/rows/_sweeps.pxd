"""What other compiled modules ask of the sweeps."""

from libc.stdint cimport int8_t


# What `hull_point` returns, as `sizes`, and whether there are any. Rows of d numbers, one a
# `step` after the other, are to be signed by `signs`, or where this is NULL are signed.
cdef bint hull_sizes(
    const double* rows,
    Py_ssize_t step,
    Py_ssize_t d,
    const Py_ssize_t* index,
    const double* p,
    Py_ssize_t n,
    bint balanced,
    const int8_t* signs,
    double* sizes,
) except -1

cpdef double length_above(
    double length, double weighed, double longest, Py_ssize_t n_terms
) noexcept
