"""The opening: what it separates is separated, what it bounds is bounded."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import judges
import linsep
from linsep.rows import rows_from
from linsep.search.limits import Limits, Monitor
from linsep.search.separator_search import Search, SeparatorEngine, find_separator
from linsep.solvers._descent import Descent
from linsep.solvers._opening import means_apart
from linsep.solvers.descent import MANY_COLUMNS
from linsep.solvers.opening import MOST_ENTRIES, opened

SEEDS = st.integers(0, 2**32 - 1)


def problem_of(seed, n, d, overlapping=False, fit_intercept=True):
    """Rows that a plane parts with room beside it, or labels by a coin."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 4, d)
    X += 100 * rng.standard_normal(d) * X.std(axis=0) * fit_intercept
    normal = rng.standard_normal(d) / X.std(axis=0)
    away = (X - X.mean(axis=0) * fit_intercept) @ normal
    signs = np.where(away > 0, 1, -1).astype(np.int8)
    X += np.outer(0.3 * signs, X.std(axis=0) ** 2 * normal / (d * normal.std() + 1))
    if overlapping:
        signs = rng.choice(np.array([-1, 1], dtype=np.int8), n)
    signs[:2] = -1, 1
    return rows_from(X, signs, fit_intercept)


def signed(rows):
    return rows.take(np.arange(rows.shape[0]))


@given(seed=SEEDS, n=st.integers(2, 80), d=st.integers(1, 8), constant=st.booleans())
@pytest.mark.parametrize("overlapping", [False, True])
def test_it_says_what_a_search_without_it_says(overlapping, seed, n, d, constant):
    rows = problem_of(seed, n, d, overlapping, constant)
    search = Search(rows, Monitor(Limits()), 0)
    without = search.run(SeparatorEngine)
    verdict = find_separator(rows, Monitor(Limits()), 0)
    assert verdict.status is without.status
    A = signed(rows)
    if verdict.hyperplane is not None:
        integers = verdict.hyperplane.integers()
        for row in A:
            assert judges.dot(map(Fraction, row), integers) > 0
    else:
        weights = [Fraction(p) for p in verdict.conflict_weights]
        assert min(weights) > 0
        for column in A[verdict.conflict].T:
            assert judges.dot(map(Fraction, column), weights) == 0
        assert np.linalg.matrix_rank(A[verdict.conflict]) == len(weights) - 1


@given(seed=SEEDS, n=st.integers(2, 60), d=st.integers(1, 6))
def test_no_hyperplane_has_a_larger_margin_than_it_says(seed, n, d):
    rows = problem_of(seed, n, d)
    found = opened(rows)
    best = linsep.max_margin(np.array(rows.X), rows.signs)
    if found.w is not None:
        assert best.separable
        assert found.margin_upper >= best.margin_lower
        coef = found.w[:-1]
        values = rows.signs * (rows.X @ coef + found.w[-1])
        assert values.min() / np.linalg.norm(coef) <= best.margin_upper * (1 + 1e-9)
        # The intercept is between the classes, and the least product near 1.
        assert values[rows.signs > 0].min() == pytest.approx(
            values[rows.signs < 0].min(), rel=1e-6, abs=1e-9 * abs(values).max()
        )
        assert 0.4 < values.min() < 4


@given(seed=SEEDS, d=st.integers(2, 5), shared=st.booleans())
def test_a_point_with_both_labels_is_found_first(seed, d, shared):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, d))
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), 20)
    signs[[3, 11, 15]] = 1, -1, -1
    if shared:
        X[11] = X[15] = X[3]
    found = opened(rows_from(X, signs, True))
    if found.conflict is not None:
        assert found.opposite == ((3, 11) if shared else None)
    answer = linsep.separate(X, signs)
    if shared:
        assert answer.conflict.tolist() == [3, 11]


@given(seed=SEEDS, n=st.integers(2, 60), d=st.integers(1, 6), power=st.integers(-9, 9))
def test_units_of_the_columns_do_not_matter(seed, n, d, power):
    rows = problem_of(seed, n, d)
    scale = 2.0 ** (power * np.random.default_rng(seed).integers(-2, 3, d))
    found = opened(rows)
    other = opened(rows_from(rows.X * scale, rows.signs, True))
    assert found.n_rounds == other.n_rounds
    if found.w is not None:
        np.testing.assert_array_equal(found.w[:-1], other.w[:-1] * scale)


