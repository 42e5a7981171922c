"""Each mistake-driven method against a textbook loop, scikit-learn and its bound."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.perceptrons.methods import BY_MISTAKES, radius_of
from lab.perceptrons.planted import paper_rows, planted, planted_problems
from linsep.perceptrons import (
    AveragedPerceptron,
    BalancedWinnow,
    KernelPerceptron,
    Maxover,
    Minover,
    Perceptron,
    SecondOrderPerceptron,
    VotedPerceptron,
    Winnow,
)


def textbook_perceptron(A, max_passes=10**6):
    """Rosenblatt's rule; returns w, the rows erred on, passes, rows shown."""
    w, erred, passes, shown = np.zeros(A.shape[1]), [], 0, 0
    while passes < max_passes:
        passes += 1
        clean = True
        for i, row in enumerate(A):
            shown += 1
            if row @ w <= 0:
                w = w + row
                erred.append(i)
                clean = False
        if clean:
            break
    return w, erred, passes, shown


@pytest.mark.parametrize("n", range(1, 11))
def test_perceptron_on_the_papers_rows(n):
    X, y = paper_rows(n)
    result = Perceptron(fit_intercept=False, max_passes=None).run(X, y)
    assert result.separated
    assert result.n_updates == (4**n - 1) // 3
    if n == 10:
        assert result.mistakes_per_pass == pytest.approx(2.0, abs=1e-4)


def test_perceptron_counts_39_146_853_operations_at_n_12():
    X, y = paper_rows(12)
    result = Perceptron(fit_intercept=False, max_passes=None).run(X, y)
    assert result.n_operations == 39_146_853
    assert result.n_updates == (4**12 - 1) // 3
    assert result.n_operations == 12 * result.n_passes + result.n_updates


@pytest.mark.parametrize(("c", "updates"), [(0, 5), (10, 445), (100, 40_405)])
def test_perceptron_on_two_neighbours_far_from_zero(c, updates):
    result = Perceptron(max_passes=None).run([[c], [c + 1]], [0, 1])
    assert (result.n_updates, result.separated) == (updates, True)


@given(problem=planted_problems())
def test_perceptron_is_the_textbook_loop_and_keeps_novikoffs_bound(problem):
    X, y, _, margin = problem
    A = y[:, None] * X
    result = Perceptron(fit_intercept=False, max_passes=None).run(X, y)
    w, erred, passes, shown = textbook_perceptron(A)
    assert result.n_updates == len(erred)
    assert result.n_passes == passes
    assert result.n_operations == shown + len(erred)
    np.testing.assert_allclose(result.coef, w, rtol=1e-9, atol=1e-12 * radius_of(A))
    np.testing.assert_array_equal(
        result.row_weights, np.bincount(erred, minlength=len(y))
    )
    assert result.n_updates <= Perceptron.mistake_bound(radius_of(A), margin)
    assert (A @ result.coef > 0).all()
    assert result.margin_lower <= result.margin_upper * (1 + 1e-12)


@given(problem=planted_problems(), fit_intercept=st.booleans())
def test_perceptron_is_scikit_learns(problem, fit_intercept):
    from sklearn.linear_model import Perceptron as Theirs

    X, y, _, _ = problem
    ours = Perceptron(fit_intercept=fit_intercept, max_passes=40).run(X, y)
    theirs = Theirs(
        shuffle=False, eta0=1.0, tol=None, max_iter=40, fit_intercept=fit_intercept
    ).fit(X, y)
    size = 1e-9 * np.abs(X).max()
    np.testing.assert_allclose(ours.coef, theirs.coef_[0], rtol=1e-9, atol=size)
    assert ours.intercept == pytest.approx(theirs.intercept_[0], abs=1e-12)
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("method", BY_MISTAKES)
def test_caps_end_the_run(method):
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]  # not separable
    by_passes = method(max_passes=7, max_updates=None).run(X, y)
    assert (by_passes.stopped, by_passes.n_passes) == ("max_passes", 7)
    by_updates = method(max_passes=None, max_updates=5).run(X, y)
    assert (by_updates.stopped, by_updates.n_updates) == ("max_updates", 5)
    assert not by_updates.separated
    assert not by_passes.separated


