"""Sparse data of very many columns: few passes, and never written out."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import linsep


def planted(n, d, a_row, values, seed=0):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, d, (n, a_row))
    entries = values(rng, (n, a_row))
    indptr = np.arange(0, n * a_row + 1, a_row)
    X = sparse.csr_array((entries.ravel(), columns.ravel(), indptr), shape=(n, d))
    X.sum_duplicates()
    X = sparse.csr_array(
        (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=(n, d)
    )
    return X, np.where(X @ rng.standard_normal(d) > 0, 1, -1)


@pytest.mark.parametrize(
    "values",
    [lambda rng, shape: rng.standard_normal(shape), lambda rng, shape: np.ones(shape)],
    ids=["normal", "counts"],
)
def test_a_planted_separator_is_found_within_twice_the_matrix(values):
    X, y = planted(60_000, 30_000, 30, values)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    linsep.separate(X[:100], y[:100])  # what is loaded once does not count
    tracemalloc.start()
    answer = linsep.separate(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert answer.separable
    assert answer.proved
    assert answer.n_passes <= 10
    assert peak <= 2 * size
    assert ((X @ answer.coef + answer.intercept > 0) == (y > 0)).all()


def test_rows_taken_of_a_sparse_matrix_are_signed_and_extended():
    X, y = planted(500, 40, 5, lambda rng, shape: rng.integers(-3, 4, shape) / 2)
    from linsep.rows import SparseRows

    rows = SparseRows(X, y.astype(np.int8), True)
    whole = np.column_stack([X.toarray(), np.ones(500)]) * y[:, None]
    rng = np.random.default_rng(0)
    runs = np.arange(500), np.arange(120, 300), np.arange(0)
    for index in (*runs, rng.permutation(500)[:77], np.array([4, 6])):
        taken = rows.take(index)
        assert taken.has_canonical_format
        np.testing.assert_array_equal(taken.toarray(), whole[index])
