"""Signs beyond doubt, and separators written short."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from judges import dot, fractions_of
from linsep.proof.exact import integers_from
from linsep.proof.signs import row_signs, shortened

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