@pytest.mark.parametrize("method", BY_MISTAKES)
def test_exactly_enough_updates_is_enough(method):
    X, y, _ = planted(0, 12, 3, 0.2)
    free = method(max_passes=None).run(X, y)
    capped = method(max_passes=None, max_updates=free.n_updates).run(X, y)
    assert capped.stopped == "separated"
    assert capped.n_operations == free.n_operations
    one_short = method(max_passes=None, max_updates=free.n_updates - 1).run(X, y)
    assert one_short.stopped == "max_updates"


@pytest.mark.parametrize("method", BY_MISTAKES)
def test_shuffled_order_is_seeded_and_every_pass_shows_every_row(method):
    X, y, _ = planted(3, 15, 3, 0.15)
    runs = [
        method(order="shuffled", random_state=seed, max_passes=None).run(X, y)
        for seed in (0, 0, 1)
    ]
    assert runs[0].n_updates == runs[1].n_updates
    assert runs[0].stopped == "separated"
    np.testing.assert_array_equal(runs[0].row_weights, runs[1].row_weights)
    assert any(
        not np.array_equal(
            runs[0].row_weights,
            method(order="shuffled", random_state=s, max_passes=None)
            .run(X, y)
            .row_weights,
        )
        for s in range(1, 6)
    )
    if method is not KernelPerceptron:
        shown = runs[0].n_operations
        assert shown >= 15 * runs[0].n_passes


@pytest.mark.parametrize("method", BY_MISTAKES)
def test_settings_that_cannot_be_say_so(method):
    with pytest.raises(ValueError, match='order must be "cyclic" or "shuffled"'):
        method(order="random").run([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="max_passes must be an integer"):
        method(max_passes=0).run([[1.0], [2.0]], [0, 1])


def textbook_voted(A, max_passes):
    """Freund & Schapire, figure 1; the zero vector has no vote."""
    v, c = [np.zeros(A.shape[1])], [0]
    for _ in range(max_passes):
        clean = True
        for row in A:
            if row @ v[-1] > 0:
                c[-1] += 1
            else:
                v.append(v[-1] + row)
                c.append(1)
                clean = False
        if clean:
            break
    return np.array(v[1:]), np.array(c[1:], dtype=float)


@given(problem=planted_problems(), passes=st.integers(1, 6))
def test_voted_and_averaged_are_the_textbook_loop(problem, passes):
    X, y, _, _ = problem
    A = y[:, None] * X
    v, c = textbook_voted(A, passes)
    voted = VotedPerceptron(fit_intercept=False, max_passes=passes).run(X, y)
    np.testing.assert_array_equal(voted.votes, c)
    np.testing.assert_allclose(voted.vectors, v, rtol=1e-9, atol=1e-12 * radius_of(A))
    new = np.random.default_rng(0).normal(size=(20, X.shape[1]))
    np.testing.assert_allclose(voted.decision_function(new), np.sign(new @ v.T) @ c)
    averaged = AveragedPerceptron(fit_intercept=False, max_passes=passes).run(X, y)
    np.testing.assert_allclose(
        averaged.coef, c @ v / c.sum(), rtol=1e-9, atol=1e-12 * radius_of(A)
    )
    perceptron = Perceptron(fit_intercept=False, max_passes=passes).run(X, y)
    assert voted.n_updates == averaged.n_updates == perceptron.n_updates


@given(
    seed=st.integers(0, 2**32 - 1), flips=st.integers(0, 4), margin=st.floats(0.05, 0.5)
)
def test_voted_bound_covers_one_pass_over_any_rows(seed, flips, margin):
    X, y, u = planted(seed, 20, 3, margin)
    y[:flips] *= -1
    deviation = math.sqrt((np.maximum(0, margin - y * (X @ u)) ** 2).sum())
    result = VotedPerceptron(fit_intercept=False, max_passes=1).run(X, y)
    bound = VotedPerceptron.mistake_bound(radius_of(X), margin, deviation)
    assert result.n_updates <= bound * (1 + 1e-9)


def textbook_winnow(X, y, promotion, threshold, max_passes):
    """WINNOW2 with ties counted as mistakes."""
    w, mistakes = np.ones(X.shape[1]), 0
    for _ in range(max_passes):
        clean = True
        for x, label in zip(X, y, strict=True):
            if label == 1 and w @ x <= threshold:
                w = w * promotion**x
            elif label == 0 and w @ x >= threshold:
                w = w * promotion**-x
            else:
                continue
            mistakes += 1
            clean = False
        if clean:
            break
    return w, mistakes


@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(4, 30),
    k=st.integers(1, 3),
    promotion=st.sampled_from([1.3, 2.0, 3.0]),
)
def test_winnow_learns_disjunctions_within_its_bound(seed, d, k, promotion):
    rng = np.random.default_rng(seed)
    X = (rng.random((60, d)) < 0.2).astype(float)
    y = (X[:, :k].sum(axis=1) > 0).astype(int)
    y[0], X[0] = 1, 1.0
    y[1], X[1] = 0, 0.0
    X[1, k:] = 1.0
    threshold = 0.5123 * d  # no sum of powers of the promotion: ties would be rounding
    winnow = Winnow(promotion, threshold, max_passes=None)
    result = winnow.run(X, y)
    w, mistakes = textbook_winnow(X, y, promotion, threshold, 10**6)
    np.testing.assert_allclose(result.coef, w, rtol=1e-9)
    assert result.n_updates == mistakes
    assert result.separated
    assert result.n_updates <= winnow.mistake_bound(d, target_sum=k)
    assert (result.predict(X) == y).all()


