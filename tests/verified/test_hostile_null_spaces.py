"""Null vectors and rank, against textbook elimination."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hostile_parts import hostile_matrix, part_of
from judges import dot, fractions_of, rank
from linsep.verified import null_space as module
from linsep.verified.moments import Layout, Moments, NotPositive
from linsep.verified.null_space import null_space
from linsep.verified.vectors import SparseVector, written_out
from random_designs import random_design

SEEDS = st.integers(0, 2**32 - 1)


def assert_is_null_space(found, A):
    """Every null vector holds; if the pivots are proved, they are independent."""
    k = A.shape[1]
    exact = fractions_of(A)
    assert sorted([*found.pivots, *found.free]) == list(range(k))
    assert len(found.basis) == found.free.size
    for vector, free in zip(found.basis, found.free, strict=True):
        w = written_out(vector, k)
        assert w[free] != 0
        assert all(w[j] == 0 for j in found.free if j != free)
        assert all(dot(row, w) == 0 for row in exact)
    if found.is_proved:
        assert rank([[row[j] for j in found.pivots] for row in exact]) == len(
            found.pivots
        )


@given(SEEDS)
def test_designs_are_told_apart_in_full(seed):
    rng = np.random.default_rng(seed)
    X, _ = random_design(rng)
    A = np.c_[np.ones(len(X)), X]
    A = A[:, A.any(axis=0)]
    exact_rank = rank(fractions_of(A))
    is_clear = exact_rank == np.linalg.matrix_rank(A, tol=1e-5)
    if rng.random() < 0.3:
        A = np.ldexp(A, rng.integers(-300, 300, A.shape[1]))
    found = null_space(part_of(A, rng))
    assert_is_null_space(found, A)
    if is_clear:  # not so where a sum of columns was rounded
        assert found.is_proved
        assert found.pivots.size == exact_rank


@given(SEEDS)
def test_hostile_rows_are_never_told_wrong(seed):
    rng = np.random.default_rng(seed)
    A = hostile_matrix(rng)
    try:
        found = null_space(part_of(A, rng))
    except NotPositive:
        return
    assert_is_null_space(found, A)


def test_wide_random_rows_are_solved_exactly():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 13))
    found = null_space(part_of(A))
    assert_is_null_space(found, A)
    assert found.is_proved
    assert found.pivots.size == 12
    # Their null vector is longer than doubles reach.
    assert max(abs(v) for v in found.basis[0].values) > 2**500


def test_columns_that_nearly_depend_are_not_said_to():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((50, 3))
    A[:, 2] = A[:, 0] + A[:, 1]  # rounded, so not quite the sum
    found = null_space(part_of(A))
    assert_is_null_space(found, A)
    assert not found.is_proved or found.free.size == 0
    assert rank(fractions_of(A)) == 3


def test_a_combination_of_the_rows_drawn_that_fails_on_others_is_corrected():
    # On all rows but the last the third column is the sum of the others, exactly.
    rng = np.random.default_rng(2)
    A = rng.integers(1, 1000, (400, 3)).astype(float) * np.pi
    A[:, 2] = 3.5 * A[:, 0]
    A[-1, 2] *= 1 + 1e-12
    found = null_space(part_of(A))
    assert_is_null_space(found, A)
    assert found.free.size == 0


def test_coefficients_that_no_small_fraction_is_near_are_solved_for():
    rng = np.random.default_rng(3)
    A = np.c_[rng.integers(-1000, 1000, (300, 2)), np.zeros(300)].astype(float)
    A[:, 2] = 1237 * A[:, 0] + 2039 * A[:, 1]
    A[:, 0] *= 7919
    found = null_space(part_of(A))
    assert_is_null_space(found, A)
    assert found.free.size == 1
    assert found.is_proved


def test_long_combinations_are_not_solved_for(monkeypatch):
    monkeypatch.setattr(module, "MOST_EXACT", 2)
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 13))
    found = null_space(part_of(A))
    assert found.free.size == 0
    assert not found.is_proved


def solved(A, pivots, free):
    found = module._solved(part_of(A), np.array(pivots, dtype=np.intp), np.array(free))
    return {column: dict(vector.items()) for column, vector in found.items()}


def test_only_columns_that_are_free_have_null_vectors():
    # Column 1 depends on column 0, but is called a pivot.
    found = solved(np.ones((5, 3)), [0, 1], [2])
    assert found in ({2: {0: 1, 2: -1}}, {2: {0: -1, 2: 1}})
    assert solved(np.ones((5, 1)), [], [0]) == {}
    # The null vector of columns 0 and 1 does not hold column 2.
    A = np.c_[np.ones(5), np.ones(5), np.arange(5.0)]
    assert solved(A, [0, 1], [2]) == {}
    assert solved(A, [0], [1]) in ({1: {0: 1, 1: -1}}, {1: {0: -1, 1: 1}})


def test_columns_that_depend_on_the_same_ones_are_solved_for_together():
    rng = np.random.default_rng(5)
    A = np.zeros((3000, 40))
    A[:60, :30] = rng.integers(-99, 100, (60, 30))  # few rows hold them
    combined = rng.integers(-99, 100, (30, 10))
    A[:60, 30:] = A[:60, :30] @ combined
    found = module._solved(part_of(A), np.arange(30), np.arange(30, 40))
    assert sorted(found) == list(range(30, 40))
    for column, vector in found.items():
        w = np.array(written_out(vector, 40))
        assert not (A.astype(int) @ w).any()
        assert (w[30:] != 0).tolist() == [j == column for j in range(30, 40)]


def test_rows_on_which_a_combination_fails_are_added_a_few_times(monkeypatch):
    A = np.ones((500, 2))
    A[np.arange(0, 500, 100), 1] = 2.0
    assert solved(A, [0], [1]) == {}
    monkeypatch.setattr(module, "ROWS_EACH", 1)
    monkeypatch.setattr(module, "MOST_TRIES", 1)
    assert solved(A, [0], [1]) == {}


def test_more_rows_are_drawn_where_the_first_leave_more_than_one_combination(
    monkeypatch,
):
    monkeypatch.setattr(module, "ROWS_EACH", 0)
    A = np.zeros((400, 3))
    A[::80] = np.random.default_rng(0).integers(-9, 9, (5, 3))
    A[:, 2] = A[:, 0] + A[:, 1]
    assert solved(A, [0, 1], [2]) in (
        {2: {0: 1, 1: 1, 2: -1}},
        {2: {0: -1, 1: -1, 2: 1}},
    )


@pytest.mark.parametrize("as_csr", [False, True])
def test_null_vectors_that_hold_are_told_from_those_that_do_not(as_csr):
    rng = np.random.default_rng(4)
    A = rng.integers(-5, 5, (30, 4)).astype(float)
    A[:, 3] = A[:, 0] - 2 * A[:, 1]
    true = SparseVector.from_items({0: 1, 1: -2, 3: -1})
    false = SparseVector.from_items({0: 1, 1: -2, 3: -2})
    for scale in (1.0, 0.1, 2.0**40):  # whole, not whole, and too large for doubles
        B = A.copy()
        B[:, :2] = np.trunc(B[:, :2] * scale * 1024) / 1024
        B[:, 3] = B[:, 0] - 2 * B[:, 1]
        part = part_of(sparse.csr_matrix(B) if as_csr else B)
        assert module._vanishing(part, [true, false]).tolist() == [True, False]
    assert module._vanishing(part, []).size == 0


def test_values_that_are_not_finite_are_no_combination():
    assert module._simple(np.array([1.0, np.inf]), np.array([0, 1])) is None
    assert module._simple(np.array([1.0, np.pi]), np.array([0, 1])) is None
    assert module._simple(np.array([1e300, 1.0]), np.array([0, 1])) is None
    vector = module._simple(np.array([1.0, -1 / 3]), np.array([0, 2]))
    assert dict(vector.items()) == {0: 3, 2: -1}


def test_levels_alone_have_no_dependent_column():
    A = np.eye(3)[np.array([0, 1, 2, 1])]
    part = part_of(sparse.csr_matrix(A))
    assert Layout.of(part).rest.size == 0
    found = null_space(part)
    assert found.free.size == 0
    assert found.is_proved


def test_a_sum_of_levels_is_found_whatever_their_scale():
    rng = np.random.default_rng(0)
    levels = np.eye(6)[rng.integers(0, 6, 80)]
    A = np.c_[np.ones(80), levels, np.eye(4)[rng.integers(0, 4, 80)]] * 2.0**-200
    for X in (A, sparse.csr_matrix(A)):
        found = null_space(part_of(X))
        assert_is_null_space(found, A)
        assert found.free.size == 2
        assert found.is_proved


def test_independence_is_not_proved_of_a_matrix_that_is_singular():
    part = part_of(np.ones((4, 2)))
    assert not module._is_factored(Moments.of(part, np.ones(4), Layout.of(part)))
    assert not module._is_eliminated(part)
