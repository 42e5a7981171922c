"""The second page's bounds on rounding, against the same in fractions."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from scipy import sparse

from hostile_parts import exact_moments, scaled_fractions
from judges import dot, fractions_of
from linsep.proof import ordered_checker as page
from linsep.proof.ordered_checker import NotProved

UNIT = Fraction(1, 1 << 53)


def gamma(n):
    """The textbook's ``n u / (1 - n u)``."""
    return n * UNIT / (1 - n * UNIT)


def exact(values):
    return [Fraction(float(value)) for value in values]


def sizes_of(rows):
    return [[abs(entry) for entry in row] for row in rows]


@pytest.mark.parametrize("n", [0, 1, 7, 1000, 10**6])
def test_sixteen_roundings_are_to_spare(n):
    assert abs(Fraction(page._g(n)) / gamma(n + 16) - 1) < 5 * UNIT


@pytest.mark.parametrize("n", [1, 2, 10, 10**6])
@pytest.mark.parametrize("k", [1, 2, 50, 10**4])
def test_what_a_factorisation_is_off_by_is_bounded_as_in_textbooks(n, k):
    # The four parts of the error as `linsep.verified.moments` derives them.
    for rest in {0, 1, k}:
        for longest in {1, min(k, 30), k}:
            textbook = gamma(n + 4) * 2 * longest + gamma(4) * 2 * longest
            textbook += gamma(k + 5) * 2 * rest + gamma(4) * 3
            bound = Fraction(page._eigenvalue_error(n, k, rest, longest))
            spare = 40 * UNIT * (longest + rest)
            assert Fraction(101, 100) * textbook < bound < textbook * 11 / 10 + spare


def sparse_rows(rng, n, k):
    """Rows with zeros among them; no column is zero, and none of its entries small."""
    A = rng.standard_normal((n, k))
    A[rng.random((n, k)) < 0.4] = 0.0
    A[rng.integers(n), ~A.any(axis=0)] = 1.0
    return A / np.exp2(np.frexp(np.abs(A).max(axis=0))[1])


@pytest.mark.parametrize("seed", range(20))
def test_lengths_are_bounded_from_above_and_not_by_much(seed):
    rng = np.random.default_rng(seed)
    A = sparse_rows(rng, 30, 1 + seed)
    T = rng.integers(-51, 32, 1 + seed) if seed % 2 else np.full(1 + seed, 31)
    A[0] = np.ldexp(1.0 + rng.random(1 + seed), -502)  # squares below 2^-1060
    lengths = exact(page._lengths(sparse.csr_array(A), T))
    for row, length in zip(scaled_fractions(A, T), lengths, strict=True):
        square = dot(row, row)
        assert length > 0
        assert square <= length**2
        least = length - Fraction(2) ** -399
        assert least <= 0 or least**2 <= square * (1 + 2 * gamma(seed + 40))


@pytest.mark.parametrize("seed", range(10))
def test_moments_are_off_by_the_roundings_of_their_sums(seed):
    rng = np.random.default_rng(seed)
    A, v = sparse_rows(rng, 40, 4), np.exp2(rng.uniform(-100, -1, 40))
    M, T = page._moments(sparse.csr_array(A), v)
    M = fractions_of(M.toarray())
    rows, weights = scaled_fractions(A, T), exact(v)
    true, size = exact_moments(rows, weights), exact_moments(sizes_of(rows), weights)
    for i in range(4):
        assert 0.5 - 1e-9 <= M[i][i] <= 2 + 1e-9
        for j in range(4):
            assert abs(M[i][j] - true[i][j]) <= gamma(44) * size[i][j]