@given(seed=st.integers(0, 2**32 - 1), separation=st.sampled_from([0.25, 0.5, 1.0]))
def test_winnow_bound_for_weighted_targets(seed, separation):
    # mu . x >= 1 on positives, <= 1 - separation on negatives, features 0 and 1.
    rng = np.random.default_rng(seed)
    mu = np.zeros(12)
    mu[:4] = rng.choice([0.25, 0.5, 1.0], 4)
    X = (rng.random((200, 12)) < 0.5).astype(float)
    value = X @ mu
    keep = (value >= 1) | (value <= 1 - separation)
    X, y = X[keep], (value[keep] >= 1).astype(int)
    if len(set(y)) < 2:
        return
    winnow = Winnow(promotion=1 + separation / 2, max_passes=None)
    result = winnow.run(X, y)
    assert result.separated
    assert result.n_updates <= winnow.mistake_bound(12, mu.sum(), separation)


@pytest.mark.parametrize("X", [[[-0.1], [1.0]], [[0.0], [1.5]]])
def test_winnow_enforces_its_domain(X):
    with pytest.raises(ValueError, match=r"every feature in \[0, 1\], got values from"):
        Winnow().run(X, [0, 1])


def test_winnow_bound_refuses_what_its_argument_does_not_cover():
    with pytest.raises(ValueError, match=r"\(1 - separation\) \* promotion < 1"):
        Winnow(promotion=2.0).mistake_bound(10, 1.0, separation=0.25)


@given(problem=planted_problems())
@settings(max_examples=25)
def test_balanced_winnow_is_the_textbook_loop_within_its_bound(problem):
    X, y, u, margin = problem
    A = y[:, None] * X
    r, norm = np.abs(A).max(), np.abs(u).sum()
    # The bound wants a target of 1-norm one.
    margin = margin / norm
    rate = margin / r**2
    result = BalancedWinnow(rate, fit_intercept=False, max_passes=None).run(X, y)
    up, down, mistakes = np.ones(X.shape[1]), np.ones(X.shape[1]), 0
    clean = False
    while not clean:
        clean = True
        for row in A:
            if row @ (up - down) <= 0:
                up, down = up * np.exp(rate * row), down * np.exp(-rate * row)
                mistakes += 1
                clean = False
    assert result.n_updates == mistakes
    np.testing.assert_allclose(result.coef, up - down, rtol=1e-6, atol=1e-9)
    bound = BalancedWinnow.mistake_bound(X.shape[1], r, margin, rate)
    assert result.n_updates <= bound
    assert bound == pytest.approx(2 * (r / margin) ** 2 * math.log(2 * X.shape[1]))


def test_balanced_winnow_survives_exponents_beyond_floating_point():
    X, y = [[1e4, 0.0], [-1e4, 1.0]], [1, 0]
    result = BalancedWinnow(1.0, fit_intercept=False, max_passes=50).run(X, y)
    assert np.isfinite(result.coef).all()


