"""Conflicts from the rows an engine names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import nnls

from judges import assert_minimal_conflict, z3_separable
from linsep.proof import gordan, linear, simplex
from linsep.proof.gordan import conflict_from_candidate, dense_columns

small = st.tuples(st.integers(1, 12), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(-3, 3), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).map(lambda rows: np.array(rows, dtype=float))
)


@pytest.fixture
def only_flint(monkeypatch):
    """Have nothing settled by the compiled code; test_few_rows.py says what it does."""
    monkeypatch.setattr(gordan, "few_rows_conflict", lambda rows: None)


@given(small, st.randoms(use_true_random=False))
def test_conflict_exists_exactly_where_z3_finds_no_separator(A, random):
    support = list(range(len(A)))
    random.shuffle(support)
    weights = [random.random() for _ in support]
    conflict = conflict_from_candidate(A, support, weights)
    assert (conflict is None) == z3_separable(A.tolist())
    if conflict is not None:
        assert_minimal_conflict(A, conflict.rows, conflict.weights)
        same = conflict_from_candidate(sparse.csr_matrix(A), support, weights)
        assert_minimal_conflict(A, same.rows, same.weights)


@pytest.mark.parametrize(("m", "d"), [(60, 10), (300, 40)])
def test_conflict_from_an_engines_floats(m, d):
    A = np.random.default_rng(m).standard_normal((m, d))
    p, _ = nnls(np.vstack([A.T, np.ones(m)]), np.append(np.zeros(d), 1.0))
    support = np.flatnonzero(p)
    conflict = conflict_from_candidate(A, support, p[support])
    assert set(conflict.rows) <= set(support.tolist())
    assert len(conflict.rows) <= d + 1
    assert_minimal_conflict(A[:, :], conflict.rows, conflict.weights)


def test_weights_of_a_dense_candidate_are_reduced_to_rank_plus_one_rows():
    # Every row of a symmetric cloud has weight: the dependence is far from unique.
    half = np.random.default_rng(1).standard_normal((50, 6))
    A = np.vstack([half, -half])
    conflict = conflict_from_candidate(A, np.arange(100), np.full(100, 0.01))
    assert_minimal_conflict(A, conflict.rows, conflict.weights)
    assert len(conflict.rows) <= 7


@pytest.mark.usefixtures("only_flint")
@pytest.mark.parametrize("A", [[[1.0], [2.0]], [[1.0, 1], [2.0, -1], [3.0, 0]]])
def test_a_dependence_of_both_signs_is_no_conflict(A):
    A = np.array(A)
    assert conflict_from_candidate(A, range(len(A))) is None
    A[-1] *= -1
    conflict = conflict_from_candidate(A, range(len(A)))
    assert_minimal_conflict(A, conflict.rows, conflict.weights)


@pytest.mark.usefixtures("only_flint")
@pytest.mark.parametrize("few", [0, 100])
def test_a_single_dependence_is_solved_for_without_the_simplex_method(few, monkeypatch):
    monkeypatch.setattr(gordan, "FEW_ROWS", few)
    monkeypatch.setattr(simplex, "decide", None)
    A = np.array([[1.0, 0, 0], [0, 2.0, 0], [-3.0, -5.0, 0], [0, 0, 1.0]])
    conflict = conflict_from_candidate(A, range(4))
    assert (conflict.rows, conflict.weights) == ((0, 1, 2), (6, 5, 2))
    assert conflict_from_candidate(A, [0, 2, 3]) is None


@pytest.mark.usefixtures("only_flint")
@pytest.mark.parametrize(
    ("A", "expected"),
    [
        ([[1.0], [1.0]], None),  # the weights sum to zero
        ([[1.0, 0], [-2, 0]], ((0, 1), (2, 1))),
        ([[1.0, 0], [0, 0], [0, 1.0]], ((1,), (1,))),
        ([[1.0, 2, 1, 2], [0, 0, 1, 3], [-2, -4, -5, -13]], ((0, 1, 2), (2, 3, 1))),
        ([[1.0, 2, 1, 2], [0, 0, 1, 3], [-2, -4, -5, -12]], None),  # independent
    ],
)
def test_the_one_dependence_of_many_rows(A, expected, monkeypatch):
    monkeypatch.setattr(gordan, "FEW_ROWS", 0)
    monkeypatch.setattr(simplex, "decide", None)
    conflict = conflict_from_candidate(np.array(A), range(len(A)))
    assert (conflict and (conflict.rows, conflict.weights)) == expected


@pytest.mark.usefixtures("only_flint")
@pytest.mark.parametrize("weights", [None, [0, 0, 0], [2, 3, 2]])
def test_weights_lifted_in_vain_are_solved_for(weights, monkeypatch):
    lifted = None if weights is None else linear.integer_column(weights)
    monkeypatch.setattr(linear, "solve_last", lambda lines: lifted)
    monkeypatch.setattr(gordan, "FEW_ROWS", 0)
    A = np.array([[1.0, 2.0], [0.0, 1.0], [-2.0, -7.0]])
    conflict = conflict_from_candidate(A, range(3))
    assert (conflict.rows, conflict.weights) == ((0, 1, 2), (2, 3, 1))


@pytest.mark.usefixtures("only_flint")
@pytest.mark.parametrize(
    ("A", "expected"),
    [
        ([[1.0, 0, 0], [0, 1, 0], [-3, -2, 0], [3.0, 2, 0]], ((0, 1, 2), (3, 2, 1))),
        ([[2.0], [-1.0], [-3.0], [5.0]], ((0, 1), (1, 2))),
    ],
)
def test_one_of_several_dependences_of_many_rows(A, expected, monkeypatch):
    monkeypatch.setattr(gordan, "FEW_ROWS", 0)
    conflict = conflict_from_candidate(np.array(A), range(4), [9.0, 8.0, 1.0, 0.0])
    assert (conflict.rows, conflict.weights) == expected


def test_many_rows_are_not_eliminated_at_once(monkeypatch):
    monkeypatch.setattr(linear, "small_null_basis", None)
    A = np.vstack([np.eye(60), -np.arange(1.0, 61.0)])
    conflict = conflict_from_candidate(A, range(61))
    assert conflict.weights == (*range(1, 61), 1)


@pytest.mark.usefixtures("only_flint")
def test_a_dependence_modulo_a_prime_alone_is_no_conflict(monkeypatch):
    # Both rows are (1, 1) modulo 2, yet independent.
    A = np.array([[1.0, 1.0], [-1.0, 1.0]])
    monkeypatch.setattr(linear, "_PRIMES", (2, *linear._PRIMES))
    monkeypatch.setattr(gordan, "FEW_ROWS", 0)
    assert conflict_from_candidate(A, [0, 1]) is None


@pytest.mark.usefixtures("only_flint")
def test_a_zero_row_is_a_conflict_by_itself():
    A = np.array([[1.0, 2.0], [0.0, 0.0]])
    conflict = conflict_from_candidate(A, [0, 1])
    assert (conflict.rows, conflict.weights) == ((1,), (1,))


def test_a_false_verdict_is_refused():
    # Overlap of one unit in the last place, in the direction that leaves a gap.
    above = np.nextafter(1.0, 2.0)
    assert (
        conflict_from_candidate(np.array([[1.0, -1.0], [-1.0, above]]), [0, 1]) is None
    )
    overlap = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert conflict_from_candidate(overlap, [0, 1]).rows == (0, 1)


def test_rows_of_any_magnitude():
    A = np.array([[5e-324, 0.0], [-1e300, 1e-300], [0.0, -3.0]])
    conflict = conflict_from_candidate(A, [2, 1, 0])
    assert conflict.rows == (0, 1, 2)
    assert_minimal_conflict(A, conflict.rows, conflict.weights)


def test_repeated_names_of_a_row_count_once():
    A = np.array([[1.0], [-2.0]])
    conflict = conflict_from_candidate(A, [1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4])
    assert (conflict.rows, conflict.weights) == ((0, 1), (2, 1))


def test_no_rows_are_no_conflict():
    assert conflict_from_candidate(np.ones((2, 2)), []) is None


@pytest.mark.parametrize("heavy", range(6))
def test_the_row_of_largest_weight_is_trusted_most(heavy):
    # Any two of opposite signs are a conflict.
    A = np.array([[1.0], [2.0], [3.0], [-1.0], [-2.0], [-3.0]])
    weights = np.ones(6)
    weights[heavy] = 9.0
    assert heavy in conflict_from_candidate(A, range(6), weights).rows


@given(st.integers(0, 2**32 - 1))
def test_a_row_that_the_one_dependence_leaves_out_is_no_hindrance(seed):
    rng = np.random.default_rng(seed)
    A = rng.integers(-4, 5, (4, 4)).astype(float)
    p = rng.integers(1, 4, 3)
    A[3] = 0.0
    A[:3, 3] = 0.0  # the last row alone has the last column
    A[2] = -(p[0] * A[0] + p[1] * A[1])
    A[3, 3] = 1.0
    order = rng.permutation(4)
    conflict = conflict_from_candidate(A, order, rng.random(4))
    assert 3 not in conflict.rows
    assert_minimal_conflict(A, conflict.rows, conflict.weights)


def test_the_columns_that_are_used_are_named():
    A = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    dense, columns = dense_columns(A)
    assert (dense is A, columns.tolist()) == (True, [0, 1, 2])
    dense, columns = dense_columns(sparse.csr_matrix(A))
    assert (dense.tolist(), columns.tolist()) == ([[2.0, 0.0], [0.0, 1.0]], [1, 2])
