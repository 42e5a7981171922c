"""Passes over the entries of CSR rows, without anything of their number beside them."""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

ctypedef fused index:
    int32_t
    int64_t


def largest_of_columns(
    const double[::1] data, const index[::1] indices, double[::1] largest
):
    """Raise each column's number to its largest magnitude."""
    cdef Py_ssize_t entry
    cdef double size
    with nogil:
        for entry in range(data.shape[0]):
            size = fabs(data[entry])
            if size > largest[indices[entry]]:
                largest[indices[entry]] = size


def squares_of_rows(
    const double[::1] data, const index[::1] indptr, double[::1] squares
):
    """Set the squared length of each row, infinite where it overflows."""
    cdef Py_ssize_t i
    cdef index entry
    cdef double square
    with nogil:
        for i in range(squares.shape[0]):
            square = 0.0
            for entry in range(indptr[i], indptr[i + 1]):
                square += data[entry] * data[entry]
            squares[i] = square


def to_unit_length(
    double[::1] data,
    const index[::1] indices,
    const index[::1] indptr,
    double[::1] to_columns,
    double[::1] lengths,
):
    """Bring columns, then rows, to unit length in place; none of zeros alone.

    Sets what the columns, zero before, were multiplied by, and the lengths of the rows
    then, 1 for a row of zeros.
    """
    cdef Py_ssize_t i, j
    cdef index entry
    cdef double square, value
    with nogil:
        for entry in range(data.shape[0]):
            to_columns[indices[entry]] += data[entry] * data[entry]
        for j in range(to_columns.shape[0]):
            to_columns[j] = 1.0 / sqrt(to_columns[j]) if to_columns[j] > 0.0 else 1.0
        for i in range(lengths.shape[0]):
            square = 0.0
            for entry in range(indptr[i], indptr[i + 1]):
                value = data[entry] * to_columns[indices[entry]]
                square += value * value
                data[entry] = value
            lengths[i] = sqrt(square) if square > 0.0 else 1.0
            for entry in range(indptr[i], indptr[i + 1]):
                data[entry] /= lengths[i]


def hull_point(
    const double[::1] data,
    const index[::1] indices,
    const index[::1] indptr,
    const Py_ssize_t[::1] named,
    const double[::1] p,
    Py_ssize_t d,
    bint balanced,
):
    """Do what `linsep.rows._sweeps.hull_point` does, for the rows named of d columns."""
    cdef Py_ssize_t i, row, constant = d - 1 if balanced else -1
    cdef index entry
    cdef double weight, square, up = 0.0, down = 0.0, weighed = 0.0, longest = 0.0
    sums = np.zeros(d)
    cdef double[::1] total = sums
    with nogil:
        for i in range(p.shape[0]):
            if balanced and is_up(data, indices, indptr, named[i], constant):
                up += p[i]
            else:
                down += p[i]
        if not balanced:
            up = down = 0.5 * down
        if up > 0.0 and down > 0.0:
            for i in range(p.shape[0]):
                if p[i] == 0.0:
                    continue  # what is true of the others is true with it
                row, square, weight = named[i], 0.0, 0.5 * p[i] / down
                if balanced and is_up(data, indices, indptr, row, constant):
                    weight = 0.5 * p[i] / up
                for entry in range(indptr[row], indptr[row + 1]):
                    if indices[entry] != constant:
                        total[indices[entry]] += weight * data[entry]
                        square += data[entry] * data[entry]
                weighed += weight * sqrt(square)
                longest = max(longest, sqrt(square))
            square = 0.0
            for i in range(d):
                square += total[i] * total[i]
    return (sqrt(square), weighed, longest) if up > 0.0 and down > 0.0 else None


cdef inline bint is_up(
    const double[::1] data,
    const index[::1] indices,
    const index[::1] indptr,
    Py_ssize_t row,
    Py_ssize_t constant,
) noexcept nogil:
    """Tell whether a row has a positive entry in the constant's column."""
    cdef index entry
    for entry in range(indptr[row + 1] - 1, indptr[row] - 1, -1):
        if indices[entry] == constant:
            return data[entry] > 0.0
    return False
