"""Passes over the entries of CSR rows, beside what the same dense rows say."""

import numpy as np
import pytest
from scipy import sparse

from linsep.rows import _sweeps
from linsep.solvers._sparse_rows import (
    hull_point,
    largest_of_columns,
    squares_of_rows,
    to_unit_length,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(params=[np.int32, np.int64])
def both(request, rng):
    """Dense rows, some of them and a column without an entry, and the same in CSR."""
    dense = rng.standard_normal((40, 9)) * (rng.random((40, 9)) < 0.3)
    dense[[0, 17, 39]] = 0.0
    dense[:, 4] = 0.0
    rows = sparse.csr_matrix(dense)
    rows.indices = rows.indices.astype(request.param)
    rows.indptr = rows.indptr.astype(request.param)
    return dense, rows


def test_largest_of_columns_and_squares_of_rows(both):
    dense, rows = both
    largest, squares = np.zeros(9), np.empty(40)
    largest_of_columns(rows.data, rows.indices, largest)
    squares_of_rows(rows.data, rows.indptr, squares)
    np.testing.assert_array_equal(largest, np.abs(dense).max(axis=0))
    np.testing.assert_allclose(squares, (dense**2).sum(axis=1), rtol=1e-14)


def test_columns_then_rows_are_of_unit_length(both):
    dense, rows = both
    to_columns, lengths = np.zeros(9), np.empty(40)
    to_unit_length(rows.data, rows.indices, rows.indptr, to_columns, lengths)
    width = np.linalg.norm(dense, axis=0)
    scaled = dense / np.where(width > 0, width, 1.0)
    length = np.linalg.norm(scaled, axis=1)
    expected = np.where(length > 0, length, 1.0)
    np.testing.assert_allclose(lengths, expected, rtol=1e-14)
    np.testing.assert_allclose(
        rows.toarray(), scaled / expected[:, None], rtol=1e-13, atol=0.0
    )
    assert to_columns[4] == 1.0


@pytest.mark.parametrize("balanced", [False, True])
def test_hull_point_of_rows_named(both, balanced, rng):
    dense, rows = both
    if balanced:
        signs = rng.choice([-1.0, 1.0], 40)
        dense = np.c_[dense, signs]
        rows = sparse.csr_matrix(sparse.hstack([rows, signs[:, None]]))
        # In any order within a row.
        rows = sparse.csr_matrix(rows[:, ::-1])[:, ::-1]
        np.testing.assert_array_equal(rows.toarray(), dense)
    named = rng.permutation(40)[:25]
    p = rng.random(25)
    p[3] = 0.0
    p /= p.sum()
    given = rows.indices, rows.indptr, named, p, rows.shape[1], balanced
    expected = _sweeps.hull_point(dense, named, p, balanced)
    assert hull_point(rows.data, *given) == pytest.approx(expected, rel=1e-13)
    up = dense[named, -1] > 0
    if balanced:
        assert hull_point(rows.data, *given[:3], p * up, *given[4:]) is None
        assert _sweeps.hull_point(dense, named, p * up, True) is None
