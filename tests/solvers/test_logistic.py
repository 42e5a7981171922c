"""The penalised logistic regression: its fit, its leave-one-out, its choice."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from linsep.solvers.soft_margin import _passes, iterated, logistic, regression
from linsep.solvers.soft_margin.logistic import fit_logistic


def problem(n, d, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, n_classes)) + 1.5 * rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1).astype(np.intp), np.ones(n)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("kind", "free"),
    # Wide rows with offsets are fitted by their discriminants.
    [("wide", False), *product(["narrow", "sparse", "iterated"], [True, False])],
)
def test_fit_is_scikit_learns_at_the_same_penalty(n_classes, free, kind, monkeypatch):
    if kind == "iterated":
        monkeypatch.setattr(logistic, "MOST_FACTORED", 0)
    monkeypatch.setattr(regression, "PENALTIES", (3e-3,))
    monkeypatch.setattr(regression, "ROUGHLY", 1e-5)
    X, y, ones = problem(*((40, 60) if kind == "wide" else (120, 5)), n_classes)
    rows = sparse.csr_array(X) if kind == "sparse" else X
    fit = fit_logistic(rows, y, ones, ones, n_classes, free=free)
    lengths = np.linalg.norm(X, axis=1)
    held = np.minimum(1.0, lengths.mean() / lengths)
    strength = fit.penalty * (held @ lengths**2)
    peer = LogisticRegression(
        C=1 / strength, fit_intercept=free, tol=1e-10, max_iter=10_000
    ).fit(X, y, sample_weight=held)
    np.testing.assert_allclose(fit.coef, peer.coef_, atol=2e-3 * abs(fit.coef).max())
    np.testing.assert_allclose(
        fit.offsets - fit.offsets.mean() * (n_classes > 2),
        peer.intercept_ - peer.intercept_.mean() * (n_classes > 2),
        atol=2e-3 * abs(fit.coef).max(),
    )


def test_long_rows_with_wrong_labels_do_not_outvote_the_others(monkeypatch):
    """Heavy tails: the fit that holds them is nearer to the planted normal."""
    cosines = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(2, size=(300, 10))
        X /= X.std(axis=0)
        w = rng.normal(size=10)
        y = (X @ w > 0) ^ (rng.random(300) < 0.15)
        pair = []
        for is_held in (True, False):
            with monkeypatch.context() as patched:
                if not is_held:
                    patched.setattr(
                        logistic, "held_rows", lambda _, given: 1.0 + 0 * given
                    )
                ones = np.ones(300)
                coef = fit_logistic(X, y.astype(np.intp), ones, ones, 2).coef[0]
            pair.append(coef @ w / np.linalg.norm(coef) / np.linalg.norm(w))
        cosines.append(pair)
    held, loose = np.transpose(cosines)
    assert (held > loose).sum() >= 10
    assert (1 - held).mean() < 0.7 * (1 - loose).mean()


def test_rows_are_held_to_the_pull_of_one_of_mean_length():
    X, _, ones = problem(50, 4, 2)
    X *= np.random.default_rng(0).exponential(size=(50, 1))
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 50)
    lengths = np.linalg.norm(X, axis=1)
    mean = np.average(lengths, weights=weights)
    for rows in (X, sparse.csr_array(X)):
        held = logistic.held_rows(rows, weights)
        np.testing.assert_allclose(held * lengths, np.minimum(lengths, mean))
    for none in (0.0 * X, sparse.csr_array(0.0 * X), sparse.csr_array((50, 4))):
        np.testing.assert_array_equal(logistic.held_rows(none, ones), 1.0)
    X[7] = 0.0  # rows without entries
    found = logistic.held_rows(sparse.csr_array(X), ones)
    np.testing.assert_allclose(found, logistic.held_rows(X, ones))


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
    found = fit.mean_loss(fit.left_out_scores())
    assert found == pytest.approx(np.mean(losses), rel=0.05)
    assert found > fit.loss / 80


def wide(n_classes, n=72, d=400):
    """Few rows of many columns, the classes apart in some of them."""
    rng = np.random.default_rng(n_classes)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) + 0.6 * rng.normal(size=(n, 4)) @ rng.normal(
        size=(4, d)
    )
    for k in range(n_classes):
        X[np.ix_(y == k, rng.choice(d, 15, replace=False))] += 1.5
    return X - X.mean(axis=0), y.astype(np.intp), np.ones(n)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_leverage_in_common_predicts_left_out_rows_of_many_columns(
    n_classes, monkeypatch
):
    """One that counts the row itself called the best penalty ten times too bad."""
    X, y, ones = wide(n_classes)
    for power in range(1, 6):
        losses = []
        for most in (300, 0):
            monkeypatch.setattr(logistic, "MOST_FACTORED", most)
            rows = np.ascontiguousarray(np.linalg.qr(X.T)[1].T)
            fit = logistic.regression(rows, y, ones, ones, n_classes, True)
            fit.penalise(10.0**-power)
            fit.descend(1e-6)
            losses.append(fit.mean_loss(fit.left_out_scores()))
        # One draw of signs counts degrees of freedom; it errs alike at all penalties.
        assert losses[1] == pytest.approx(losses[0], rel=0.3)


@pytest.mark.parametrize("weight", [1.0, 3.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_leverage_in_common_takes_the_degrees_of_freedom_there_are(
    n_classes, weight, monkeypatch
):
    monkeypatch.setattr(logistic, "MOST_FACTORED", 0)
    monkeypatch.setattr(iterated, "EXACT", 1e-9)
    X, y, ones = problem(80, 12, n_classes)
    fit = logistic.regression(X, y, weight * ones, ones, n_classes, True)
    fit.penalise(1e-3)
    fit.descend(1e-9)
    k, Z = fit.V.shape[0], np.column_stack([X, ones])
    curved = np.array([np.diag(row) - np.outer(row, row) for row in fit.before])
    of_rows = sum(
        weight * np.kron(c, np.outer(z, z)) for c, z in zip(curved, Z, strict=True)
    )
    hessian = of_rows + np.diag(np.tile(fit.ridge, k))
    degrees = np.trace(np.linalg.solve(hessian, of_rows))
    drawn = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        fit.signs = rng.choice([-1.0, 1.0], size=fit.scores.shape)
        drawn.append(fit.degrees())
    assert np.mean(drawn) == pytest.approx(degrees, rel=0.06)
    monkeypatch.setattr(fit, "degrees", lambda: degrees)
    g = fit.common_leverage()
    each = [np.trace(g * c @ np.linalg.inv(np.eye(k) + g * c)) for c in curved]
    assert weight * sum(each) == pytest.approx(degrees, rel=0.01)


def test_products_with_sparse_rows_are_those_with_dense_ones():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(30, 9)) * (rng.random((30, 9)) < 0.4)
    weights = rng.uniform(0.5, 2.0, 30)
    for k in (1, 3):
        p = rng.dirichlet(np.ones(max(k, 2)), size=30)[:, :k].copy()
        x = rng.normal(size=(k, 9))
        image = p * (A @ x.T)
        image -= p * image.sum(axis=1, keepdims=True)
        expected = (weights[:, None] * image).T @ A
        rows = sparse.csr_array(A)
        for kind in (np.int32, np.int64):
            places = rows.indices.astype(kind), rows.indptr.astype(kind)
            found = _passes.curved_product(rows.data, *places, weights, p, x)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_penalties_of_wide_rows_are_no_weaker_than_stretched_scores_ask(monkeypatch):
    """Some labels are wrong: log loss alone would follow them."""
    X, y, ones = wide(2, n=150)
    y[:12] = 1 - y[:12]
    X = sparse.csr_array(X)  # dense ones are fitted by their discriminants
    seen = []
    known = regression.Regression.stretched_loss

    def stretched_loss(self, scores):
        seen.append(known(self, scores))
        factors = np.exp2(np.linspace(-12, 12, 2000))
        least = min(self.mean_loss(factor * scores) for factor in factors)
        assert seen[-1] == pytest.approx(least, rel=5e-3)
        return seen[-1]

    monkeypatch.setattr(regression.Regression, "stretched_loss", stretched_loss)
    fit = fit_logistic(X, y, ones, ones, 2)
    assert len(seen) >= 3
    assert fit.penalty >= 0.1 * 0.1 ** np.argmin(seen) * (1 - 1e-12)


def test_a_weight_that_counts_rows_leaves_out_one_of_them():
    """Rows in cells: leaving out a whole cell would call any fit useless."""
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array([0, 1, 0, 1])
    counts = np.array([400.0, 100.0, 100.0, 400.0])
    fit = fit_logistic(X - 0.5, y, counts, np.ones(4), 2)
    assert fit.penalty < 0.05
    assert 0.8 * 2 * np.log(4) < fit.coef[0, 0] < 2 * np.log(4)
    assert fit_logistic(X - 0.5, y, counts, counts, 2).penalty > 0.09


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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fit_is_the_mean_of_those_at_all_penalties_by_what_left_out_rows_say(n_classes):
    X, y, _ = problem(60, 6, n_classes)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 60)
    for scale in (1.0, 8.0):  # what a row weighs says nothing of how many there are
        given = X, y, scale * weights, scale * weights, n_classes, True
        fit, each = logistic.regression(*given), logistic.regression(*given)
        penalty = fit.choose()
        fits, losses, tried = [], [], []
        for strength in regression.PENALTIES:
            each.penalise(strength)
            each.descend(regression.ROUGHLY)
            losses.append(60 * each.mean_loss(each.left_out_scores()))
            fits.append(each.V.copy())
            tried.append(strength)
            if losses[-1] > min(losses):
                break
        likely = np.exp(-np.array(losses))
        mean = sum(p * V for p, V in zip(likely, fits, strict=True)) / likely.sum()
        np.testing.assert_allclose(fit.V, mean, rtol=1e-6, atol=1e-9)
        assert np.log(penalty) == pytest.approx(np.average(np.log(tried), None, likely))
        assert np.sort(likely)[-2] > 0.005 * likely.sum()  # another has a say


class Counted:
    """The compiled passes, counted."""

    def __init__(self, monkeypatch):
        self.calls = {}
        for name in ("judge", "descend", "take_step", "left_out"):
            monkeypatch.setattr(logistic._logistic, name, self.counting(name))

    def counting(self, name):
        known = getattr(logistic._logistic, name)

        def call(*given):
            self.calls[name] = self.calls.get(name, 0) + 1
            return known(*given)

        return call


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fit_takes_few_steps_and_looks_at_its_rows_about_once_each(
    n_classes, monkeypatch
):
    """A penalty of its own for the loss before a step halved one thirty times."""
    X, y, ones = problem(300, 5, n_classes)
    counted = Counted(monkeypatch)
    fit = fit_logistic(X, y, ones, ones, n_classes)
    tried = counted.calls["left_out"]
    assert counted.calls["descend"] == tried + 1  # none at last
    # Without each row; at the start; at the mean; by the weights given.
    assert counted.calls["judge"] == tried + 3
    assert fit.n_iterations <= 4 * (tried + 1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_step_is_halved_where_the_loss_is_about_a_parabola(n_classes, monkeypatch):
    monkeypatch.setattr(logistic, "MOST_FACTORED", 0)
    X, y, ones = problem(300, 5, n_classes)
    steps = []
    known = logistic._logistic.take_step

    def take_step(V, step, *rest):
        found = known(V, step, *rest)
        steps.append(np.allclose(found[0], V - step, rtol=1e-12))
        return found

    monkeypatch.setattr(logistic._logistic, "take_step", take_step)
    fit = fit_logistic(X, y, ones, ones, n_classes)
    assert len(steps) == fit.n_iterations
    assert all(steps)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("d", [1, 4, 40])
def test_compiled_passes_are_those_of_a_textbook(n_classes, d):
    rng = np.random.default_rng(d)
    X, y, _ = problem(150, d, n_classes)
    weights, units = rng.uniform(0.5, 2.0, 150), rng.uniform(0.2, 0.5, 150)
    fit = logistic.regression(X, y, weights, units, n_classes, True)
    fit.penalise(1e-2)
    fit.descend(1e-9)
    k, Z = fit.V.shape[0], np.column_stack([X, np.ones(150)])
    scores = np.column_stack([np.zeros(150), Z @ fit.V.T]) if k == 1 else Z @ fit.V.T
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    loss = -(weights * np.log(p[np.arange(150), y])).sum()
    p = p[:, 1:] if k == 1 else p
    targets = (y == 1)[:, None] if k == 1 else y[:, None] == np.arange(k)
    assert fit.loss == pytest.approx(loss)
    np.testing.assert_allclose(fit.p, p)
    gradient = (weights[:, None] * (p - targets)).T @ Z + fit.ridge * fit.V
    assert abs(gradient).max() < 1e-6 * weights.sum()
    # One row after another, without the others' help.
    curved = np.array([np.diag(row) - np.outer(row, row) for row in fit.before])
    hessian = sum(
        w * np.kron(c, np.outer(z, z))
        for w, c, z in zip(weights, curved, Z, strict=True)
    ) + np.diag(np.tile(fit.ridge, k))
    lower = np.tril(fit.triangle)
    np.testing.assert_allclose(lower @ lower.T, hessian, rtol=1e-9, atol=1e-9)
    inverse = np.linalg.inv(hessian)
    moves = fit.moves(p - targets)
    for i in range(0, 150, 7):
        spread = np.kron(np.eye(k), Z[i][:, None])
        leverage = units[i] * spread.T @ inverse @ spread
        rest = np.eye(k) - curved[i] @ leverage
        expected = leverage @ np.linalg.solve(rest, (p - targets)[i])
        # An offset common to all of many classes is next to free, and means nothing.
        common = (moves[i] - expected).mean() if k > 1 else 0.0
        np.testing.assert_allclose(moves[i] - common, expected, rtol=1e-6, atol=1e-9)


def test_losses_of_rows_far_on_their_side_keep_their_digits():
    scores = np.array([[40.0], [-700.0], [1e-3], [5.0]])
    y = np.array([1, 0, 1, 0])
    p, pull = np.empty_like(scores), np.empty_like(scores)
    for row in range(4):
        one = np.zeros(4)
        one[row] = 1.0
        loss = logistic._logistic.judge(scores, y, one, p, pull)
        expected = np.logaddexp(0.0, scores[row, 0] * (1 - 2 * y[row]))
        assert loss == pytest.approx(expected, rel=1e-14)
        both = np.column_stack([0.0 * scores, scores])
        pair = np.empty_like(both), np.empty_like(both)
        loss = logistic._logistic.judge(both, y, one, *pair)
        assert loss == pytest.approx(expected, rel=1e-14)
