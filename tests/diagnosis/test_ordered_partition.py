"""Partitions by factorisations at the edges: huge numbers, exact rests, open blocks."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import linsep
import linsep.diagnosis.pipeline as pipeline
from hostile_parts import hostile_matrix
from judges import dot, fractions_of, rank, z3_direction_exists
from linsep.diagnosis.exact import block_verdicts as blocks
from linsep.diagnosis.exact import large_columns, ordered_partition
from linsep.diagnosis.exact.block_verdicts import block_verdicts
from linsep.diagnosis.exact.demands import demands_of
from linsep.diagnosis.exact.large_columns import columns_of_many, echelon, without
from linsep.diagnosis.inputs.call_shapes import study_of
from linsep.diagnosis.status import Estimate
from linsep.diagnosis.watch import OutOfTime
from linsep.rows import rows_from
from linsep.rows.equal_rows import merge_equal_rows
from linsep.verified.parts import no_check
from linsep.verified.vectors import SparseVector, written_out
from random_designs import FAMILIES, random_problem
from regression_judge import assert_diagnosis_is_right

SEEDS = st.integers(0, 2**32 - 1)


def both_ways(monkeypatch, X, y, **settings):
    """Diagnose by exact elimination, and by factorisations."""
    monkeypatch.setattr(large_columns, "MOST_EXACT", 100)
    exact = linsep.diagnose(X, y, **settings)
    monkeypatch.setattr(large_columns, "MOST_EXACT", -1)
    return exact, linsep.diagnose(X, y, **settings)


def assert_same(exact, found):
    assert found.status == exact.status
    assert found.separated_rows.tolist() == exact.separated_rows.tolist()
    assert found.overlapped_rows.tolist() == exact.overlapped_rows.tolist()
    assert found.rank == exact.rank
    assert dict(found.estimates) == dict(exact.estimates)
    assert found.estimates_without_aliased == exact.estimates_without_aliased
    assert dict(found.collinear) == dict(exact.collinear)
    Z, labels = found.certificate_data()
    found.certificate.verify(Z, labels)
    again = linsep.Certificate.from_json(found.certificate.to_json())
    assert again == found.certificate


@pytest.mark.parametrize("family", FAMILIES)
@given(seed=SEEDS)
def test_everything_agrees_with_the_judge(family, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (n, d)).astype(float)
    if d > 1 and rng.random() < 0.4:
        X[:, 1] = rng.choice([2.0, -0.5, 0.0]) * X[:, 0]
    X = X[rng.integers(0, n, n)] if rng.random() < 0.4 else X
    top = 1 if family in ("binomial", "poisson") else 2
    y = rng.integers(0, top + 1, n).tolist()
    weights = rng.choice([0.0, 1.0, 2.5], n).tolist() if rng.random() < 0.3 else None
    if weights is not None and not any(weights):
        weights[0] = 1.0
    present = {y[i] for i in range(n) if weights is None or weights[i] > 0}
    if top == 2 and len(present) < 2:
        return
    intercept = bool(rng.random() < 0.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_columns, "MOST_EXACT", -1)
        answer = linsep.diagnose(
            X, y, family=family, fit_intercept=intercept, sample_weight=weights
        )
    assert_diagnosis_is_right(answer, X, y, family, intercept, weights)


@given(seed=SEEDS)
def test_the_ends_of_the_doubles_are_as_by_the_exact_engine(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 20)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, d)).round(int(rng.integers(0, 3)))
    with np.errstate(all="ignore"):
        X = [
            np.ldexp(X, rng.integers(-1060, 1000, d)),
            np.ldexp(X, rng.integers(-1060, 1000, (n, 1))),
            np.ldexp(X, rng.integers(-1060, 1000, (n, d))),
            X * 1e307,
            X * 1e-318,
            rng.standard_normal((n, n + 2)),
        ][rng.integers(0, 6)]
    y = rng.integers(0, 2, n)
    y[0], y[1] = 0, 1
    family = str(rng.choice(["binomial", "poisson"]))
    with pytest.MonkeyPatch.context() as patch:
        exact, found = both_ways(patch, X, y, family=family)
    assert found.status == exact.status
    assert found.separated_rows.tolist() == exact.separated_rows.tolist()
    for name, verdict in found.estimates.items():
        assert verdict in (exact.estimates[name], Estimate.UNDECIDED)
    found.certificate.verify(*found.certificate_data())


def staircase(d, height):
    """Rows of which each hides the next: directions in order, of growing factors."""
    A = np.eye(d)
    A[np.arange(1, d), np.arange(d - 1)] = -height
    return A


@pytest.mark.parametrize(("d", "height"), [(5, 2.0**40), (60, 2.0**40), (3, 1e300)])
def test_many_directions_become_one_of_any_size(d, height, monkeypatch):
    A = staircase(d, height)
    X, y = np.vstack([A, -A]), np.repeat([1, 0], d)
    monkeypatch.setattr(large_columns, "MOST_EXACT", -1)
    found = linsep.diagnose(X, y, fit_intercept=False)
    assert found.status == "complete"
    assert all(dot(row, found.exact_direction) > 0 for row in fractions_of(A))
    found.certificate.verify(*found.certificate_data())


def test_many_columns_go_this_way_unasked():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 120, 3000)
    X = sparse.csr_array(np.c_[np.eye(120)[codes][:, 1:], rng.standard_normal(3000)])
    y = (rng.random(3000) < 0.5).astype(int)
    y[codes == 7] = 1
    found = linsep.diagnose(X, y)
    assert found.certificate.kind == "ordered"
    assert found.separated_rows.tolist() == np.flatnonzero(codes == 7).tolist()
    assert found.rank == 121
    verdicts = list(found.estimates.values())
    assert verdicts.count("+inf") == 1
    assert verdicts[7] == "+inf"
    found.certificate.verify(*found.certificate_data())
    assert found.summary()


def test_one_class_alone_is_mirrored(monkeypatch):
    monkeypatch.setattr(large_columns, "MOST_EXACT", -1)
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    for label in (0, 1):
        found = linsep.diagnose(X, [label] * 3, fit_intercept=False)
        assert found.status == "quasi-complete"
        assert found.separated_rows.tolist() == [2]
        found.certificate.verify(*found.certificate_data())


# --- what factorisations leave ---


def test_what_is_left_is_settled_exactly(monkeypatch):
    # Newton's method is given no step, so that presolve alone goes before.
    monkeypatch.setattr("linsep.verified.reduction.MOST_STEPS", 0)
    for seed in range(32):
        X, y, family = random_problem(seed)
        if family == "poisson" or len(set(y.tolist())) > 1:
            exact, found = both_ways(monkeypatch, X, y, family=family)
            assert_same(exact, found)


def test_what_is_left_and_too_large_is_undecided(monkeypatch):
    monkeypatch.setattr("linsep.verified.reduction.MOST_STEPS", 0)
    monkeypatch.setattr(ordered_partition, "MOST_EXACT", 0)
    monkeypatch.setattr(large_columns, "MOST_EXACT", -1)
    found = linsep.diagnose([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    assert found.status == "undecided"
    assert "4 rows and 2 columns are left that no factorisation" in found.message
    assert found.rank == 2


def test_columns_without_a_proof_are_found_by_elimination(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    X[:, 2] = X[:, 0] * (1 + np.ldexp(rng.standard_normal(30), -45))
    y = rng.integers(0, 2, 30)
    monkeypatch.setattr("linsep.verified.null_space.MOST_ELIMINATED", 0)
    assert columns_of_many(rows_of(X), np.arange(3), no_check) is None
    exact, found = both_ways(monkeypatch, X, y)
    assert found.status == exact.status
    assert found.rank == exact.rank == 4


def test_verdicts_out_of_time_are_undecided(monkeypatch):
    def ended(*_):
        raise pipeline.OutOfTime

    X = [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    monkeypatch.setattr(large_columns, "MOST_EXACT", -1)
    monkeypatch.setattr(pipeline, "null_vectors", ended)
    found = linsep.diagnose(X, [1, 0, 0, 1], fit_intercept=False)
    assert set(found.estimates.values()) == {"undecided"}


@pytest.mark.parametrize("reason", ["unproved", "TooLarge"])
def test_columns_whose_rank_is_not_proved_are_left_to_elimination(reason, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    if reason == "TooLarge":
        monkeypatch.setattr("linsep.verified.moments.MOST_DENSE", 0)
    else:
        X[:, 2] = X[:, 0] * (1 + np.ldexp(rng.standard_normal(30), -45))
        monkeypatch.setattr("linsep.verified.null_space.MOST_ELIMINATED", 0)
    assert columns_of_many(rows_of(X), np.arange(3), no_check) is None


# --- columns ---


def rows_of(A):
    return rows_from(A, np.ones(len(A), dtype=np.int8), False)


@given(SEEDS)
def test_independent_columns_are_those_of_elimination(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 12)), int(rng.integers(1, 7))
    A = rng.integers(-1, 2, (n, d)).astype(float)
    if d > 2:
        A[:, 2] = A[:, 0] - 2 * A[:, 1]
    priority = rng.permutation(d)
    found = columns_of_many(rows_of(A), priority, no_check)
    exact = fractions_of(A)
    assert found is not None
    # A column is kept iff it adds to the rank of those before it.
    kept = [
        j
        for at, j in enumerate(priority)
        if rank([[row[c] for c in priority[: at + 1]] for row in exact])
        > rank([[row[c] for c in priority[:at]] for row in exact])
    ]
    assert found.kept.tolist() == sorted(kept)
    for column, terms in found.combinations.items():
        assert all(j in kept for j in terms)
        for row in exact:
            assert row[column] == sum(
                (f * row[j] for j, f in terms.items()), Fraction(0)
            )
    for j in range(d):
        others = [[row[c] for c in range(d) if c != j] for row in exact]
        is_alone = d == 1 or rank(others) < rank(exact)
        assert found.aliased[j] == (not (is_alone and any(row[j] for row in exact)))


def test_long_combinations_are_not_written_down(monkeypatch):
    monkeypatch.setattr(large_columns, "MOST_TERMS", 2)
    monkeypatch.setattr(large_columns, "MOST_EXACT", -1)
    A = np.c_[np.ones(4), np.eye(4)]
    found = columns_of_many(rows_of(A), np.arange(5), no_check)
    assert found.combinations == {}
    assert found.kept.size == 4
    twice = np.r_[np.eye(4), np.eye(4), 2 * np.eye(4)]
    answer = linsep.diagnose(
        np.c_[twice, twice.sum(axis=1)], [0] * 4 + [1] * 4 + [0] * 4
    )
    assert answer.rank == 5
    assert "a combination of earlier columns" in answer.collinear.values()


@given(SEEDS)
def test_echelon_keeps_the_span(seed):
    rng = np.random.default_rng(seed)
    d = 6
    drawn = rng.integers(-3, 4, (int(rng.integers(0, 6)), d)) * (rng.random(d) < 0.7)
    vectors = [
        SparseVector.from_items({j: int(v) for j, v in enumerate(row)}) for row in drawn
    ]
    place = rng.permutation(d)
    found = echelon(vectors, place)
    before = fractions_of(drawn) or [[Fraction(0)] * d]
    after = fractions_of([written_out(v, d) for v in found.values()])
    assert len(found) == rank(before) == rank(before + after)
    for column, vector in found.items():
        assert column in vector.columns
        assert place[column] == place[vector.columns].max()
        assert all(column not in v.columns for j, v in found.items() if j != column)


def test_a_vector_without_the_column_is_left_as_it_is():
    one, other = SparseVector.from_items({0: 1}), SparseVector.from_items({1: -2, 0: 1})
    assert without(one, other, 1) is one
    # The sign of what is divided by does not turn a direction round.
    assert dict(without(SparseVector.from_items({1: 3}), other, 1).items()) == {0: 1}


# --- coefficients ---


def test_blocks_too_large_are_left_undecided(monkeypatch):
    monkeypatch.setattr(blocks, "MOST_COORDINATES", 1)
    basis = [SparseVector.from_items({j: 1}) for j in range(4)]
    rows = rows_of(
        np.array([[1.0, 1.0, 0, 0], [1.0, -1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, -1.0]])
    )

    def verdicts(basis, should_stop=lambda: False):
        return block_verdicts(rows, np.arange(4), basis, np.arange(4), should_stop)

    found = verdicts(basis)
    assert found[0] == found[1] == Estimate.UNDECIDED
    assert (found[2], found[3]) == (Estimate.PLUS, Estimate.MINUS)
    # Two shares of different signs settle a coefficient whatever a large block says.
    mixed = [
        SparseVector.from_items({0: 1, 2: 1}),
        SparseVector.from_items({1: 1}),
        SparseVector.from_items({2: 1}),
        SparseVector.from_items({2: 1, 3: 1}),
    ]
    assert verdicts(mixed)[2] in (Estimate.UNDECIDED, Estimate.UNDETERMINED)
    assert set(verdicts(basis, lambda: True).values()) == {Estimate.UNDECIDED}


@given(SEEDS)
def test_verdicts_of_blocks_are_those_of_z3(seed):
    # All rows are separated, by construction: the first column is positive.
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 9)), int(rng.integers(2, 6))
    A = rng.integers(-2, 3, (n, d)) * (rng.random((n, d)) < 0.5)
    A = A * np.where(A @ np.arange(1, d + 1) >= 0, 1, -1)[:, np.newaxis]
    A = A[A @ np.arange(1, d + 1) > 0].astype(float)
    if len(A) == 0 or rank(fractions_of(A)) < d:
        return
    basis = [SparseVector.from_items({j: 1}) for j in range(d)]
    if rng.random() < 0.5:  # another basis of the same space
        basis[0] = SparseVector.from_items({0: 1, d - 1: int(rng.choice([-2, 1]))})
    found = block_verdicts(
        rows_of(A), np.arange(len(A)), basis, np.arange(d), lambda: False
    )
    for j in range(d):
        unit = [float(k == j) for k in range(d)]
        up = z3_direction_exists(A.tolist(), [], unit, 1)
        down = z3_direction_exists(A.tolist(), [], unit, -1)
        names = {(True, True): "undetermined", (True, False): "+inf"}
        names |= {(False, True): "-inf", (False, False): "finite"}
        assert found[j] == names[up, down]


@given(SEEDS)
def test_hostile_rows_are_diagnosed_alike(seed):
    rng = np.random.default_rng(seed)
    A = hostile_matrix(rng, n=int(rng.integers(4, 14)))
    y = rng.integers(0, 2, len(A))
    y[:2] = 0, 1
    with pytest.MonkeyPatch.context() as patch:
        exact, found = both_ways(patch, A, y, family=str(rng.choice(FAMILIES[:2])))
    assert found.status == exact.status
    assert found.separated_rows.tolist() == exact.separated_rows.tolist()
    found.certificate.verify(*found.certificate_data())


def test_a_limit_is_looked_at_between_pieces_of_a_product(monkeypatch):
    """Rows that are fewer than columns are multiplied with each other in pieces."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 60)), np.arange(40) % 2
    study = study_of(
        [X, y],
        family="binomial",
        fit_intercept=None,
        sample_weight=None,
        feature_names=None,
    )
    demands = demands_of(study, merge_equal_rows(study.X))
    assert ordered_partition.separated_at_once(demands, lambda: False) is not None
    monkeypatch.setattr("linsep.solvers.pieces.A_PIECE", 10 * 40 * 61)
    looks = iter([False, False, True])
    with pytest.raises(OutOfTime):
        ordered_partition.separated_at_once(demands, looks.__next__)
    assert not list(looks)
