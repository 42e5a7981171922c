"""The Gram factor: its rows have the inner products of the feature space."""

import numpy as np
import pytest

from linsep.solvers import gram_factor as module
from linsep.solvers.gram_factor import gram_factor


def planted(n, rank, seed=0):
    """The Gram matrix of rows of a known rank, over six orders of magnitude."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, rank)) * np.logspace(0, -6, rank)
    return rows @ rows.T


@pytest.fixture(params=["whole", "by columns"])
def path(request, monkeypatch):
    if request.param == "by columns":
        monkeypatch.setattr(module, "WHOLE", 0)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(("n", "rank"), [(1, 1), (5, 2), (60, 6), (40, 40)])
def test_rows_have_the_inner_products_and_landmarks_span_the_rest(n, rank):
    gram = planted(n, rank)
    factor = gram_factor(lambda at: gram[:, at], gram.diagonal())
    assert factor.rows.shape == (n, len(factor.landmarks))
    assert factor.rows.shape[1] <= rank
    np.testing.assert_allclose(
        factor.rows @ factor.rows.T, gram, atol=1e-11 * gram.max()
    )
    np.testing.assert_array_equal(factor.columns, gram[:, factor.landmarks])
    assert len(set(factor.landmarks.tolist())) == len(factor.landmarks)
    # The first pivot is the longest row.
    assert factor.landmarks[0] == gram.diagonal().argmax()


@pytest.mark.usefixtures("path")
def test_dual_coefficients_give_the_same_function():
    """A vector of the factor's space and its sum of kernels decide the same."""
    gram = planted(30, 4)
    factor = gram_factor(lambda at: gram[:, at], gram.diagonal())
    v = np.random.default_rng(1).normal(size=(2, factor.rows.shape[1]))
    np.testing.assert_allclose(
        factor.columns @ factor.dual(v).T, factor.rows @ v.T, atol=1e-7
    )


@pytest.mark.usefixtures("path")
def test_no_rows_of_any_length_have_no_landmarks():
    factor = gram_factor(lambda at: np.zeros((3, len(at))), np.zeros(3))
    assert factor.rows.shape == (3, 0)
    assert factor.columns.shape == (3, 0)


def test_many_rows_stop_at_the_most_landmarks(monkeypatch):
    monkeypatch.setattr(module, "WHOLE", 0)
    monkeypatch.setattr(module, "MOST_LANDMARKS", 5)
    gram = planted(60, 12)
    factor = gram_factor(lambda at: gram[:, at], gram.diagonal())
    assert factor.rows.shape == (60, 5)
    # What is left over is that of the best span found: no diagonal entry is negative.
    left = gram.diagonal() - (factor.rows**2).sum(axis=1)
    assert left.min() >= -1e-12 * gram.max()
    np.testing.assert_allclose(left[factor.landmarks], 0.0, atol=1e-12 * gram.max())
