"""The Optimistic Perceptron against the paper's pseudocode and its bounds."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.solvers.metric import whiten
from linsep.solvers.optimistic import OptimisticLoop, safe_step
from linsep.solvers.oracle import Oracle, softmin
from textbook import compiled_rounds, optimistic_rounds, softmin_oracle


def paper_rows(n):
    """The signed rows of the paper's data set (2): e_i minus all earlier units."""
    return np.eye(n) - np.tril(np.ones((n, n)), -1)


def textbook_algorithm_1(X, y, r, n_rounds):
    """Algorithm 1 as the paper prints it, line by line; yields w_t, p_t, average."""
    n = len(X)
    p = np.full(n, 1 / n)
    x_before = x = (p * y) @ X
    w = np.zeros(X.shape[1])
    plays = []
    for _ in range(n_rounds):
        w = w + 2 * x - x_before
        p = p * np.exp(-(y * (X @ w)) / r**2)
        p = p / p.sum()
        x_before, x = x, (p * y) @ X
        plays.append(w)
        yield w, p, np.mean(plays, axis=0)


def random_data(seed, separable):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10)
    y = np.where(X @ rng.standard_normal(d) > 0, 1.0, -1.0)
    if not separable:
        y = rng.choice([-1.0, 1.0], n)
    return X, y


@pytest.mark.parametrize("seed", range(5))
def test_fixed_step_of_the_adaptive_loop_is_algorithm_1(seed):
    X, y = random_data(seed, separable=False)
    A = y[:, None] * X
    r = 1 / safe_step(Oracle(A))
    rounds = islice(compiled_rounds(A, 1 / r, floor=np.inf), 50)
    for state, (w, p, average) in zip(
        rounds, textbook_algorithm_1(X, y, r, 50), strict=True
    ):
        np.testing.assert_allclose(state.play * r, w, rtol=1e-9, atol=1e-11 * r)
        np.testing.assert_allclose(softmin(A @ state.total), p, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            state.total * r**2 / state.n_rounds, average, rtol=1e-9, atol=1e-11 * r
        )


@pytest.mark.parametrize("separable", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_adaptive_rounds_equal_the_textbook_loop(seed, separable):
    X, y = random_data(seed, separable)
    A = y[:, None] * X
    step = safe_step(Oracle(A))
    book = optimistic_rounds(softmin_oracle(A), A.shape[1], step, 0.5 * step)
    loop = compiled_rounds(A)
    # Later, without a separator, plays shrink to the size of their rounding.
    for state, expected in islice(zip(loop, book, strict=True), 25):
        assert state.n_rounds == expected.n_rounds
        assert state.step_size == pytest.approx(expected.step_size, rel=1e-12)
        size = np.linalg.norm(expected.total)
        np.testing.assert_allclose(state.total, expected.total, atol=1e-9 * size)
        np.testing.assert_allclose(state.play, expected.play, atol=1e-9 * size)
        if state.margin > 0:  # steps grow without end from here on
            break


@pytest.mark.parametrize("enough", [0.0, 0.5])
def test_rounds_at_a_time_stop_where_single_rounds_would(enough):
    X, y = random_data(3, separable=True)
    A = y[:, None] * X
    single = OptimisticLoop(Oracle(A))
    state = single.play(enough=enough)
    while not state.found:
        state = single.play(enough=enough)
    at_once = OptimisticLoop(Oracle(A)).play(10**6, enough=enough)
    assert at_once.found
    assert at_once.n_rounds == state.n_rounds
    np.testing.assert_array_equal(at_once.total, state.total)
    last = next(r for r in compiled_rounds(A) if r.n_rounds == state.n_rounds)
    np.testing.assert_array_equal(last.total, state.total)
    reach = last.margin_upper * np.linalg.norm(state.total)
    assert state.margin > enough * reach or state.margin_play > 0 == enough
    few = OptimisticLoop(Oracle(A)).play(3, enough=1.0)
    assert not few.found
    assert 3 <= few.n_rounds <= 4


@given(
    seed=st.integers(0, 2**32 - 1),
    separable=st.booleans(),
    adaptive=st.booleans(),
    step=st.sampled_from([None, 0.5]),
)
def test_regret_bound_holds_at_every_round(seed, separable, adaptive, step):
    X, y = random_data(seed, separable)
    A = y[:, None] * X
    n = len(A)
    first = None if step is None else step * safe_step(Oracle(A))
    loop = compiled_rounds(A, first, None if adaptive else np.inf)
    for state in islice(loop, 80):
        G = state.weighted_sum
        rounding = 1e-9 * (1 + G @ G)
        assert state.margin >= 0.5 * G @ G - np.log(n) - rounding
        if not separable:
            continue
        assert state.margin_upper * state.step_sum == pytest.approx(np.linalg.norm(G))


@pytest.mark.parametrize("seed", range(20))
def test_pseudoexamples_stay_small_for_ever_without_a_separator(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((40, 3))
    A = np.vstack([A, -A])  # a point and its opposite: no separator
    bound = np.sqrt(2 * np.log(len(A)))
    for state in islice(compiled_rounds(A), 400):
        assert np.linalg.norm(state.weighted_sum) <= bound * (1 + 1e-9)
        assert state.separator is None


@given(seed=st.integers(0, 2**32 - 1))
def test_free_bound_is_above_the_planted_margin(seed):
    rng = np.random.default_rng(seed)
    n, d, margin = int(rng.integers(2, 60)), int(rng.integers(2, 8)), 0.1
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    A = rng.standard_normal((n, d))
    A += np.outer(np.maximum(0, margin - A @ w), w)
    for state in islice(compiled_rounds(A), 40):
        assert state.margin_upper >= margin * (1 - 1e-9)
        # Rounds to separation: S > sqrt(2 ln n) / margin is enough.
        if state.step_sum > np.sqrt(2 * np.log(n)) / margin * (1 + 1e-9):
            assert state.margin > 0


def test_adaptive_steps_never_fall_under_half_the_safe_step():
    X, y = random_data(7, separable=False)
    A = y[:, None] * X
    for state in islice(compiled_rounds(A), 300):
        assert state.step_size >= 0.5 * safe_step(Oracle(A))


def test_first_step_far_too_long_is_halved_until_the_bound_holds():
    X, y = random_data(11, separable=False)
    A = y[:, None] * X
    state = next(compiled_rounds(A, 1e6 * safe_step(Oracle(A))))
    G = state.weighted_sum
    assert state.margin >= 0.5 * G @ G - np.log(len(A)) - 1e-9 * (1 + G @ G)


@pytest.mark.parametrize("n", [1, 2, 5, 12, 20])
def test_metric_separates_the_papers_data_in_two_rounds(n):
    coordinates = whiten(paper_rows(n))
    for state in compiled_rounds(coordinates.rows):
        if state.separator is not None:
            break
    assert state.n_rounds <= 2
    assert (paper_rows(n) @ coordinates.to_weights(state.separator) > 0).all()
