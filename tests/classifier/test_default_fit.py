"""The default fit: probabilities, class weights, the proof beside it, its warnings."""

import warnings

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

import linsep
from linsep import ConvergenceDisplay, FitWarning, OptimisticPerceptron
from linsep.classifier import separating
from linsep.rows import working_set
from linsep.solvers import engines
from linsep.verified import reduction


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def rare(rng, n=1500):
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + rng.normal(size=n) > 2.6


def test_overlapping_classes_are_no_reason_to_warn_and_are_proved(rng):
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + 0.7 * rng.normal(size=300) > 0
    model = OptimisticPerceptron().fit(X, y)  # warnings are errors here
    answer = model.separation_
    assert answer.status == "inseparable"
    assert linsep.separate(X[answer.conflict], y[answer.conflict]).separable is False
    answer.certificate.verify(X, y)
    assert model.penalty_ > 0
    assert (model.nu_, model.value_bounds_) == (None, None)
    signed = model.decision_function(X) * np.where(y, 1, -1)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(signed <= 1 + 1e-3))


@pytest.mark.parametrize("n", [300, 3000])
def test_verdicts_agree_with_separate(rng, n, monkeypatch):
    monkeypatch.setattr(separating, "LEAST_SECONDS", 60.0)  # on a busy machine too
    X = rng.normal(size=(n, 12))
    w = rng.normal(size=12)
    for flipped in (0, n // 50):
        y = X @ w > 0
        y[:flipped] ^= True
        model = OptimisticPerceptron(time_limit=100).fit(X, y)
        answer = model.separation_
        assert answer.separable is (flipped == 0)
        assert linsep.separate(X, y).separable is answer.separable
        answer.certificate.verify(X, y)


def test_joint_verdicts_are_certified_for_the_pairs():
    X, y = load_iris(return_X_y=True)
    model = OptimisticPerceptron().fit(X, y)
    assert model.separation_.status == "inseparable"
    assert model.separation_.proved
    kept = y < 2
    three = OptimisticPerceptron().fit(X[kept], y[kept] + (X[kept, 0] > 4.95) * 5)
    assert len(three.classes_) > 2
    assert three.separation_.status in ("separable", "inseparable")


def test_sparse_pairs_are_the_dense_ones(rng):
    from linsep.solvers.soft_margin.joint import Pairs

    X = sparse.random_array((20, 6), density=0.4, rng=rng, format="csr")
    pairs = Pairs.of(rng.integers(3, size=20), 3)
    dense = pairs.blocks(X.toarray())[:, :-6]
    np.testing.assert_array_equal(pairs.sparse_blocks(X).toarray(), dense)


@pytest.mark.parametrize("multi_class", ["joint", "ovr"])
@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_probabilities_sum_to_one_and_follow_the_prediction(
    rng, n_classes, multi_class
):
    X = rng.normal(size=(200, 3))
    y = (
        X @ rng.normal(size=(3, n_classes)) + rng.gumbel(size=(200, n_classes))
    ).argmax(axis=1)
    model = OptimisticPerceptron(multi_class=multi_class).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (200, n_classes)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)


def test_probabilities_are_calibrated_on_new_rows(rng):
    """Of a logistic model: groups of like probability hold what they promise.

    One draw's estimate errs by some hundredths, the mean of eight by one or two.
    """
    w = np.array([1.5, -1.0, 0.5, 0.0, 0.0, 0.0])
    promised = []
    for _ in range(8):
        X = rng.normal(size=(11_000, 6))
        y = rng.random(11_000) < 1 / (1 + np.exp(-(X @ w + 0.5)))
        model = OptimisticPerceptron().fit(X[:1000], y[:1000])
        p = model.predict_proba(X[1000:])[:, 1]
        groups = [(p >= low) & (p < low + 0.2) for low in np.arange(0.0, 1.0, 0.2)]
        promised.append([y[1000:][at].mean() - p[at].mean() for at in groups])
    assert abs(np.array(promised)).max() < 0.08
    assert abs(np.mean(promised, axis=0)).max() < 0.025


def test_other_fits_have_no_probabilities_and_say_what_has():
    model = OptimisticPerceptron(nu=0.5).fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba([[0.0]])
    assert "CalibratedClassifierCV" in str(caught.value.__cause__)


def test_balanced_weights_are_sample_weights(rng):
    X, y = rare(rng)
    balanced = OptimisticPerceptron(class_weight="balanced").fit(X, y)
    # As often as the other class in sum: a constant decision is right on half of each.
    recall = [(balanced.predict(X[y == k]) == k).mean() for k in (False, True)]
    assert min(recall) > 0.8
    share = y.mean()
    same = {False: 0.5 / (1 - share), True: 0.5 / share}
    given = OptimisticPerceptron(class_weight=same).fit(X, y)
    np.testing.assert_allclose(given.coef_, balanced.coef_, rtol=1e-6)
    assert balanced.separation_.status == given.separation_.status == "inseparable"