@given(problem=planted_problems(), ridge=st.sampled_from([0.01, 1.0, 100.0]))
@settings(max_examples=25)
def test_second_order_is_the_textbook_loop_within_its_bound(problem, ridge):
    X, y, u, margin = problem
    A = y[:, None] * X
    ridge = ridge * radius_of(A) ** 2
    method = SecondOrderPerceptron(ridge, fit_intercept=False, max_passes=30)
    result = method.run(X, y)
    # The source: S = [past mistakes, this row], decide by v^T (ridge I + S S^T)^{-1} x.
    M, v, erred = ridge * np.eye(X.shape[1]), np.zeros(X.shape[1]), []
    for _ in range(30):
        clean = True
        for row in A:
            with_row = M + np.outer(row, row)
            if v @ np.linalg.solve(with_row, row) <= 0:
                M, v = with_row, v + row
                erred.append(row)
                clean = False
        if clean:
            break
    assert result.n_updates == len(erred)
    w = np.linalg.solve(M, v)
    np.testing.assert_allclose(result.coef, w, rtol=1e-6, atol=1e-9 * np.abs(w).max())
    erred = np.array(erred)
    assert result.n_updates <= method.mistake_bound(erred, u, margin) * (1 + 1e-9)


@given(problem=planted_problems(max_rows=15), fit_intercept=st.booleans())
def test_linear_kernel_perceptron_is_perceptron(problem, fit_intercept):
    X, y, _, _ = problem
    X = np.round(X * 8 / np.abs(X).max())  # whole numbers: no rounding, no near ties
    linear = Perceptron(fit_intercept=fit_intercept, max_passes=50).run(X, y)
    kernel = KernelPerceptron(fit_intercept=fit_intercept, max_passes=50).run(X, y)
    np.testing.assert_array_equal(kernel.row_weights, linear.row_weights)
    assert (kernel.n_passes, kernel.stopped) == (linear.n_passes, linear.stopped)
    np.testing.assert_allclose(
        kernel.decision_function(X), linear.decision_function(X), atol=1e-9
    )


@given(seed=st.integers(0, 2**32 - 1))
def test_kernel_perceptron_in_feature_space(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(14, 2)).astype(float)
    y = ((X**2).sum(axis=1) > 6).astype(int)
    if len(set(y)) < 2:
        return
    # (1 + u.v)^2 = phi(u).phi(v) with the six features below.
    phi = np.array(
        [[1, 2**0.5 * a, 2**0.5 * b, a * a, b * b, 2**0.5 * a * b] for a, b in X]
    )
    method = KernelPerceptron("polynomial", degree=2, fit_intercept=False)
    result = method.run(X, y)
    sign = np.where(y == 1, 1, -1)
    gram = (1 + X.astype(int) @ X.astype(int).T) ** 2  # whole numbers, hence exact
    counts, clean = np.zeros(14, dtype=int), False
    while not clean:
        clean = True
        for i in range(14):
            if sign[i] * sum(counts[j] * sign[j] * gram[j, i] for j in range(14)) <= 0:
                counts[i] += 1
                clean = False
    assert result.separated
    np.testing.assert_array_equal(result.row_weights, counts)
    w = (counts * sign) @ phi
    np.testing.assert_allclose(
        result.decision_function(X), phi @ w, rtol=1e-6, atol=1e-6
    )
    margin = (sign * (phi @ w)).min() / np.linalg.norm(w)
    assert result.n_updates <= KernelPerceptron.mistake_bound(radius_of(phi), margin)


def test_kernel_may_be_a_function_or_rbf():
    X, y = [[0.0], [1.0], [2.0]], ["out", "in", "out"]
    rbf = KernelPerceptron("rbf", gamma=2.0).run(X, y)
    given_kernel = KernelPerceptron(lambda U, V: np.exp(-2.0 * (U - V.T) ** 2)).run(
        X, y
    )
    assert rbf.predict(X).tolist() == y
    np.testing.assert_array_equal(rbf.row_weights, given_kernel.row_weights)
    with pytest.raises(ValueError, match='kernel must be "linear"'):
        KernelPerceptron("cubic").run(X, y)


@given(problem=planted_problems(), target=st.sampled_from([0.0, 1.0, 20.0]))
@settings(max_examples=30)
def test_minover_is_the_textbook_loop_within_its_bound(problem, target):
    X, y, _, margin = problem
    A = y[:, None] * X
    target = target * radius_of(A) ** 2
    method = Minover(target, fit_intercept=False)
    w, updates = np.zeros(X.shape[1]), 0
    while (A @ w).min() <= target:
        w = w + A[np.argmin(A @ w)]
        updates += 1
    result = method.run(X, y)
    assert result.n_updates == updates
    np.testing.assert_allclose(result.coef, w, rtol=1e-9)
    assert result.n_updates <= method.mistake_bound(radius_of(A), margin)
    assert result.n_operations == len(y) * (updates + 1) + updates


