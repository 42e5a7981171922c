"""The classifier: what it proves and reports, and its life with scikit-learn."""

import pickle
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import linsep
from linsep import OptimisticPerceptron

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])


@pytest.fixture(scope="module")
def digits_pair():
    X, y = load_digits(return_X_y=True)
    keep = (y == 3) | (y == 8)
    return X[keep], y[keep]


@pytest.fixture
def overlapping(rng):
    X = rng.normal(size=(300, 4))
    return X, X[:, 0] + 0.7 * rng.normal(size=300) > 0


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def fit_quietly(model, X, y, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **params)


def test_separable_classes_are_separated_by_the_largest_margin(digits_pair):
    X, y = digits_pair
    model = OptimisticPerceptron("max_margin").fit(X, y)
    best = linsep.max_margin(X, y)
    assert model.separation_.proved
    assert model.separation_.separable
    assert model.nu_ is None
    assert model.margin_ == pytest.approx(best.margin_lower, rel=1e-9)
    np.testing.assert_allclose(model.coef_[0], best.coef, rtol=1e-7, atol=1e-12)
    np.testing.assert_array_equal(model.support_, best.support)
    assert model.separation_.margin_squared() == best.margin_squared()
    np.testing.assert_array_equal(model.predict(X), y)


def test_separate_objective_separates(digits_pair):
    X, y = digits_pair
    model = OptimisticPerceptron(objective="separate").fit(X, y)
    assert model.separation_.separable
    np.testing.assert_array_equal(model.predict(X), y)
    model.separation_.certificate.verify(X, y)


def test_inseparable_classes_warn_and_keep_the_proof(overlapping):
    X, y = overlapping
    with pytest.warns(ConvergenceWarning, match="Inseparable: no hyperplane") as caught:
        model = OptimisticPerceptron("max_margin").fit(X, y)
    assert "nu=" in str(caught[0].message)
    answer = model.separation_
    assert answer.status == "inseparable"
    assert answer.proved
    assert linsep.separate(X[answer.conflict], y[answer.conflict]).separable is False
    answer.certificate.verify(X, y)
    assert 0 < model.nu_ <= 1
    assert model.temperature_ > 0
    low, high = model.value_bounds_
    assert 0 < low <= high
    assert high - low <= model.tol * high
    assert model.margin_ < 0


def test_decision_scale_puts_the_judged_rows_at_one(overlapping):
    """nu bounds the share of margin errors, and is at most that of judged rows."""
    X, y = overlapping
    nu = 0.4
    model = OptimisticPerceptron(nu=nu, tol=1e-8).fit(X, y)
    signed = model.decision_function(X) * np.where(y, 1, -1)
    assert np.mean(signed < 1 - 1e-5) <= nu
    assert np.mean(signed <= 1 + 1e-5) >= nu
    np.testing.assert_array_equal(model.support_, np.flatnonzero(signed <= 1 + 1e-3))


def test_nu_given_claims_nothing_and_does_not_warn(overlapping):
    model = OptimisticPerceptron(nu=0.5).fit(*overlapping)
    assert model.separation_.separable is None
    assert "nu='auto' asks" in model.separation_.message


def test_temperature_is_none_for_a_given_share_and_half_a_spread_otherwise(overlapping):
    X, y = overlapping
    auto = fit_quietly(OptimisticPerceptron("max_margin"), X, y)
    half = fit_quietly(OptimisticPerceptron(temperature=0.5), X, y)
    assert auto.temperature_ == half.temperature_ > 0
    np.testing.assert_array_equal(auto.coef_, half.coef_)
    assert OptimisticPerceptron(nu=0.5).fit(X, y).temperature_ == 0.0
    # The capped game itself, at the share that was chosen.
    cold = fit_quietly(OptimisticPerceptron(temperature=0.0), X, y)
    assert cold.nu_ == auto.nu_
    assert cold.temperature_ == 0.0
    given = OptimisticPerceptron(nu=cold.nu_).fit(X, y)
    np.testing.assert_allclose(given.coef_, cold.coef_, rtol=1e-12)


def test_decision_scale_puts_rows_at_their_caps_below_one(overlapping):
    X, y = overlapping
    model = fit_quietly(OptimisticPerceptron("max_margin"), X, y)
    signed = model.decision_function(X) * np.where(y, 1, -1)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(signed <= 1 + 1e-3))
    assert np.mean(signed < 1 - 1e-3) <= model.nu_


