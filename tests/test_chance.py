"""Capacity and the permutation test: counts made one by one, and planted answers."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linsep


@pytest.mark.parametrize(("n", "d"), [(1, 0), (3, 1), (5, 2), (6, 2), (6, 3)])
def test_capacity_is_the_share_counted_on_points_in_general_position(n, d):
    X = np.random.default_rng(n).standard_normal((n, d))
    separable = 0
    for labels in product((0, 1), repeat=n):
        if len(set(labels)) == 1:
            separable += 1  # a constant separates one class
        elif d:
            separable += bool(linsep.separate(X, labels).separable)
    assert linsep.capacity(n, d) == separable / 2**n


@given(n=st.integers(1, 3000), d=st.integers(0, 300))
def test_capacity_is_a_share_that_falls_with_rows_and_grows_with_features(n, d):
    here = linsep.capacity(n, d)
    assert 0 <= here <= 1
    assert linsep.capacity(n + 1, d) <= here * (1 + 1e-9)
    assert linsep.capacity(n, d + 1) >= here * (1 - 1e-9)


def test_capacity_of_very_many_rows_is_that_of_the_exact_count():
    n, r = 2500, 40
    exact = 2 * sum(comb(n - 1, k) for k in range(r)) / 2**n
    assert linsep.capacity(n, r - 1) == pytest.approx(exact, rel=1e-9)


def test_a_hyperplane_through_the_origin_has_one_dimension_less():
    assert linsep.capacity(10, 4, fit_intercept=False) == linsep.capacity(10, 3)
    assert linsep.capacity(3, 0, fit_intercept=False) == 0.0


def test_labels_of_few_rows_are_separable_however_they_are_shuffled():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 30)), np.arange(20) % 2
    found = linsep.permutation_test(X, y, n_permutations=20)
    assert (found.n_separable, found.n_undecided, found.p_value) == (20, 0, 1.0)


def test_planted_labels_of_many_rows_are_not():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    found = linsep.permutation_test(X, X[:, 0] > 0, n_permutations=19)
    assert (found.n_separable, found.p_value) == (0, 0.05)


def test_the_same_seed_shuffles_the_same_way():
    X, y = np.arange(6.0)[:, np.newaxis], [0, 0, 0, 1, 1, 1]
    first, again = (
        linsep.permutation_test(X, y, n_permutations=50, random_state=7)
        for _ in range(2)
    )
    assert first == again
    assert 0 < first.n_separable < 50  # 2 of 20 arrangements are separable


def test_a_time_limit_leaves_the_rest_undecided():
    X, y = np.arange(40.0)[:, np.newaxis], [0] * 20 + [1] * 20
    found = linsep.permutation_test(X, y, n_permutations=5, time_limit=1e-9)
    assert found.n_undecided == 5
    assert found.p_value == 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_samples": 0, "n_features": 1}, "n_samples must be an integer"),
        ({"n_samples": 5, "n_features": -1}, "n_features must be an integer"),
        ({"n_samples": 2.5, "n_features": 1}, "n_samples must be an integer"),
    ],
)
def test_numbers_that_are_no_counts_are_refused(arguments, words):
    with pytest.raises(linsep.InputError, match=words):
        linsep.capacity(**arguments)


def test_one_class_cannot_be_shuffled():
    with pytest.raises(linsep.InputError, match="two classes"):
        linsep.permutation_test([[0.0], [1.0]], [1, 1])
