"""Solutions of integer equations modulo the powers of a prime; see `_lifting.h`."""

from libc.math cimport ceil, fabs, log2
from libc.stdint cimport int64_t, uint64_t

import numpy as np

cdef extern from "_lifting.h" nogil:
    enum:
        MOST_LINES
    const int CAN_LIFT
    const uint64_t PRIME
    ctypedef struct Halves:
        uint64_t low
        int64_t high
    int factor(
        const Halves* lines, ptrdiff_t n, uint64_t* factors, Py_ssize_t* order
    )
    void lift(
        const Halves* lines, const uint64_t* factors, const Py_ssize_t* order,
        ptrdiff_t n, Halves* left, uint64_t* digits, ptrdiff_t n_digits
    )
    void join(
        const uint64_t* digits, ptrdiff_t n_digits, ptrdiff_t step, uint64_t* words,
        ptrdiff_t n_words
    )

# Integers in two halves are below this, and in the lower one alone below that.
cdef double LONGEST = 2.0**100, FITS = 2.0**62
EVERY_BIT = (1 << 64) - 1
cdef double DIGIT_BITS = log2(PRIME)


cdef class Lifting:
    """The solution of ``lines @ x = (0, ..., 0, 1)`` modulo powers of a prime.

    Parameters
    ----------
    lines : list of n lists of n int

    Attributes
    ----------
    is_made : bool
        Whether there is one: not so where the lines are singular modulo the prime,
        too many, or their integers too long.
    n_bits : int
        A numerator has at most so many bits, and the common denominator too.
    most_bits : int
        The bits that were lifted, which tell any such fraction from all others.
    """

    cdef readonly bint is_made
    cdef readonly Py_ssize_t n_bits, most_bits
    cdef Py_ssize_t _n
    cdef uint64_t[:, ::1] _digits

    def __init__(self, list lines):
        cdef Py_ssize_t i, j, n = len(lines)
        cdef double bits = 0.0
        cdef list line
        cdef int64_t short, high
        cdef uint64_t low
        cdef double size
        self._n = n
        self.is_made = False
        if not CAN_LIFT or n > MOST_LINES:
            return
        halves = np.empty((n + 1, n, 2), dtype=np.uint64)
        cdef uint64_t[:, :, ::1] both = halves
        cdef double[::1] squares = np.ones(n)
        for i in range(n):
            line = lines[i]
            for j in range(n):
                size = fabs(<double> line[j])
                if size >= LONGEST:
                    return
                if size < FITS:
                    short = line[j]
                    low, high = <uint64_t> short, -(short < 0)
                else:
                    low, high = line[j] & EVERY_BIT, line[j] >> 64
                both[i, j, 0], both[i, j, 1] = low, <uint64_t> high
                squares[j] += size * size
        # Hadamard's inequality for the columns, and for all minors of theirs.
        for j in range(n):
            bits += 0.5 * log2(squares[j])
        self.n_bits = <Py_ssize_t> ceil(bits) + 1
        self.most_bits = 2 * self.n_bits + 4
        cdef uint64_t[:, ::1] factors = np.empty((n, n), dtype=np.uint64)
        cdef Py_ssize_t[::1] order = np.empty(n, dtype=np.intp)
        cdef const Halves* given = <const Halves*> &both[0, 0, 0]
        with nogil:
            self.is_made = factor(given, n, &factors[0, 0], &order[0])
        if not self.is_made:
            return
        cdef Py_ssize_t n_digits = _digits_of(self.most_bits)
        self._digits = np.empty((n_digits, n), dtype=np.uint64)
        with nogil:
            lift(
                given, &factors[0, 0], &order[0], n, <Halves*> &both[n, 0, 0],
                &self._digits[0, 0], n_digits
            )

    def modulus(self, Py_ssize_t n_bits):
        """Return a power of the prime that has more bits than that."""
        return int(PRIME) ** _digits_of(min(n_bits, self.most_bits))

    def residue(self, Py_ssize_t j, Py_ssize_t n_bits):
        """Return ``x[j]`` modulo the `modulus` of so many bits, at most `most_bits`."""
        cdef Py_ssize_t n_digits = _digits_of(min(n_bits, self.most_bits))
        cdef uint64_t[::1] words = np.empty(n_digits, dtype=np.uint64)
        join(&self._digits[0, j], n_digits, self._n, &words[0], n_digits)
        return int.from_bytes(bytes(words), "little")


cdef Py_ssize_t _digits_of(Py_ssize_t n_bits):
    return <Py_ssize_t> ceil(n_bits / DIGIT_BITS) + 1
