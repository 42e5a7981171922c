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
    X -= weights @ X / weights.sum()
    found, *regressed = Discriminant(X, y, weights, units, n_classes).rules(penalty)
    assert len(regressed) == (n_classes > 2)
    ridge = penalty * weights @ (X * X).sum(axis=1) * np.eye(30)
    for row in range(22):
        rest = weights.copy()
        rest[row] -= units[row]
        means = np.array(
            [rest[y == k] @ X[y == k] / rest[y == k].sum() for k in range(n_classes)]
        )
        within = X - means[y]
        system = within.T @ (rest[:, None] * within) + ridge
        apart = X[row] - means
        expected = -0.5 * np.einsum("ij,ji->i", apart, np.linalg.solve(system, apart.T))
        np.testing.assert_allclose(found[0][row], expected, rtol=1e-7)
        for scores, *_ in regressed:
            expected = ridge_regression(X, np.eye(n_classes)[y], rest, ridge)(X[row])
            np.testing.assert_allclose(scores[row], expected, rtol=1e-6, atol=1e-8)


def ridge_regression(X, Y, weights, ridge):
    mean, level = (weights @ part / weights.sum() for part in (X, Y))
    system = (X - mean).T @ (weights[:, None] * (X - mean)) + ridge
    coef = np.linalg.solve(system, (X - mean).T @ (weights[:, None] * (Y - level)))
    return lambda x: (x - mean) @ coef + level


def test_scores_of_new_rows_are_the_discriminants_and_the_regressions():
    X, y, X_new, _ = common_noise(4)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    X_new, X = (part - weights @ X / weights.sum() for part in (X_new, X))
    rule = Discriminant(X, y, weights, weights, 3)
    (_, normals, constants), (_, mixed, shares) = rule.rules(1e-2)
    ridge = 1e-2 * weights @ (X * X).sum(axis=1) * np.eye(X.shape[1])
    expected = ridge_regression(X, np.eye(3)[y], weights, ridge)(X_new)
    np.testing.assert_allclose(X_new @ mixed.T + shares, expected, atol=1e-9)
    means = np.array([np.average(X[y == k], 0, weights[y == k]) for k in range(3)])
    system = (X - means[y]).T @ (weights[:, None] * (X - means[y])) + ridge
    expected = np.linalg.solve(system, means.T).T
    np.testing.assert_allclose(normals, expected, rtol=1e-6, atol=1e-12)
    squares = (expected * means).sum(axis=1)
    np.testing.assert_allclose(constants, -0.5 * squares, rtol=1e-6)


def test_multiples_and_offsets_are_those_of_least_loss():
    X, y, _, _ = common_noise(1)
    y[:3] = 1  # some labels are wrong, so no multiple is very large
    ones = np.ones(len(y))
    rule = Discriminant(X, y, ones, ones, 3)
    scores = np.array([scores for scores, *_ in rule.rules(1e-2)])
    scores = np.concatenate([scores, -scores[:1]])
    losses, multiples, offsets = rule.calibrated(scores)
    targets = np.full((len(y), 3), 1 / 3 / len(y)) + np.eye(3)[y] * (1 - 1 / len(y))
    about = np.log(np.bincount(y) / len(y))
    for some, loss, a, b in zip(scores[:2], losses, multiples, offsets, strict=False):

        def judge(x, some=some, a=a):
            z = np.exp(x[0]) * a * some + x[1:]
            z = z - z.max(axis=1, keepdims=True)
            each = np.log(np.exp(z).sum(axis=1)) - (targets * z).sum(axis=1)
            return each.sum() + 0.05 * np.square(x[1:] - about).sum()

        assert loss == pytest.approx(judge(np.append(0.0, b)), rel=1e-9)
        best = minimize(judge, np.append(0.0, b), method="Nelder-Mead").fun
        assert loss <= best + 1e-3
    # Scores that point the wrong way say nothing, and the classes' shares are left.
    assert multiples[:2].min() > 0.0
    assert multiples[2] == 0.0
    np.testing.assert_allclose(offsets[2], about)


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
    basis, triangle = np.linalg.qr(X.T)
    _, normals, half_way = Discriminant(triangle.T, y, ones, ones, 3).rules(1e-6)[0]
    rows = X_new[new == 2]
    found = np.mean((rows @ fit.coef.T + fit.offsets).argmax(axis=1) == 2)
    missed = np.mean((rows @ basis @ normals.T + half_way).argmax(axis=1) == 2)
    assert found > 2 * missed


def test_means_of_many_classes_of_few_rows_say_what_is_noise():
    """Sixty rows: within the classes too little of the noise is seen.

    Beside the fit, the discriminant that is best for new rows, of all penalties.
    """
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y, new = np.repeat(np.arange(20), 3), np.repeat(np.arange(20), 20)
        means = 1.5 * rng.normal(size=(20, 600)) * (rng.random((20, 600)) < 0.05)
        loadings = rng.normal(size=(10, 600)) * (rng.random((10, 600)) < 0.3)
        X, X_new = (
            means[k] + rng.normal(size=(len(k), 10)) @ loadings
            + rng.normal(size=(len(k), 600))
            for k in (y, new)
        )  # fmt: skip
        X, X_new = X - X.mean(axis=0), X_new - X.mean(axis=0)
        ones = np.ones(60)
        basis, triangle = np.linalg.qr(X.T)
        rule = Discriminant(triangle.T, y, ones, ones, 20)
        best = max(
            np.mean((X_new @ basis @ normals.T + constants).argmax(axis=1) == new)
            for penalty in discriminant.PENALTIES
            for _, normals, constants in rule.rules(penalty)[:1]
        )
        assert right(fit_logistic(X, y, ones, ones, 20), X_new, new) > best + 0.05


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
        heavy = np.full(5, 9.0)  # warnings of overflow are errors
        fit = fit_logistic(X - X.mean(axis=0), y, heavy, heavy, int(y.max()) + 1)
        assert np.isfinite(fit.coef).all()
        assert np.isfinite(fit.offsets).all()
        assert fit.separates
    y = np.array([0, 0, 0, 1, 1])
    fit = fit_logistic(np.zeros((5, 9)), y, np.ones(5), np.ones(5), 2)
    assert not fit.coef.any()
    assert fit.offsets[0] == pytest.approx(np.log(2 / 3))
