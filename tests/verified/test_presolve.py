"""Columns that point one way, against a textbook loop."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep.rows import rows_from
from linsep.verified.presolve import Presolve


def textbook(A, equal):
    """Rows left once no column points one way."""
    left = set(range(len(A)))
    while True:
        gone = set()
        for column in A.T:
            here = {i: column[i] for i in left if column[i] != 0}
            signs = {np.sign(value) for value in here.values()}
            if len(signs) == 1 and not any(equal[i] for i in here):
                gone |= set(here)
        if not gone:
            return left
        left -= gone


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.lists(
                st.lists(
                    st.sampled_from([0, 0, 0, 1, -1, 2.5]), min_size=5, max_size=5
                ),
                min_size=n,
                max_size=n,
            ),
            st.lists(st.booleans(), min_size=n, max_size=n),
            st.booleans(),
        )
    )
)
def test_the_rows_left_are_those_of_the_textbook(case):
    listed, flags, is_sparse = case
    A, equal = np.array(listed, dtype=float), np.array(flags)
    rows = rows_from(
        sparse.csr_array(A) if is_sparse else A, np.ones(len(A), np.int8), False
    )
    presolve = Presolve(rows, equal)
    found = presolve.run()
    assert set(np.flatnonzero(presolve.left).tolist()) == textbook(A, equal)
    stage = np.full(len(A), len(found))
    for k, (direction, gone) in enumerate(found):
        w = np.zeros(5)
        w[direction.columns] = direction.values
        products = A @ w
        here = stage >= k
        assert (products[here] >= 0).all()
        assert set(np.flatnonzero(here & (products > 0)).tolist()) == set(gone.tolist())
        assert (products[here & equal] == 0).all()
        stage[gone] = k
        stage[(stage > k) & ~np.isin(np.arange(len(A)), gone)] = len(found)
    left = A[presolve.left]
    assert presolve.columns.tolist() == np.flatnonzero(left.any(axis=0)).tolist()
