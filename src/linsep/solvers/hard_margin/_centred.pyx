"""Rows about the middle of two classes, and scaled; compiled."""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport fabs, frexp, ldexp

import numpy as np

cdef extern from "_centred.h" nogil:
    void add_to_centre(
        const double* rows, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step,
        const double* signs, bint is_signed, double up, double down, double* centre,
        double* low, double* high
    )
    void move_to_centre(
        const double* rows, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step,
        const double* signs, bint is_signed, const double* centre, double scale,
        double* out, double* squares
    )

# Columns need not be brought below 1 first if the largest entry about the centre is
# between this and its inverse.
LEAST_USUAL = 2.0**-100
cdef double _LEAST = LEAST_USUAL


def centred(
    const double[:, ::1] rows, const double[::1] signs, double[::1] centre,
    double[:, ::1] out, double[::1] squares,
):
    """Fill `out` with rows ``s ((x - centre) 2**-k, 1)``, their entries at most 1.

    Parameters
    ----------
    rows : ndarray of shape (n, d), or (n, d + 1) as ``s (x, 1)``
    signs : ndarray of shape (n,)
        The sign ``s`` of each row.
    centre : ndarray of shape (d,)
        Zero; becomes the middle between the means of the classes, one without rows
        having its mean at zero.
    out : ndarray of shape (n, d + 1)
    squares : ndarray of shape (n,)
        Becomes the squared lengths of the rows in `out`.

    Returns
    -------
    float
        The largest magnitude of ``x - centre``, infinite where it left the doubles; it
        is below ``2**k``. Where it is not usual only `centre` is set.
    """
    cdef Py_ssize_t i, j, n = signs.shape[0], d = centre.shape[0], n_up = 0
    cdef Py_ssize_t step = rows.shape[1]
    cdef bint is_signed = step > d
    cdef double largest = 0.0, up, down
    cdef int spread
    if n == 0 or d == 0:
        return 0.0
    cdef double* low = <double*> PyMem_Malloc(2 * d * sizeof(double))
    if low == NULL:
        raise MemoryError
    cdef double* high = low + d
    with nogil:
        for j in range(d):
            low[j] = high[j] = (signs[0] if is_signed else 1.0) * rows[0, j]
        for i in range(n):
            n_up += signs[i] > 0.0
        up, down = 0.5 / max(1, n_up), 0.5 / max(1, n - n_up)
        add_to_centre(
            &rows[0, 0], n, d, step, &signs[0], is_signed, up, down, &centre[0], low,
            high,
        )
        for j in range(d):
            largest = max(largest, high[j] - centre[j], centre[j] - low[j])
        if _LEAST <= largest < 1.0 / _LEAST:
            frexp(largest, &spread)
            move_to_centre(
                &rows[0, 0], n, d, step, &signs[0], is_signed, &centre[0],
                ldexp(1.0, -spread), &out[0, 0], &squares[0],
            )
    PyMem_Free(low)
    return largest


def uncentred(
    const double[::1] u, double offset, const double[::1] centre, double scale
):
    """Return weights on rows ``(x, 1)``, from those on ``((x - centre) scale, 1)``.

    The last of `u` is the intercept's, to which the offset is added. None where they
    are very large or very small.
    """
    cdef Py_ssize_t j, d = centre.shape[0]
    cdef double square = 0.0, along = 0.0
    weights = np.empty(d + 1)
    cdef double[::1] w = weights
    for j in range(d):
        square += u[j] * u[j]
        along += u[j] * centre[j]
        w[j] = u[j] * scale
    w[d] = offset + u[d] - along * scale
    if _LEAST < square < 1.0 / _LEAST and fabs(w[d]) < 1.0 / _LEAST:
        return weights
    return None
