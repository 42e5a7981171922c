"""Exact elimination, solving and null spaces."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges import dot, rank
from linsep.proof import linear

integer_matrices = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(-3, 3), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).map(np.array)
)


@given(integer_matrices)
def test_independent_columns_are_the_first_ones(values):
    chosen = linear.independent_columns(values)
    for j in range(values.shape[1]):
        before = [c for c in chosen if c < j]
        grows = rank(values[:, [*before, j]].tolist()) > len(before)
        assert grows == (j in chosen)


def small_null_basis(values):
    vectors = linear.small_null_basis(values)
    return np.array(vectors, dtype=object).reshape(len(vectors), values.shape[1]).T


@pytest.mark.parametrize("null_basis", [linear.null_basis, small_null_basis])
@given(values=integer_matrices)
def test_null_basis_is_the_whole_null_space(null_basis, values):
    basis = null_basis(values)
    for column in basis.T:
        assert np.gcd.reduce(column) == 1
        assert max(column) > 0
        assert all(dot(row, column.tolist()) == 0 for row in values.tolist())
    d = values.shape[1]
    assert basis.shape == (d, d - rank(values.tolist()))
    assert rank(basis.tolist()) == basis.shape[1]


@pytest.mark.parametrize("null_basis", [linear.null_basis, small_null_basis])
@pytest.mark.parametrize("shape", [(2, 3), (0, 2), (2, 0)])
def test_null_basis_of_zeros_is_all_unit_vectors(shape, null_basis):
    basis = null_basis(np.zeros(shape, dtype=np.int64))
    assert basis.tolist() == np.eye(shape[1]).tolist()


def test_null_basis_survives_an_unlucky_prime():
    # Modulo the first prime the second row vanishes, and with it part of the rank.
    values = np.array([[1, 0], [0, linear.prime(0)]], dtype=object)
    assert linear.independent_columns(values, attempt=0) == [0]
    assert linear.null_basis(values).shape == (2, 0)


def test_primes_are_tried_until_one_shows_the_rank(monkeypatch):
    # Modulo 2 and modulo 3 both rows are multiples of (1, 1).
    monkeypatch.setattr(linear, "_PRIMES", (2, 3))
    basis = linear.null_basis(np.array([[1, 1, 0], [1, -5, 0]]))
    assert basis.tolist() == [[0], [0], [1]]


def test_primes_are_prime_and_differ():
    primes = [linear.prime(attempt) for attempt in range(8)]
    assert len(set(primes)) == 8
    for p in primes:
        # Fermat to three bases: enough to catch a typing error.
        assert all(pow(base, p - 1, p) == 1 for base in (2, 3, 5))


def test_solve_is_exact():
    matrix = linear.integer_matrix(np.array([[2, 1], [1, 3]]))
    numerators, denominator = linear.solve(matrix, linear.integer_column([1, 1]))
    assert (linear.python_integers(numerators), denominator) == ([2, 1], 5)


def test_solve_refuses_a_singular_matrix():
    matrix = linear.integer_matrix(np.array([[1, 2], [2, 4]]))
    with pytest.raises(ZeroDivisionError):
        linear.solve(matrix, linear.integer_column([1, 1]))


lifting = pytest.mark.skipif(
    linear.solve_last(np.eye(1, dtype=np.int64)) is None,
    reason="this compiler has no integers of 128 bits",
)


@lifting
@given(integer_matrices.filter(lambda values: values.shape[0] == values.shape[1]))
def test_lifting_solves_what_has_a_solution(values):
    found = linear.solve_last(values)
    n = len(values)
    assert (found is None) == (rank(values.tolist()) < n)
    if found is not None:
        products = linear.integer_matrix(values) * found
        assert not any(products.entries()[:-1])
        assert products[n - 1, 0] > 0


@lifting
@pytest.mark.parametrize(("n", "n_bits"), [(30, 8), (70, 62), (40, 99)])
def test_lifting_finds_the_shortest_numerators(n, n_bits):
    rng = random.Random(n)
    lines = [[rng.randint(-(2**n_bits), 2**n_bits) for _ in range(n)] for _ in range(n)]
    lines = np.array([*lines[1:], [1] * n], dtype=object)
    found = linear.solve_last(lines)
    right = linear.integer_column([*[0] * (n - 1), 1])
    expected, _ = linear.solve(linear.integer_matrix(lines), right)
    assert found is not None
    assert found == expected


@lifting
def test_lifting_of_denominators_that_differ():
    # Twos and threes only: the first denominator is a part of those to come.
    lines = np.diag([1, 2**20, 3**15, 1, 1]).astype(object)
    lines[:, -1] = [-(6**5), -1, -1, -1, 0]
    lines[-1] = [0, 0, 0, 0, 6**10]
    found = linear.solve_last(lines)
    right = linear.integer_column([0, 0, 0, 0, 1])
    expected, _ = linear.solve(linear.integer_matrix(lines), right)
    assert found == expected


@lifting
def test_lifting_is_not_for_singular_or_long_lines():
    assert linear.solve_last(np.array([[1, 2], [2, 4]])) is None
    assert linear.solve_last(np.array([[2**100, 1], [1, 1]], dtype=object)) is None
    assert linear.solve_last(np.array([[2**99, 1], [1, 1]], dtype=object)) is not None
    assert linear.solve_last(np.eye(513, dtype=np.int64)) is None
    # Modulo the prime of the lifting.
    assert linear.solve_last(np.array([[28268264138584627, 0], [0, 1]])) is None
