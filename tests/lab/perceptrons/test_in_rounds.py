"""Each method played in rounds against a textbook loop and its bound."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.perceptrons.methods import IN_ROUNDS, radius_of
from lab.perceptrons.planted import paper_rows, planted, planted_problems
from linsep.perceptrons import (
    MirrorProx,
    NesterovMomentum,
    Optimistic,
    SmoothPerceptron,
    VonNeumann,
)


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def optimistic(A, rounds, rate):
    n = len(A)
    p, w = np.full(n, 1 / n), np.zeros(A.shape[1])
    x_before = x = p @ A
    total = np.zeros(A.shape[1])
    for t in range(1, rounds + 1):
        w = w + 2 * x - x_before
        p = softmax(np.log(p) - rate * (A @ w))
        x_before, x = x, p @ A
        total = total + w
        yield total / t


def smooth(A, rounds):
    n = len(A)
    A = A / radius_of(A)
    w, mu = np.full(n, 1 / n) @ A, 2.0
    p = softmax(-(A @ w) / mu)
    yield w, p, mu
    for k in range(rounds - 1):
        theta = 2 / (k + 3)
        w = (1 - theta) * (w + theta * p @ A) + theta**2 * softmax(-(A @ w) / mu) @ A
        mu = (1 - theta) * mu
        p = (1 - theta) * p + theta * softmax(-(A @ w) / mu)
        yield w, p, mu


def mirror_prox(A, rounds):
    n, d = A.shape
    r, s = radius_of(A), math.sqrt(2 * math.log(n))
    w, p = np.zeros(d), np.full(n, 1 / n)
    ws, ps = [], []

    def ball(v):
        return v / max(1, np.linalg.norm(v))

    for t in range(1, rounds + 1):
        w1 = ball(w + p @ A / (r * s))
        p1 = softmax(np.log(p) - s / r * (A @ w))
        w, p = ball(w + p1 @ A / (r * s)), softmax(np.log(p) - s / r * (A @ w1))
        ws.append(w1)
        ps.append(p1)
        yield np.sum(ws, axis=0) / t, np.sum(ps, axis=0) / t


def momentum(A, rounds):
    A = A / radius_of(A)
    w, g = np.zeros(A.shape[1]), np.zeros(A.shape[1])
    for t in range(rounds):
        z = softmax(-(A @ w)) @ A
        g = t / (t + 1) * (g + z)
        w = w + g + z
        yield w


def von_neumann(A, rounds):
    x = A[np.argmin(np.linalg.norm(A, axis=1))]
    for _ in range(rounds):
        yield x
        a = A[np.argmin(A @ x)]
        if np.array_equal(a, x):
            continue
        s = np.clip(x @ (x - a) / ((x - a) @ (x - a)), 0, 1)
        x = (1 - s) * x + s * a


def first_separator(A, iterates):
    for t, w in enumerate(iterates, start=1):
        if (A @ w).min() > 0:
            return t, w
    return None, None


@given(problem=planted_problems())
def test_optimistic_perceptron_is_algorithm_1_within_its_bound(problem):
    X, y, _, margin = problem
    A = y[:, None] * X
    r = radius_of(A)
    bound = Optimistic.round_bound(len(A), r, margin)
    t, w = first_separator(A, optimistic(A, math.floor(bound) + 2, 1 / r**2))
    result = Optimistic(fit_intercept=False).run(X, y)
    assert result.n_updates == t <= math.floor(bound) + 1
    np.testing.assert_allclose(result.coef, w, rtol=1e-6, atol=1e-9 * r)
    assert result.n_operations == t * (2 * len(A) + 2)


def pseudocode(X, y, r, n_rounds):
    """Algorithm 1 as the paper prints it, line by line; yields p_t and the average."""
    p = np.full(len(X), 1 / len(X))
    x_before = x = (p * y) @ X
    w = np.zeros(X.shape[1])
    plays = []
    for _ in range(n_rounds):
        w = w + 2 * x - x_before
        p = p * np.exp(-(y * (X @ w)) / r**2)
        p = p / p.sum()
        x_before, x = x, (p * y) @ X
        plays.append(w)
        yield p, np.mean(plays, axis=0)


@pytest.mark.parametrize("separable", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_optimistic_rounds_are_the_papers_pseudocode(seed, separable):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10)
    y = np.where(X @ rng.standard_normal(d) > 0, 1.0, -1.0)
    if not separable:
        y = rng.choice([-1.0, 1.0], n)
    r = radius_of(X)
    played = Optimistic().rounds(y[:, None] * X)
    for p, average in pseudocode(X, y, r, 60):
        state = next(played)
        np.testing.assert_allclose(state.p, p, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(state.w, average, rtol=1e-9, atol=1e-11 * r)


@pytest.mark.parametrize("n", [3, 6, 9])
def test_optimistic_separates_the_papers_rows_within_both_bounds(n):
    X, y = paper_rows(n)
    A = y[:, None] * X
    margin, r = math.sqrt(3 / (4.0**n - 1)), radius_of(A)
    run = Optimistic(fit_intercept=False).run(X, y)
    assert (A @ run.coef > 0).all()
    assert run.n_updates <= r * math.sqrt(2 * math.log(n)) / margin + 1
    assert run.n_updates <= (1 + 2 * r**2 * math.log(n)) / (2 * margin) + 1


@pytest.mark.parametrize(("n", "rounds"), [(1, 1), (8, 489), (12, 9_642), (15, 86_265)])
def test_optimistic_perceptron_on_the_papers_rows(n, rounds):
    X, y = paper_rows(n)
    result = Optimistic(fit_intercept=False).run(X, y)
    assert (result.n_updates, result.separated) == (rounds, True)
    assert result.n_operations == rounds * (2 * n + 2)


@given(problem=planted_problems(max_rows=10), factor=st.sampled_from([0.1, 4.0, 16.0]))
@settings(max_examples=20)
def test_optimistic_perceptron_takes_any_learning_rate(problem, factor):
    X, y, _, _ = problem
    A = y[:, None] * X
    rate = factor / radius_of(A) ** 2
    t, w = first_separator(A, optimistic(A, 3000, rate))
    result = Optimistic(rate, fit_intercept=False, max_rounds=3000).run(X, y)
    if t is None:
        assert not result.separated
    else:
        assert abs(result.n_updates - t) <= 1
        np.testing.assert_allclose(
            result.coef, w, rtol=1e-3, atol=1e-3 * np.abs(w).max()
        )


@given(problem=planted_problems())
def test_smooth_perceptron_is_the_textbook_loop_within_its_bound(problem):
    X, y, _, margin = problem
    A = y[:, None] * X
    rounds = math.floor(SmoothPerceptron.round_bound(len(A), radius_of(A), margin)) + 1
    t, w = first_separator(A, (w for w, _, _ in smooth(A, rounds)))
    result = SmoothPerceptron(fit_intercept=False).run(X, y)
    assert result.n_updates == t <= rounds
    np.testing.assert_allclose(result.coef, w, rtol=1e-6, atol=1e-9)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 12))
def test_smooth_perceptron_keeps_its_excessive_gap(seed, n):
    A = np.random.default_rng(seed).normal(size=(n, 3))
    scaled = A / radius_of(A)
    played = SmoothPerceptron().rounds(A)
    for k, (w, p, mu) in enumerate(smooth(A, 30)):
        state = next(played)
        np.testing.assert_allclose(state.w, w, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(state.p, p, rtol=1e-6, atol=1e-9)
        assert mu == pytest.approx(4 / ((k + 1) * (k + 2)))
        soft = -mu * math.log(np.mean(np.exp(-(scaled @ w) / mu)))
        gap = soft - 0.5 * w @ w - 0.5 * np.linalg.norm(p @ scaled) ** 2
        assert gap >= -1e-9


@given(problem=planted_problems())
def test_mirror_prox_is_the_textbook_loop_within_its_bound(problem):
    X, y, _, margin = problem
    A = y[:, None] * X
    rounds = math.floor(MirrorProx.round_bound(len(A), radius_of(A), margin)) + 1
    t, w = first_separator(A, (w for w, _ in mirror_prox(A, rounds)))
    result = MirrorProx(fit_intercept=False).run(X, y)
    assert result.n_updates == t <= rounds
    np.testing.assert_allclose(result.coef, w, rtol=1e-6, atol=1e-9)
    assert result.n_passes == 2 * t


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 12))
def test_mirror_prox_gap_falls_as_promised(seed, n):
    A = np.random.default_rng(seed).normal(size=(n, 3))
    played = MirrorProx().rounds(A)
    for t, (w, p) in enumerate(mirror_prox(A, 30), start=1):
        state = next(played)
        np.testing.assert_allclose(state.w, w, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(state.p, p, rtol=1e-6, atol=1e-9)
        gap = np.linalg.norm(state.p @ A) - (A @ state.w).min()
        assert gap <= radius_of(A) * math.sqrt(2 * math.log(n)) / t * (1 + 1e-9)


@given(problem=planted_problems())
def test_momentum_is_the_textbook_loop_within_its_bound(problem):
    X, y, _, margin = problem
    A = y[:, None] * X
    bound = NesterovMomentum.round_bound(len(A), radius_of(A), margin)
    t, w = first_separator(A, momentum(A, math.ceil(bound) + 1))
    result = NesterovMomentum(fit_intercept=False).run(X, y)
    assert result.n_updates == t <= math.ceil(bound)
    np.testing.assert_allclose(result.coef, w, rtol=1e-6, atol=1e-9)


def test_momentum_margin_gap_falls_as_promised():
    X, y = paper_rows(4)
    A = y[:, None] * X
    r, largest = radius_of(A), math.sqrt(3 / (4**4 - 1))
    m = largest / r
    played = NesterovMomentum().rounds(A)
    for t in range(1, 400):
        w = next(played).w
        gap = m - (A @ w).min() / r / np.linalg.norm(w)
        promised = (
            4 * (1 + math.log(4)) * (1 + 2 * math.log(t + 1)) / (m * (t + 1) ** 2)
        )
        assert gap <= promised


@given(problem=planted_problems())
def test_von_neumann_is_the_textbook_loop_within_its_bound(problem):
    X, y, _, margin = problem
    A = y[:, None] * X
    bound = VonNeumann.round_bound(radius_of(A), margin)
    t, w = first_separator(A, von_neumann(A, math.ceil(bound) + 1))
    result = VonNeumann(fit_intercept=False).run(X, y)
    assert result.n_updates == t <= bound * (1 + 1e-9)
    np.testing.assert_allclose(result.coef, w, rtol=1e-6, atol=1e-9 * radius_of(A))
    # The weight vector is its own pseudoexample.
    np.testing.assert_allclose(
        result.row_weights @ A, result.coef, atol=1e-12 * radius_of(A)
    )


@given(seed=st.integers(0, 2**32 - 1))
def test_von_neumann_falls_like_one_over_root_k_where_nothing_separates(seed):
    A = np.random.default_rng(seed).normal(size=(8, 3))
    A = np.vstack([A, -A])
    played = VonNeumann().rounds(A)
    for k in range(40):
        state = next(played)
        if k:
            assert np.linalg.norm(state.w) <= radius_of(A) / math.sqrt(k) * (1 + 1e-9)


@pytest.mark.parametrize("method", IN_ROUNDS)
def test_round_cap_and_inseparable_rows(method):
    result = method(max_rounds=20).run([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert (result.stopped, result.n_updates) == ("max_rounds", 20)
    assert not result.separated
    assert result.margin_lower <= 0
    with pytest.raises(ValueError, match="max_rounds must be an integer"):
        method(max_rounds=0).run([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("method", IN_ROUNDS)
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scale_of_the_rows_changes_nothing(method, scale):
    X, y, _ = planted(2, 20, 3, 0.1)
    one = method(fit_intercept=False).run(X, y)
    other = method(fit_intercept=False).run(scale * X, y)
    assert one.n_updates == other.n_updates
    assert other.margin_lower == pytest.approx(scale * one.margin_lower, rel=1e-6)


@pytest.mark.parametrize("method", IN_ROUNDS)
def test_a_single_row_and_one_class_separate(method):
    assert method(fit_intercept=False).run([[3.0, -1.0]], [1]).separated
    assert method().run([[1.0], [2.0]], ["a", "a"]).separated


@pytest.mark.parametrize("method", IN_ROUNDS)
def test_margins_bracket_the_planted_margin(method):
    X, y, _ = planted(4, 30, 3, 0.1)
    result = method(fit_intercept=False).run(X, y)
    assert result.separated
    assert 0 < result.margin_lower <= result.margin_upper
    assert result.margin_upper >= 0.1 * (1 - 1e-9)
    assert (result.predict(X) == y).all()


def test_learning_rate_must_be_positive():
    with pytest.raises(ValueError, match="learning_rate must be a positive number"):
        Optimistic(0.0).run([[0.0], [1.0]], [0, 1])