def test_minover_approaches_the_largest_margin():
    X, y, _ = planted(5, 40, 3, 0.1)
    results = [
        Minover(target, fit_intercept=False).run(X, y) for target in (0.0, 3.0, 300.0)
    ]
    margins = [result.margin_lower for result in results]
    assert margins[0] < margins[1] < margins[2]
    assert 0.99 * results[2].margin_upper < margins[2] <= results[2].margin_upper


@given(problem=planted_problems(max_rows=15), share=st.sampled_from([0.0, 0.3, 0.8]))
@settings(max_examples=30)
def test_maxover_is_the_textbook_loop_within_its_bound(problem, share):
    X, y, _, margin = problem
    A = y[:, None] * X
    method = Maxover(share * margin, fit_intercept=False, max_updates=3000)
    w, updates = np.zeros(X.shape[1]), 0
    while updates < 3000:
        wrong = np.flatnonzero(A @ w <= share * margin * np.linalg.norm(w))
        if wrong.size == 0:
            break
        w = w + A[wrong[np.argmax(A[wrong] @ w)]]
        updates += 1
    result = method.run(X, y)
    assert result.n_updates == updates
    if result.stopped == "separated":
        np.testing.assert_allclose(result.coef, w, rtol=1e-9)
    assert result.n_updates <= method.mistake_bound(radius_of(A), margin)


def test_maxover_gets_most_rows_right_where_none_can_get_all():
    for seed in range(5):
        X, y, _ = planted(seed, 40, 3, 0.2)
        y[:3] *= -1
        result = Maxover(fit_intercept=False, max_updates=3000).run(X, y)
        # No hyperplane errs on fewer than ... the planted one errs on three.
        assert (result.predict(X) != y).sum() <= 3
        assert result.stopped == "max_updates"


def test_labels_of_any_coding_and_one_class():
    X, y, _ = planted(1, 10, 2, 0.3)
    reference = Perceptron().run(X, y)
    for labels in (y > 0, np.where(y > 0, "b", "a"), np.where(y > 0, 7, -2)):
        result = Perceptron().run(X, labels)
        np.testing.assert_array_equal(result.coef, reference.coef)
        assert (result.predict(X) == labels).all()
    alone = Perceptron().run([[1.0], [-2.0]], ["a", "a"])
    assert alone.separated
    assert alone.predict([[5.0]]).tolist() == ["a"]


@pytest.mark.parametrize("method", [*BY_MISTAKES, Minover, Maxover])
def test_frames_sparse_rows_and_new_rows_of_any_kind(method):
    import pandas as pd
    from scipy.sparse import csr_array

    X, y, _ = planted(6, 20, 3, 0.2)
    expected = method().run(X, y)
    values = expected.decision_function(X)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for kind in (frame, csr_array(X), X.tolist()):
        result = method().run(kind, y)
        np.testing.assert_array_equal(result.row_weights, expected.row_weights)
        np.testing.assert_allclose(result.decision_function(kind), values, atol=1e-12)
    with pytest.raises(ValueError, match="column"):
        expected.predict(X[:, :2])


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_sizes_beyond_the_range_of_squares_are_refused(size):
    with pytest.raises(ValueError, match=r"between 1e-120 and 1e\+120 in size"):
        Perceptron(fit_intercept=False).run([[size], [-size]], [1, 0])


def test_results_say_what_happened():
    text = repr(Perceptron().run([[10.0], [11.0]], [0, 1]))
    assert text == "Perceptron: separated, 445 updates, 234 passes, 913 operations"
    text = repr(Perceptron(max_passes=3).run([[0.0], [1.0], [2.0]], [0, 1, 0]))
    assert text.startswith("Perceptron: not separated (max_passes), ")


def test_all_pairs_of_methods_agree_that_planted_rows_separate():
    X, y, _ = planted(11, 30, 4, 0.1)
    results = [method(max_passes=None).run(X, y) for method in BY_MISTAKES]
    results += [Minover().run(X, y), Maxover().run(X, y)]
    for result in results:
        # A vote of all vectors met may fail where the last of them separates.
        assert result.stopped == ("separated" if result.separated else "no_mistakes")
        linear = result.method not in ("VotedPerceptron", "AveragedPerceptron")
        assert result.separated or not linear
