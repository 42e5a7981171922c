"""Products with rows in C order, by the BLAS that SciPy brings.

A C-ordered matrix of n rows and d columns is, to a BLAS, its transpose in Fortran
order: d rows and n columns. Strides are therefore those of a row.
"""

from libc.math cimport sqrt
from libc.string cimport memset

from scipy.linalg.cython_blas cimport daxpy, ddot, dgemm, dgemv, dnrm2, dsyrk, dtrsv
from scipy.linalg.cython_lapack cimport dpotrf


# OpenBLAS works at triangles of a dozen rows with all its threads, which wait for one
# another a hundred times as long as that takes. Larger ones come from large matrices,
# for which `linsep.solvers.blas` has it keep to one.
cdef enum:
    SMALL_TRIANGLE = 64
    # Of so many entries at once, no more; not so for large matrices, as above.
    ONE_THREAD = 1 << 13
    MANY_THREADS = 1 << 17


cdef inline double dot(Py_ssize_t n, const double* a, const double* b) noexcept nogil:
    """Return ``a . b``."""
    cdef int size = <int> n, one = 1
    return ddot(&size, <double*> a, &one, <double*> b, &one)


cdef inline double length(Py_ssize_t n, const double* a) noexcept nogil:
    """Return ``|a|``, without overflow on the way."""
    cdef int size = <int> n, one = 1
    return dnrm2(&size, <double*> a, &one)


cdef inline void add_scaled(
    Py_ssize_t n, double scale, const double* a, double* b
) noexcept nogil:
    """Add ``scale a`` to ``b``."""
    cdef int size = <int> n, one = 1
    daxpy(&size, &scale, <double*> a, &one, b, &one)


