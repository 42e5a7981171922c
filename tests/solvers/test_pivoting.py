"""The guess of the rows on the margin: right where it says so, harmless elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linsep
from linsep.solvers.hard_margin.pivoting import rows_on_margin


def signed(X, signs):
    return np.column_stack([X, np.ones(len(X))]) * signs[:, None]


def solved(rows, signs):
    """Multipliers and offset with every row named at 1, the multipliers balanced."""
    k = len(rows)
    features = rows[:, :-1]
    system = np.zeros((k + 1, k + 1))
    system[:k, :k] = features @ features.T
    system[:k, k] = system[k, :k] = signs
    solution = np.linalg.solve(system, np.append(np.ones(k), 0.0))
    return solution[:k], solution[k]


@pytest.mark.parametrize("shape", [(100, 300), (300, 300), (150, 100)])
def test_rows_on_margin_meet_the_optimality_conditions(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    signs = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += 2.0 * signs
    rows = signed(X, signs)
    guesses = list(rows_on_margin(rows, signs, True, 1e-9))
    index = guesses[-1]
    multipliers, offset = solved(rows[index], signs[index])
    margins = rows[:, :-1] @ (rows[index, :-1].T @ multipliers) + signs * offset
    assert multipliers.min() > 0
    assert margins.min() > 1 - 1e-6
    assert len(guesses) <= 10


def test_max_margin_of_wide_rows_takes_few_steps():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 900))
    answer = linsep.max_margin(X, np.sign(rng.normal(size=300)))
    assert answer.separable
    assert answer.n_rounds <= 10
    assert answer.support.size > 200


def test_max_margin_of_wide_rows_stops_at_the_rounds_allowed():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 60)), np.arange(80) % 2
    assert linsep.max_margin(X, y).n_rounds > 2
    answer = linsep.max_margin(X, y, max_rounds=2)
    assert answer.n_rounds == 2
    assert answer.status.value == "undecided"
    assert "max_rounds=2" in answer.message


@given(data=st.data())
def test_max_margin_of_few_wide_rows_agrees_with_the_active_set(data):
    """Rows that repeat, oppose and depend on each other; the peer starts from two."""
    d = data.draw(st.integers(20, 40))
    m = data.draw(st.integers(33, 2 * d))
    seed = data.draw(st.integers(0, 2**16))
    top = data.draw(st.sampled_from([1, 3, 1000]))
    rng = np.random.default_rng(seed)
    X = rng.integers(-top, top + 1, size=(m, d)).astype(float)
    X[rng.integers(0, m, 5)] = X[rng.integers(0, m, 5)]
    y = np.where(np.arange(m) % 2, 1, -1)
    answer = linsep.max_margin(X, y, tol=1e-9)
    # Twenty more copies of each row change nothing, but no longer are the rows few.
    peer = linsep.max_margin(np.tile(X, (20, 1)), np.tile(y, 20), tol=1e-9)
    assert answer.status is peer.status
    if answer.separable:
        assert answer.margin_lower == pytest.approx(peer.margin_lower, rel=2e-9)
        assert answer.margin_squared() == peer.margin_squared()


@pytest.mark.parametrize("shape", [(60, 300), (60, 100), (60, 40)])
def test_max_margin_far_from_the_origin_is_the_one_near_it(shape):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=shape), 6)
    signs = np.where(X[:, 0] > 0, 1, -1)
    near = linsep.max_margin(X, signs)
    far = linsep.max_margin(X + 2.0**16, signs)
    assert near.support.tolist() == far.support.tolist()
    assert far.margin_lower == pytest.approx(near.margin_lower, rel=2e-6)
    assert (far.n_passes, far.n_rounds) == (near.n_passes, near.n_rounds)
