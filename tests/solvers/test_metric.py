"""The metric: invariance, rank, and the way back to weights."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer

from linsep.solvers import _factors
from linsep.solvers.metric import rewhiten, whiten
from textbook import compiled_rounds


def signed(X, y):
    return np.c_[X, np.ones(len(X))] * np.where(y, 1.0, -1.0)[:, None]


def planted(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    return A * np.sign(A @ rng.standard_normal(d))[:, None]


def count_rounds(A, limit=5000):
    for state in compiled_rounds(whiten(A).rows):
        if state.separator is not None or state.n_rounds >= limit:
            return state.n_rounds
    raise AssertionError


@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.sampled_from([(1, 1), (7, 3), (40, 6), (5, 30), (3, 3)]),
    repeated=st.booleans(),
)
def test_coordinates_keep_every_margin_up_to_row_lengths(seed, shape, repeated):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal(shape)
    if repeated:
        A = np.c_[A, A[:, ::-1], np.zeros(len(A))]  # duplicated and constant columns
    coordinates = whiten(A)
    assert coordinates.rank == np.linalg.matrix_rank(A)
    u = rng.standard_normal(coordinates.rank)
    np.testing.assert_allclose(
        coordinates.rows @ u,
        A @ coordinates.to_weights(u) / coordinates.scale,
        atol=1e-9 * (1 + np.abs(coordinates.rows @ u).max()),
    )
    assert (coordinates.scale > 0).all()
    lengths = np.linalg.norm(coordinates.rows, axis=1)
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), condition=st.sampled_from([1.0, 1e3, 1e6]))
def test_rounds_do_not_depend_on_an_invertible_column_map(seed, condition):
    A = planted(seed)
    rng = np.random.default_rng(seed + 1)
    left, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    right, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    B = left @ np.diag(np.geomspace(1, condition, 4)) @ right
    # Rounding may tip the last comparison: one round either way.
    assert abs(count_rounds(A @ B) - count_rounds(A)) <= 1 + 0.02 * count_rounds(A)


def test_rounds_do_not_depend_on_shifting_the_origin():
    X, y = load_breast_cancer(return_X_y=True)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    assert abs(count_rounds(signed(X, y)) - count_rounds(signed(standard, y))) <= 6


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e150])
def test_rows_of_any_size_give_finite_coordinates(scale):
    A = planted(0) * scale
    A[::7] *= 1e-80
    coordinates = whiten(A)
    assert np.isfinite(coordinates.rows).all()
    assert coordinates.rank == 4


def test_rows_in_any_layout_have_the_same_coordinates():
    A = planted(5)
    for rows in (np.asfortranarray(A), np.repeat(A, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(whiten(rows).rows, whiten(A).rows)


def test_zero_rows_stay_zero_and_no_rows_are_no_trouble():
    coordinates = whiten(np.array([[0.0, 0.0], [1.0, 2.0]]))
    np.testing.assert_array_equal(coordinates.rows[0], 0.0)
    assert whiten(np.zeros((3, 2))).rank == 0
    assert whiten(np.zeros((3, 2))).to_weights(np.zeros(0)).tolist() == [0.0, 0.0]


def test_row_space_form_never_makes_sparse_rows_dense():
    rng = np.random.default_rng(0)
    A = sparse.random(20, 1_000_000, density=1e-4, random_state=rng, format="csr")
    coordinates = whiten(A)
    u = np.ones(coordinates.rank)
    w = coordinates.to_weights(u)
    assert w.shape == (1_000_000,)
    np.testing.assert_allclose(
        A @ w / coordinates.scale, coordinates.rows @ u, atol=1e-9
    )


def test_rewhitening_uses_the_weights():
    A = planted(3, n=200)
    coordinates = whiten(A)
    q = np.zeros(len(A))
    q[:4] = 0.25
    anew = rewhiten(coordinates, q)
    mixed = 0.5 / len(A) + 0.5 * q
    # In the new coordinates the mixed second moment of the old unit rows is I / rank.
    old = coordinates.rows
    scale = (anew.scale / coordinates.scale)[:, None]
    moved = anew.rows * scale
    np.testing.assert_allclose(
        (moved * mixed[:, None]).T @ moved, np.eye(4) / 4, atol=1e-12
    )
    assert old.shape == anew.rows.shape


def test_rewhitening_helps_where_the_margin_is_small():
    X, y = load_breast_cancer(return_X_y=True)
    from linsep.solvers.oracle import softmin

    coordinates = whiten(signed(X, y))
    for state in compiled_rounds(coordinates.rows):
        if state.n_rounds >= 24:
            break
    weights = softmin(coordinates.rows @ state.total)
    for again in compiled_rounds(rewhiten(coordinates, weights).rows):
        if again.separator is not None:
            break
    assert state.n_rounds + again.n_rounds < count_rounds(signed(X, y))


def test_centring_moves_no_margin_and_spares_constant_columns():
    rng = np.random.default_rng(0)
    X = np.c_[rng.standard_normal((30, 2)) + 1e8, np.full(30, 7.0)]
    A = signed(X, rng.random(30) > 0.5)
    coordinates = whiten(A, constant=True)
    assert coordinates.rank == 3
    u = np.array([1.0, -2.0, 0.5])
    w = coordinates.to_weights(u)
    assert w[2] == 0.0
    np.testing.assert_allclose(
        coordinates.rows @ u, A @ w / coordinates.scale, atol=1e-6
    )


def test_many_wide_sparse_rows_get_the_diagonal_metric_and_stay_sparse(monkeypatch):
    from linsep.solvers import metric

    monkeypatch.setattr(metric, "MOST_COORDINATES", 20)
    rng = np.random.default_rng(0)
    A = sparse.random(60, 40, density=0.2, random_state=rng, format="csr")
    for rows in (A, A.toarray()):
        coordinates = whiten(rows, constant=True)
        assert coordinates.is_diagonal
        assert sparse.issparse(coordinates.rows) == sparse.issparse(rows)
        u = rng.standard_normal(40)
        np.testing.assert_allclose(
            coordinates.rows @ u,
            rows @ coordinates.to_weights(u) / coordinates.scale,
            atol=1e-12,
        )
    # Units of the columns make no difference to it.
    units = 2.0 ** rng.integers(-40, 40, 40)
    again = whiten(sparse.csr_matrix(A.multiply(units)))
    np.testing.assert_allclose(again.rows.toarray(), whiten(A).rows.toarray())


def test_second_moment_and_qr_give_the_same_metric(monkeypatch):
    from linsep.solvers import metric

    rng = np.random.default_rng(1)
    A = rng.standard_normal((80, 6)) @ np.triu(rng.standard_normal((6, 6)))
    A = np.c_[A, A[:, 0] - A[:, 1], np.zeros(80)]
    by_qr = whiten(A)
    monkeypatch.setattr(metric, "MOMENT_FROM", 0)
    by_moment = whiten(A)
    assert by_moment.rank == by_qr.rank == 6
    # The same up to a rotation: the Gram matrices of the rows agree.
    np.testing.assert_allclose(
        by_moment.rows @ by_moment.rows.T, by_qr.rows @ by_qr.rows.T, atol=1e-8
    )


def test_ill_conditioned_columns_are_left_to_the_qr(monkeypatch):
    from linsep.solvers import metric

    monkeypatch.setattr(metric, "MOMENT_FROM", 0)
    rng = np.random.default_rng(1)
    A = rng.standard_normal((50, 3))
    A = np.c_[A, A[:, 0] + 1e-6 * rng.standard_normal(50)]
    assert whiten(A).rank == 4


@pytest.mark.parametrize("rank", [20, 17])
def test_wide_rows_are_whitened_by_a_factor_of_their_gram_matrix(rank, monkeypatch):
    from linsep.solvers import metric

    rng = np.random.default_rng(2)
    A = rng.standard_normal((20, 60)) * 2.0 ** rng.integers(-9, 9, 60)
    A[rank:] = A[: 20 - rank] + A[1 : 21 - rank]
    by_eigenvectors = whiten(A)
    monkeypatch.setattr(metric, "MOMENT_FROM", 0)
    by_factor = whiten(A)
    assert by_factor.rank == by_eigenvectors.rank == rank
    np.testing.assert_allclose(
        by_factor.rows @ by_factor.rows.T,
        by_eigenvectors.rows @ by_eigenvectors.rows.T,
        atol=1e-9,
    )
    u = rng.standard_normal(rank)
    reached = A @ by_factor.to_weights(u)
    np.testing.assert_allclose(reached, by_factor.scale * (by_factor.rows @ u))


def test_columns_are_packed_in_the_memory_of_the_rows():
    rows = np.arange(12.0).reshape(3, 4)
    expected = rows[:, [2, 0, 3]]
    packed = _factors.packed(rows, np.array([2, 0, 3]))
    np.testing.assert_array_equal(packed, expected)
    assert np.shares_memory(packed, rows)
    assert packed.flags.c_contiguous
    assert _factors.packed(np.ones((2, 3)), np.empty(0, dtype=np.intp)).shape == (2, 0)


def test_whitening_reads_dense_rows_but_once_into_new_memory():
    # The centred rows are scaled, packed and divided where they stand.
    rng = np.random.default_rng(0)
    A = np.column_stack([rng.standard_normal((3_000, 40)), np.ones(3_000)])
    whiten(A, constant=True)
    tracemalloc.start()
    coordinates = whiten(A, constant=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert coordinates.rank == 41
    assert peak < 1.5 * A.nbytes
