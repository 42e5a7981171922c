"""Doubles to integers and back, without losing a bit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from judges import dot, fractions_of
from linsep.proof.doubles import (
    SMALLEST_NORMAL,
    doubles_from,
    is_lost,
    row_bits,
    scale_of,
    scaled_doubles,
)
from linsep.proof.evened import evened
from linsep.proof.exact import (
    IntegerRows,
    _whole_products,
    exact_signs,
    exact_values,
    integer_product,
    integers_from,
    magnitude,
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


def test_int64_holds_integers_of_62_bits_and_python_longer_ones():
    rows = IntegerRows.from_floats(np.array([[1.0, 2.0**61], [0.0, -(2.0**61)]]))
    assert rows.values.dtype == np.int64
    assert rows.values.tolist() == [[1, 2**61], [0, -1]]
    assert rows.exponents.tolist() == [0, 61]
    zeros = IntegerRows.from_floats(np.zeros((2, 2)))
    assert (zeros.values.tolist(), zeros.exponents.tolist()) == ([[0, 0]] * 2, [0, 0])
    rows = IntegerRows.from_floats(np.array([[1.0, 2.0**62]]))
    assert rows.values.dtype == object
    assert rows.values.tolist() == [[1, 2**62]]


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
    assert rows.exponents.tolist() == [0] * shape[0]
    assert exact_signs(np.empty(shape), [1] * shape[1]).tolist() == [0] * shape[0]


def test_rows_without_entries_lie_on_every_hyperplane():
    thin = sparse.csr_matrix((3, 2))
    assert exact_signs(thin, [1 << 60, 1]).tolist() == [0, 0, 0]
    thin = sparse.csr_matrix(np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.0]]))
    assert exact_signs(thin, [-(1 << 60), 1]).tolist() == [0, -1, 0]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_exact_signs_refuse_what_is_not_finite(bad):
    with pytest.raises(ValueError, match="must be finite"):
        exact_signs(np.array([[1.0, bad]]), [1, 1])


def test_products_of_integers_are_exact_up_to_the_last_that_int64_holds():
    ones, threes = np.array([[1, -1]]), np.array([[3, 2]])
    for values, w, total in [
        (ones, [2**62, -(2**62 - 1)], 2**63 - 1),
        (threes, [2**61, 2**60], 3 * 2**61 + 2**61),
        (np.array([[0, 1]]), [2**63 - 2, 1], 1),
    ]:
        found = integer_product(values, w)
        assert found.tolist() == [total]
    assert integer_product(ones, [2**62, -(2**62 - 1)]).dtype == np.int64
    assert integer_product(ones, [2**62, 2**62]).dtype == object
    assert integer_product(threes, [2**62, -(2**62)]).tolist() == [2**62]
    assert integer_product(threes.astype(object), [1, 1]).dtype == object


def test_products_in_doubles_stop_where_doubles_would_round():
    whole = _whole_products(np.array([[2.0**53 - 2, 1.0], [-3.0, 2.0]]), [1, 1])
    assert whole.tolist() == [2**53 - 1, -1]
    # 2^53 + 1 is no double: neither as a sum nor as a weight.
    assert _whole_products(np.array([[2.0**53, 1.0]]), [1, 1]) is None
    assert _whole_products(np.array([[0.0, 1.0]]), [2**53 + 1, 1]) is None
    assert _whole_products(np.array([[0.0, 1.0]]), [2**53, 1]).tolist() == [1.0]
    assert _whole_products(np.array([[2.5, 1.0]]), [1, 1]) is None
    thin = sparse.csr_matrix(np.array([[0.0, 0.5], [1.0, 0.0]]))
    assert _whole_products(thin, [1, 2]) is None
    assert _whole_products(thin * 2, [3, -1]).tolist() == [-1, 6]


def test_exact_signs_of_the_smallest_products():
    A = np.array([[1.0, -1.0], [0.0, 0.0], [-1.0, 1.0], [0.5, 0.0], [-0.5, 0.0]])
    assert exact_signs(A, [2, 1]).tolist() == [1, 0, -1, 1, -1]
    assert exact_signs(A[:3], [2, 1]).tolist() == [1, 0, -1]


def test_exact_values_are_fractions_of_the_rows_as_they_were():
    A = np.array([[0.75, 1.0], [8.0, 0.0], [0.0, 0.0], [2.0**-1074, 0.0]])
    assert exact_values(A, [1, 2]) == [Fraction(11, 4), 8, 0, Fraction(1, 2**1074)]
    assert exact_values(A[:2], [1, 2], Fraction(-2, 3)) == [
        Fraction(-11, 6),
        Fraction(-16, 3),
    ]


def test_row_bits_and_doubles_scaled_by_them():
    for kind in (np.int64, object):
        values = np.array([[3, -1], [0, 0], [-5, 4]], dtype=kind)
        assert row_bits(values) == [2, 0, 3]
        assert row_bits(values[:, :0]) == [0, 0, 0]
        assert scaled_doubles(values).tolist() == [
            [0.75, -0.25],
            [0, 0],
            [-0.625, 0.5],
        ]
    assert magnitude(values) == 5
    assert magnitude(values[:, :0]) == 0
    assert magnitude(np.array([[-7, 2]])) == 7


def test_an_integer_is_lost_where_its_double_is_zero_subnormal_or_infinite():
    small = SMALLEST_NORMAL
    floats = np.array([1.0, -small, small / 2, small / 2, 0.0, 0.0, 0.0, np.inf])
    integers = [5, -1, 0, 1, 0, 1, -1, 3]
    assert is_lost(floats, integers).tolist() == [
        False, False, False, True, False, True, True, True,
    ]  # fmt: skip
    assert small == 2.0**-1022


def test_the_scale_of_doubles_is_read_off_the_largest():
    assert scale_of(np.array([0.1, -0.75]), [2, -9]) == Fraction(1, 12)
    assert scale_of(np.array([0.0, 0.0]), [0, 0]) == 1


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


def test_doubles_from_no_integers_are_none():
    assert doubles_from([]).tolist() == []


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
