"""Factorisations of small dense matrices, by the LAPACK that SciPy brings.

Matrices are in Fortran order inside LAPACK; what is called a triangle here may come in
any layout.
"""

import numpy as np

from scipy.linalg.cython_blas cimport dsyrk, dtrmm, dtrsm
from scipy.linalg.cython_lapack cimport (
    dgeqp3, dorgqr, dpotrf, dpotrs, dpstrf, dtrtri
)

# Columns of work space for blocked Householder reflections, a column of the matrix.
cdef int BLOCK = 64


def cholesky(matrix):
    """Return the lower factor of a symmetric matrix, or None if it has none.

    Only the lower triangles of both are meant.
    """
    triangle = np.array(matrix, dtype=np.float64, order="F")
    cdef double[::1, :] out = triangle
    cdef int n = <int> out.shape[0], failed = 0
    if n:
        with nogil:
            dpotrf("L", &n, &out[0, 0], &n, &failed)
    return None if failed else triangle


def factor_panel(double[:, ::1] matrix, Py_ssize_t start, Py_ssize_t stop):
    """Put these columns of the lower factor in their place, in C order.

    What they add up to is taken away from the columns after them. False if there is no
    factor. Only the lower triangle of the matrix is meant; above it come zeros.
    """
    cdef int n = <int> matrix.shape[0], m = <int> (stop - start)
    cdef int rest = <int> (n - stop), failed = 0
    cdef double plus = 1.0, minus = -1.0
    cdef double* corner = &matrix[start, start]
    cdef double* below = corner + <Py_ssize_t> m * n
    # In Fortran's eyes it is an upper triangle, and the rows below are columns.
    with nogil:
        dpotrf("U", &m, corner, &n, &failed)
        if not failed and rest:
            dtrsm("L", "U", "T", "N", &m, &rest, &plus, corner, &n, below, &n)
            dsyrk("U", "T", &rest, &m, &minus, below, &n, &plus, below + m, &n)
    for i in range(start, stop):
        matrix[i, i + 1 :] = 0.0
    return not failed


def solve_factored(triangle, right):
    """Solve by a lower factor in either order; ``right`` of shape (n,) or (n, k)."""
    solution = np.array(right, dtype=np.float64, order="F")
    if solution.size == 0:
        return solution
    # A factor in C order is, to LAPACK, an upper one.
    cdef bint is_upper = triangle.flags.c_contiguous
    cdef char* half = "U" if is_upper else "L"
    cdef const double[::1, :] factor = np.asfortranarray(
        triangle.T if is_upper else triangle
    )
    cdef double[::1, :] out = solution.reshape(len(solution), -1, order="F")
    cdef int n = <int> out.shape[0], k = <int> out.shape[1], failed
    with nogil:
        dpotrs(half, &n, &k, <double*> &factor[0, 0], &n, &out[0, 0], &n, &failed)
    return solution


def pivoted_cholesky(matrix, double least):
    """Return the lower factor up to the first pivot below `least`, and the pivots.

    Row ``i`` of the factor belongs to row ``order[i]`` of the matrix; the first columns
    count, as many as there are pivots.
    """
    factor = np.array(matrix, dtype=np.float64, order="F")
    cdef double[::1, :] out = factor
    cdef int n = <int> out.shape[0], rank = 0, failed
    order = np.empty(n, dtype=np.intc)
    cdef int[::1] pivots = order
    cdef double[::1] work = np.empty(2 * n)
    if n:
        with nogil:
            dpstrf(
                "L", &n, &out[0, 0], &n, &pivots[0], &rank, &least, &work[0], &failed
            )
    return np.tril(factor)[:, :rank], order.astype(np.intp) - 1


def orthonormal(rows, double tolerance):
    """Factor ``rows[:, chosen] = Q R`` by a QR with pivots, as far as the rank goes.

    Returns Q of shape (m, rank) in C order, R, and the columns chosen. Diagonal entries
    of R below `tolerance` times the first end it.
    """
    factored = np.array(rows, dtype=np.float64, order="F")
    cdef int m = <int> factored.shape[0], d = <int> factored.shape[1], few = min(m, d)
    cdef int room = 2 * d + BLOCK * (d + 1), rank = 0, failed
    order = np.zeros(d, dtype=np.intc)  # no column is to be first
    cdef double[::1, :] out = factored
    cdef int[::1] pivots = order
    cdef double[::1] tau = np.empty(few), work = np.empty(room)
    with nogil:
        dgeqp3(
            &m, &d, &out[0, 0], &m, &pivots[0], &tau[0], &work[0], &room, &failed
        )
        while rank < few and abs(out[rank, rank]) > tolerance * abs(out[0, 0]):
            rank += 1
    triangle = factored[:rank, :rank].copy()
    if rank:
        room = BLOCK * (d + 1)
        with nogil:
            dorgqr(
                &m, &few, &few, &out[0, 0], &m, &tau[0], &work[0], &room, &failed
            )
    Q = np.ascontiguousarray(factored[:, :rank])
    return Q, triangle, order[:rank].astype(np.intp) - 1


def divided(rows, triangle, bint lower=False):
    """Return ``rows @ inverse(triangle)``, in C order; rows of shape (k,) or (m, k)."""
    quotient = np.array(rows, dtype=np.float64, order="C")
    if quotient.size == 0:
        return quotient
    cdef double[:, ::1] out = quotient.reshape(-1, triangle.shape[0])
    cdef const double[::1, :] factor = np.asfortranarray(triangle)
    cdef int m = <int> out.shape[0], k = <int> out.shape[1]
    cdef double scale = 1.0
    cdef char* half = "L" if lower else "U"
    # In Fortran's eyes the rows are their transpose.
    with nogil:
        dtrsm(
            "L", half, "T", "N", &k, &m, &scale, <double*> &factor[0, 0], &k,
            &out[0, 0], &k,
        )
    return quotient


def packed(double[:, ::1] rows, const Py_ssize_t[::1] columns):
    """Return some columns, in the memory of the rows: new memory costs a pass or two.

    The rows are lost.
    """
    cdef Py_ssize_t i, j, k = columns.shape[0]
    cdef double[::1] row = np.empty(k)
    flat = np.asarray(rows).reshape(-1)[: rows.shape[0] * k]
    cdef double[::1] out = flat
    with nogil:
        for i in range(rows.shape[0]):
            for j in range(k):
                row[j] = rows[i, columns[j]]
            for j in range(k):
                out[i * k + j] = row[j]
    return flat.reshape(rows.shape[0], k)


def inverted(triangle):
    """Return the inverse of an upper triangle without zeros on its diagonal."""
    inverse = np.array(triangle, dtype=np.float64, order="F")
    cdef double[::1, :] out = inverse
    cdef int k = <int> out.shape[0], failed = 0
    if k:
        with nogil:
            dtrtri("U", "N", &k, &out[0, 0], &k, &failed)
    return inverse


def multiply(double[:, ::1] rows, const double[::1, :] triangle):
    """Put ``rows @ triangle`` in the place of the rows, the triangle upper."""
    cdef int m = <int> rows.shape[0], k = <int> rows.shape[1]
    cdef double scale = 1.0
    if m and k:
        with nogil:
            dtrmm(
                "L", "U", "T", "N", &k, &m, &scale, <double*> &triangle[0, 0], &k,
                &rows[0, 0], &k,
            )
