"""Exact conflicts of a few rows, for other compiled modules."""

from libc.stdint cimport int64_t


# Of k rows, d doubles apart. 1: the k weights are their only dependence, and none is
# negative. 0: certainly no weights of one sign are one. -1: not known.
cdef int only_dependence(
    const double* rows, Py_ssize_t k, Py_ssize_t d, int64_t* weights
) noexcept nogil
