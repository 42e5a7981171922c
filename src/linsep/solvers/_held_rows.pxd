"""What the steps of the active set ask of the rows it holds."""

from linsep.solvers cimport _blas

cdef extern from "_small.h" nogil:
    void few_products(
        Py_ssize_t n, Py_ssize_t d, const double* A, const double* v, double* out
    )
    void add_few_rows(
        Py_ssize_t n, Py_ssize_t d, const double* A, double scale,
        const double* weights, double* x
    )
    void solve_few(Py_ssize_t k, const double* R, Py_ssize_t stride, double* b)
    void solve_few_transposed(
        Py_ssize_t k, const double* R, Py_ssize_t stride, double* b
    )
    void drop_column(
        Py_ssize_t k, double* R, Py_ssize_t stride, Py_ssize_t position, double* half
    )

# Of so many entries, and rows of a triangle, a BLAS begins to be quicker.
cdef enum:
    FEW_ENTRIES = 1 << 12
    FEW_ROWS = 64


cdef inline void products(
    Py_ssize_t n, Py_ssize_t d, const double* A, const double* v, double* out
) noexcept nogil:
    """Set ``out`` to the products ``a_i . v`` of n rows."""
    if n * d <= FEW_ENTRIES:
        few_products(n, d, A, v, out)
    else:
        _blas.products(n, d, A, v, out)


cdef inline void add_rows(
    Py_ssize_t n, Py_ssize_t d, const double* A, double scale, const double* weights,
    double* x,
) noexcept nogil:
    """Add ``scale sum_i weights_i a_i`` of n rows to ``x``."""
    if n * d <= FEW_ENTRIES:
        add_few_rows(n, d, A, scale, weights, x)
    else:
        _blas.add_rows(n, d, A, scale, weights, x)


cdef class HeldRows:
    cdef readonly Py_ssize_t k
    cdef readonly double offset
    cdef readonly object active, multipliers, direction, factor, u
    cdef const double[:, ::1] _rows
    cdef const double[::1] _signs
    cdef bint _free
    cdef Py_ssize_t _d
    cdef Py_ssize_t[::1] _active
    cdef double[:, ::1] _R
    cdef double[::1] _room  # for all of these
    cdef double *_multipliers
    cdef double *_direction
    cdef double *_u
    cdef double *_z
    cdef double *_c
    # The projected row's and the signs' solutions of ``R^T c = b``.
    cdef double *_half
    cdef double *_half_signs
    cdef double *_held
    cdef double *_margins
    # Of the last row projected: see `_project_out`.
    cdef double _rise, _rho, _size

    cdef void _begin(
        self, const double[:, ::1] rows, const double[::1] signs, bint free_offset
    )
    cdef const double* _row(self, Py_ssize_t i) noexcept nogil
    cdef double _project_out(self, Py_ssize_t row) noexcept nogil
    cdef bint _is_well_conditioned(self) noexcept nogil
    cdef void _balance(self, double sign) noexcept nogil
    cdef double _signs_solved(self) noexcept nogil
    cdef void _solve_triangle(self, bint transposed, double* b) noexcept nogil
    cdef void _append(self, Py_ssize_t row, double squared) noexcept nogil
    cdef void _delete(self, Py_ssize_t position) noexcept nogil
    cdef void _hold(self, const Py_ssize_t[::1] wanted) noexcept nogil
    cdef bint _hold_at_once(self, const Py_ssize_t[::1] wanted) noexcept nogil
    cdef bint _start(self, Py_ssize_t[::1] kept) noexcept nogil
    cdef double _settle(self) noexcept nogil
