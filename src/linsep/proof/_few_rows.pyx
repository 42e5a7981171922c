"""Exact conflicts of a few rows of doubles, where short integers do; see `_few_rows.h`."""

from libc.stdint cimport int64_t

cdef extern from "_few_rows.h" nogil:
    enum:
        MOST_ROWS
        CONFLICT
        NO_CONFLICT
    int find_dependence(
        const double* rows, Py_ssize_t k, Py_ssize_t d, int64_t* weights
    )


def few_rows_conflict(const double[:, ::1] rows):
    """Return the only weights with which rows sum to zero, none of them negative.

    They are integers without a common factor; a row of weight 0 takes no part. An empty
    tuple says for certain that no such weights exist. None says nothing: there are
    several dependences, more rows than 24, or numbers too long for 64 bits.
    """
    cdef int64_t weights[MOST_ROWS]
    cdef Py_ssize_t i, k = rows.shape[0]
    cdef int answer
    with nogil:
        answer = find_dependence(&rows[0, 0], k, rows.shape[1], weights)
    if answer == CONFLICT:
        return tuple([weights[i] for i in range(k)])
    return () if answer == NO_CONFLICT else None