def test_wide_sparse_rows_are_never_made_dense(rng):
    """3,000 x 40,000 would be a gigabyte dense, which the dense game refuses."""
    n, d, held = 3000, 40_000, 12
    columns = np.minimum(rng.pareto(0.8, size=(n, held)) * 20, d - 1).astype(np.int32)
    rows = np.arange(0, n * held + 1, held, dtype=np.int32)
    X = sparse.csr_array((np.ones(n * held), columns.ravel(), rows), (n, d))
    X.sum_duplicates()
    score = X @ rng.normal(size=d)
    y = score + rng.normal(size=n) > 0
    model = OptimisticPerceptron(nu=0.2, temperature=0.5).fit(X[:2000], y[:2000])
    low, high = model.value_bounds_
    assert 0 < high - low <= model.tol * high
    peer = LinearSVC(random_state=0).fit(X[:2000], y[:2000])
    assert model.score(X[2000:], y[2000:]) >= peer.score(X[2000:], y[2000:]) - 0.02
    with pytest.raises(linsep.InputError, match="to be dense"):
        OptimisticPerceptron(nu=0.2).fit(X, y)


def test_largest_margin_of_rows_too_many_and_too_wide_leaves_its_interval_open(rng):
    n = 10_100
    y = rng.random(n) < 0.5
    own = sparse.eye_array(n, format="csr")
    X = sparse.hstack([own, sparse.csr_array(np.where(y, 1.0, -1.0)[:, None])]).tocsr()
    answer = linsep.max_margin(X, y, time_limit=60)
    assert answer.separable
    assert "rows and columns at once are too many" in answer.message
    assert 0 < answer.margin_lower <= 1 + 1e-3


def test_nu_too_large_says_how_large(overlapping):
    X = overlapping[0]
    y = np.arange(300) < 30
    with pytest.raises(
        linsep.InputError, match="at most twice the smaller class's share"
    ):
        OptimisticPerceptron(nu=0.3).fit(X, y)


@pytest.mark.parametrize("nu", [0.5, "auto"])
def test_units_do_not_matter_to_a_soft_margin(overlapping, nu):
    X, y = overlapping
    one = fit_quietly(OptimisticPerceptron(nu=nu, tol=1e-11), X, y)
    scaled = X * [1e3, 1.0, 1e-4, 10.0] + [5.0, -3.0, 0.0, 100.0]
    other = fit_quietly(OptimisticPerceptron(nu=nu, tol=1e-11), scaled, y)
    np.testing.assert_allclose(
        one.decision_function(X), other.decision_function(scaled), atol=1e-4
    )


@pytest.mark.parametrize("power", [-990, -300, 300, 1000])
@pytest.mark.parametrize("standardize", [True, False])
def test_soft_margins_hold_to_the_ends_of_the_doubles(overlapping, power, standardize):
    X, y = overlapping
    plain = fit_quietly(OptimisticPerceptron(standardize=standardize), X, y)
    scaled = np.ldexp(X, power)
    other = fit_quietly(OptimisticPerceptron(standardize=standardize), scaled, y)
    np.testing.assert_allclose(
        plain.decision_function(X), other.decision_function(scaled), rtol=1e-6
    )


@pytest.mark.parametrize("labels", [[0, 1, 0], ["b", "a", "b"], [0, 1, 0, 2, 0]])
def test_where_no_direction_pays_the_heaviest_class_is_predicted(labels):
    X = np.array([[-1.0], [0.0], [1.0], [0.0], [0.0]])[: len(labels)]
    model = fit_quietly(OptimisticPerceptron(), X, labels)
    assert not model.coef_.any()
    assert (model.predict(X) == labels[0]).all()


def test_weights_count_rows(overlapping):
    X, y = overlapping
    weights = np.arange(300) % 3
    weighted = fit_quietly(OptimisticPerceptron(), X, y, sample_weight=weights)
    repeated = fit_quietly(
        OptimisticPerceptron(), np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-12)
    assert weighted.nu_ == repeated.nu_


def test_zero_weight_is_absence():
    X = np.array([[0.0], [1.0], [3.0], [4.0], [0.5]])
    y = np.array([0, 0, 1, 1, 1])
    model = OptimisticPerceptron().fit(X, y, sample_weight=[1, 1, 1, 1, 0])
    assert model.separation_.separable
    assert model.margin_ == pytest.approx(1.0)
    conflict = fit_quietly(
        OptimisticPerceptron(nu="auto"),
        np.array([[9.0], [0.0], [1.0], [2.0], [3.0]]),
        [1, 0, 1, 0, 1],
        sample_weight=[0, 1, 1, 1, 1],
    ).separation_.conflict
    assert conflict.tolist() in ([1, 2, 3], [2, 3, 4])


