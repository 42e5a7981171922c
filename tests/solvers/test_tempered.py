"""The capped game at a temperature: duality from the data alone, textbook, limits."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize
from sklearn.datasets import load_iris

from linsep.solvers.soft_margin.game import (
    largest_nu,
    least_share,
    solve_capped,
    worst_mean,
)
from linsep.solvers.soft_margin.joint import Pairs, largest_joint_nu
from linsep.solvers.soft_margin.systems import weighted_gram
from linsep.solvers.soft_margin.tempered import solve_tempered, solve_tempered_joint


def planted(n=150, d=4, seed=0, noise=0.8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signs = np.where(X[:, 0] + noise * rng.normal(size=n) > 0.3, 1.0, -1.0)
    return X, signs


def answer(margins, caps, mass, temperature):
    """The data player's best weights, by bisection on their level."""

    def weights(level):
        exponent = np.minimum((level - margins) / temperature, 0.0)
        return caps * np.exp(exponent)

    reach = 800 * temperature
    low, high = margins.min() - reach, margins.max() + reach
    return weights(brentq(lambda t: weights(t).sum() - mass, low, high, xtol=1e-14))


def payoff(p, margins, weights, temperature):
    """What the data player pays: the mean margin and the price of its weights."""
    share = weights / weights.sum()
    held = p > 0
    divergence = p[held] @ np.log(p[held] / share[held])
    return p @ margins + temperature * divergence


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("share", [0.4, 0.85, None])
def test_tempered_bounds_hold_and_meet(free, share):
    """Both sides from the rows: no solver's word is taken."""
    X, signs = planted()
    rows = X * signs[:, None]
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    most = largest_nu(signs, weights, free)
    nu = None if share is None else share * most
    game = solve_tempered(rows, signs, weights, nu, free=free, tol=1e-8)
    assert game.closed
    assert game.nu == nu or (nu is None and 0 < game.nu < most)
    caps = weights / (game.nu * weights.sum())
    assert (game.p >= 0).all()
    assert (game.p <= caps * (1 + 1e-8)).all()
    assert game.p.sum() == pytest.approx(1.0, abs=1e-12)
    if free:
        assert game.p @ signs == pytest.approx(0.0, abs=1e-12)
    T = game.temperature
    upper = np.linalg.norm(rows.T @ game.p)
    upper += payoff(game.p, np.zeros(len(X)), weights, T)
    assert game.value_upper == pytest.approx(upper, rel=1e-8)
    margins = rows @ game.w + signs * game.offset
    lower = payoff(answer(margins, caps, 1.0, T), margins, weights, T)
    assert game.value_lower == pytest.approx(lower, rel=1e-8)
    assert lower == pytest.approx(upper, rel=1e-6)
    if share == 0.4:
        return  # below the least share that pays no temperature settles
    # The temperature is half a standard deviation within the classes.
    groups = [signs > 0, signs < 0]
    spread = np.mean(
        [np.sqrt(np.cov(margins[g], aweights=weights[g], ddof=0)) for g in groups]
    )
    assert pytest.approx(0.5 * spread, rel=0.1) == T


def test_tempered_hyperplane_is_a_general_minimisers():
    X, signs = planted(n=60, d=3)
    rows = X * signs[:, None]
    weights = np.ones(60)
    game = solve_tempered(rows, signs, weights, 0.5, tol=1e-12)
    caps = weights / (0.5 * 60)

    def loss(v):
        unit = v[:-1] / np.linalg.norm(v[:-1])
        margins = rows @ unit + signs * v[-1]
        p = answer(margins, caps, 1.0, game.temperature)
        return -payoff(p, margins, weights, game.temperature)

    start = np.append(game.w, game.offset) + 0.1
    options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 5000, "maxfev": 5000}
    found = minimize(loss, start, method="Nelder-Mead", options=options)
    assert -found.fun == pytest.approx(game.value_lower, rel=1e-7)
    unit = found.x[:-1] / np.linalg.norm(found.x[:-1])
    np.testing.assert_allclose(unit, game.w, atol=1e-4)
    assert found.x[-1] == pytest.approx(game.offset, abs=1e-4)


