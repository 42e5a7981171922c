"""Zero rows, opposite rows and copies, found exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from judges import assert_minimal_conflict, fractions_of
from linsep.proof import canonical
from linsep.proof.canonical import canonicalise
from linsep.rows import protocol


def direction(row):
    """A row's direction: its entries divided by the size of the first that is not 0."""
    lead = next((abs(v) for v in row if v), Fraction(1))
    return tuple(v / lead for v in row)


values = st.one_of(
    st.integers(-2, 2).map(float),
    st.sampled_from([0.1, 0.3, -0.1, 1e-300, 1e300, 5e-324, -5e-324]),
)
matrices = st.tuples(st.integers(1, 12), st.integers(1, 3)).flatmap(
    lambda shape: st.lists(
        st.lists(values, min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).map(np.array)
)


def assert_canonical(A, found):
    directions = [direction(row) for row in fractions_of(A)]
    first = {}
    for i, way in enumerate(directions):
        first.setdefault(way, i)
    assert found.representatives.tolist() == sorted(first.values())
    for i, way in enumerate(directions):
        assert found.representatives[found.owner[i]] == first[way]
    conflicting = any(
        not any(way) or tuple(-v for v in way) in first for way in directions
    )
    assert (found.conflict is not None) == conflicting
    if conflicting:
        assert len(found.conflict.rows) <= 2
        assert_minimal_conflict(A, found.conflict.rows, found.conflict.weights)


@given(matrices)
def test_directions_equal_fractions(A):
    assert_canonical(A, canonicalise(A))
    assert_canonical(A, canonicalise(sparse.csr_matrix(A)))


@given(matrices)
def test_a_useless_hash_changes_nothing(A):
    # With every word equal only the exact comparison tells lines apart.
    original = canonical.row_words
    canonical.row_words = lambda rows, attempt: np.zeros(len(rows), np.uint64)
    try:
        assert_canonical(A, canonicalise(A))
    finally:
        canonical.row_words = original


def test_a_last_bit_is_a_different_direction():
    row = np.array([1.0, 1 / 3])
    near = np.array([3.0, 3 * (1 / 3)])  # 3 * fl(1/3) rounds: not the same direction
    assert canonicalise(np.array([row, near])).representatives.tolist() == [0, 1]
    assert canonicalise(np.array([row, 4 * row])).representatives.tolist() == [0]


def test_many_copies_in_many_chunks(monkeypatch):
    monkeypatch.setattr(protocol, "CHUNK_ENTRIES", 64)
    rng = np.random.default_rng(0)
    distinct = rng.standard_normal((20, 3))
    pick = np.concatenate([np.arange(20), rng.integers(0, 20, 980)])
    A = distinct[pick] * 2.0 ** rng.integers(-5, 6, (1000, 1))
    found = canonicalise(A)
    assert found.representatives.tolist() == list(range(20))
    assert found.owner.tolist() == pick.tolist()
    assert found.conflict is None
    assert canonicalise(sparse.csr_matrix(A)).owner.tolist() == pick.tolist()
    A[777] *= -1.0
    opposite = canonicalise(A).conflict
    assert opposite.rows == (pick[777], 777)


def test_every_copy_among_binary_rows_is_found():
    # All 0/1 rows have their bits in the same places: a weak hash would confuse them.
    A = np.random.default_rng(0).integers(0, 2, (20_000, 10)).astype(float)
    found = canonicalise(A)
    assert len(found.representatives) == len(np.unique(A, axis=0))


@pytest.mark.parametrize("shape", [(0, 3), (0, 0)])
def test_no_rows(shape):
    found = canonicalise(np.empty(shape))
    assert (found.representatives.size, found.owner.size) == (0, 0)
    assert found.conflict is None


def test_rows_without_columns_are_zero_rows():
    found = canonicalise(np.empty((3, 0)))
    assert found.representatives.tolist() == [0]
    assert found.conflict.rows == (0,)


def test_rows_that_share_their_first_words_are_told_apart_by_the_next(monkeypatch):
    original = canonical.row_words

    def useless_at_first(rows, attempt):
        words = original(rows, attempt)
        return words * np.uint64(attempt > 0)

    monkeypatch.setattr(canonical, "row_words", useless_at_first)
    A = np.random.default_rng(0).integers(-1, 2, (60, 3)).astype(float)
    assert_canonical(A, canonicalise(A))


def test_zeros_that_sparse_rows_store_and_columns_out_of_order_change_nothing():
    A = np.array([[0.0, 2.0, 4.0], [3.0, 0.0, -1.0], [0.0, -1.0, -2.0]])
    rows = sparse.csr_matrix(
        (
            np.array([0.0, 2.0, 4.0, -1.0, 0.0, 3.0, 0.0, -2.0, -1.0]),
            np.array([0, 1, 2, 2, 1, 0, 0, 2, 1]),
            np.array([0, 3, 6, 9]),
        ),
        shape=(3, 3),
    )
    assert np.array_equal(rows.toarray(), A)
    assert_canonical(A, canonicalise(rows))
    assert rows.nnz == 9  # the caller's rows are left as they were


def test_of_several_conflicts_the_first_row_that_makes_one_is_named():
    A = np.array([[1.0, 0], [0, 1], [3, 1], [0, -2], [-5, 0]])
    assert canonicalise(A).conflict.rows == (1, 3)
    A[3:] = 0.0
    conflict = canonicalise(A).conflict
    assert (conflict.rows, conflict.weights) == ((3,), (1,))


@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 6), min_size=1, max_size=8))
def test_proportional_rows_are_as_textbooks_have_them(pairs):
    a, b = np.array(pairs)[:, :3], np.array(pairs)[:, 3:]
    expected = [
        any(x) == any(y) and np.linalg.matrix_rank([x, y]) < 2
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert canonical._proportional(a, b).tolist() == expected


def test_products_beyond_64_bits_make_no_rows_proportional():
    # 9 * 2^60 and -7 * 2^60, which differ by 2^64.
    a, b = np.array([[7 << 29, 3 << 30]]), np.array([[3 << 30, -(1 << 31)]])
    for others, expected in ((b, False), (a + np.array([0, 1]), False), (-a, True)):
        assert canonical._proportional(a, others).tolist() == [expected]
