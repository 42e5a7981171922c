"""The checks of arguments: what is let through, what is said of the rest."""

import math

import numpy as np
import pytest

from linsep.input import (
    InputError,
    checked_array,
    checked_count,
    checked_integers,
    checked_number,
    checked_random_state,
    checked_seed,
    checked_time_limit,
)


def test_a_count_is_an_integer_within_its_range():
    assert checked_count("n", np.int8(3)) == 3
    assert type(checked_count("n", np.int8(3))) is int
    assert checked_count("n", 0, least=0, most=0) == 0


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "3", None])
def test_what_is_no_count_is_refused_by_name(value):
    with pytest.raises(InputError, match=r"^n must be an integer of at least 1, got "):
        checked_count("n", value)


def test_a_number_is_a_float_within_its_range():
    assert checked_number("r", 2) == 2.0
    assert checked_number("r", np.float32(0.5), above=0) == 0.5
    assert checked_number("r", 0, least=0) == 0.0
    assert checked_number("r", math.inf, above=0, infinite=True) == math.inf
    assert checked_number("r", 10**400, above=0, infinite=True) == math.inf


@pytest.mark.parametrize(
    ("value", "limits", "wanted"),
    [
        (0, {"above": 0}, "a positive number, and finite, got 0"),
        (1, {"above": 1}, "a number above 1, and finite, got 1"),
        (-1, {"least": 0}, "zero or positive, and finite, got -1"),
        (0, {"least": 0.5}, "a number of at least 0.5, and finite, got 0"),
        (math.inf, {"above": 0}, "a positive number, and finite, got inf"),
        (math.nan, {}, "a number, and finite, got nan"),
        (math.nan, {"infinite": True}, "a number, got nan"),
        (10**400, {}, "a number, and finite, got 1000"),
        (True, {}, "a number, and finite, got True"),
        ("1", {}, "a number, and finite, got '1'"),
    ],
)
def test_what_is_no_number_is_refused_by_name(value, limits, wanted):
    with pytest.raises(InputError) as refused:
        checked_number("r", value, **limits)
    assert str(refused.value).startswith(f"r must be {wanted}")


def test_integers_are_a_list_of_at_least_one_within_the_range():
    assert checked_integers("rows", np.array([0, 5]), least=0, most=5) == [0, 5]
    assert checked_integers("rows", 3, least=0, most=5) == [3]
    for values in ([], [6], [1.0], [True], "1", None):
        with pytest.raises(InputError, match=r"^rows must be numbers from 0 to 5"):
            checked_integers("rows", values, least=0, most=5)


def test_an_array_has_its_shape_and_finite_entries():
    assert checked_array("v", [1, 2], (None,)).dtype == np.float64
    for values, wanted in (
        ([], r"v must have shape \(any\), got \(0,\)"),
        ([[1.0]], r"v must have shape \(any\), got \(1, 1\)"),
        ([math.nan], "v must be finite, got inf or nan in it"),
        (["a"], "v must be an array of numbers"),
    ):
        with pytest.raises(InputError, match=f"^{wanted}"):
            checked_array("v", values, (None,))


def test_no_seed_is_the_seed_zero():
    assert checked_seed(None) == 0
    first, second = checked_random_state(None), checked_random_state(0)
    assert first.integers(2**60) == second.integers(2**60)
    assert checked_random_state(first) is first
    for bad in (-1, 1.0, True, "0"):
        with pytest.raises(InputError, match="non-negative integer or None, got"):
            checked_random_state(bad)


def test_a_time_limit_beyond_every_double_is_none_at_all():
    assert checked_time_limit(None) == checked_time_limit(10**400) == math.inf
    assert checked_time_limit(np.float32(0.5)) == 0.5
    for bad in (0, -1, math.nan, True, "1"):
        with pytest.raises(InputError, match="positive number of seconds or None"):
            checked_time_limit(bad)