def test_cold_games_are_the_capped_game():
    X, signs = planted()
    rows, weights = X * signs[:, None], np.ones(len(X))
    nu = 0.6
    exact = solve_capped(rows, signs, weights, nu, tol=1e-9)
    for temperature in (0.5, 0.1, 0.02):
        game = solve_tempered(rows, signs, weights, nu, temperature=temperature)
        # The price is never negative, nor more than that of weights at their caps.
        assert game.value_upper >= exact.value_lower
        most = exact.value_upper + game.temperature * np.log(1.0 / nu)
        assert game.value_lower <= most
    assert game.w @ exact.w == pytest.approx(1.0, abs=2e-3)


def test_hot_games_end_in_the_difference_of_the_means():
    X, signs = planted()
    rows = X * signs[:, None]
    game = solve_tempered(rows, signs, np.ones(len(X)), 0.5, temperature=1e4)
    difference = X[signs > 0].mean(axis=0) - X[signs < 0].mean(axis=0)
    np.testing.assert_allclose(
        game.w, difference / np.linalg.norm(difference), atol=1e-3
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.3, 1.0, 3.0])
def test_tempered_games_need_few_systems(seed, noise):
    X, signs = planted(n=500, d=10, seed=seed, noise=noise)
    game = solve_tempered(X * signs[:, None], signs, np.ones(500), None)
    assert game.closed
    assert game.n_iterations <= 12


def test_wide_rows_are_reduced_to_their_span():
    X, signs = planted(n=40, d=30)
    rows = X * signs[:, None]
    narrow = solve_tempered(rows, signs, np.ones(40), 0.4, tol=1e-8)
    padded = np.column_stack([rows, np.zeros((40, 30))])
    wide = solve_tempered(padded, signs, np.ones(40), 0.4, tol=1e-8)
    np.testing.assert_allclose(wide.w[:30], narrow.w, atol=1e-4)
    assert not wide.w[30:].any()


def test_sparse_rows_give_the_dense_answer():
    rng = np.random.default_rng(3)
    X = np.where(rng.random((200, 40)) < 0.2, rng.normal(size=(200, 40)), 0.0)
    signs = np.where(X[:, :5].sum(axis=1) + rng.normal(size=200) > 0, 1.0, -1.0)
    rows = X * signs[:, None]
    dense = solve_tempered(rows, signs, np.ones(200), None, tol=1e-8)
    sparse = solve_tempered(
        scipy.sparse.csr_array(rows), signs, np.ones(200), None, tol=1e-8
    )
    assert sparse.closed
    assert sparse.value_upper == pytest.approx(dense.value_upper, rel=1e-2)
    np.testing.assert_allclose(sparse.w, dense.w, atol=2e-2)


@pytest.mark.parametrize("nu", [None, 0.5])
@pytest.mark.parametrize("kind", ["equal", "exactly equal means", "zero"])
def test_equal_means_leave_nothing_to_choose(kind, nu):
    X = {
        "equal": planted(n=20)[0],
        "exactly equal means": np.array([[1.0, 2.0], [-1.0, 0.0], [0.0, -2.0]]),
        "zero": np.zeros((4, 2)),
    }[kind]
    n = len(X)
    rows = np.vstack([X, -X])
    signs = np.repeat([1.0, -1.0], n)
    game = solve_tempered(rows, signs, np.ones(2 * n), nu)
    assert game.closed
    assert not game.w.any()
    assert game.value_upper == 0.0
    assert game.p.sum() == pytest.approx(1.0)