@pytest.mark.parametrize("make", [np.asfortranarray, np.float32, lambda X: X[::2]])
def test_other_layouts_and_float32_are_opened_too(make):
    X = make(np.random.default_rng(2).standard_normal((40, 3)))
    signs = np.where(X[:, 0] > X[:, 1], 1, -1).astype(np.int8)
    found = opened(rows_from(X, signs, True))
    assert found.w is not None
    assert (signs * (X.astype(np.float64) @ found.w[:-1] + found.w[-1]) > 0).all()


def rows_of(X, fit_intercept=True):
    X = np.asarray(X)
    signs = np.where(np.arange(len(X)) % 2, 1, -1).astype(np.int8)
    return rows_from(X, signs, fit_intercept)


@pytest.mark.parametrize(
    "rows",
    [
        rows_of([[1e200], [2e200]]),  # squares overflow
        rows_of([[1e-200], [2e-200]]),  # or vanish
        rows_of([[0.0, 1.0], [0.0, 0.0]], fit_intercept=False),  # a row of zeros
        rows_of(np.zeros((MOST_ENTRIES + 1, 1))),
        rows_of(np.zeros((2, 0))),
    ],
)
def test_what_it_cannot_take_is_left_to_the_search(rows):
    assert opened(rows) is None


def test_columns_that_are_constant_but_for_rounding_get_no_weight():
    X = np.column_stack([np.full(6, 0.1), [1.0, 2, 3, 7, 8, 9]])
    X[3:, 0] = np.nextafter(0.1, 1)
    found = opened(rows_from(X, np.repeat(np.array([-1, 1], dtype=np.int8), 3), True))
    assert found.w[0] == 0.0 != found.w[1]


@pytest.mark.parametrize("most", [1, 2, 5, 40])
def test_the_rounds_allowed_are_not_exceeded(most):
    # Planted so that no mean separates, and more rounds than five are needed.
    X = np.random.default_rng(0).standard_normal((2_000, 20))
    normal = np.random.default_rng(1).standard_normal(20)
    signs = np.where(X @ normal > 0, 1, -1).astype(np.int8)
    rows = rows_from(X + 0.02 * np.outer(signs, normal), signs, True)
    found = opened(rows, most)
    assert found.n_rounds <= most
    assert (found.w is None) == (most < 40)
    monitor = Monitor(Limits(max_rounds=most))
    verdict = find_separator(rows, monitor, 0)
    assert monitor.n_rounds <= most
    assert (verdict.hyperplane is None) == (most < 40)


def test_a_descent_without_hope_is_over_when_it_has_met_each_row():
    labels = np.random.default_rng(1).integers(0, 2, 3_000)
    X = np.random.default_rng(0).standard_normal((3_000, 20))
    rows = rows_from(X, (2 * labels - 1).astype(np.int8), True)
    # A limit leaves the active set out, which decides them in some steps.
    assert opened(rows, 500).n_rounds == 1
    assert opened(rows).conflict is not None


def test_one_row_left_on_the_wrong_side_is_no_reason_to_go_on_for_ever():
    X = np.array([[0.0], [1.0], [2.0]])
    found = opened(rows_from(X, np.array([1, -1, 1], dtype=np.int8), True), 10_000)
    assert found.w is None
    assert found.n_rounds < 100


