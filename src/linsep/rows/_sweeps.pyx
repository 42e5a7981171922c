"""Compiled sweeps over rows, a range at a time; all release the interpreter's lock.

A dot product comes with the size of its terms. The compiler may reorder the sums, for
wide registers: the error bound of `linsep.rows.protocol` holds for every order of
summation. Comparisons keep their meaning, so overflow is seen; but a sum may lose what is
not a number, which is none of the data's.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.math cimport INFINITY, NAN, fabs, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t, uint64_t, uintptr_t

# A sum of squares above this one lost nothing to underflow that could be seen.
cdef double LEAST_SQUARE = 1e-250
cdef double EPS = 2.0**-52

ctypedef fused real:
    float
    double

ctypedef fused index:
    int32_t
    int64_t


cdef extern from "_sweeps.h" nogil:
    void margins_of_rows_float(
        const char* X, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step, const int8_t* signs,
        const double* w, double constant, double* s, double* t
    )
    void margins_of_rows_double(
        const char* X, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step, const int8_t* signs,
        const double* w, double constant, double* s, double* t
    )
    void add_columns_float(
        const uintptr_t* addresses, ptrdiff_t m, ptrdiff_t first, ptrdiff_t n,
        const double* w, double* total, double* size
    )
    void add_columns_double(
        const uintptr_t* addresses, ptrdiff_t m, ptrdiff_t first, ptrdiff_t n,
        const double* w, double* total, double* size
    )
    double add_weighted(const double* a, ptrdiff_t d, double weight, double* total)
    ctypedef struct Judged:
        double down, up, settled, largest
        ptrdiff_t n_violations, n_unsettled
    void judge(
        double* s, const double* t, const int8_t* signs, ptrdiff_t n, double factor,
        double underflow, bint by_margin, double* score, Judged* out
    )
    void add_words(const uint32_t* words, ptrdiff_t n, uint64_t* lanes)


def row_major_margins(
    const real[:, :] X,
    const int8_t[::1] signs,
    const double[::1] w,
    double constant,
    double[::1] s,
    double[::1] t,
):
    """Set ``s = sign (x . w + constant)`` and ``t`` for rows, each in one piece."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], step = X.strides[0]
    if n == 0:
        return
    cdef const char* x = <const char*> &X[0, 0] if d else NULL
    cdef const double* weights = &w[0] if d else NULL
    with nogil:
        if real is float:
            margins_of_rows_float(
                x, n, d, step, &signs[0], weights, constant, &s[0], &t[0]
            )
        else:
            margins_of_rows_double(
                x, n, d, step, &signs[0], weights, constant, &s[0], &t[0]
            )


def scattered_margins(
    const uintptr_t[::1] addresses,
    bint is_single,
    const int8_t[::1] signs,
    const double[::1] w,
    double constant,
    double[::1] s,
    double[::1] t,
):
    """Set ``s`` and ``t`` for columns that stand apart, floats or doubles alike.

    A column is ``s.shape[0]`` numbers from its address on. Rows are gone through a few
    thousand at a time, whose sums stay in the nearest cache.
    """
    cdef Py_ssize_t first, i, size, n = s.shape[0], m = addresses.shape[0]
    cdef const uintptr_t* columns = &addresses[0] if m else NULL
    cdef const double* weights = &w[0] if m else NULL
    with nogil:
        for first in range(0, n, 2048):
            size = min(<Py_ssize_t> 2048, n - first)
            for i in range(first, first + size):
                s[i] = constant
                t[i] = fabs(constant)
            if is_single:
                add_columns_float(
                    columns, m, first, size, weights, &s[first], &t[first]
                )
            else:
                add_columns_double(
                    columns, m, first, size, weights, &s[first], &t[first]
                )
            for i in range(first, first + size):
                s[i] *= signs[i]


def sparse_margins(
    const real[::1] data,
    const index[::1] indices,
    const index[::1] indptr,
    const int8_t[::1] signs,
    const double[::1] w,
    double constant,
    double[::1] s,
    double[::1] t,
):
    """Set ``s`` and ``t`` for the CSR rows named by ``indptr``."""
    cdef Py_ssize_t i
    cdef index entry
    cdef double total, size, term
    with nogil:
        for i in range(s.shape[0]):
            total = constant
            size = fabs(constant)
            for entry in range(indptr[i], indptr[i + 1]):
                term = data[entry] * w[indices[entry]]
                total += term
                size += fabs(term)
            s[i] = signs[i] * total
            t[i] = size


def take_rows(
    const real[::1] data,
    const index[::1] indices,
    const index[::1] indptr,
    const int8_t[::1] signs,
    const Py_ssize_t[::1] rows,
    Py_ssize_t constant,
    double[::1] taken,
    index[::1] places,
):
    """Write CSR rows one after the other, signed; each ends with a constant column.

    ``constant`` is the number of that column, or -1 for none.
    """
    cdef Py_ssize_t i, row, at = 0
    cdef index entry
    with nogil:
        for i in range(rows.shape[0]):
            row = rows[i]
            for entry in range(indptr[row], indptr[row + 1]):
                taken[at] = signs[row] * data[entry]
                places[at] = indices[entry]
                at += 1
            if constant >= 0:
                taken[at] = signs[row]
                places[at] = <index> constant
                at += 1


