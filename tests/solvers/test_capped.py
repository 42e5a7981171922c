"""The capped game: known values, duality from the data alone, peers' solutions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.datasets import load_iris
from sklearn.svm import NuSVC

from linsep.solvers.soft_margin._passes import capped_exponentials
from linsep.solvers.soft_margin.game import largest_nu, solve_capped, worst_mean
from linsep.solvers.soft_margin.joint import Pairs, largest_joint_nu, solve_joint
from textbook import CappedOracle, optimistic_rounds


def planted(n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signs = np.where(X[:, 0] + 0.8 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, signs


def best_worst_mean(margins, caps, mass):
    """The least sum p_i m_i with 0 <= p <= caps and sum p = mass, by an LP."""
    answer = linprog(
        margins,
        A_eq=np.ones((1, len(caps))),
        b_eq=[mass],
        bounds=[(0, c) for c in caps],
    )
    return answer.fun


@given(
    margins=st.lists(st.integers(-9, 9), min_size=2, max_size=8),
    share=st.floats(0.05, 1.0),
)
def test_worst_mean_is_the_linear_programs(margins, share):
    margins = np.array(margins, dtype=float)
    caps = np.full(len(margins), 1.0 / (share * len(margins)))
    value, level = worst_mean(margins, caps, 1.0)
    assert value == pytest.approx(best_worst_mean(margins, caps, 1.0), abs=1e-9)
    assert level in margins


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("share", [0.6, 0.75, 0.9])
@pytest.mark.parametrize("d", [1, 4])
def test_capped_bounds_hold_and_meet(free, share, d):
    """Weak duality, evaluated from the rows: no solver's word is taken."""
    X, signs = planted(d=d)
    rows = X * signs[:, None]
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    nu = share * largest_nu(signs, weights, free)
    game = solve_capped(rows, signs, weights, nu, free=free, tol=1e-8)
    caps = weights / (nu * weights.sum())
    assert game.closed
    assert (game.p >= 0).all()
    assert (game.p <= caps * (1 + 1e-6)).all()
    assert game.p.sum() == pytest.approx(1.0, abs=1e-12)
    if free:
        assert game.p @ signs == pytest.approx(0.0, abs=1e-12)
    upper = np.linalg.norm(rows.T @ game.p)
    assert game.value_upper == pytest.approx(upper, rel=1e-12)
    margins = rows @ game.w + signs * game.offset
    lower = best_worst_mean(margins, caps, 1.0)
    assert game.value_lower == pytest.approx(lower, abs=1e-8)
    assert lower == pytest.approx(upper, rel=1e-6)


@pytest.mark.parametrize("nu", [0.5, 0.7])
def test_capped_game_is_the_nu_support_vector_machine(nu):
    X, signs = planted()
    game = solve_capped(X * signs[:, None], signs, np.ones(len(X)), nu, tol=1e-9)
    peer = NuSVC(nu=nu, kernel="linear", tol=1e-8).fit(X, signs)
    coef = peer.coef_[0]
    np.testing.assert_allclose(game.w, coef / np.linalg.norm(coef), atol=1e-5)
    np.testing.assert_allclose(
        game.offset, peer.intercept_[0] / np.linalg.norm(coef), atol=1e-5
    )


def test_capped_game_is_scale_free():
    X, signs = planted()
    one = solve_capped(X * signs[:, None], signs, np.ones(len(X)), 0.6)
    big = solve_capped(1e6 * X * signs[:, None], signs, np.ones(len(X)), 0.6)
    assert big.value_upper == pytest.approx(1e6 * one.value_upper, rel=1e-3)


def test_capped_wide_and_narrow_systems_agree():
    X, signs = planted(n=40, d=30)
    rows = X * signs[:, None]
    narrow = solve_capped(rows, signs, np.ones(40), 0.4, tol=1e-8)
    padded = np.column_stack([rows, np.zeros((40, 30))])
    wide = solve_capped(padded, signs, np.ones(40), 0.4, tol=1e-8)
    np.testing.assert_allclose(wide.w[:30], narrow.w, atol=1e-5)


def test_capped_game_below_the_smallest_share_has_no_value():
    X, signs = planted()
    game = solve_capped(X * signs[:, None], signs, np.ones(len(X)), 0.02)
    assert game.value_lower <= 0
    assert game.value_upper <= 1e-4


