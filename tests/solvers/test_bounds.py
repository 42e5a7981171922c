"""Margin bounds in the user's units, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep.solvers.bounds import margin_lower, margin_upper, norm, row_lengths


@given(
    seed=st.integers(0, 2**32 - 1),
    offset=st.sampled_from([0.0, 1e6, 1e12]),
    fit_intercept=st.booleans(),
)
def test_upper_bound_is_above_every_margin_achieved(seed, offset, fit_intercept):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 12)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, d)) + offset
    y = rng.choice([-1.0, 1.0], n)
    y[:2] = 1.0, -1.0
    full = np.c_[X, np.ones(n)] if fit_intercept else X
    p = rng.dirichlet(np.ones(n))
    bound = margin_upper(full * y[:, None], p, fit_intercept)
    assert margin_upper(
        sparse.csr_matrix(full * y[:, None]), p, fit_intercept
    ) == pytest.approx(bound, rel=1e-9, abs=1e-14 * offset)
    # The best intercept for a direction is half-way between the classes.
    for direction in rng.standard_normal((20, d)):
        w = [Fraction(float(value)) for value in direction]
        dots = [
            sum(a * Fraction(float(x)) for a, x in zip(w, r, strict=True)) for r in X
        ]
        up = min(dot for dot, sign in zip(dots, y, strict=True) if sign > 0)
        down = max(dot for dot, sign in zip(dots, y, strict=True) if sign < 0)
        best = (up - down) / 2 if fit_intercept else min(up, -down)
        length = sum(value**2 for value in w)
        # best / sqrt(length) <= bound, without a square root.
        assert best <= 0 or best**2 <= Fraction(bound) ** 2 * length


@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix])
def test_one_class_with_an_intercept_has_no_upper_bound(kind):
    assert margin_upper(kind([[1.0, 1.0]]), np.ones(1), True) == np.inf


@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e300])
def test_upper_bound_of_some_rows_of_any_size(kind, scale):
    rows = np.array([[9.0, 9.0, 1.0], [0.0, 2.0, 1.0], [0.0, 4.0, -1.0]])
    rows[:, :2] *= scale  # the points (0, 2) and (0, -4)
    bound = margin_upper(kind(rows), np.array([3.0, 1.0]), True, np.array([1, 2]))
    assert 3.0 * scale <= bound <= 3.0 * scale * (1 + 1e-13)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e200])
def test_norm_neither_overflows_nor_underflows(scale):
    assert norm(np.array([3.0, 4.0]) * scale) == pytest.approx(5.0 * scale)


def test_lower_bound_is_rounded_down_and_knows_no_hyperplane():
    coef = np.array([1.0, 3.0])
    assert Fraction(margin_lower(1.0, coef)) ** 2 * 10 < 1
    assert margin_lower(1.0, np.zeros(2)) == np.inf
    assert margin_lower(0.0, np.zeros(2)) == 0.0


subnormals = st.integers(-(2**12), 2**12).map(lambda k: k * 5e-324) | st.floats(
    -1e-308, 1e-308
)


@given(st.lists(subnormals, min_size=1, max_size=5))
def test_upper_bound_is_above_the_norm_of_a_subnormal_row(row):
    bound = margin_upper(np.array([row]), np.ones(1), False)
    assert Fraction(bound) ** 2 >= sum(Fraction(v) ** 2 for v in row)
    assert (bound == 0) == (not any(row))


@given(
    st.floats(0.0, 1e-300) | st.integers(0, 9).map(lambda k: k * 5e-324),
    st.lists(st.floats(-1e300, 1e300) | subnormals, min_size=1, max_size=5).filter(any),
)
def test_lower_bound_is_below_the_quotient_at_either_end_of_the_doubles(slack, coef):
    bound = margin_lower(slack, np.array(coef))
    assert bound >= 0
    length_squared = sum(Fraction(v) ** 2 for v in coef)
    assert Fraction(bound) ** 2 * length_squared <= Fraction(slack) ** 2


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_upper_bound_does_not_depend_on_units(scale):
    # At either end the squares leave the doubles, and the sums are made anew.
    rows = np.array([[3.0, 4.0], [-3.0, -3.0], [1.0, 1.0]])
    p = np.array([0.5, 0.5, 0.0])
    bound = margin_upper(rows * scale, p, False)
    assert 0.5 * scale <= bound <= 0.5 * scale * (1 + 1e-13)


def test_lengths_of_sparse_rows_are_those_of_dense_ones():
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((50, 7)) * (rng.random((50, 7)) < 0.2)
    dense[[0, 20, 49]] = 0.0  # rows without an entry, the first and last among them
    np.testing.assert_allclose(
        row_lengths(sparse.csr_matrix(dense)), row_lengths(dense), rtol=1e-15
    )
    assert row_lengths(sparse.csr_matrix((3, 2))).tolist() == [0.0] * 3
    assert row_lengths(np.array([[1e200, 0.0]])).tolist() == [np.inf]