@given(
    margins=st.lists(st.integers(-9, 9), min_size=4, max_size=12),
    cut=st.integers(1, 3),
)
def test_least_share_is_where_the_worst_mean_turns_positive(margins, cut):
    margins = np.array(margins, dtype=float)
    n = len(margins)
    weights = np.full(n, 1.0 / n)
    groups = [slice(0, cut), slice(cut, n)]
    most = 2.0 * min(cut, n - cut) / n
    least = least_share(margins, weights, groups, most)

    def judged(share):
        caps = weights / share
        return sum(worst_mean(margins[g], caps[g], 0.5)[0] for g in groups)

    if least == most:
        assert judged(most) <= 1e-9
        return
    assert judged(least + 1e-6 * most) > 0
    if least > 1e-6 * most:
        assert judged(least) == pytest.approx(0.0, abs=1e-9)
        assert judged(least - 1e-6 * most) < 1e-9


def test_joint_tempered_bounds_hold_and_meet():
    X, labels = load_iris(return_X_y=True)
    weights = np.ones(len(X))
    nu = 0.4 * largest_joint_nu(labels, weights, 3)
    game = solve_tempered_joint(X, labels, weights, 3, nu, tol=1e-7)
    assert game.closed
    pairs = Pairs.of(labels, 3)
    W = game.w.reshape(3, -1)
    scores = X @ W.T + game.offsets
    margins = scores[pairs.row, pairs.own] - scores[pairs.row, pairs.rival]
    m = len(margins)
    T, ones = game.temperature, np.ones(m)
    p = answer(margins, ones / (nu * m), 1.0, T)
    lower = payoff(p, margins, ones, T)
    assert lower == pytest.approx(game.value_lower, rel=1e-6)
    upper = np.linalg.norm(game.p @ pairs.blocks(X))
    upper += payoff(game.p, np.zeros(m), ones, T)
    assert upper == pytest.approx(lower, rel=1e-5)
    np.testing.assert_allclose(pairs.offsets() @ game.p, 0.0, atol=1e-4)


def test_joint_game_of_two_classes_is_the_binary_one():
    X, signs = planted()
    labels = (signs > 0).astype(np.intp)
    nu = 0.9 * largest_nu(signs, np.ones(len(X)), True)
    binary = solve_tempered(X * signs[:, None], signs, np.ones(len(X)), nu, tol=1e-9)
    joint = solve_tempered_joint(X, labels, np.ones(len(X)), 2, nu, tol=1e-9)
    W = joint.w.reshape(2, -1)
    direction = (W[1] - W[0]) / np.linalg.norm(W[1] - W[0])
    np.testing.assert_allclose(direction, binary.w, atol=5e-3)
    assert joint.value_upper / np.sqrt(2) == pytest.approx(binary.value_upper, rel=1e-3)
    assert joint.offsets[1] - joint.offsets[0] == pytest.approx(
        np.sqrt(2) * binary.offset, abs=5e-3
    )


@pytest.mark.parametrize("columns", [1, 7, 150])  # compiled, and by a BLAS
def test_weighted_gram_is_the_covariance_within_groups(columns):
    rng = np.random.default_rng(columns)
    rows, weights = rng.normal(size=(90, columns)), rng.random(90)
    weights[[3, 40, 89]] = 0.0
    weights[30:50] = 0.0  # a whole group
    starts = np.array([0, 30, 50, 90])
    expected = np.zeros((columns, columns))
    for group in (slice(0, 30), slice(50, 90)):
        mass = weights[group].sum()
        covariance = np.cov(rows[group].T, aweights=weights[group], ddof=0)
        expected += mass * np.atleast_2d(covariance)
    np.testing.assert_allclose(
        np.tril(weighted_gram(rows, weights, starts)), np.tril(expected), atol=1e-12
    )
    np.testing.assert_allclose(
        np.tril(weighted_gram(rows, weights)),
        np.tril(rows.T @ (weights[:, None] * rows)),
        atol=1e-12,
    )