def long_rows(n=1_200, d=MANY_COLUMNS, room=0.5):
    """Rows of many columns, more entries than of small data, and a plane's signs."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d))
    normal = rng.standard_normal(d) / np.sqrt(d)
    signs = np.where(X @ normal > 0, 1, -1).astype(np.int8)
    return rows_from(X + room * np.outer(signs, normal), signs, True)


def test_larger_data_of_many_columns_are_opened_too(tmp_path):
    rows = long_rows()
    assert rows.X.size > MOST_ENTRIES
    found = opened(rows)
    assert found.w is not None
    assert (rows.signs * (rows.X @ found.w[:-1] + found.w[-1]) > 0).all()
    narrow = rows_from(rows.X[:, 2:].repeat(2, axis=0), rows.signs.repeat(2), True)
    assert opened(narrow) is None
    # A mapped file is read where it is, not copied.
    mapped = np.memmap(tmp_path / "X", mode="w+", shape=rows.X.shape, dtype=np.float64)
    mapped[:] = rows.X
    assert opened(rows_from(mapped, rows.signs, True)) is None


def test_a_limit_ends_a_descent_between_two_looks():
    class Over(Exception):
        pass

    def over():
        raise Over

    with pytest.raises(Over):
        opened(long_rows(room=0.01), None, over)


@given(seed=SEEDS, n=st.integers(1, 40), k=st.integers(1, 8))
def test_each_round_of_the_descent_raises_the_dual_objective(seed, n, k):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, k)) + rng.standard_normal(k)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    descent, before = Descent(rows, 1 + seed, 0.0), 0.0
    assert descent.n_wrong == n
    for _ in range(6):
        assert descent.descend(1, 1) <= 1
        assert (descent.weights >= 0).all()
        np.testing.assert_allclose(descent.weights @ rows, descent.w, atol=1e-9)
        objective = descent.weights.sum() - descent.w @ descent.w / 2
        assert objective >= before - 1e-9 * abs(before)
        before = objective
        products = rows @ descent.w
        if abs(products).min() > 1e-9:
            assert descent.look() == descent.n_wrong == (products <= 0).sum()
            near = (products < 1.2) | (descent.weights > 0)
            assert descent.near.tolist() == np.flatnonzero(near).tolist()


def test_orthogonal_rows_need_one_visit_each():
    descent = Descent(np.eye(4), 7, 0.5)
    assert descent.descend(100, 100) == 2  # and one to see that all have enough
    np.testing.assert_array_equal(descent.w, np.ones(4))
    np.testing.assert_array_equal(descent.weights, np.ones(4))


def test_the_descent_is_the_same_each_time_and_for_each_seed_another():
    rows = signed(long_rows(200, 30))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    def weights(seed):
        descent = Descent(rows, seed, 0.0)
        descent.descend(1, 1)
        return descent.weights.tolist()

    assert weights(5) == weights(5) != weights(6)


@given(
    seed=SEEDS,
    n=st.integers(2, 12),
    d=st.integers(25, 60),
    constant=st.booleans(),
    offset=st.sampled_from([0.0, 1e3]),
)
def test_wide_rows_are_parted_by_their_means(seed, n, d, constant, offset):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + offset
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), n)
    signs[:2] = -1, 1
    X[signs > 0, :5] += 8  # far enough apart for any draw
    separates, w, sizes = means_apart(X, signs, constant)
    spread = X.var(axis=0) if constant else (X**2).mean(axis=0)
    up, down = X[signs > 0].mean(axis=0), X[signs < 0].mean(axis=0)
    apart = up - down if constant else (signs[:, None] * X).mean(axis=0) * 2
    expected = apart / spread
    np.testing.assert_allclose(
        w[:d] / np.linalg.norm(w[:d]), expected / np.linalg.norm(expected), atol=1e-4
    )
    assert sizes[0] == pytest.approx(np.linalg.norm(apart) / 2)
    assert sizes[2] == pytest.approx(np.linalg.norm(X, axis=1).max())
    products = signs * (X @ w[:d] + (w[d] if constant else 0.0))
    if abs(products.min()) > 1e-9 * abs(products).max():
        assert separates == (products.min() > 0)
    best = linsep.max_margin(X, signs, fit_intercept=constant)
    assert best.separable
    assert opened(rows_from(X, signs, constant)).margin_upper >= best.margin_lower


@pytest.mark.parametrize(
    "X", [np.full((2, 9), 1e200), np.zeros((2, 9)), np.full((2, 9), np.float32(1))]
)
def test_wide_rows_that_no_means_part_are_left_to_the_search(X):
    rows = rows_of(X)
    found = opened(rows)
    assert found is None or found.w is None
    assert find_separator(rows, Monitor(Limits()), 0).status.value == "inseparable"