def test_capped_game_at_the_largest_share_is_the_difference_of_means():
    X, signs = planted()
    nu = largest_nu(signs, np.ones(len(X)), True)
    few, many = (1.0, -1.0) if (signs > 0).sum() < (signs < 0).sum() else (-1.0, 1.0)
    game = solve_capped(X * signs[:, None], signs, np.ones(len(X)), nu, tol=1e-6)
    members = signs == few
    # The smaller class has no choice left: equal weights.
    np.testing.assert_allclose(game.p[members], 0.5 / members.sum(), rtol=1e-5)
    assert game.p[signs == many].sum() == pytest.approx(0.5)


@pytest.mark.parametrize("share", [0.3, 0.7, None])
def test_joint_bounds_hold_and_meet(share):
    X, labels = load_iris(return_X_y=True)
    if share is None:  # three separated clouds
        X = X + 10.0 * np.eye(3)[labels] @ np.eye(3, 4)
    weights = np.ones(len(X))
    nu = None if share is None else share * largest_joint_nu(labels, weights, 3)
    game = solve_joint(X, labels, weights, 3, nu, tol=1e-7)
    assert game.closed
    assert game.value_upper - game.value_lower <= 1e-7 * game.value_upper
    pairs = Pairs.of(labels, 3)
    W = game.w.reshape(3, -1)
    scores = X @ W.T + game.offsets
    margins = scores[pairs.row, pairs.own] - scores[pairs.row, pairs.rival]
    m = len(margins)
    caps = np.ones(m) if nu is None else np.full(m, 1.0 / (nu * m))
    lower = best_worst_mean(margins, caps, 1.0) / np.linalg.norm(W)
    assert lower == pytest.approx(game.value_upper, rel=1e-5)
    np.testing.assert_allclose(pairs.offsets() @ game.p, 0.0, atol=1e-9)
    assert np.linalg.norm(game.p @ pairs.blocks(X)) == pytest.approx(
        game.value_upper, rel=1e-6
    )


def test_joint_game_of_two_classes_is_the_binary_one():
    X, signs = planted()
    labels = (signs > 0).astype(np.intp)
    binary = solve_capped(X * signs[:, None], signs, np.ones(len(X)), 0.5, tol=1e-8)
    joint = solve_joint(X, labels, np.ones(len(X)), 2, 0.5, tol=1e-8)
    # Both blocks hold the direction, with opposite signs: length sqrt(2).
    assert joint.value_upper == pytest.approx(np.sqrt(2) * binary.value_upper, rel=1e-6)


@given(
    margins=st.lists(st.floats(-30, 30), min_size=2, max_size=8),
    share=st.floats(0.2, 0.95),
    temperature=st.floats(0.01, 10.0),
    guess=st.floats(-50, 50),
)
def test_capped_exponentials_are_the_best_answer(margins, share, temperature, guess):
    """Below their cap weights are exp of (level - margin) / T; the value is paid."""
    margins = np.array(margins)
    n = len(margins)
    caps = np.linspace(1.0, 2.0, n)
    caps /= share * caps.sum()
    p = np.empty(n)
    value, level = capped_exponentials(margins, caps, temperature, 1.0, guess, p)
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    expected = caps * np.exp(np.minimum((level - margins) / temperature, 0.0))
    np.testing.assert_allclose(p, expected, rtol=1e-7, atol=1e-300)
    held = p > 0
    divergence = p[held] @ np.log(p[held] / caps[held])
    paid = p @ margins + temperature * divergence
    assert value == pytest.approx(paid, rel=1e-9, abs=1e-9)


def test_projected_weights_reach_the_interior_points_value():
    X, signs = planted()
    rows = X * signs[:, None]
    nu = 0.7
    game = solve_capped(rows, signs, np.ones(len(X)), nu, tol=1e-9)
    caps = np.full(len(X), 1.0 / (nu * len(X)))
    oracle = CappedOracle(
        rows, caps, [np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)]
    )
    upper = np.inf
    step = 1.0 / np.linalg.norm(rows, axis=1).max()
    for state in optimistic_rounds(oracle, rows.shape[1], step, np.inf):
        # Any weights bound the value: the average's, and those of the round.
        played = float(np.linalg.norm(state.pseudoexample))
        upper = min(upper, state.margin_upper, played)
        assert upper >= game.value_lower * (1 - 1e-9)
        lower = state.margin / np.linalg.norm(state.total)
        assert lower <= game.value_upper * (1 + 1e-9)
        if state.n_rounds >= 1500:
            break
    assert upper == pytest.approx(game.value_upper, rel=2e-2)
    assert lower == pytest.approx(game.value_upper, rel=2e-2)
