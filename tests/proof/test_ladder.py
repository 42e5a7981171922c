"""Exponentially small margins, and whatever else doubles cannot settle."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from judges import assert_minimal_conflict, assert_separates, dot, z3_separable
from linsep.proof import coordinates, ladder
from linsep.proof.answers import Conflict, Separator
from linsep.proof.coordinates import basis_coordinates


def mixed_paper_rows(n, n_redundant, seed):
    """Paper rows times a unimodular matrix, shuffled with positive combinations."""
    rng = np.random.default_rng(seed)
    A = np.eye(n, dtype=np.int64) - np.tril(np.ones((n, n), dtype=np.int64), -1)
    for _ in range(2 * n):
        i, j = rng.choice(n, 2, replace=False)
        A[:, i] += rng.choice([-1, 1]) * A[:, j]
    more = [
        rng.integers(1, 4, 3) @ A[rng.choice(n, 3, replace=False)]
        for _ in range(n_redundant)
    ]
    A = np.vstack([A, *more])
    return A[rng.permutation(len(A))].astype(float)


def assert_proved(A, answer):
    if isinstance(answer, Separator):
        assert_separates(A, answer.w)
    else:
        assert_minimal_conflict(A, answer.rows, answer.weights)


@pytest.mark.parametrize("n", [30, 60, 100])
def test_mixed_paper_rows_are_separated(n):
    A = mixed_paper_rows(n, n, seed=n)
    answer = ladder.settle(A)
    assert isinstance(answer, Separator)
    assert_separates(A, answer.w)


@pytest.mark.parametrize("n", [30, 60, 100])
def test_mixed_paper_rows_with_one_against_them_conflict(n):
    A = mixed_paper_rows(n, n, seed=n)
    A = np.vstack([A, -(A[0] + 2 * A[1] + A[2])])
    answer = ladder.settle(A)
    assert isinstance(answer, Conflict)
    assert_minimal_conflict(A, answer.rows, answer.weights)


@given(seed=st.integers(0, 2**32 - 1), is_mixed=st.booleans())
def test_any_order_of_the_rows_is_a_start(seed, is_mixed):
    rng = np.random.default_rng(seed)
    A = mixed_paper_rows(6, 4, seed) if is_mixed else rng.integers(-4, 5, (12, 4))
    order = rng.permutation(len(A))[: rng.integers(0, len(A) + 1)]
    expected = z3_separable(A.astype(float))
    answer = ladder.settle(A.astype(float), order)
    assert isinstance(answer, Separator) == expected
    assert_proved(A.astype(float), answer)


def test_well_conditioned_rows_need_no_change_of_basis(monkeypatch):
    def change(*arguments):
        raise AssertionError("the first rung should have settled it")

    monkeypatch.setattr(ladder, "basis_coordinates", change)
    A = np.random.default_rng(0).integers(-9, 10, (60, 6)).astype(float)
    assert_proved(A, ladder.settle(A))
    A[:, 0] = 50.0
    assert_proved(A, ladder.settle(A))


def test_a_change_of_basis_ends_what_doubles_cannot_see(monkeypatch):
    limits = []
    pivot = ladder.Search.pivot

    def counted(search, should_stop, limit=None):
        limits.append(limit)
        return pivot(search, should_stop, limit)

    monkeypatch.setattr(ladder.Search, "pivot", counted)
    A = mixed_paper_rows(100, 100, seed=100)
    ladder.settle(A)
    ladder.settle(np.vstack([A, -(A[0] + 2 * A[1] + A[2])]))
    assert len(limits) >= 2
    assert None not in limits  # the last rung, which may take long


def test_two_hundred_mixed_features():
    A = mixed_paper_rows(200, 100, seed=0)
    answer = ladder.settle(A)
    exact = A.astype(np.int64).astype(object) @ np.array(answer.w, dtype=object)
    assert (exact > 0).all()


integers = st.tuples(st.integers(1, 12), st.integers(1, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(-3, 3), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).map(lambda rows: np.array(rows, dtype=float))
)


@given(integers)
def test_every_rung_agrees_with_z3(A):
    truth = z3_separable(A.tolist())
    answer = ladder.settle(A)
    assert isinstance(answer, Separator) == truth
    assert_proved(A, answer)


@given(integers)
def test_the_last_rung_decides_alone_where_the_others_find_nothing(A):
    original = ladder._EXACT_STEPS
    ladder._EXACT_STEPS = 0  # no basis is examined before the last rung
    try:
        answer = ladder.settle(A)
    finally:
        ladder._EXACT_STEPS = original
    assert isinstance(answer, Separator) == z3_separable(A.tolist())
    assert_proved(A, answer)


def test_sparse_rows_keep_their_columns():
    A = sparse.csr_matrix(np.array([[0.0, 0.0, 2.0, 0.0], [0.0, -1.0, 1.0, 0.0]]))
    answer = ladder.settle(A)
    assert len(answer.w) == 4
    assert answer.w[0] == answer.w[3] == 0
    assert_separates(A, answer.w)


def test_columns_of_wild_scales():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((40, 6)) * 10.0 ** np.array([-300, -150, 0, 3, 150, 290])
    flip = rng.permutation(40)[:20]
    A[flip] = -A[flip]
    answer = ladder.settle(A)
    assert_proved(A, answer)
    planted = A * np.sign(A[:, :1])
    assert isinstance(ladder.settle(planted), Separator)


def test_stopping_gives_no_answer():
    A = mixed_paper_rows(40, 10, seed=1)
    assert ladder.settle(A, should_stop=lambda: True) is None


def test_no_rows_are_separated():
    assert ladder.settle(np.empty((0, 2))) == Separator((0, 0))


@pytest.mark.parametrize("limit", [0, 1e9])
@pytest.mark.parametrize("bits", [10, 90, 500])
def test_coordinates_of_a_basis_singular_but_for_its_last_bits(
    monkeypatch, limit, bits
):
    # Balls of 128 and of 256 bits see no rank at 500 bits.
    monkeypatch.setattr("linsep.proof.coordinates._EXACT_BITS", limit)
    long = 1 << bits
    values = np.array(
        [[long, long], [long, long + 1], [0, 3], [5, 0], [0, 0]], dtype=object
    )
    tableau, levels = basis_coordinates(values, [0, 1])
    truth = [(1, 0), (0, 1), (-3, 3), (Fraction(5, long) + 5, -5), (0, 0)]
    for row, level, (a, b) in zip(tableau.tolist(), levels, truth, strict=True):
        assert [Fraction(v) * Fraction(2) ** level for v in row] == [
            pytest.approx(a, rel=2.0**-45),
            pytest.approx(b, rel=2.0**-45),
        ]


@pytest.mark.parametrize(
    ("way", "error"), [("balls", 2.0**-45), ("solving", 0), ("elimination", 0)]
)
def test_coordinates_are_exact_before_they_are_rounded(monkeypatch, way, error):
    limit = 0 if way == "balls" else 1e9
    monkeypatch.setattr(coordinates, "_EXACT_BITS", limit)
    if way == "elimination":  # these numbers are short
        monkeypatch.setattr(
            coordinates,
            "_solved_columns",
            lambda values, basis, _: coordinates._exact_columns(values, basis),
        )
    basis = mixed_paper_rows(40, 0, seed=4).astype(np.int64)
    truth = np.random.default_rng(0).integers(-9, 10, size=(20, 40))
    truth[7] = 0
    values = np.vstack([truth @ basis, basis])
    tableau, levels = basis_coordinates(values, list(range(20, 60)))
    scaled = np.ldexp(tableau, np.array(levels)[:, np.newaxis])
    expected = np.vstack([truth, np.eye(40)])
    assert np.abs(scaled - expected).max() <= error * 9
    sizes = np.abs(tableau).max(axis=1)
    assert sizes[7] == 0
    assert ((sizes[sizes > 0] >= 0.5) & (sizes[sizes > 0] <= 2)).all()


@pytest.mark.parametrize("limit", [0, 1e9])
def test_coordinates_where_the_first_balls_are_too_wide(monkeypatch, limit):
    # Hilbert's matrix of 20 rows, the textbook's ill-conditioned basis, in integers:
    # balls of 128 bits solve with it, but hardly a digit of these is sure.
    monkeypatch.setattr("linsep.proof.coordinates._EXACT_BITS", limit)
    size = 20
    whole = math.lcm(*range(1, 2 * size))
    basis = [[whole // (i + j + 1) for j in range(size)] for i in range(size)]
    columns = list(zip(*basis, strict=True))
    values = np.array([*basis, [1] * size, range(size)], dtype=object)
    tableau, levels = basis_coordinates(values, list(range(size)))
    for row, level, true in zip(tableau.tolist(), levels, values, strict=True):
        made = [dot([Fraction(v) for v in row], column) for column in columns]
        scale = Fraction(2) ** level * whole
        assert all(
            abs(m * Fraction(2) ** level - g) <= scale * size * Fraction(2) ** -44
            for m, g in zip(made, true.tolist(), strict=True)
        )
