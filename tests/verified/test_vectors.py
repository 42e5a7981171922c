"""Exact sparse vectors: their sums, and their signs on rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from judges import dot, fractions_of
from linsep.verified.vectors import SparseVector, combination, written_out

WHOLE_NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.integers(-(2**54), 2**54),
    st.integers(-(2**1200), 2**1200),
)
ENTRIES = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([2.0**52, 2.0**53 - 1, -(2.0**53), 2.0**-1074, 0.5]),
)


@given(st.data())
def test_signs_are_exact(data):
    k, n = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    values = data.draw(st.lists(WHOLE_NUMBERS, min_size=k, max_size=k))
    A = np.array(
        data.draw(
            st.lists(st.lists(ENTRIES, min_size=k, max_size=k), min_size=n, max_size=n)
        )
    )
    if data.draw(st.booleans()):
        A[:, -1] = -A[:, 0]
    vector = SparseVector.from_values(values)
    want = [np.sign(dot(row, values)) for row in fractions_of(A)]
    assert vector.signs_on(A).tolist() == want
    assert vector.signs_on(sparse.csr_matrix(A)).tolist() == want


@pytest.mark.parametrize("size", [2**60, 10**400])
def test_a_huge_vector_on_zeros_is_zero(size):
    vector = SparseVector(np.array([0, 1]), (size, 1))
    assert vector.signs_on(np.zeros((2, 2))).tolist() == [0, 0]
    assert vector.signs_on(sparse.csr_matrix((2, 2))).tolist() == [0, 0]
    assert vector.signs_on(np.array([[1.0, -1.0]])).tolist() == [1]


def test_a_sum_just_over_what_doubles_count_is_exact():
    # In doubles 2^53 + 1 - 2^53 is zero.
    vector = SparseVector(np.array([0, 1, 2]), (1, 1, -1))
    row = np.array([[2.0**53, 1.0, 2.0**53]])
    assert vector.signs_on(row).tolist() == [1]


@given(
    st.lists(
        st.tuples(
            st.integers(-9, 9), st.dictionaries(st.integers(0, 5), st.integers(-9, 9))
        ),
        max_size=4,
    )
)
def test_combinations_keep_the_direction(terms):
    total = np.zeros(6, dtype=int)
    vectors = []
    for factor, entries in terms:
        vector = SparseVector.from_items(entries)
        total += factor * np.array(written_out(vector, 6))
        vectors.append((factor, vector))
    found = written_out(combination(vectors), 6)
    divisor = max(1, int(np.gcd.reduce(total)))
    assert list(found) == (total // divisor).tolist()
    assert all(combination(vectors).values)


def test_entries_are_placed_in_other_columns():
    vector = SparseVector.from_items({1: 4, 0: -2, 2: 0})
    assert dict(vector.items()) == {0: -1, 1: 2}
    assert written_out(vector.placed(np.array([3, 5])), 6) == (0, 0, 0, -1, 0, 2)
