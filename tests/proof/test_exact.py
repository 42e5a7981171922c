"""Doubles to integers and back, without losing a bit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from judges import dot, fractions_of
from linsep.proof.evened import evened
from linsep.proof.exact import (
    IntegerRows,
    doubles_from,
    exact_signs,
    integers_from,
    primitive,
    unscaled,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
matrices = st.tuples(st.integers(1, 5), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(
        st.lists(finite, min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).map(np.array)
)


@given(matrices)
def test_integer_rows_times_their_power_are_the_floats(A):
    rows = IntegerRows.from_floats(A)
    for i, exact in enumerate(fractions_of(A)):
        power = Fraction(2) ** int(rows.exponents[i])
        assert [int(v) * power for v in rows.values[i]] == exact
        # No common factor of two is left.
        assert not any(exact) or any(int(v) % 2 for v in rows.values[i])


def test_small_integers_stay_in_int64():
    rows = IntegerRows.from_floats(np.arange(12.0).reshape(3, 4))
    assert rows.values.dtype == np.int64
    assert rows.values[0].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_integer_rows_refuse_what_is_not_finite(bad):
    with pytest.raises(ValueError, match="must be finite"):
        IntegerRows.from_floats(np.array([[1.0, bad]]))


def test_integer_rows_refuse_a_vector():
    with pytest.raises(ValueError, match="two dimensions, got 1"):
        IntegerRows.from_floats(np.ones(3))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty_rows_are_rows(shape):
    rows = IntegerRows.from_floats(np.empty(shape))
    assert rows.shape == shape
    assert exact_signs(np.empty(shape), [1] * shape[1]).tolist() == [0] * shape[0]


def test_rows_without_entries_lie_on_every_hyperplane():
    thin = sparse.csr_matrix((3, 2))
    assert exact_signs(thin, [1 << 60, 1]).tolist() == [0, 0, 0]
    thin = sparse.csr_matrix(np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.0]]))
    assert exact_signs(thin, [-(1 << 60), 1]).tolist() == [0, -1, 0]


@given(matrices, st.data())
def test_exact_signs_equal_fractions_dense_and_sparse(A, data):
    w = data.draw(
        st.lists(st.integers(-(10**30), 10**30), min_size=len(A[0]), max_size=len(A[0]))
    )
    truth = [(s > 0) - (s < 0) for s in (dot(row, w) for row in fractions_of(A))]
    assert exact_signs(A, w).tolist() == truth
    assert exact_signs(sparse.csr_matrix(A), w).tolist() == truth


@given(st.lists(finite, min_size=1, max_size=6))
def test_integers_from_doubles_keep_every_ratio(values):
    integers = integers_from(values)
    exact = [Fraction(v) for v in values]
    pivot = next((i for i, v in enumerate(integers) if v), None)
    if pivot is None:
        assert not any(values)
    else:
        scale = exact[pivot] / integers[pivot]
        assert scale > 0
        assert [scale * v for v in integers] == exact


@given(st.lists(st.integers(-(2**2000), 2**2000), min_size=1, max_size=5))
def test_doubles_from_integers_round_each_entry_once(integers):
    scale = 1 << max(abs(v).bit_length() for v in integers)
    for value, rounded in zip(integers, doubles_from(integers), strict=True):
        exact = Fraction(value, scale)
        allowed = max(abs(exact) * Fraction(2) ** -53, Fraction(2) ** -1075)
        assert abs(Fraction(float(rounded)) - exact) <= allowed


def test_weights_of_scaled_rows_become_weights_of_the_rows():
    A = np.array([[2.0**-1070, 0.0], [-(2.0**900), 0.0]])
    rows = IntegerRows.from_floats(A)
    weights = unscaled([1, 1], rows.exponents)
    assert dot([row[0] for row in fractions_of(A)], weights) == 0
    assert weights == [2**1970, 1]


def test_primitive_of_zeros_is_zeros():
    assert primitive([0, 0]) == [0, 0]
    assert primitive([]) == []


def test_rows_of_zeros_do_not_hide_a_large_w():
    # The products are small, the entries of w are not.
    assert exact_signs(np.zeros((2, 2)), [10**30, 1]).tolist() == [0, 0]
    rows = IntegerRows.from_floats(np.array([[0.0, 3.0]]))
    assert rows.products([10**30, -2]).tolist() == [-6]


@given(matrices)
def test_evened_rows_are_the_same_rows_and_no_longer(A):
    rows = IntegerRows.from_floats(A)
    short, shifts = evened(rows)
    for i, exact in enumerate(fractions_of(A)):
        power = Fraction(2) ** int(short.exponents[i])
        restored = [
            power * int(v) * 2**shift
            for v, shift in zip(short.values[i], shifts, strict=True)
        ]
        assert restored == exact


def test_columns_give_up_the_power_of_two_they_share():
    # In the second row the column of the smallest unit is empty.
    A = np.array([[3.0, 5.0 * 2.0**900], [0.0, 7.0 * 2.0**901], [1.0, 2.0**900]])
    short, shifts = evened(IntegerRows.from_floats(A))
    assert short.values.dtype == np.int64
    assert np.abs(short.values).max() <= 14
    assert shifts[1] - shifts[0] == 900