def judge_margins(
    double[::1] s,
    const double[::1] t,
    const int8_t[::1] signs,
    double factor,
    double underflow,
    bint by_margin,
    double[::1] score,
):
    """Say what margins ``s`` with terms of size ``t`` prove; fill what ranks the rows.

    No margin is further than ``factor t + underflow`` from the true one. Returns the
    fields of `linsep.rows.protocol.Scan` for these rows: the least certain margin of
    each class (-1 first) and of the rows certainly positive, the rows certainly
    negative, those within rounding of zero, and the largest error. A margin that
    overflowed becomes -inf.
    """
    cdef Judged found
    found.down = found.up = found.settled = INFINITY
    found.largest = 0.0
    found.n_violations = found.n_unsettled = 0
    cdef Py_ssize_t n = s.shape[0]
    if n:
        with nogil:
            judge(
                &s[0], &t[0], &signs[0], n, factor, underflow, by_margin, &score[0],
                &found,
            )
    return told(found)


cdef tuple told(Judged found):
    return (
        found.down,
        found.up,
        found.settled,
        found.n_violations,
        found.n_unsettled,
        found.largest,
    )


def judged_rows(
    const real[:, :] X,
    const int8_t[::1] signs,
    const double[::1] w,
    double factor,
    double underflow,
):
    """Say of all rows what `judge_margins` does, none of them ranked or kept.

    The constant's weight is the last, where there are more of them than columns.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], step = X.strides[0], first, size
    cdef double constant = w[d] if w.shape[0] > d else 0.0
    cdef double[256] s, t, score
    cdef const char* x = <const char*> &X[0, 0] if n and d else NULL
    cdef const double* weights = &w[0] if d else NULL
    cdef Judged found
    found.down = found.up = found.settled = INFINITY
    found.largest = 0.0
    found.n_violations = found.n_unsettled = 0
    with nogil:
        for first in range(0, n, 256):
            size = min(<Py_ssize_t> 256, n - first)
            if real is float:
                margins_of_rows_float(
                    x + first * step, size, d, step, &signs[first], weights, constant,
                    s, t,
                )
            else:
                margins_of_rows_double(
                    x + first * step, size, d, step, &signs[first], weights, constant,
                    s, t,
                )
            judge(s, t, &signs[first], size, factor, underflow, False, score, &found)
    return told(found)


# By the bytes of an entry: choosing at each call would take longer than a few rows do.
JUDGED = {4: judged_rows["float"], 8: judged_rows["double"]}


def length(const double[:] values):
    """Return the Euclidean length, without overflow or underflow on the way."""
    cdef Py_ssize_t i
    cdef double square = 0.0, largest = 0.0
    for i in range(values.shape[0]):
        square += values[i] * values[i]
    if LEAST_SQUARE < square < 1.0 / LEAST_SQUARE:
        return sqrt(square)  # what underflowed, if anything, is far below it
    for i in range(values.shape[0]):
        largest = max(largest, fabs(values[i]))
    if largest == 0.0 or not largest < INFINITY:
        return largest if square == square else NAN
    square = 0.0
    for i in range(values.shape[0]):
        square += (values[i] / largest) * (values[i] / largest)
    return largest * sqrt(square)


def row_hashes(
    const uint64_t[:, ::1] bits, const uint64_t[::1] factors, uint64_t[::1] out
):
    """Sum the folded bits of each row's doubles, each column's times its factor.

    Doubles of whole numbers differ in high bits only, so the high half is folded into
    the low one. A negative zero equals zero, and so does its hash.
    """
    cdef Py_ssize_t i, j
    cdef uint64_t value, total, negative_zero = (<uint64_t> 1) << 63
    with nogil:
        for i in range(bits.shape[0]):
            total = 0
            for j in range(bits.shape[1]):
                value = bits[i, j]
                if value == negative_zero:
                    value = 0
                total += (value ^ (value >> 32)) * factors[j]
            out[i] = total


def add_to_lanes(
    const uintptr_t[::1] addresses,
    Py_ssize_t n,
    Py_ssize_t lane,
    Py_ssize_t step,
    uint64_t[::1] lanes,
):
    """Add words to lanes, each to that after that of the word before, round and round.

    There are ``n`` words from each address on. The first is added to this lane, that of
    the next address ``step`` lanes further, and so on.
    """
    cdef Py_ssize_t i, j, here, size, n_lanes = lanes.shape[0]
    cdef const uint32_t* words
    with nogil:
        for j in range(addresses.shape[0]):
            words = <const uint32_t*> addresses[j]
            here, i = (lane + step * j) % n_lanes, 0
            while i < n:
                size = min(n_lanes - here, n - i)
                add_words(words + i, size, &lanes[here])
                i += size
                here = 0


def signed_rows(
    const real[:, :] X,
    const int8_t[::1] signs,
    const Py_ssize_t[::1] index,
    double[:, ::1] out,
):
    """Fill ``out`` with the rows named, signed, and their signs if it is wider."""
    cdef Py_ssize_t i, j, row, n = X.shape[0], d = X.shape[1]
    cdef bint in_one_piece = d > 0 and X.strides[1] == sizeof(real)
    cdef double sign
    cdef const real* x
    with nogil:
        for i in range(index.shape[0]):
            row = index[i]
            if not 0 <= row < n:
                with gil:
                    raise IndexError(f"row {row} is not one of {n} rows")
            sign = signs[row]
            if in_one_piece:
                x = &X[row, 0]
                for j in range(d):
                    out[i, j] = sign * x[j]
            else:
                for j in range(d):
                    out[i, j] = sign * X[row, j]
            for j in range(d, out.shape[1]):
                out[i, j] = sign


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
) except -1:
    cdef bint are_signed = signs == NULL, is_up
    cdef Py_ssize_t i, row
    cdef double weight, size, up = 0.0, down = 0.0
    cdef const double* a
    cdef double* total = <double*> PyMem_Calloc(d + 1, sizeof(double))
    if total == NULL:
        raise MemoryError
    for i in range(n):
        row = i if index == NULL else index[i]
        if balanced and (rows[row * step + d] > 0.0 if are_signed else signs[row] > 0):
            up += p[i]
        else:
            down += p[i]
    if not balanced:
        up = down = 0.5 * down
    sizes[1] = sizes[2] = 0.0
    if up > 0.0 and down > 0.0:
        for i in range(n):
            if p[i] == 0.0:
                continue  # what is true of the others is true with it
            row = i if index == NULL else index[i]
            a = rows + row * step
            is_up = balanced and (a[d] > 0.0 if are_signed else signs[row] > 0)
            weight = 0.5 * p[i] / (up if is_up else down)
            size = sqrt(
                add_weighted(a, d, weight if are_signed else signs[row] * weight, total)
            )
            sizes[1] += weight * size
            sizes[2] = max(sizes[2], size)
        sizes[0] = sqrt(add_weighted(total, d, 0.0, total))
    PyMem_Free(total)
    return up > 0.0 and down > 0.0


def hull_point(
    const double[:, ::1] rows,
    const Py_ssize_t[::1] index,
    const double[::1] p,
    bint balanced,
    const int8_t[::1] signs=None,
):
    """Return ``|sum_i p_i a_i|``, ``sum_i p_i |a_i|`` and ``max_i |a_i|`` of rows named.

    All are meant where there is no `index`. The weights are normalised first; both
    classes are given the same mass if `balanced`: None if there is but one. Rows are to
    be signed by `signs`, or are signed, and if `balanced` have the sign as a last
    column, which is no part of ``a_i``.
    """
    cdef double[3] sizes
    cdef const Py_ssize_t* named = NULL if index is None else &index[0]
    cdef const int8_t* given = NULL if signs is None else &signs[0]
    cdef Py_ssize_t width = rows.shape[1], d = width - (balanced and signs is None)
    cdef bint found = hull_sizes(
        &rows[0, 0], width, d, named, &p[0], p.shape[0], balanced, given, sizes
    )
    return (sizes[0], sizes[1], sizes[2]) if found else None


cpdef double length_above(
    double length, double weighed, double longest, Py_ssize_t n_terms
) noexcept:
    """Bound the true length of ``sum_i p_i a_i`` from what `hull_point` returns.

    As computed, of equal masses of both classes but for rounding, from so many rows and
    columns that were summed.
    """
    # What the sums may lose, and what an imbalance of the rounded masses may cost: a
    # separating unit vector's intercept is at most the largest length.
    cdef double rounding = (n_terms + 16) * EPS
    return length * (1.0 + rounding) + rounding * (weighed + longest)


def centred_rows(
    const double[:, ::1] rows,
    const double[::1] centre,
    double[:, ::1] out,
    double[::1] largest,
):
    """Fill ``out`` with rows ``s (x - centre, 1)`` in place of ``s (x, 1)``.

    Also each column's largest magnitude, infinite where it left the doubles; zero
    before.
    """
    cdef Py_ssize_t i, j, d = rows.shape[1]
    cdef double sign
    with nogil:
        for i in range(rows.shape[0]):
            sign = rows[i, d - 1]
            for j in range(d - 1):
                out[i, j] = rows[i, j] - sign * centre[j]
                largest[j] = max(largest[j], fabs(out[i, j]))
            out[i, d - 1] = sign
            largest[d - 1] = 1.0
