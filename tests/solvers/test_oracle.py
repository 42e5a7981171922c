"""The fused oracle against the two-product formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep.solvers import oracle as oracle_module
from linsep.solvers.oracle import Oracle, softmin
from textbook import answer_of


def two_products(A, v):
    """The oracle by its definition: one product for the margins, one for x."""
    margins = A @ v
    low = margins.min()
    p = np.exp(low - margins)
    f = np.log(p.mean()) - low
    return f, (p / p.sum()) @ A, low


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 300),
    d=st.integers(1, 9),
    scale=st.sampled_from([0.0, 1e-3, 1.0, 30.0, 1e4]),
)
def test_answer_equals_the_two_products(seed, n, d, scale):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    v, w = scale * rng.standard_normal(d), rng.standard_normal(d)
    answer = answer_of(A, v, w)
    f, x, low = two_products(A, v)
    size = 1 + np.abs(A @ v).max()
    assert answer.f == pytest.approx(f, rel=1e-12, abs=1e-13 * size)
    np.testing.assert_allclose(answer.x, x, atol=1e-12 * size)
    assert answer.margin == pytest.approx(low, abs=1e-13 * size)
    assert answer.margin_play == pytest.approx((A @ w).min(), abs=1e-12)


def test_answer_does_not_depend_on_the_number_of_parts(monkeypatch):
    rng = np.random.default_rng(1)
    A, v = rng.standard_normal((999, 7)), rng.standard_normal(7)
    whole = answer_of(A, v)
    monkeypatch.setattr(oracle_module, "ENTRIES_A_PART", 1000)
    monkeypatch.setattr(oracle_module, "BLOCK_ENTRIES", 50)
    monkeypatch.setenv("LINSEP_NUM_THREADS", "3")
    parts = answer_of(A, v)
    assert parts.margin == whole.margin
    assert parts.f == pytest.approx(whole.f, rel=1e-13)
    np.testing.assert_allclose(parts.x, whole.x, rtol=1e-12, atol=1e-14)


def test_gradient_of_f_is_minus_the_pseudoexample():
    rng = np.random.default_rng(2)
    A, v = rng.standard_normal((50, 4)), rng.standard_normal(4)
    step = 1e-6
    slopes = [
        (answer_of(A, v + step * unit).f - answer_of(A, v - step * unit).f) / (2 * step)
        for unit in np.eye(4)
    ]
    np.testing.assert_allclose(slopes, -answer_of(A, v).x, atol=1e-8)


def test_a_far_row_carries_no_weight_and_does_no_harm():
    A = np.array([[1.0, 0.0], [1e8, 1.0]])
    answer = answer_of(A, np.array([1.0, 0.0]))
    np.testing.assert_array_equal(answer.x, A[0])
    assert softmin(A @ np.array([1.0, 0.0])).tolist() == [1.0, 0.0]


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([0.0, 1.0, 1e3]))
def test_sparse_rows_answer_as_dense_ones(seed, scale):
    rng = np.random.default_rng(seed)
    A = sparse.random(90, 7, density=0.3, random_state=rng, format="csr")
    v, w = scale * rng.standard_normal(7), rng.standard_normal(7)
    assert Oracle(A).radius == pytest.approx(Oracle(A.toarray()).radius)
    expected, answer = answer_of(A.toarray(), v, w), answer_of(A, v, w)
    assert answer.f == pytest.approx(expected.f, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(answer.x, expected.x, atol=1e-12)
    assert answer.margin == pytest.approx(expected.margin, abs=1e-12)
    assert answer.margin_play == pytest.approx(expected.margin_play, abs=1e-12)