@pytest.mark.parametrize("n", [1, 2, 3, 9, 50, 1600])
@pytest.mark.parametrize("is_exact", [False, True])
def test_a_weighted_sum_is_off_by_no_more_than_it_says(n, is_exact):
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, 3))
    u = rng.standard_normal(n) * 10.0 ** rng.integers(-9, 9, n) * (not is_exact)
    off = rng.random(n)
    for off_by in (off, off * 0):
        total, doubt = page._weighted(sparse.csr_array(A), u, off_by)
        # Of the terms of a block, and of the blocks; with a product each.
        n_roundings = isqrt(n) + -(-n // isqrt(n)) - 1
        for j, column in enumerate(zip(*fractions_of(A), strict=True)):
            size = dot(map(abs, column), map(abs, exact(u)))
            spread = dot(map(abs, column), exact(off_by))
            assert abs(dot(column, exact(u)) - Fraction(total[j])) <= gamma(n) * size
            least = spread + gamma(n_roundings) * size
            most = spread + gamma(n_roundings + 25) * size
            assert least <= Fraction(doubt[j])
            assert Fraction(doubt[j]) <= most * (1 + 2 * gamma(n_roundings + 25))


def exact_reach(A, p, v, T, mu, q):
    """``a_i . q``, the squares of ``|a_i / T| |e / T| / mu``, and e, in fractions."""
    rows, q, p, v = fractions_of(A), exact(q), exact(p), exact(v)
    products = [dot(row, q) for row in rows]
    weights = [a - b * x for a, b, x in zip(p, v, products, strict=True)]
    e = [dot(column, weights) for column in zip(*rows, strict=True)]
    units = [Fraction(2) ** -int(t) for t in T]
    left = sum((x * unit) ** 2 for x, unit in zip(e, units, strict=True))
    squares = [dot(row, row) * left / mu**2 for row in scaled_fractions(A, T)]
    return products, squares, e


def two_nearly_equal(rng):
    """Products that cancel, and nothing left that matters."""
    n = int(rng.integers(1, 5))
    A = rng.uniform(0.5, 1.0, (n, 1)) * np.ones((1, 2))
    A[:, 1] = np.nextafter(A[:, 1], rng.choice([0.0, 1.0], n))
    q = rng.uniform(0.5, 1.0) * 2.0**30 * np.array([1.0, -1.0])
    return A, rng.random(n), rng.random(n), q, Fraction(2) ** 600


def three_columns(rng):
    """As three columns may add up to less than one of them."""
    A = rng.standard_normal((6, 3))
    q = rng.standard_normal(3)
    A[:, 2] = -(A[:, 0] * q[0] + A[:, 1] * q[1]) / q[2]
    A /= 2.0 ** np.frexp(np.abs(A).max(axis=0))[1]
    return A, rng.random(6), rng.random(6), q, Fraction(2) ** 600


def weights_that_vanish(rng):
    """Weights ``p - v a . q`` that are zero in doubles, and next to zero in truth."""
    n = int(rng.integers(1, 4))
    A = rng.uniform(0.5, 1.0, (n, 1))
    v, q = rng.random(n), rng.random(1)
    return A, v * (A @ q), v, q, Fraction(2) ** -40


def a_solution(rng):
    """What is left is rounding alone, and there is much of it for its size."""
    A = rng.uniform(-1.0, 1.0, (12, 2))
    p, v = rng.random(12), rng.random(12) * 0.1
    q = np.linalg.solve(A.T @ (A * v[:, None]), A.T @ p)
    return A, p, v, q, Fraction(2) ** -30


def anything(rng):
    """Each part counts."""
    n, k = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    A = sparse_rows(rng, n, k)
    return A, rng.random(n), rng.random(n), rng.standard_normal(k), Fraction(1)


def tiny(rng):
    """A step so short that products underflow."""
    A = rng.uniform(0.5, 1.0, (3, 2))
    return A, rng.random(3), rng.random(3), np.full(2, 5e-324), Fraction(1)


CASES = [two_nearly_equal, three_columns, weights_that_vanish, a_solution, anything]


@pytest.mark.parametrize("case", [*CASES, tiny])
@pytest.mark.parametrize("seed", range(25))
def test_a_step_reaches_no_further_than_it_says(case, seed):
    rng = np.random.default_rng(seed)
    A, p, v, q, mu = case(rng)
    T = rng.integers(-3, 4, A.shape[1])
    rows = sparse.csr_array(A)
    lengths = page._lengths(rows, T)
    most, e = page._reached(rows, p, v, T, lengths, float(mu), q)
    products, squares, left = exact_reach(A, p, v, T, mu, q)
    for i, (product, square) in enumerate(zip(products, squares, strict=True)):
        # most_i / v_i >= a_i . q + the root of the square
        further = Fraction(most[i]) / Fraction(v[i]) - product
        assert further >= 0
        assert further**2 >= square
    if case is anything:
        largest = 1.0 + np.abs(A).sum() * (np.abs(q).sum() + 1.0)
        reached = np.array([float(x) for x in products])
        reached += np.sqrt([float(x) for x in squares])
        assert np.abs(most - v * reached).max() <= 1e-12 * largest**2
        assert np.abs(e - [float(x) for x in left]).max() <= 1e-12 * largest


def nearly_dependent(least, margin):
    """Rows, weights p and v whose moments have about this least eigenvalue.

    The weights that they lead to are positive, one of them by a third of the margin.
    """
    s = np.sqrt(least / 0.75)
    rows = np.array([[1.0, 1], [-1, -1], [0, s], [0, s], [0, -s]])
    p = np.array([0.5, 0.5, 0.125, 0.5 - margin, 0.25])
    return sparse.csr_array(rows), p, np.full(5, 0.5), np.zeros(2, dtype=bool)


# Each needs another shift: a larger one than leaves the moments positive definite, or a
# smaller one than bounds the step well enough, proves nothing.
@pytest.mark.parametrize(
    ("least", "margin"), [(1e-4, 3e-8), (1e-7, 1e-5), (1e-10, 0.375)]
)
def test_columns_that_are_nearly_dependent_are_judged(least, margin):
    page._in_doubles(*nearly_dependent(least, margin))
    rows, p, v, first = nearly_dependent(least, -1e-15)
    for judge in (page._in_doubles, lambda *of: page._in_fractions(*of[:3])):
        with pytest.raises(NotProved, match="positive"):
            judge(rows, p, v, first)


def test_a_weight_that_may_be_zero_is_not_positive(monkeypatch):
    rows, p, v, first = nearly_dependent(1e-4, 0.1)
    page._in_doubles(rows, p, v, first)
    monkeypatch.setattr(page, "_reached", lambda *of: (p, np.zeros(2)))
    with pytest.raises(NotProved, match="seen to be positive"):
        page._in_doubles(rows, p, v, first)


@pytest.mark.parametrize(
    ("least", "message"),
    [
        (1e-40, "positive definite"),
        (1e-16, "positive definite"),
        (9e-13, "positive definite"),
        (1e-12, "positive definite"),
        (1.01e-12, "positive definite"),
        (1.05e-12, "seen to be positive"),
    ],
)
def test_moments_as_near_to_singular_as_their_rounding_are_refused(least, message):
    # Less than the smallest shift, 1e-12, and a bound on rounding of 2e-14.
    with pytest.raises(NotProved, match=message):
        page._in_doubles(*nearly_dependent(least, 0.05))
