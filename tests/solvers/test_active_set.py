"""The active set: optimality by its conditions, conflicts by their weights."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.solvers._active_set import ActiveRows
from linsep.solvers.active_set import ActiveSet, Outcome

NONE = np.empty(0, dtype=np.intp)


def unit(A):
    return np.ascontiguousarray(A / np.linalg.norm(A, axis=1, keepdims=True))


def last(rows, start=NONE, **options):
    problem = ActiveSet(rows)
    *_, outcome = problem.solve(start, **options)
    total = problem.multipliers.sum()
    return SimpleNamespace(
        outcome=outcome,
        u=problem.u,
        active=problem.support,
        weights=problem.multipliers / total if total > 0 else problem.multipliers,
        n_steps=problem.n_steps,
    )


def assert_optimal(rows, state):
    """The Karush-Kuhn-Tucker conditions of min |u|^2 / 2 with a_i . u >= 1."""
    assert (rows @ state.u >= 1 - 1e-8).all()
    np.testing.assert_allclose(rows[state.active] @ state.u, 1.0, atol=1e-8)
    assert (state.weights >= 0).all()
    assert state.weights.sum() == pytest.approx(1.0)
    # u is the weighted sum of active rows up to scale: the nearest point of the hull.
    nearest = rows[state.active].T @ state.weights
    np.testing.assert_allclose(nearest, state.u / (state.u @ state.u), atol=1e-8)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 60),
    d=st.integers(1, 8),
    copies=st.integers(1, 3),
)
def test_separable_rows_end_at_the_largest_margin(seed, n, d, copies):
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    A = unit(rng.standard_normal((n, d)))
    A += np.outer(np.maximum(0, 0.05 - A @ w), w)
    rows = unit(np.repeat(A, copies, axis=0))
    state = last(rows)
    assert state.outcome is Outcome.OPTIMAL
    assert_optimal(rows, state)
    assert 1 / np.linalg.norm(state.u) >= (rows @ w).min() - 1e-9


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 60), d=st.integers(1, 8))
def test_rows_around_the_origin_end_in_a_conflict(seed, n, d):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    p = rng.dirichlet(np.ones(n))
    A = unit(np.vstack([A, -(p @ A)]))
    state = last(A)
    assert state.outcome is Outcome.CONFLICT
    assert (state.weights >= 0).all()
    assert state.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(A[state.active].T @ state.weights, 0, atol=1e-10)
    assert np.count_nonzero(state.weights) <= d + 1


def test_zero_row_is_a_conflict_of_its_own():
    state = last(np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert state.outcome is Outcome.CONFLICT
    assert state.active[state.weights > 0].tolist() == [1]


def test_warm_start_from_the_solution_needs_no_more_than_its_rows():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((400, 10))
    rows = unit(A * np.sign(A @ rng.standard_normal(10))[:, None])
    cold = last(rows)
    warm = last(rows, cold.active)
    np.testing.assert_allclose(warm.u, cold.u, rtol=1e-7)
    assert warm.n_steps <= 2 * len(cold.active) < cold.n_steps


def test_step_limit_is_kept_and_said():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((400, 10))
    rows = unit(A * np.sign(A @ rng.standard_normal(10))[:, None])
    state = last(rows, max_steps=7)
    assert state.outcome is Outcome.STALLED
    assert state.n_steps == 7


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 7))
def test_updated_factor_equals_the_factor_made_anew(seed, k):
    rng = np.random.default_rng(seed)
    A = np.eye(k, 8) + 0.03 * rng.standard_normal((k, 8))
    held = ActiveRows(A, np.zeros(k), False)
    assert held.start(np.arange(k))
    assert held.k == k  # no multiplier is negative
    position = int(rng.integers(k))
    held.delete(position)
    kept = np.delete(A, position, axis=0)
    factor = held.factor[: k - 1, : k - 1]
    assert held.active[: k - 1].tolist() == np.delete(np.arange(k), position).tolist()
    np.testing.assert_allclose(factor.T @ factor, kept @ kept.T, atol=1e-10)
    np.testing.assert_array_equal(factor, np.triu(factor))


def test_tiny_margin_is_reached_where_first_order_methods_give_up():
    # Rows (1, +-e) and their like: the margin is e by construction.
    gap = 1e-6
    rows = unit(np.array([[1.0, gap], [-1.0, gap]]))
    state = last(rows)
    assert state.outcome is Outcome.OPTIMAL
    assert 1 / np.linalg.norm(state.u) == pytest.approx(gap, rel=1e-9)


def test_long_work_is_interrupted_to_ask():
    rng = np.random.default_rng(0)
    w = rng.standard_normal(100)
    A = rng.standard_normal((4000, 100))
    rows = unit(A * np.sign(A @ w)[:, None])
    problem = ActiveSet(rows)
    outcomes = list(problem.solve())
    assert outcomes[:2] == [Outcome.RUNNING, Outcome.RUNNING]
    assert outcomes[-1] is Outcome.OPTIMAL
    weights = problem.multipliers / problem.multipliers.sum()
    found = {"u": problem.u, "active": problem.support, "weights": weights}
    assert_optimal(rows, SimpleNamespace(**found))


@given(seed=st.integers(0, 2**32 - 1))
def test_a_free_offset_starts_from_near_rows_of_both_classes(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (9, 2)).astype(float)
    signs = np.append([1.0, -1.0], rng.choice([-1.0, 1.0], 7))
    rows = np.c_[X * signs[:, None], signs]
    held = ActiveRows(rows, signs, True)
    positive, negative = X[signs > 0], X[signs < 0]
    to_mean = np.linalg.norm(negative - positive.mean(axis=0), axis=1)
    first, second = held.nearest_rows((rows**2).sum(axis=1))
    assert signs[[first, second]].tolist() == [1.0, -1.0]
    distance = np.linalg.norm(X[second] - positive.mean(axis=0))
    assert distance == pytest.approx(to_mean.min())
    to_second = np.linalg.norm(positive - X[second], axis=1)
    assert np.linalg.norm(X[first] - X[second]) == pytest.approx(to_second.min())


def test_rows_of_one_class_are_no_start_with_a_free_offset():
    rows = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, -1.0]])
    held = ActiveRows(rows, rows[:, 2].copy(), True)
    assert held.start(np.array([0, 2]))
    assert not held.start(np.array([0, 1]))
    assert (held.k, held.offset, held.u.tolist()) == (0, 0.0, [0.0, 0.0, 0.0])


@pytest.mark.parametrize("d", [3, 20, 90])
def test_what_carries_the_margin_comes_sorted_and_what_is_beyond_is_known(d):
    rng = np.random.default_rng(d)
    A = rng.standard_normal((6 * d, d))
    rows = unit(A * np.sign(A @ rng.standard_normal(d))[:, None])
    problem = ActiveSet(rows)
    *_, outcome = problem.solve()
    assert outcome is Outcome.OPTIMAL
    carriers, weights = problem.carriers
    assert (weights > 0).all()
    assert (np.diff(weights) <= 0).all()
    np.testing.assert_allclose(rows[carriers].T @ weights, problem.u, atol=1e-9)
    others = np.delete(rows, problem.support, axis=0)
    assert problem.beyond == pytest.approx((others @ problem.u).min())
    assert problem.n_active == problem.support.size


def test_drift_is_taken_out_before_the_end():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((900, 30)) * np.logspace(0, -6, 30)
    rows = unit(A * np.sign(A @ rng.standard_normal(30))[:, None])
    problem = ActiveSet(rows)
    *_, outcome = problem.solve()
    assert outcome is Outcome.OPTIMAL
    active, again = problem.support, ActiveSet(rows)
    assert again.start(active)
    np.testing.assert_allclose(problem.u, again.u, rtol=1e-7)
    np.testing.assert_allclose(problem.multipliers, again.multipliers, rtol=1e-6)
