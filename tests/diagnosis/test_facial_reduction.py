"""The exact partition, its weights and the verdicts on coefficients, against z3."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import known_cases
from judges import dot, fractions_of, rank, z3_direction_exists
from linsep.diagnosis.exact.certificate import overlap_weights
from linsep.diagnosis.exact.coefficients import verdicts
from linsep.diagnosis.exact.columns import columns_of
from linsep.diagnosis.exact.facial_reduction import Reduction
from linsep.rows import DenseRows


def reduce_rows(A, n_equal=0):
    """Run facial reduction on plain rows, the first `n_equal` of them equalities."""
    m, d = A.shape
    rows = DenseRows(A, np.ones(m, dtype=np.int8), False)
    rng = np.random.default_rng(0)
    columns = columns_of(rows, rng, np.arange(d))
    equal = np.arange(m) < n_equal
    return rows, columns, equal, Reduction(rows, equal, columns.kept, rng).run()


def assert_both_proofs(A, rows, equal, found):
    """One w and one p, by fractions: they prove the partition."""
    exact = fractions_of(A)
    for i, row in enumerate(exact):
        product = dot(row, found.w)
        assert product == 0 if found.overlapped[i] else product > 0
    start = {int(i): 1 for i in np.flatnonzero(found.overlapped & ~equal)}
    each, extra = overlap_weights(
        rows, equal, start, found.quotient.spanning, found.conflicts
    )
    weights = {i: each + extra.get(i, 0) for i in start}
    assert all(weight > 0 for weight in weights.values())
    weights |= {i: v for i, v in extra.items() if equal[i]}
    assert set(extra) <= set(weights)
    for j in range(A.shape[1]):
        assert sum(p * exact[i][j] for i, p in weights.items()) == 0


matrices = st.tuples(st.integers(1, 9), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(-2, 2), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).map(lambda rows: np.array(rows, dtype=float))
)


@given(matrices, st.integers(0, 3))
def test_the_partition_is_z3s(A, n_equal):
    n_equal = min(n_equal, len(A) - 1)
    rows, _, equal, found = reduce_rows(A, n_equal)
    assert_both_proofs(A, rows, equal, found)
    fixed, free = A[:n_equal].tolist(), A[n_equal:].tolist()
    truth = [z3_direction_exists(free, fixed, row) for row in free]
    assert (~found.overlapped[n_equal:]).tolist() == truth


@given(matrices, st.integers(0, 2))
def test_the_verdicts_on_coefficients_are_z3s(A, n_equal):
    n_equal = min(n_equal, len(A) - 1)
    rows, columns, _, found = reduce_rows(A, n_equal)
    answers = verdicts(rows, found, lambda: False)
    fixed, free = A[:n_equal].tolist(), A[n_equal:].tolist()
    names = {(0, 0): "finite", (1, 0): "+inf", (0, 1): "-inf", (1, 1): "undetermined"}
    for j in range(A.shape[1]):
        unit = [float(k == j) for k in range(A.shape[1])]
        grows = rank([*fractions_of(A), *fractions_of([unit])]) > rank(fractions_of(A))
        assert columns.aliased[j] == grows
        if not grows:
            up = z3_direction_exists(free, fixed, unit, 1)
            down = z3_direction_exists(free, fixed, unit, -1)
            assert answers[j] == names[up, down]


@pytest.mark.parametrize("case", known_cases("binary", "poisson-reduced"))
def test_known_cases(case):
    X = np.array(case["X"], dtype=float)
    if case["intercept"]:
        X = np.column_stack([X, np.ones(len(X))])
    classes = sorted(set(case["y"]))
    A = X * np.where(np.array(case["y"]) == classes[-1], 1.0, -1.0)[:, np.newaxis]
    keep = np.flatnonzero(np.array(case.get("weights", np.ones(len(A)))) > 0)
    rows, _, equal, found = reduce_rows(A[keep])
    assert_both_proofs(A[keep], rows, equal, found)
    assert keep[~found.overlapped].tolist() == case["separated_rows"]


def test_boolean_functions_of_three_inputs():
    points = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    X = np.column_stack([points, np.ones(8)])
    counts = {"complete": 0, "quasi-complete": 0, "overlap": 0}
    for labels in itertools.product([-1.0, 1.0], repeat=8):
        _, _, _, found = reduce_rows(X * np.array(labels)[:, np.newaxis])
        some, every = found.overlapped.any(), found.overlapped.all()
        counts["overlap" if every else "quasi-complete" if some else "complete"] += 1
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
    A = np.array(A)[::-1].copy()
    rows, _, equal, found = reduce_rows(A)
    assert_both_proofs(A, rows, equal, found)
    assert np.flatnonzero(~found.overlapped).tolist() == [0]


def test_rows_of_any_magnitude():
    A = np.array([[1e-300, 0.0], [-1e300, 0.0], [5e-324, 1e300], [3.0, 5e-324]])
    rows, _, equal, found = reduce_rows(A)
    assert_both_proofs(A, rows, equal, found)
    assert found.overlapped.tolist() == [True, True, False, False]
