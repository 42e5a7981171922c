"""Discriminants of wide rows: what is left out, how scores are read, the choice."""

import numpy as np
import pytest
from scipy.optimize import minimize

from linsep.solvers.soft_margin import discriminant, logistic
from linsep.solvers.soft_margin.discriminant import Discriminant
from linsep.solvers.soft_margin.logistic import fit_logistic


def common_noise(seed, sizes=(20, 12, 8), d=400, n_new=600):
    """Each class is moved in 20 columns; all columns share the noise of 8 factors."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(8, d)) * (rng.random((8, d)) < 0.3)
    moved = [rng.choice(d, 20, replace=False) for _ in sizes]

    def draw(y):
        X = rng.normal(size=(len(y), 8)) @ loadings + rng.normal(size=(len(y), d))
        for k, columns in enumerate(moved):
            X[np.ix_(y == k, columns)] += 2.0
        return X

    y = np.repeat(np.arange(len(sizes)), sizes)
    new = np.sort(rng.integers(len(sizes), size=n_new))
    X, X_new = draw(y), draw(new)
    return X - X.mean(axis=0), y, X_new - X.mean(axis=0), new


def right(fit, X, y):
    scores = X @ fit.coef.T + fit.offsets
    found = scores.argmax(axis=1) if scores.shape[1] > 1 else scores[:, 0] > 0
    return np.mean(found == y)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("penalty", [1.0, 1e-2, 1e-6])
def test_left_out_scores_are_those_of_fits_without_each_row(n_classes, penalty):
    rng = np.random.default_rng(n_classes)
    y = np.arange(22) % n_classes
    X = rng.normal(size=(22, 30)) + y[:, None]
    weights = rng.uniform(0.5, 2.0, 22)
    units = np.where(np.arange(22) % 3 == 0, 0.4 * weights, weights)
    rule = Discriminant(X, y, weights, units, n_classes)
    rule.penalise(penalty)
    found = rule.left_out_scores()
    ridge = penalty * weights @ (X * X).sum(axis=1)
    for row in range(22):
        rest = weights.copy()
        rest[row] -= units[row]
        means = np.array(
            [rest[y == k] @ X[y == k] / rest[y == k].sum() for k in range(n_classes)]
        )
        within = X - means[y]
        system = within.T @ (rest[:, None] * within) + ridge * np.eye(30)
        apart = X[row] - means
        expected = -0.5 * np.einsum("ij,ji->i", apart, np.linalg.solve(system, apart.T))
        np.testing.assert_allclose(found[row], expected, rtol=1e-7)


def test_multiple_and_offsets_are_those_of_least_loss():
    X, y, _, _ = common_noise(1)
    y[:3] = 1  # some labels are wrong, so no multiple is very large
    ones = np.ones(len(y))
    rule = Discriminant(X, y, ones, ones, 3)
    rule.penalise(1e-2)
    scores = rule.left_out_scores()
    loss, a, b = rule.calibrated(scores)
    targets = np.full(scores.shape, 1 / 3 / len(y)) + np.eye(3)[y] * (1 - 1 / len(y))

    def judge(x):
        z = np.exp(x[0]) * a * scores + x[1:]
        z = z - z.max(axis=1, keepdims=True)
        return np.mean(np.log(np.exp(z).sum(axis=1)) - (targets * z).sum(axis=1))

    assert loss == pytest.approx(judge(np.append(0.0, b)), rel=1e-9)
    best = minimize(judge, np.append(0.0, b), method="Nelder-Mead").fun
    assert loss <= best * (1 + 1e-4)
    # Scores that point the wrong way say nothing, and the classes' shares are left.
    loss, a, b = rule.calibrated(-scores)
    assert a == 0.0
    np.testing.assert_allclose(np.exp(b), np.bincount(y) / len(y))


def test_noise_common_to_all_columns_is_seen_through():
    """A logistic regression has twice the mistakes at the penalty best for new rows."""
    for seed in range(4):
        X, y, X_new, new = common_noise(seed)
        ones = np.ones(len(y))
        mistakes = 1 - right(fit_logistic(X, y, ones, ones, 3), X_new, new)
        basis, triangle = np.linalg.qr(X.T)
        fit = logistic.regression(triangle.T.copy(), y, ones, ones, 3, True)
        others = []
        for power in range(1, 11):
            fit.penalise(10.0**-power)
            fit.descend(1e-5)
            coef, offsets = fit.parts(basis)
            found = (X_new @ coef.T + offsets).argmax(axis=1)
            others.append(np.mean(found != new))
        assert mistakes < 0.5 * min(others)


def test_small_classes_are_found_though_means_fit_their_own_rows():
    """Half way between the means lie the new rows of the smallest class."""
    X, y, X_new, new = common_noise(0, sizes=(24, 12, 6), d=1500)
    ones = np.ones(len(y))
    fit = fit_logistic(X, y, ones, ones, 3)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    half_way = -0.5 * np.einsum("kj,kj->k", fit.coef, means)
    scores = X_new[new == 2] @ fit.coef.T
    found, missed = (
        np.mean((scores + offsets).argmax(axis=1) == 2)
        for offsets in (fit.offsets, half_way)
    )
    assert found > 2 * missed


def test_the_class_between_two_others_is_not_hidden_by_them():
    """By a regression of indicators it is: its scores are next to constant."""
    rng = np.random.default_rng(3)
    d, y, new = 300, np.repeat(np.arange(3), 20), np.repeat(np.arange(3), 100)
    along = rng.normal(size=d) * (rng.random(d) < 0.3)
    X = 0.6 * (y[:, None] - 1) * along + rng.normal(size=(60, d))
    X_new = 0.6 * (new[:, None] - 1) * along + rng.normal(size=(300, d))
    ones = np.ones(60)
    fit = fit_logistic(X - X.mean(axis=0), y, ones, ones, 3)
    assert right(fit, X_new[new == 1] - X.mean(axis=0), 1) > 0.85


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_penalty_chosen_is_about_the_best_for_new_rows(n_classes, monkeypatch):
    X, y, X_new, new = common_noise(7, sizes=(15,) * n_classes)
    ones = np.ones(len(y))
    chosen = right(fit_logistic(X, y, ones, ones, n_classes), X_new, new)
    each = []
    for penalty in discriminant.PENALTIES:
        monkeypatch.setattr(discriminant, "PENALTIES", (penalty,))
        each.append(right(fit_logistic(X, y, ones, ones, n_classes), X_new, new))
    assert chosen > max(each) - 0.03
    assert min(each) < max(each) - 0.1


def test_a_weight_that_counts_rows_is_as_many_rows():
    X, y, X_new, _ = common_noise(2)
    counts = 1 + np.arange(len(y)) % 3
    ones = np.ones(len(y))
    one = fit_logistic(X, y, counts * ones, ones, 3)
    same = np.repeat(np.arange(len(y)), counts)
    ones = np.ones(len(same))
    other = fit_logistic(X[same], y[same], ones, ones, 3)
    assert one.penalty == pytest.approx(other.penalty, rel=1e-5)
    scores = [X_new @ fit.coef.T + fit.offsets for fit in (one, other)]
    np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-4)


def test_classes_of_one_row_and_rows_all_alike_are_fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 9))
    for y in (np.array([0, 1, 2, 3, 4]), np.array([0, 0, 0, 0, 1])):
        ones = np.ones(5)
        fit = fit_logistic(X - X.mean(axis=0), y, ones, ones, int(y.max()) + 1)
        assert np.isfinite(fit.coef).all()
        assert np.isfinite(fit.offsets).all()
        assert fit.separates
    y = np.array([0, 0, 0, 1, 1])
    fit = fit_logistic(np.zeros((5, 9)), y, np.ones(5), np.ones(5), 2)
    assert not fit.coef.any()
    assert fit.offsets[0] == pytest.approx(np.log(2 / 3))
