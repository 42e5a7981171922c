"""Coordinates for the largest margin: what they are, and the way back from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.solvers.hard_margin.coordinates import Direct


def problem(seed, power):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 12), rng.integers(1, 20)
    X = np.ldexp(rng.standard_normal((n, d)) + rng.integers(-3, 4), power)
    return X, rng.choice(np.array([-1, 1], dtype=np.int8), n)


@given(seed=st.integers(0, 2**32 - 1), power=st.sampled_from([0, 90, 900, -300, -900]))
def test_rows_are_moved_to_between_the_classes_and_brought_below_one(seed, power):
    X, signs = problem(seed, power)
    direct, rows, s, squares = Direct.of(X, True, signs)
    unit = np.ldexp(X, -direct.size)
    means = [
        unit[signs == sign].sum(axis=0) / max(1, (signs == sign).sum())
        for sign in (-1, 1)
    ]
    scale = np.abs(unit).max()
    np.testing.assert_allclose(direct.centre, sum(means) / 2, atol=1e-15 * scale)
    expected = s[:, None] * np.ldexp(unit - direct.centre, -direct.spread)
    np.testing.assert_array_equal(rows, np.c_[expected, signs])
    assert not len(X) > 1 or 0.5 <= np.abs(expected).max() <= 1.0
    np.testing.assert_allclose(squares, (rows**2).sum(axis=1))


@given(seed=st.integers(0, 2**32 - 1), power=st.sampled_from([0, 90, 900, -300, -900]))
def test_rows_that_are_signed_come_to_the_same(seed, power):
    X, signs = problem(seed, power)
    given_signs = Direct.of(X, True, signs)
    signed = Direct.of(np.c_[signs[:, None] * X, signs], True)
    assert (signed[0].size, signed[0].spread) == (
        given_signs[0].size,
        given_signs[0].spread,
    )
    for one, other in zip(signed[1:], given_signs[1:], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("power", [0, 90, 500, -90, -500])
def test_weights_go_back_to_the_columns_given(power):
    X, signs = problem(5, power)
    direct, rows, _, _ = Direct.of(X, True, signs)
    u, offset = np.random.default_rng(0).standard_normal(rows.shape[1]), 0.25
    w, shift = direct.hyperplane(u, offset)
    back = np.ldexp(signs * (X @ w[:-1] + w[-1]), -shift)
    np.testing.assert_allclose(back, rows @ u + signs * offset, rtol=1e-9)