def test_fit_does_not_depend_on_the_order_of_rows(overlapping, rng):
    X, y = overlapping
    order = rng.permutation(300)
    one = fit_quietly(OptimisticPerceptron(), X, y)
    other = fit_quietly(OptimisticPerceptron(), X[order], y[order])
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize(
    "kind", ["pandas", "polars", "csr", "float32", "fortran", "list"]
)
def test_inputs_of_any_kind_give_the_same_fit(kind, rng):
    X = np.round(rng.normal(size=(60, 3)) * 8) / 8  # exact in float32
    y = X @ [1.0, -2.0, 0.5] > 0.3
    base = OptimisticPerceptron().fit(X, y)
    names = ["a", "b", "c"]
    made = {
        "pandas": lambda: pd.DataFrame(X, columns=names),
        "polars": lambda: pl.DataFrame(X, schema=names),
        "csr": lambda: sparse.csr_matrix(X),
        "float32": lambda: X.astype(np.float32),
        "fortran": lambda: np.asfortranarray(X),
        "list": X.tolist,
    }[kind]()
    model = OptimisticPerceptron().fit(made, y)
    np.testing.assert_allclose(model.coef_, base.coef_, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(made), base.predict(X))
    if kind in ("pandas", "polars"):
        assert model.feature_names_in_.tolist() == names
        assert model.separation_.feature_names == tuple(names)


def test_string_labels_come_back():
    model = OptimisticPerceptron().fit([[0.0], [2.0]], ["no", "yes"])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict([[-1.0], [5.0]]).tolist() == ["no", "yes"]


def test_clone_and_pickle(digits_pair):
    X, y = digits_pair
    model = OptimisticPerceptron(tol=1e-5).fit(X, y)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.decision_function(X), model.decision_function(X)
    )
    again.separation_.certificate.verify(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_lives_in_scikit_learns_tools():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), OptimisticPerceptron(nu=0.1))
    pipeline.set_output(transform="pandas")
    assert pipeline.fit(X, y)[-1].feature_names_in_.tolist() == X.columns.tolist()
    search = GridSearchCV(
        pipeline, {"optimisticperceptron__nu": [0.05, 0.1, 0.4]}, cv=3
    ).fit(X, y)
    assert search.best_params_["optimisticperceptron__nu"] in (0.05, 0.1, 0.4)
    assert len(cross_val_score(OptimisticPerceptron(nu=0.1), X, y, cv=4)) == 4
    calibrated = CalibratedClassifierCV(OptimisticPerceptron(nu=0.1), cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    W, labels = load_wine(return_X_y=True)
    each = OneVsRestClassifier(OptimisticPerceptron("max_margin")).fit(W, labels)
    np.testing.assert_array_equal(each.predict(W), labels)


def penguin_like():
    """Three classes on a line: jointly separable, the middle one not from the rest."""
    X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    return X, np.array(["a", "a", "b", "b", "c", "c"])


def test_joint_separates_where_one_class_against_the_rest_cannot():
    X, y = penguin_like()
    joint = OptimisticPerceptron("max_margin").fit(X, y)
    assert joint.separation_.separable
    assert joint.separation_.proved
    np.testing.assert_array_equal(joint.predict(X), y)
    assert joint.margin_ > 0
    assert joint.pairs_.shape == (12, 2)
    with pytest.warns(ConvergenceWarning, match="Inseparable"):
        each = OptimisticPerceptron("max_margin", multi_class="ovr").fit(X, y)
    assert [s.separable for s in each.separation_] == [True, False, True]


def test_wine_is_jointly_separable_and_iris_is_not():
    X, y = load_wine(return_X_y=True)
    wine = OptimisticPerceptron("max_margin").fit(X, y)
    assert wine.separation_.separable
    np.testing.assert_array_equal(wine.predict(X), y)
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="Inseparable"):
        iris = OptimisticPerceptron("max_margin").fit(X, y)
    assert iris.separation_.status == "inseparable"
    assert iris.separation_.proved


def test_joint_margin_is_at_least_the_separators():
    X, y = load_wine(return_X_y=True)
    best = OptimisticPerceptron("max_margin", tol=1e-6).fit(X, y)
    some = OptimisticPerceptron(objective="separate").fit(X, y)
    low, high = best.value_bounds_
    assert high - low <= 1e-6 * high

    def joint_margin(model):
        scores = model.decision_function(X)
        own = scores[np.arange(len(y)), y][:, None]
        gaps = np.where(np.eye(3, dtype=bool)[y], np.inf, own - scores)
        return gaps.min() / np.linalg.norm(model.coef_)

    assert joint_margin(best) == pytest.approx(high, rel=1e-5)
    assert joint_margin(some) <= high * (1 + 1e-9)


