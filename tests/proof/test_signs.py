"""Signs beyond doubt, and separators written short."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from judges import dot, fractions_of
from linsep.proof.doubles import doubles_from
from linsep.proof.exact import integers_from
from linsep.proof.signs import (
    all_positive,
    decisions,
    row_signs,
    settled_signs,
    shortened,
    signs_of,
    vanishing,
)
from linsep.rows import rows_from

numbers = st.one_of(
    st.floats(-1e300, 1e300),
    st.floats(-1e-300, 1e-300),
    st.integers(-3, 3).map(float),
)
pairs = st.integers(1, 5).flatmap(
    lambda d: st.tuples(
        st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=1, max_size=6),
        st.lists(numbers, min_size=d, max_size=d),
    )
)


def truth(A, w):
    exact = [Fraction(float(v)) for v in w]
    products = [dot(row, exact) for row in fractions_of(A)]
    return [(p > 0) - (p < 0) for p in products]


@given(pairs)
def test_row_signs_equal_fractions(pair):
    A, w = np.array(pair[0]), np.array(pair[1])
    expected = truth(A, w)
    assert row_signs(A, w).tolist() == expected
    assert row_signs(A, integers_from(w)).tolist() == expected
    assert row_signs(sparse.csr_matrix(A), w).tolist() == expected


@given(pairs, st.integers(0, 4))
def test_row_signs_settle_one_unit_in_the_last_place(pair, column):
    # The last entry balances the others to one ulp: the float product is noise.
    A, w = np.array(pair[0]), np.array(pair[1])
    w[-1] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        balance = -(A[:, :-1] @ w[:-1])
    A[:, -1] = np.where(np.isfinite(balance), balance, 0.0)
    for A_moved in (A, np.nextafter(A, np.inf)):
        assert row_signs(A_moved, w).tolist() == truth(A_moved, w)


@given(pairs, st.booleans(), st.booleans(), st.data())
def test_rows_in_any_backend_have_the_signs_of_fractions(pair, free, thin, data):
    X, w = np.array(pair[0]), [*integers_from(pair[1]), 3][: len(pair[1]) + free]
    n = len(X)
    labels = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    given = sparse.csr_array(X) if thin else X
    rows = rows_from(given, np.array(labels, dtype=np.int8), free)
    A = rows.take(np.arange(len(X)))
    products = [dot(row, w) for row in fractions_of(A)]
    expected = np.array([(p > 0) - (p < 0) for p in products])
    index = np.array(data.draw(st.permutations(range(len(X)))), dtype=np.intp)
    index = index[: data.draw(st.integers(0, len(X)))]
    signs, relative = signs_of(rows, w, index)
    assert signs.tolist() == expected[index].tolist()
    assert (np.abs(relative) <= 1 + 1e-15).all()
    settled, _ = settled_signs(rows, w, index)
    assert ((settled == 0) | (settled == expected[index])).all()
    assert all_positive(rows, w, index) == bool((expected[index] > 0).all())


def test_weights_beside_which_others_vanish_are_settled_without_integers():
    rows = rows_from(
        np.array([[1.0, -4.0], [0.0, 1.0]]), np.ones(2, dtype=np.int8), False
    )
    signs, _ = settled_signs(rows, [1 << 1200, 1], np.arange(2))
    assert signs.tolist() == [1, 0]
    assert signs_of(rows, [1 << 1200, 1], np.arange(2))[0].tolist() == [1, 1]
    assert all_positive(rows, [1 << 1200, 1], np.arange(2)) is True
    assert all_positive(rows, [1, 1], np.arange(2)) is False


def test_a_weight_no_double_stands_for_may_outweigh_the_others():
    # 2^-1000 * 2^1200 - 2^300, where doubles see 2^-1001 - 2^300 * 0.
    X, exact = np.array([[2.0**-1000, -(2.0**300)]]), [1 << 1200, 1]
    rows = rows_from(X, np.ones(1, dtype=np.int8), False)
    assert signs_of(rows, exact, np.arange(1))[0].tolist() == [-1]
    assert all_positive(rows, exact, np.arange(1)) is False
    (value,) = decisions(X, doubles_from(exact), exact, False)
    assert value == 2.0**-1001 - 2.0**-901


@given(pairs, st.integers(0, 3), st.booleans(), st.data())
def test_rows_vanish_where_all_products_are_zero(pair, q, thin, data):
    X = np.array(pair[0])
    d = X.shape[1]
    some = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    columns = data.draw(st.lists(some, min_size=q, max_size=q))
    basis = np.array(columns, dtype=object).reshape(q, d).T
    if data.draw(st.booleans()):  # a row that vanishes on the first column
        X[0] = 0.0
    given = sparse.csr_array(X) if thin else X
    rows = rows_from(given, np.ones(len(X), dtype=np.int8), False)
    index = np.arange(len(X))
    expected = [
        all(dot(row, [int(v) for v in column]) == 0 for column in basis.T)
        for row in fractions_of(X)
    ]
    assert vanishing(rows, basis, index).tolist() == expected
    zeros = [not any(row) for row in X.tolist()]
    assert vanishing(rows, None, index).tolist() == zeros


@given(pairs, st.booleans(), st.booleans())
def test_decisions_have_the_sign_and_about_the_value_of_fractions(pair, free, thin):
    X, w = np.array(pair[0]), np.array(pair[1])
    given = sparse.csr_array(X) if thin else X
    w = np.append(w, -1.0) if free else w
    full = np.column_stack([X, np.ones(len(X))]) if free else X
    for exact in (None, integers_from(w)):
        found = decisions(given, w, exact, free)
        for row, value in zip(fractions_of(full), found.tolist(), strict=True):
            true = dot(row, [Fraction(float(v)) for v in w])
            assert (value > 0) - (value < 0) == (true > 0) - (true < 0)
            assert math.isfinite(value)


def test_decisions_by_integers_no_doubles_can_stand_for():
    exact = [1 << 1200, 1, -(1 << 1199)]
    w = doubles_from(exact)
    assert w[1] == 0.0
    X = np.array([[0.5, 1.0], [0.5, -1.0], [0.5, 0.0], [1.0, 7.0]])
    values = decisions(X, w, exact, True)
    assert np.sign(values).tolist() == [1, -1, 0, 1]
    assert values[3] == 0.25
    assert values[0] == 5e-324


def test_decisions_beyond_the_doubles_are_the_largest_of_their_sign():
    X, w = np.array([[1e300], [-1e300], [0.0]]), np.array([1e300])
    largest = sys.float_info.max
    values = decisions(X, w, None, False)
    assert values.tolist() == [largest, -largest, 0.0]
    assert not np.signbit(values[2])


def test_row_signs_of_many_chunks():
    rng = np.random.default_rng(5)
    A = rng.integers(-4, 5, size=(3, 700_000)).astype(float)
    w = rng.integers(-4, 5, size=700_000).astype(float)
    products = A.astype(np.int64) @ w.astype(np.int64)
    assert row_signs(A, w).tolist() == np.sign(products).tolist()


def test_row_signs_refuse_a_wrong_length():
    with pytest.raises(ValueError, match="one entry per column of A, got 1 for 2"):
        row_signs(np.ones((3, 2)), [1])


def test_shortened_rounds_as_far_as_the_rows_allow():
    long = [(1 << 900) + 12345, (1 << 899) + 6789]
    assert shortened(np.array([[1, -1]]), long) == [2, 1]
    # Here only the last bits tell: nothing can be rounded away.
    tight = np.array([[1 << 899, -(1 << 900)]], dtype=object)
    kept = [(1 << 900) + 1, 1 << 899]
    assert shortened(tight, kept) == kept
    # Doubles of these are equal; twice as many bits tell them apart, and no more are.
    apart = [(1 << 900) + (1 << 820) + (1 << 819), 1 << 900]
    assert shortened(np.array([[1, -1]]), apart) == [(1 << 81) + 3, 1 << 81]
    apart = [(1 << 60) + 1, 1 << 60]
    assert shortened(np.array([[1, -1]]), apart) == apart
    # Two bits are enough for the first, and more are left out.
    apart = [(1 << 900) + (1 << 830), 1 << 899]
    assert shortened(np.array([[1, -1]]), apart) == [2, 1]
    # What is left out is rounded to the nearest: at 106 bits up to the next.
    apart = [(1 << 900) + (3 << 819) + (1 << 794) + 1, 1 << 900]
    assert shortened(np.array([[1, -1]]), apart) == [
        (1 << 105) + (3 << 24) + 1,
        1 << 105,
    ]
    # A grid of 106 bits: no coarser than the first, and by one bit than the second.
    apart = [(1 << 105) + 1, 1 << 105]
    assert shortened(np.array([[1, -1]]), apart) == apart
    apart = [(1 << 106) + 3, 1 << 106]
    assert shortened(np.array([[1, -1]]), apart) == [(1 << 104) + 1, 1 << 104]
    # Longer than many a grid, and again only the last bit tells.
    tight = np.array([[1 << 4999, -(1 << 5000)]], dtype=object)
    kept = [(1 << 5000) + 1, 1 << 4999]
    assert shortened(tight, kept) == kept


def test_relative_margins_are_shares_of_the_largest_and_zero_where_unknown():
    X = [[3.0, -1.0], [0.0, 0.0], [1e308, 1e308], [-2.0, 0.0], [2.0**-9, 2.0**-8 * 3]]
    rows = rows_from(np.array(X), np.ones(5, dtype=np.int8), False)
    signs, relative = signs_of(rows, [5, -5], np.arange(5))
    assert signs.tolist() == [1, 0, 0, -1, -1]
    assert relative.tolist() == [1.0, 0.0, 0.0, -1.0, -5 / 7]
    signs, relative = signs_of(rows, [5, 5], np.arange(5))
    assert signs.tolist() == [1, 0, 1, -1, 1]
    assert relative.tolist() == [0.5, 0.0, 1.0, -1.0, 1.0]