cdef inline int rows_at_once(Py_ssize_t n, Py_ssize_t d) noexcept nogil:
    """Return how many of n rows a BLAS is given at once."""
    if ONE_THREAD < n * d <= MANY_THREADS and d <= ONE_THREAD:
        return <int> (ONE_THREAD // d)
    return <int> n


cdef inline void products(
    Py_ssize_t n, Py_ssize_t d, const double* A, const double* v, double* out
) noexcept nogil:
    """Set ``out`` to the products ``a_i . v`` of n rows."""
    cdef int rows = rows_at_once(n, d), columns = <int> d, one = 1
    cdef double scale = 1.0, keep = 0.0
    cdef Py_ssize_t first = 0
    memset(out, 0, n * sizeof(double))
    if n == 0 or d == 0:
        return
    while first < n:
        rows = <int> min(rows, n - first)
        dgemv(
            "T", &columns, &rows, &scale, <double*> A + first * d, &columns,
            <double*> v, &one, &keep, out + first, &one,
        )
        first += rows


cdef inline void add_rows(
    Py_ssize_t n, Py_ssize_t d, const double* A, double scale, const double* weights,
    double* x,
) noexcept nogil:
    """Add ``scale sum_i weights_i a_i`` of n rows to ``x``."""
    cdef int rows = rows_at_once(n, d), columns = <int> d, one = 1
    cdef double keep = 1.0
    cdef Py_ssize_t first = 0
    if n == 0 or d == 0:
        return
    while first < n:
        rows = <int> min(rows, n - first)
        dgemv(
            "N", &columns, &rows, &scale, <double*> A + first * d, &columns,
            <double*> weights + first, &one, &keep, x, &one,
        )
        first += rows


cdef inline void solve_triangle(
    Py_ssize_t k, const double* R, Py_ssize_t stride, bint transposed, double* b
) noexcept nogil:
    """Overwrite ``b`` by the solution of ``R c = b``, or of ``R^T c = b``.

    R is upper triangular, in C order.
    """
    cdef int size = <int> k, leading = <int> stride, one = 1
    cdef Py_ssize_t i, j
    cdef double total
    if k < SMALL_TRIANGLE and transposed:
        for i in range(k):
            b[i] /= R[i * stride + i]
            for j in range(i + 1, k):
                b[j] -= R[i * stride + j] * b[i]
    elif k < SMALL_TRIANGLE:
        for i in range(k - 1, -1, -1):
            total = b[i]
            for j in range(i + 1, k):
                total -= R[i * stride + j] * b[j]
            b[i] = total / R[i * stride + i]
    else:
        dtrsv(
            "L", "N" if transposed else "T", "N", &size, <double*> R, &leading, b, &one
        )


cdef inline bint factor_gram(
    Py_ssize_t k, Py_ssize_t d, const double* A, double* R, Py_ssize_t stride
) noexcept nogil:
    """Set R, upper triangular in C order, to ``R^T R = A A^T``; False if it has none."""
    cdef int rows = <int> k, columns = <int> d, leading = <int> stride, failed = 0
    cdef double scale = 1.0, keep = 0.0
    if k:
        dsyrk(
            "L", "T", &rows, &columns, &scale, <double*> A, &columns, &keep, R, &leading
        )
        dpotrf("L", &rows, R, &leading, &failed)
    return failed == 0


cdef inline void add_gram(
    Py_ssize_t n, Py_ssize_t d, const double* A, double* out
) noexcept nogil:
    """Add ``A^T A`` to ``out``: the lower triangle, in Fortran order."""
    cdef int rows = <int> n, columns = <int> d
    cdef double scale = 1.0, keep = 1.0
    if n and d:
        dsyrk(
            "L", "N", &columns, &rows, &scale, <double*> A, &columns, &keep,
            out, &columns,
        )


cdef inline void product(
    char* of_a, char* of_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const double* A,
    Py_ssize_t a_stride, const double* B, Py_ssize_t b_stride, double keep, double* out,
) noexcept nogil:
    """Set ``out``, m by n in Fortran order, to ``keep out + A B``, as BLAS has it.

    A has m rows and k columns, B k rows and n columns, once transposed ("T") or not.
    """
    cdef int rows = <int> m, columns = <int> n, inner = <int> k
    cdef int a_leading = <int> a_stride, b_leading = <int> b_stride
    cdef double scale = 1.0
    if m and n and k:
        dgemm(
            of_a, of_b, &rows, &columns, &inner, &scale, <double*> A, &a_leading,
            <double*> B, &b_leading, &keep, out, &rows,
        )


cdef inline void multiply(
    Py_ssize_t n, Py_ssize_t d, const double* A, const double* M, double* out
) noexcept nogil:
    """Set ``out`` to ``A M`` of n rows; M is d by d, and symmetric."""
    product("N", "N", d, n, d, M, d, A, d, 0.0, out)


cdef inline void images(
    Py_ssize_t n, Py_ssize_t d, Py_ssize_t k, const double* A, const double* V,
    double* out,
) noexcept nogil:
    """Set ``out`` to ``A V^T`` of n rows, V of k rows."""
    product("T", "N", k, n, d, V, d, A, d, 0.0, out)


cdef inline void combinations(
    Py_ssize_t n, Py_ssize_t d, Py_ssize_t k, const double* A, const double* weights,
    double* out,
) noexcept nogil:
    """Set ``out`` to ``weights^T A`` of n rows: k rows, one for a column of weights."""
    product("N", "T", d, k, n, A, d, weights, k, 0.0, out)


cdef inline void add_product(
    Py_ssize_t n, Py_ssize_t d, const double* A, const double* B, double* out
) noexcept nogil:
    """Add ``A^T B`` to ``out``, in Fortran order."""
    product("N", "T", d, d, n, A, d, B, d, 1.0, out)


cdef inline void add_weighted_gram(
    Py_ssize_t n, Py_ssize_t d, const double* A, const double* weights, double* held,
    Py_ssize_t block, double* out,
) noexcept nogil:
    """Add ``A^T diag(weights) A`` to ``out``, as `add_gram` does, `block` rows a time.

    Rows of weight zero are left out; ``held`` has room for `block` rows.
    """
    cdef Py_ssize_t i, j, m = 0
    cdef double root
    for i in range(n):
        if weights[i] != 0.0:
            root = sqrt(weights[i])
            for j in range(d):
                held[m * d + j] = root * A[i * d + j]
            m += 1
        if m == block or i == n - 1:
            add_gram(m, d, held, out)
            m = 0


cdef inline Py_ssize_t smallest(
    Py_ssize_t n, const double* values, double limit, Py_ssize_t most, Py_ssize_t* out
) noexcept nogil:
    """Set which values below a limit are the smallest; return how many, at most `most`.

    In increasing order; of equal ones the first comes first.
    """
    cdef Py_ssize_t i, at, m = 0
    for i in range(n):
        if values[i] < limit:
            at = min(m, most - 1)
            m = at + 1
            while at > 0 and values[out[at - 1]] > values[i]:
                out[at] = out[at - 1]
                at -= 1
            out[at] = i
            if m == most:
                limit = values[out[m - 1]]
    return m
