"""Columns that point one way, against a textbook loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from judges import dot, fractions_of
from linsep.rows import rows_from
from linsep.verified.presolve import Presolve
from linsep.verified.vectors import written_out


def textbook(A, equal):
    """Drop rows of one-way columns, one column at a time, until none is left."""
    left = set(range(len(A)))
    while True:
        for j in range(A.shape[1]):
            filled = [i for i in left if A[i, j] != 0]
            signs = {np.sign(A[i, j]) for i in filled}
            if filled and len(signs) == 1 and not any(equal[i] for i in filled):
                left -= set(filled)
                break
        else:
            return left


@pytest.mark.parametrize("as_csr", [False, True])
@given(st.integers(0, 2**32 - 1))
def test_the_rows_left_are_those_of_the_textbook(as_csr, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 15)), int(rng.integers(1, 8))
    A = rng.integers(-1, 2, (n, d)) * (rng.random((n, d)) < rng.random())
    A = np.ldexp(A.astype(float), rng.integers(-1070, 900, (n, d)))
    equal = rng.random(n) < 0.2
    X = sparse.csr_matrix(A) if as_csr else A
    if as_csr and X.nnz:
        X.data[rng.random(X.nnz) < 0.2] = 0.0  # zeros that are stored
        A = X.toarray()
    rows = rows_from(X, np.ones(n, dtype=np.int8), False)
    presolve = Presolve(rows, equal)
    found = presolve.run()
    assert set(np.flatnonzero(presolve.left)) == textbook(A, equal)
    filled = np.flatnonzero(A[presolve.left].any(axis=0))
    assert presolve.columns.tolist() == filled.tolist()
    if filled.size:
        part = presolve.part()
        assert part.columns.tolist() == filled.tolist()
        assert part.index.tolist() == np.flatnonzero(presolve.left).tolist()
        if as_csr:
            left = A[presolve.left][:, filled]
            np.testing.assert_array_equal(part.raw(slice(None)).toarray(), left)
    exact, alive = fractions_of(A), set(range(n))
    for direction, gone in found:
        w = written_out(direction, d)
        products = {i: dot(exact[i], w) for i in alive}
        assert {i for i, value in products.items() if value > 0} == set(gone.tolist())
        assert all(value >= 0 for value in products.values())
        assert not any(equal[i] for i in gone)
        alive -= set(gone.tolist())
    assert alive == set(np.flatnonzero(presolve.left))


def test_rows_taken_away_free_columns():
    A = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [0.0, -1.0]])
    presolve = Presolve(
        rows_from(A, np.ones(4, dtype=np.int8), False), np.zeros(4, bool)
    )
    assert presolve.run() == []
    presolve.drop(np.array([0]))
    ((direction, gone),) = presolve.run()
    assert written_out(direction, 2) == (-1, -1)
    assert gone.tolist() == [1, 2, 3]
    assert presolve.columns.size == 0
