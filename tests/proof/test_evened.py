"""Powers of two out of rows and columns: the same numbers, in short integers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.proof.evened import evened
from linsep.proof.exact import IntegerRows


def rows_of(integers, dtype=object):
    values = np.array(integers, dtype=dtype)
    return IntegerRows(values, np.arange(len(values), dtype=np.int64))


def exact(rows, shifts):
    return [
        [
            Fraction(int(value)) * Fraction(2) ** (int(e) + shift)
            for value, shift in zip(row, shifts, strict=True)
        ]
        for row, e in zip(rows.values.tolist(), rows.exponents.tolist(), strict=True)
    ]


small = st.integers(-9, 9)
grids = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(
        st.lists(
            st.lists(small, min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        ),
        st.lists(st.integers(0, 40), min_size=shape[0], max_size=shape[0]),
        st.lists(st.integers(0, 40), min_size=shape[1], max_size=shape[1]),
    )
)


@given(grids)
def test_the_rows_are_the_same_numbers(grid):
    integers, by_row, by_column = grid
    spread = [
        [value << (r + c) for value, c in zip(row, by_column, strict=True)]
        for row, r in zip(integers, by_row, strict=True)
    ]
    rows = rows_of(spread)
    short, shifts = evened(rows)
    if max(by_row) + max(by_column) < 58:  # they fit in int64, and are as they were
        again, same = evened(rows_of(spread, np.int64))
        assert again.values.dtype == np.int64
        assert (again.values.tolist(), same) == (short.values.tolist(), shifts)
    assert exact(short, shifts) == exact(rows, [0] * len(by_column))
    # No column could be halved once more.
    for column in short.values.T.tolist():
        assert not any(column) or any(int(value) % 2 for value in column)


@pytest.mark.parametrize("seed", range(10))
def test_units_of_rows_and_columns_are_found_again(seed):
    rng = np.random.default_rng(seed)
    odd = 2 * rng.integers(-4, 4, (7, 4)) + 1
    by_row, by_column = rng.integers(0, 30, 7), rng.integers(0, 300, 4)
    spread = [
        [int(v) << int(r + c) for v, c in zip(row, by_column, strict=True)]
        for row, r in zip(odd.tolist(), by_row, strict=True)
    ]
    short, _ = evened(rows_of(spread))
    assert short.values.dtype == np.int64
    assert short.values.tolist() == odd.tolist()


def test_one_row_in_other_units_does_not_lengthen_the_others():
    # The first column's usual unit is 2^100; the last row has a 1 there alone.
    rows = rows_of([[1 << 100, 1], [3 << 100, 5], [7 << 100, 3], [1, 0]])
    short, shifts = evened(rows)
    assert short.values.tolist() == [[1, 1], [3, 5], [7, 3], [1, 0]]
    assert shifts == [100, 0]
    assert short.exponents.tolist() == [0, 1, 2, 3 - 100]


@pytest.mark.parametrize("dtype", [np.int64, object])
def test_rows_and_columns_of_zeros_stay(dtype):
    rows = rows_of([[0, 0], [0, 12]], dtype)
    short, shifts = evened(rows)
    assert short.values.tolist() == [[0, 0], [0, 3]]
    assert exact(short, shifts) == exact(rows, [0, 0])
    assert (short.exponents.tolist(), shifts) == ([0, 1], [0, 2])
    assert evened(rows_of([[1, 3]], dtype))[0].values.tolist() == [[1, 3]]
    empty, shifts = evened(IntegerRows(np.zeros((0, 2), np.int64), np.zeros(0, int)))
    assert (empty.values.shape, shifts) == ((0, 2), [0, 0])


def test_integers_too_long_for_64_bits_stay_objects():
    for bits, dtype in ((61, np.int64), (62, object), (64, object)):
        long = [[(1 << bits) + 1, 1], [1, 1]]
        short, _ = evened(rows_of(long))
        assert short.values.dtype == dtype
        assert short.values.tolist() == long
