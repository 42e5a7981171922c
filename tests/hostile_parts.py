"""Rows on which rounding does its worst, and their sums in fractions."""

from fractions import Fraction

import numpy as np
from scipy import sparse

from judges import dot, fractions_of
from linsep.rows import rows_from
from linsep.verified.parts import Part


def hostile_matrix(rng, n=None, k=None):
    """A matrix with nearly equal columns, cancelling rows, and wild scales."""
    n = int(rng.integers(2, 14)) if n is None else n
    k = int(rng.integers(1, 7)) if k is None else k
    A = [
        rng.standard_normal((n, k)),
        rng.integers(-3, 4, (n, k)).astype(float),
        rng.standard_normal((n, k)) * (rng.random((n, k)) < 0.4),
    ][rng.integers(0, 3)]
    if k > 1 and rng.random() < 0.5:
        A[:, 1] = A[:, 0] * (1 + np.ldexp(rng.standard_normal(n), -rng.integers(2, 52)))
    if rng.random() < 0.4:
        A[n // 2 :] = -A[: n - n // 2] * (1 + np.ldexp(1.0, -int(rng.integers(20, 52))))
    if rng.random() < 0.3:
        A = np.ldexp(A, rng.integers(-200, 200, (n, k)))
    if rng.random() < 0.5:
        A = np.ldexp(A, rng.integers(-400, 400, k))
    A[0, ~A.any(axis=0)] = 1.0
    return A


def part_of(A, rng=None):
    """All rows and columns of a matrix as a part; CSR by chance."""
    n, k = A.shape
    X = sparse.csr_matrix(A) if rng is not None and rng.random() < 0.5 else A
    rows = rows_from(X, np.ones(n, dtype=np.int8), False)
    return Part.of(rows, np.arange(n), np.arange(k))


def scaled_fractions(A, exponents):
    """Exact rows, column j over two to the power of ``exponents[j]``."""
    units = [Fraction(2) ** -int(e) for e in exponents]
    return [[x * u for x, u in zip(row, units, strict=True)] for row in fractions_of(A)]


def exact_moments(rows, weights):
    """``sum_i v_i a_i a_i'`` in fractions."""
    k = len(rows[0])
    return [
        [
            sum((v * row[i] * row[j] for row, v in zip(rows, weights, strict=True)), 0)
            for j in range(k)
        ]
        for i in range(k)
    ]


def is_semidefinite(M):
    """Whether a symmetric matrix of fractions has no negative eigenvalue."""
    M = [list(row) for row in M]
    for j in range(len(M)):
        if M[j][j] < 0 or (M[j][j] == 0 and any(M[j][j:])):
            return False
        for i in range(j + 1, len(M)):
            if M[i][j]:
                ratio = M[i][j] / M[j][j]
                M[i] = [a - ratio * b for a, b in zip(M[i], M[j], strict=True)]
    return True


def solved(M, r):
    """The solution of ``M q = r`` in fractions; None if there is not just one."""
    system = [[*row, b] for row, b in zip(M, r, strict=True)]
    k = len(system)
    for j in range(k):
        at = next((i for i in range(j, k) if system[i][j]), None)
        if at is None:
            return None
        system[j], system[at] = system[at], system[j]
        system[j] = [value / system[j][j] for value in system[j]]
        for i in range(k):
            if i != j and system[i][j]:
                f = system[i][j]
                system[i] = [
                    a - f * b for a, b in zip(system[i], system[j], strict=True)
                ]
    return [row[k] for row in system]


def overlap_by_weights(rows, p, v):
    """Whether ``p_i - v_i a_i . q > 0`` for all rows, with ``M q = sum p_i a_i``."""
    r = [dot(column, p) for column in zip(*rows, strict=True)]
    q = solved(exact_moments(rows, v), r)
    return q is not None and all(
        b * dot(row, q) < a for row, a, b in zip(rows, p, v, strict=True)
    )
