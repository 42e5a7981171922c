"""Plain arrays as they come in: whether numbers are finite, and which labels there are."""

from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int8_t, int32_t, int64_t

import numpy as np

cdef extern from "_plain.h" nogil:
    bint all_finite(const double* x, ptrdiff_t n)

ctypedef fused label:
    int8_t
    int32_t
    int64_t
    double


def are_finite(const double[:, :] X):
    """Tell whether no number of rows, each in one piece, is infinite or not a number."""
    cdef Py_ssize_t i, n = X.shape[0], d = X.shape[1]
    if X.strides[0] == d * <Py_ssize_t> sizeof(double):
        return all_finite(&X[0, 0], n * d)
    for i in range(n):
        if not all_finite(&X[i, 0], d):
            return False
    return True


def signs_of_labels(
    const label[::1] labels, int8_t[::1] signs, label[::1] classes
):
    """Sign two different finite numbers, +1 for the larger one, and name them, sorted.

    Returns whether these are numbers of two kinds.
    """
    cdef Py_ssize_t i, n = labels.shape[0]
    cdef label first, second
    cdef int8_t sign
    if n == 0:
        return False
    with nogil:
        first = second = labels[0]
        for i in range(n):
            if labels[i] != first:
                second = labels[i]
                break
        sign = -1 if second > first else 1
        for i in range(n):
            if labels[i] == first:
                signs[i] = sign
            elif labels[i] == second:
                signs[i] = -sign
            else:
                second = first  # which says that there are more
                break
        classes[0], classes[1] = min(first, second), max(first, second)
    return first != second


def signs_of_truths(labels, signs, classes):
    """Do the same for booleans."""
    numbers = labels.view(np.int8), signs, classes.view(np.int8)
    return signs_of_labels["int8_t"](*numbers)


# By the kind of a number: choosing at each call would take longer than a few labels do.
SIGNED = {
    np.dtype(np.bool_): signs_of_truths,
    np.dtype(np.int8): signs_of_labels["int8_t"],
    np.dtype(np.int32): signs_of_labels["int32_t"],
    np.dtype(np.int64): signs_of_labels["int64_t"],
    np.dtype(np.float64): signs_of_labels["double"],
}
