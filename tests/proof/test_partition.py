"""The exact split into separated and overlapped rows, with both proofs."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from helpers import known_cases
from judges import dot, fractions_of, z3_direction_exists
from linsep.proof import few_rows
from linsep.proof.partition import partition_rows


def signed_rows(case):
    X = np.array(case["X"], dtype=float)
    if case["intercept"]:
        X = np.column_stack([X, np.ones(len(X))])
    classes = sorted(set(case["y"]))
    signs = np.where(np.array(case["y"]) == classes[-1], 1.0, -1.0)
    return X * signs[:, np.newaxis]


def assert_partition(A, split, equalities=()):
    """Both halves of the proof, by fractions."""
    exact, fixed = fractions_of(A), fractions_of(equalities)
    assert sorted([*split.separated, *split.overlapped]) == list(range(len(exact)))
    for i in split.separated:
        assert dot(exact[i], split.w) > 0
    for row in [*(exact[i] for i in split.overlapped), *fixed]:
        assert dot(row, split.w) == 0
    assert len(split.weights) == len(split.overlapped)
    assert len(split.equality_weights) == len(fixed)
    assert all(weight > 0 for weight in split.weights)
    weighed = [
        *zip((exact[i] for i in split.overlapped), split.weights, strict=True),
        *zip(fixed, split.equality_weights, strict=True),
    ]
    d = len(split.w)
    assert [sum(p * row[j] for row, p in weighed) for j in range(d)] == [0] * d
    # The directions are zero on the same rows.
    for column in split.directions.T:
        for row in [*(exact[i] for i in split.overlapped), *fixed]:
            assert dot(row, column.tolist()) == 0


def matrices(max_rows, max_columns, low=-2, high=2):
    return st.tuples(st.integers(1, max_rows), st.integers(1, max_columns)).flatmap(
        lambda shape: st.lists(
            st.lists(st.integers(low, high), min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        ).map(lambda rows: np.array(rows, dtype=float))
    )


@given(matrices(10, 4))
def test_the_split_is_z3s(A):
    split = partition_rows(A)
    assert_partition(A, split)
    truth = [
        i
        for i, row in enumerate(A.tolist())
        if z3_direction_exists(A.tolist(), [], row)
    ]
    assert split.separated.tolist() == truth


@given(matrices(8, 4), st.integers(0, 3))
def test_the_split_with_equalities_is_z3s(A, n_fixed):
    n_fixed = min(n_fixed, len(A) - 1)
    fixed, free = A[:n_fixed], A[n_fixed:]
    split = partition_rows(free, fixed)
    assert_partition(free, split, fixed)
    truth = [
        i
        for i, row in enumerate(free.tolist())
        if z3_direction_exists(free.tolist(), fixed.tolist(), row)
    ]
    assert split.separated.tolist() == truth


@pytest.mark.parametrize("case", known_cases("binary", "poisson-reduced"))
def test_known_cases(case):
    A = signed_rows(case)
    keep = np.array(case.get("weights", np.ones(len(A)))) > 0
    split = partition_rows(A[keep])
    assert_partition(A[keep], split)
    named = {"complete": "complete", "quasi": "quasi-complete", "overlap": "overlap"}
    assert split.status == named[case["expected"]]
    assert np.flatnonzero(keep)[split.separated].tolist() == case["separated_rows"]


@pytest.mark.parametrize("case", known_cases("multinomial"))
def test_known_multinomial_cases_in_block_space(case):
    # One row for each observation and each other class: block of the class, minus
    # block of the other; the first class has no block.
    X = np.column_stack([np.array(case["X"], dtype=float), np.ones(len(case["X"]))])
    if not case["intercept"]:
        X = X[:, :-1]
    classes = sorted(set(case["y"]))
    rows, owner = [], []
    for i, (x, label) in enumerate(zip(X, case["y"], strict=True)):
        for other in classes:
            if other != label:
                blocks = np.zeros((len(classes), X.shape[1]))
                blocks[classes.index(label)] += x
                blocks[classes.index(other)] -= x
                rows.append(blocks[1:].ravel())
                owner.append(i)
    A = np.array(rows)
    split = partition_rows(A)
    assert_partition(A, split)
    named = {"complete": "complete", "quasi": "quasi-complete", "overlap": "overlap"}
    assert split.status == named[case["expected"]]


def test_boolean_functions_of_three_inputs():
    points = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    X = np.column_stack([points, np.ones(8)])
    counts = {"complete": 0, "quasi-complete": 0, "overlap": 0}
    for labels in itertools.product([-1.0, 1.0], repeat=8):
        split = partition_rows(X * np.array(labels)[:, np.newaxis])
        counts[split.status] += 1
    assert counts == {"complete": 104, "quasi-complete": 48, "overlap": 104}


def test_faces_within_faces_each_take_their_turn():
    # Rows k and k + 1 force w_k = 0 only once those before have forced theirs.
    d = 12
    A = []
    for k in range(d - 1):
        row = np.zeros(d)
        row[k], row[:k] = 1.0, np.arange(1, k + 1)
        A += [row, -row]
    A.append(np.eye(d)[-1])
    A = np.array(A)[::-1]
    split = partition_rows(A)
    assert_partition(A, split)
    assert split.separated.tolist() == [0]


@pytest.mark.parametrize("cut", [0, 6])
def test_many_rows_are_decided_through_few(cut):
    # 3,000 rows overlap on 5 columns; `cut` of them also carry a sixth, of one sign.
    rng = np.random.default_rng(cut)
    A = np.column_stack([rng.integers(-50, 51, size=(3000, 5)), np.zeros(3000)])
    marked = rng.choice(3000, cut, replace=False)
    A[marked, 5] = 1.0
    split = partition_rows(A.astype(float))
    assert split.separated.tolist() == sorted(marked.tolist())
    weights = np.array(split.weights, dtype=object)
    total = A[split.overlapped].astype(int).astype(object).T @ weights
    assert not total.any()
    assert min(split.weights) > 0


def test_a_separable_crowd_needs_more_than_the_first_rows():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((4000, 6))
    A *= np.sign(A @ np.arange(1, 7))[:, np.newaxis]
    split = partition_rows(A)
    assert split.status == "complete"
    w = np.array(split.w, dtype=object)
    for row in A:
        assert sum(Fraction(a) * b for a, b in zip(row.tolist(), w, strict=True)) > 0


def test_rows_of_any_magnitude():
    A = np.array([[1e-300, 0.0], [-1e300, 0.0], [5e-324, 1e300], [3.0, 5e-324]])
    split = partition_rows(A)
    assert_partition(A, split)
    assert split.separated.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("A", "status"),
    [
        (np.zeros((3, 2)), "overlap"),
        (np.empty((2, 0)), "overlap"),
        (np.array([[0.0], [2.0]]), "quasi-complete"),
        (np.array([[3.0]]), "complete"),
    ],
)
def test_degenerate_shapes(A, status):
    split = partition_rows(A)
    assert_partition(A, split)
    assert split.status == status


def test_sparse_rows_and_stopping():
    A = sparse.csr_matrix(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]]))
    assert partition_rows(A).separated.tolist() == [2]
    assert partition_rows(A, should_stop=lambda: True) is None


@given(matrices(30, 3, -3, 3))
def test_few_rows_at_first_change_nothing(A):
    # With one row at first and one more at a turn the verdicts are the same.
    expected = partition_rows(A).separated.tolist()
    first, more = few_rows._FIRST, few_rows._MORE
    few_rows._FIRST, few_rows._MORE = 1, 1
    try:
        assert partition_rows(A).separated.tolist() == expected
    finally:
        few_rows._FIRST, few_rows._MORE = first, more