def test_class_weights_of_no_class_are_refused():
    with pytest.raises(linsep.InputError, match="positive numbers to classes of y"):
        OptimisticPerceptron(class_weight={2: 1.0}).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(linsep.InputError, match="positive numbers to classes of y"):
        OptimisticPerceptron(class_weight={1: 0.0}).fit([[0.0], [1.0]], [0, 1])


def test_a_limit_of_ones_own_is_warned_of(rng):
    X = rng.normal(size=(4000, 30))
    y = rng.random(4000) < 0.5
    with pytest.warns(FitWarning, match="time limit of 1e-06 s passed"):
        model = OptimisticPerceptron(time_limit=1e-6).fit(X, y)
    assert model.separation_.status == "undecided"
    assert model.predict(X).shape == (4000,)


def test_a_proof_that_takes_longer_than_the_fit_is_given_up(rng, monkeypatch):
    monkeypatch.setattr(separating, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(separating, "PROOF_SHARE", 1e-9)
    X = rng.normal(size=(4000, 30))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OptimisticPerceptron().fit(X, rng.random(4000) < 0.5)
    assert "linsep.separate takes the time" in model.separation_.message


def test_html_shows_the_verdict(rng):
    X, y = load_breast_cancer(return_X_y=True)
    model = OptimisticPerceptron()
    assert "hyperplane" not in model._repr_mimebundle_()["text/html"]
    model.fit(X, y)
    for shown in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert model.separation_.message in shown


def test_convergence_display_takes_rows_and_says_what_was_decided(rng):
    X = rng.normal(size=(30, 3))
    model = OptimisticPerceptron("max_margin").fit(X, X[:, 0] > 0)
    drawn = ConvergenceDisplay.from_estimator(model, X, X[:, 0] > 0)
    assert drawn.ax_.get_title().endswith("rounds")
    alone = OptimisticPerceptron().fit(X, np.zeros(30))
    said = ConvergenceDisplay.from_estimator(alone, X, np.zeros(30)).ax_.texts[0]
    assert "all rows are of one class" in " ".join(said.get_text().split())
    pyplot.close("all")


def test_what_proves_overlap_is_the_fit_itself(rng, monkeypatch):
    """No second search where the estimate is a proof, and a certificate of it."""
    X = rng.normal(size=(2000, 8))
    y = X[:, 0] + rng.normal(size=2000) > 0

    def refused(*given, **named):
        raise AssertionError("a reduction was begun")

    with monkeypatch.context() as patched:
        patched.setattr(reduction.Reduction, "run", refused)
        patched.setattr(working_set.WorkingSet, "_sample", refused)
        answer = OptimisticPerceptron().fit(X, y).separation_
    assert answer.separable is False
    answer.certificate.verify(X, y)


def test_a_conflict_of_few_rows_is_sought_from_the_worst_of_the_fit(rng, monkeypatch):
    X = rng.normal(size=(300, 6))
    y = X[:, 0] + 0.7 * rng.normal(size=300) > 0

    def refused(*given, **named):
        raise AssertionError("the loop was played")

    monkeypatch.setattr(engines, "_play", refused)
    answer = OptimisticPerceptron().fit(X, y).separation_
    assert len(answer.conflict) <= 8
    assert answer.n_rounds <= 8 * 7
    answer.certificate.verify(X, y)


def test_whole_numbers_are_refused_or_warned_of_as_scikit_learn_does(rng):
    X = rng.normal(size=(30, 2))
    with pytest.raises(ValueError, match="Unknown label type"):
        OptimisticPerceptron().fit(X, X[:, 0])
    with pytest.warns(UserWarning, match="could represent a regression problem"):
        OptimisticPerceptron().fit(X, np.arange(30))


def test_a_fit_that_separates_nothing_is_not_swept(rng):
    X = rng.normal(size=(2000, 8))
    y = X[:, 0] + rng.normal(size=2000) > 0
    assert OptimisticPerceptron().fit(X, y).separation_.n_passes == 0
    assert OptimisticPerceptron().fit(X, X[:, 0] > 0).separation_.n_passes == 1


@pytest.mark.parametrize("n_classes", [2, 5])
def test_wide_rows_have_proof_and_probabilities_of_new_rows(rng, n_classes):
    """Every labelling separates; how sure to be of new rows is learned from them."""
    labels = np.arange(1060) % n_classes
    means = 0.4 * rng.normal(size=(n_classes, 200))
    rows = means[labels] + 2.0 * rng.normal(size=(1060, 200))
    X, y, new = rows[:60], labels[:60], labels[60:]
    model = OptimisticPerceptron().fit(X, y)
    assert model.separation_.separable is True
    assert model.separation_.proved
    p = model.predict_proba(rows[60:]).max(axis=1)
    is_right = model.predict(rows[60:]) == new
    assert 1.5 / n_classes < is_right.mean() < 0.95
    assert abs(p.mean() - is_right.mean()) < 0.12
