"""The penalised logistic regression: its fit, its leave-one-out, its choice."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from linsep.solvers.soft_margin import logistic
from linsep.solvers.soft_margin.logistic import fit_logistic, strongest_alike


def problem(n, d, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, n_classes)) + 1.5 * rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1).astype(np.intp), np.ones(n)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("kind", ["narrow", "wide", "sparse", "iterated"])
def test_fit_is_scikit_learns_at_the_same_penalty(n_classes, free, kind, monkeypatch):
    if kind == "iterated":
        monkeypatch.setattr(logistic, "MOST_FACTORED", 0)
    X, y, ones = problem(*((40, 60) if kind == "wide" else (120, 5)), n_classes)
    rows = sparse.csr_array(X) if kind == "sparse" else X
    fit = fit_logistic(rows, y, ones, ones, n_classes, free=free)
    strength = fit.penalty * (X * X).sum(axis=1).mean() * len(X)
    peer = LogisticRegression(
        C=1 / strength, fit_intercept=free, tol=1e-10, max_iter=10_000
    ).fit(X, y)
    np.testing.assert_allclose(fit.coef, peer.coef_, atol=2e-3 * abs(fit.coef).max())
    np.testing.assert_allclose(
        fit.offsets - fit.offsets.mean() * (n_classes > 2),
        peer.intercept_ - peer.intercept_.mean() * (n_classes > 2),
        atol=2e-3 * abs(fit.coef).max(),
    )


def test_left_out_loss_is_about_that_of_fits_without_each_row():
    X, y, ones = problem(80, 6, 2)
    fit = logistic.regression(X, y, ones, ones, 2, True)
    fit.penalise(1e-3)
    fit.descend(1e-9)
    strength = 1e-3 * (X * X).sum(axis=1).mean() * 80
    losses = []
    for row in range(80):
        kept = np.arange(80) != row
        peer = LogisticRegression(C=1 / strength, tol=1e-10, max_iter=1000)
        p = peer.fit(X[kept], y[kept]).predict_proba(X[[row]])[0, y[row]]
        losses.append(-np.log(p))
    assert fit.left_out_loss() == pytest.approx(np.mean(losses), rel=0.05)
    assert fit.left_out_loss() > fit.loss / 80


def test_a_weight_that_counts_rows_leaves_out_one_of_them():
    """Rows in cells: leaving out a whole cell would call any fit useless."""
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array([0, 1, 0, 1])
    counts = np.array([400.0, 100.0, 100.0, 400.0])
    fit = fit_logistic(X - 0.5, y, counts, np.ones(4), 2)
    assert fit.penalty < 0.05
    assert 0.8 * 2 * np.log(4) < fit.coef[0, 0] < 2 * np.log(4)
    assert fit_logistic(X - 0.5, y, counts, counts, 2).penalty == pytest.approx(0.1)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_followed_fit_separates_where_a_hyperplane_does(n_classes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 8))
    W = rng.normal(size=(8, n_classes))
    y = (X @ W).argmax(axis=1).astype(np.intp)
    coef, offsets = fit_logistic(X, y, np.ones(200), np.ones(200), n_classes).loose
    scores = X @ coef.T + offsets
    found = scores.argmax(axis=1) if n_classes > 2 else (scores[:, 0] > 0).astype(int)
    np.testing.assert_array_equal(found, y)


def test_strongest_alike_never_leaves_the_losses_that_are_alike():
    rng = np.random.default_rng(0)
    for _ in range(200):
        losses = rng.uniform(0.1, 1.0, size=rng.integers(1, 8)).tolist()
        place = strongest_alike(losses)
        assert 0 <= place <= np.argmin(losses)
        loss = np.interp(place, np.arange(len(losses)), losses)
        assert loss <= logistic.ALIKE * min(losses) * (1 + 1e-12)