@pytest.mark.parametrize("params", [{"kernel": "rbf"}, {"kernel": "poly", "degree": 2}])
def test_kernels_separate_xor_with_a_proof(params):
    X, y = XOR
    model = OptimisticPerceptron("max_margin", **params).fit(X, y)
    assert model.separation_.separable
    assert model.separation_.proved
    np.testing.assert_array_equal(model.predict(X), y)


def test_linear_kernels_of_every_kind_agree_that_xor_is_inseparable():
    X, y = XOR
    with pytest.warns(ConvergenceWarning, match="Inseparable in the feature space"):
        given = OptimisticPerceptron("max_margin", kernel="precomputed").fit(X @ X.T, y)
    assert given.separation_.proved
    assert given.separation_.conflict.tolist() == [0, 1, 2, 3]
    with pytest.warns(ConvergenceWarning, match="Inseparable in the feature space"):
        called = OptimisticPerceptron("max_margin", kernel=lambda A, B: A @ B.T).fit(
            X, y
        )
    assert called.separation_.conflict.tolist() == [0, 1, 2, 3]


def test_kernel_of_linear_features_gives_the_linear_margin(digits_pair):
    X, y = digits_pair
    linear = OptimisticPerceptron("max_margin").fit(X, y)
    gram = OptimisticPerceptron("max_margin", kernel="precomputed").fit(X @ X.T, y)
    assert gram.margin_ == pytest.approx(linear.margin_, rel=1e-6)
    np.testing.assert_allclose(
        gram.decision_function(X @ X.T), linear.decision_function(X), atol=1e-5
    )


def test_kernel_decisions_on_new_rows_are_those_of_the_feature_space(rng):
    """Degree 2 with its features written out must decide the same."""
    X = rng.normal(size=(80, 2))
    y = (X**2).sum(axis=1) > 1.2
    model = OptimisticPerceptron(
        "max_margin", kernel="poly", degree=2, gamma=1.0, coef0=1.0
    )
    model.fit(X, y)

    def features(X):
        a, b = X.T
        r = np.sqrt(2.0)
        return np.column_stack([a * a, b * b, r * a * b, r * a, r * b])

    plain = OptimisticPerceptron("max_margin").fit(features(X), y)
    fresh = rng.normal(size=(50, 2))
    np.testing.assert_allclose(
        model.decision_function(fresh),
        plain.decision_function(features(fresh)),
        atol=1e-6,
    )


def test_precomputed_kernel_must_be_square():
    with pytest.raises(ValueError, match="must be square"):
        OptimisticPerceptron(kernel="precomputed").fit(np.ones((3, 2)), [0, 1, 1])


def test_verbose_prints_passes(capsys, digits_pair):
    OptimisticPerceptron(verbose=1).fit(*digits_pair)
    assert capsys.readouterr().out.startswith("pass 1:")


def test_there_is_no_partial_fit():
    assert not hasattr(OptimisticPerceptron(), "partial_fit")


@pytest.mark.parametrize(
    ("y", "options"),
    [([0, 1, 0, 1], {"nu": 0.5}), ([1, 1, 1, 1], {}), ([0, 0, 1, 1], {})],
)
def test_seconds_are_those_of_the_fit(y, options):
    X = np.arange(4.0)[:, None]
    started = time.perf_counter()
    classifier = OptimisticPerceptron(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier.fit(X, y)
    assert 0 <= classifier.separation_.seconds <= time.perf_counter() - started


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "gamma": 1e-9}])
def test_what_is_proved_names_rows_by_the_index_of_the_frame(options):
    frame = pd.DataFrame({"x": [0.0, 1.0, 1.0, 9.0]}, index=list("pqrs"))
    model = OptimisticPerceptron(**options).fit(frame, [0, 1, 0, 1])
    told = model.separation_.summary()
    assert "row q" in told
    assert "row r" in told
    again = pickle.loads(pickle.dumps(model))
    assert again.separation_.summary() == told


def test_missing_values_are_not_said_to_be_left_out_where_they_cannot_be():
    frame = pd.DataFrame({"x": [0.0, None, 2.0], "g": ["a", "b", None]})
    model = OptimisticPerceptron()
    with pytest.raises(ValueError, match=r"fill them in, or remove the rows$"):
        model.fit(frame, [0, 1, 1])
    model.fit(frame.dropna().assign(g=["a"]), [0])
    with pytest.raises(ValueError, match=r"fill them in, or remove the rows$"):
        model.predict(frame)
