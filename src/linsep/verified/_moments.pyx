"""Sums over rows, most of them sparse, in one pass and without the interpreter's lock."""

import numpy as np

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static int lowest_bit(unsigned long long bits)
    {
        unsigned long place;
        _BitScanForward64(&place, bits);
        return (int) place;
    }
    #else
    #define lowest_bit __builtin_ctzll
    #endif
    """
    int lowest_bit(unsigned long long bits) nogil

# The numbers of columns and entries in a matrix of SciPy.
ctypedef fused index:
    int32_t
    int64_t


def pick_entries(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const Py_ssize_t[::1] rows,
    const index[::1] place,
    index[::1] starts,
    index[::1] columns,
    double[::1] entries,
):
    """Write some rows of a matrix without its columns whose place is -1."""
    cdef Py_ssize_t i, row, e, at = 0
    cdef index j
    with nogil:
        for i in range(rows.shape[0]):
            row = rows[i]
            for e in range(indptr[row], indptr[row + 1]):
                j = place[indices[e]]
                if j >= 0:
                    columns[at], entries[at] = j, data[e]
                    at += 1
            starts[i + 1] = <index> at


def choose_rows(
    const index[::1] indptr,
    const index[::1] indices,
    Py_ssize_t each,
    Py_ssize_t[::1] held,
    uint8_t[::1] is_chosen,
):
    """Choose rows so that each column is held by as many, or by all that hold it."""
    cdef Py_ssize_t i, e
    with nogil:
        for i in range(is_chosen.shape[0]):
            for e in range(indptr[i], indptr[i + 1]):
                is_chosen[i] |= held[indices[e]] < each
            for e in range(indptr[i], indptr[i + 1]):
                held[indices[e]] += is_chosen[i]


def extreme_sizes(
    const index[::1] indices,
    const double[::1] data,
    double[::1] largest,
    double[::1] least,
):
    """Set the largest magnitude in each column, and the least."""
    cdef Py_ssize_t e, j
    cdef double size
    with nogil:
        for e in range(data.shape[0]):
            j, size = indices[e], fabs(data[e])
            if size > largest[j]:
                largest[j] = size
            if size < least[j]:
                least[j] = size


def count_signs(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const uint8_t[::1] equal,
    const Py_ssize_t[::1] rows,
    Py_ssize_t step,
    int64_t[::1] positive,
    int64_t[::1] negative,
):
    """Add a step for each entry of these rows to its column; where `equal`, to both."""
    cdef Py_ssize_t i, row, e
    with nogil:
        for i in range(rows.shape[0]):
            row = rows[i]
            for e in range(indptr[row], indptr[row + 1]):
                if equal[row] or data[e] > 0:
                    positive[indices[e]] += step
                if equal[row] or data[e] < 0:
                    negative[indices[e]] += step


def nearest_before(
    const index[::1] indptr, const index[::1] indices, Py_ssize_t[::1] nearest
):
    """Set the nearest column on the left that shares a row with each; -1 before."""
    cdef Py_ssize_t i, e
    with nogil:
        for i in range(indptr.shape[0] - 1):
            for e in range(indptr[i] + 1, indptr[i + 1]):
                if nearest[indices[e]] < indices[e - 1]:
                    nearest[indices[e]] = indices[e - 1]


def places_held(
    const index[::1] indptr,
    const index[::1] indices,
    Py_ssize_t start,
    Py_ssize_t stop,
    Py_ssize_t[::1] held,
):
    """Set which of a run of columns, from 0 on, each row holds the last of, or -1."""
    cdef Py_ssize_t i, e
    with nogil:
        for i in range(held.shape[0]):
            held[i] = -1
            for e in range(indptr[i], indptr[i + 1]):
                if start <= indices[e] < stop:
                    held[i] = indices[e] - start


def sum_blocks(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[::1] v,
    const Py_ssize_t[::1] first,
    const Py_ssize_t[::1] rest,
    double[:, ::1] C,
    double[::1] D,
    index[::1] starts,
    index[::1] columns,
    double[::1] entries,
):
    """Fill the blocks of ``sum_i v_i a_i a_i'``; see `linsep.verified.moments`.

    ``first[j]`` and ``rest[j]`` are the place of column j in either block, or -1; no row
    holds two columns of the first, and the rows come in the order of the one they hold,
    those without one at the beginning. C gets its lower triangle, and B is written in
    CSR form, the columns of each row in order.
    """
    cdef Py_ssize_t n = v.shape[0], i, e, f, m = 0, place, w, current = -1
    cdef Py_ssize_t n_written = 0, word, words
    cdef double weight, value, own = 0.0
    # The entries of a row that are in the rest.
    cdef Py_ssize_t[::1] places = np.empty(C.shape[0], dtype=np.intp)
    cdef double[::1] values = np.empty(C.shape[0])
    # The sums for one column of the first: which there are is in the bits, by words,
    # and which words these are in others, so that they are found in order.
    cdef double[::1] held = np.zeros(C.shape[0])
    cdef uint64_t[::1] is_held = np.zeros(C.shape[0] // 64 + 1, dtype=np.uint64)
    cdef uint64_t[::1] is_word = np.zeros(C.shape[0] // 4096 + 1, dtype=np.uint64)
    with nogil:
        for i in range(n + 1):
            w = D.shape[0]
            if i < n:
                w, m = -1, 0
                for e in range(indptr[i], indptr[i + 1]):
                    place = rest[indices[e]]
                    if place >= 0:
                        places[m], values[m] = place, data[e]
                        m += 1
                    else:
                        w, own = first[indices[e]], data[e]
            while current < w:  # the rows of one column are done
                if current >= 0:
                    for words in range(is_word.shape[0]):
                        while is_word[words]:
                            word = 64 * words + lowest_bit(is_word[words])
                            is_word[words] &= is_word[words] - 1
                            while is_held[word]:
                                place = 64 * word + lowest_bit(is_held[word])
                                is_held[word] &= is_held[word] - 1
                                columns[n_written] = <index> place
                                entries[n_written] = held[place]
                                held[place] = 0.0
                                n_written += 1
                    starts[current + 1] = <index> n_written
                current += 1
            if i == n:
                break
            weight = v[i]
            if w >= 0:
                D[w] += weight * own * own
            for e in range(m):
                place, value = places[e], weight * values[e]
                if w >= 0:
                    word = place >> 6
                    if not (is_held[word] >> (place & 63)) & 1:
                        is_held[word] |= <uint64_t> 1 << (place & 63)
                        is_word[word >> 6] |= <uint64_t> 1 << (word & 63)
                    held[place] += value * own
                # The columns of a row are in order, and so are their places.
                for f in range(e + 1):
                    C[place, places[f]] += value * values[f]


def take_products(
    const index[::1] starts,
    const index[::1] columns,
    const double[::1] entries,
    double[:, ::1] S,
    Py_ssize_t begin,
    Py_ssize_t end,
):
    """Take ``B' B`` away from some rows of the lower triangle of S.

    B is in CSR form, the columns of each row in order.
    """
    cdef Py_ssize_t w, e, f, place
    cdef double value
    with nogil:
        for w in range(starts.shape[0] - 1):
            for e in range(starts[w], starts[w + 1]):
                place = columns[e]
                if place < begin:
                    continue
                if place >= end:
                    break
                value = entries[e]
                for f in range(starts[w], e + 1):
                    S[place, columns[f]] -= value * entries[f]


def row_products(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[::1] q,
    double[::1] products,
    double[::1] sizes,
):
    """Set every ``a_i . q``, and ``sum_j |a_ij q_j|``."""
    cdef Py_ssize_t i, e
    cdef double total, size, term
    with nogil:
        for i in range(products.shape[0]):
            total = 0.0
            size = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                term = data[e] * q[indices[e]]
                total += term
                size += fabs(term)
            products[i] = total
            sizes[i] = size


def column_sums(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[::1] u,
    double[::1] sums,
    double[::1] rests,
):
    """Add ``u_i a_i`` up, what is rounded away on the side: the sums are off by that.

    A sum and what was lost on the way to it are two doubles (T. Ogita, S. M. Rump & S.
    Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005, Sum2).
    """
    cdef Py_ssize_t i, e, j
    cdef double term, before, after, part
    with nogil:
        for i in range(u.shape[0]):
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                term = u[i] * data[e]
                before = sums[j]
                after = before + term
                part = after - before
                rests[j] += (before - (after - part)) + (term - part)
                sums[j] = after


cdef inline double root_of(double size) noexcept nogil:
    """Return ``sqrt(1 + size^2)``, which is the size itself where the square is large."""
    return size if size > 1e8 else sqrt(1.0 + size * size)


def weights_at(
    const double[::1] t,
    double least,
    double[::1] along,
    double[::1] against,
    double[::1] v,
):
    """Set the weights of `linsep.verified.overlap` at each product; none below `least`."""
    cdef Py_ssize_t i
    cdef double size, over, small, large, slope
    with nogil:
        for i in range(t.shape[0]):
            size = fabs(t[i])
            over = 1.0 / root_of(size)
            small = 0.5 * over / (root_of(size) + size)
            large, slope = 1.0 - small, 0.5 * over * over * over
            small = least if small < least else small
            v[i] = least if slope < least else slope
            along[i] = small if t[i] > 0 else large
            against[i] = large if t[i] > 0 else small


def loss_and_slope(
    const double[::1] products,
    const double[::1] moves,
    double length,
    const double[::1] along,
    const double[::1] against,
):
    """Return the loss of `linsep.verified.overlap` at a place, and how fast it falls."""
    cdef Py_ssize_t n = products.shape[0], start, i
    cdef double t, size, root, large, small, weight, up, down
    cdef double loss = 0.0, slope = 0.0, part, fall
    with nogil:
        for start in range(0, n, 256):  # sums of sums round less
            part = fall = 0.0
            for i in range(start, min(start + 256, n)):
                t = products[i] + length * moves[i]
                size = fabs(t)
                root = root_of(size)
                large = 0.5 * (root + size)
                small = 0.25 / large
                weight = small / root
                up, down = along[i], against[i]
                if t > 0:
                    part += up * small + down * large
                    fall += moves[i] * (up * weight - down * (1.0 - weight))
                else:
                    part += up * large + down * small
                    fall += moves[i] * (up * (1.0 - weight) - down * weight)
            loss += part
            slope += fall
    return loss, slope
