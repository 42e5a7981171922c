"""`separate`: verdicts on planted truth, invariances, limits, and what it reports."""

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import linsep
from helpers import known_cases
from judges import dot, fractions_of, z3_separable
from linsep import separate


def signed_rows(X, y, fit_intercept=True):
    """The signed rows of sorted two-class labels, in fractions."""
    positive = np.asarray(y) == np.unique(y)[-1]
    ones = [1] if fit_intercept else []
    return [
        [(1 if sign else -1) * Fraction(value) for value in [*map(float, row), *ones]]
        for row, sign in zip(X, positive, strict=True)
    ]


def assert_proved(answer, X, y, fit_intercept=True):
    """Check the verdict by fractions, on every row."""
    A = signed_rows(X, y, fit_intercept)
    assert answer.proved
    if answer.separable:
        if answer.exact_weights is not None:
            w = [Fraction(value) for value in answer.exact_weights]
        else:
            w = [Fraction(float(value)) for value in answer.coef]
            w += [Fraction(answer.intercept)] * fit_intercept
        for row in A:
            assert sum(a * b for a, b in zip(row, w, strict=True)) > 0
    else:
        assert answer.separable is False
        weights = answer.conflict_weights
        assert all(weight > 0 for weight in weights)
        assert sum(weights) == 1
        for column in range(len(A[0])):
            assert (
                sum(
                    weight * A[i][column]
                    for i, weight in zip(answer.conflict, weights, strict=True)
                )
                == 0
            )


def planted(n, d, margin, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(dtype)
    w = rng.standard_normal(d)
    w = (w / np.linalg.norm(w)).astype(dtype)
    slack = X @ w
    y = slack > 0
    missing = np.maximum(0, dtype(margin) - np.abs(slack))
    X += np.outer(np.where(y, missing, -missing), w).astype(dtype)
    return X, y


@pytest.mark.parametrize("case", known_cases("binary", "poisson-reduced"))
def test_cases_with_known_answers(case):
    X, y = np.array(case["X"], dtype=float), np.array(case["y"])
    present = np.array(case.get("weights", np.ones(len(y)))) > 0
    X, y = X[present], y[present]
    answer = separate(X, y, fit_intercept=case["intercept"])
    assert answer.separable == (case["expected"] == "complete")
    slacks = answer.certificate.verify(X, y)
    assert all(slacks) if answer.separable else not any(slacks)
    if len(answer.classes) == 2:
        assert_proved(answer, X, y, case["intercept"])
        rows = signed_rows(X, y, case["intercept"])
        assert answer.separable == z3_separable(rows)


@pytest.mark.parametrize("case", known_cases("multinomial"))
def test_multinomial_cases_as_one_joint_problem(case):
    # One row for each (observation, other class): x in its own block, -x in the other.
    X, y = np.array(case["X"], dtype=float), np.array(case["y"])
    X = np.c_[X, np.ones(len(X))]
    classes = np.unique(y)
    rows = [
        np.concatenate([row * ((c == own) * 1.0 - (c == other)) for c in classes])
        for row, own in zip(X, y, strict=True)
        for other in classes
        if other != own
    ]
    answer = separate(np.array(rows), np.ones(len(rows)), fit_intercept=False)
    assert answer.separable == (case["expected"] == "complete")


def real_problems():
    X, y = load_breast_cancer(return_X_y=True)
    yield pytest.param(X, y, id="breast-cancer raw")
    X, y = load_digits(return_X_y=True)
    for digit in range(8):
        yield pytest.param(X, y == digit, id=f"digits {digit}")
    X, y = load_wine(return_X_y=True)
    for kind in range(3):
        yield pytest.param(X, y == kind, id=f"wine {kind}")
    X, y = load_iris(return_X_y=True)
    yield pytest.param(X, y == 0, id="iris setosa")
    yield pytest.param(X[y != 1], y[y != 1], id="iris setosa virginica")


@pytest.mark.parametrize(("X", "y"), list(real_problems()))
def test_real_data_are_separated_and_proved_in_under_500_rounds(X, y):
    answer = separate(X, y)
    assert answer.separable
    assert answer.n_rounds < 500
    assert_proved(answer, X, y)
    assert ((answer.decision_function(X) > 0) == (y == answer.classes[1])).all()


@pytest.mark.parametrize("digit", [8, 9])
def test_digits_no_hyperplane_separates(digit):
    X, y = load_digits(return_X_y=True)
    answer = separate(X, y == digit)
    assert answer.separable is False
    assert_proved(answer, X, y == digit)


@pytest.mark.parametrize("n", range(1, 21))
def test_papers_data_in_at_most_10_rounds(n):
    A = np.eye(n) - np.tril(np.ones((n, n)), -1)
    answer = separate(A, np.ones(n), fit_intercept=False)
    assert answer.separable
    assert answer.n_rounds <= 10
    assert answer.margin_lower <= np.sqrt(3 / (4.0**n - 1)) * (1 + 1e-9)
    assert answer.margin_upper >= np.sqrt(3 / (4.0**n - 1)) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("n", "d", "margin"), [(100_000, 20, 1e-2), (60_000, 30, 1e-7), (40_000, 10, 0.1)]
)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_planted_rows_take_few_passes(n, d, margin, fit_intercept, dtype):
    X, y = planted(n, d, margin, dtype=dtype)
    answer = separate(X, y, fit_intercept=fit_intercept)
    assert answer.separable
    assert answer.n_passes <= 7
    # What was planted is achievable, so the bound must be above it.
    assert answer.margin_upper >= margin * (1 - 1e-5)
    assert 0 < answer.margin_lower <= answer.margin_upper


def test_flipped_labels_are_proved_inseparable_in_few_passes():
    X, y = planted(100_000, 20, 1e-3)
    y[np.random.default_rng(1).choice(len(y), 10, replace=False)] ^= True
    answer = separate(X, y)
    assert answer.separable is False
    assert answer.n_passes <= 7
    assert len(answer.conflict) <= 22
    sub = separate(X[answer.conflict], y[answer.conflict])
    assert_proved(sub, X[answer.conflict], y[answer.conflict])
    assert sub.separable is False


def test_a_long_conflict_is_looked_for_when_asked_for(monkeypatch):
    monkeypatch.setattr("linsep.separation.MOST_SETTLED", 3)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 6)), rng.integers(0, 2, 120)
    quick = linsep.separate(X, y)
    assert quick.status == "inseparable"
    assert quick.conflict is None
    assert "minimal_conflict=True" in quick.message
    quick.certificate.verify(X, y)
    found = linsep.separate(X, y, minimal_conflict=True)
    assert 3 < len(found.conflict) <= 8
    signed = np.c_[X, np.ones(120)] * np.where(y, 1.0, -1.0)[:, np.newaxis]
    rows = fractions_of(signed[found.conflict])
    for column in zip(*rows, strict=True):
        assert dot(column, found.conflict_weights) == 0


def test_random_labels_are_proved_inseparable():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 100)), rng.integers(0, 2, 2000)
    answer = separate(X, y)
    assert answer.separable is False
    assert len(answer.conflict) <= 102
    for spare in (0, 50):
        rest = np.delete(answer.conflict, spare)
        assert separate(X[rest], y[rest]).separable


@st.composite
def small_integer_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 8))
    size = draw(st.sampled_from([1, 2, 5, 100]))
    X = rng.integers(-size, size + 1, (n, d)).astype(float)
    kind = draw(st.sampled_from(["random", "planted", "tie", "duplicates"]))
    y = rng.integers(0, 2, n)
    if kind != "random":
        w = rng.integers(-3, 4, d)
        y = (X @ w > 0).astype(int)
    if kind == "tie":
        y[X @ w == 0] = rng.integers(0, 2, int((X @ w == 0).sum()))
    if kind == "duplicates":
        again = rng.integers(0, n, n)
        X, y = np.vstack([X, X[again]]), np.concatenate([y, y[again]])
    return X, y, draw(st.booleans())


@given(problem=small_integer_problems())
def test_verdict_equals_z3s_on_small_integers(problem):
    X, y, fit_intercept = problem
    answer = separate(X, y, fit_intercept=fit_intercept)
    if len(np.unique(y)) == 2:
        assert_proved(answer, X, y, fit_intercept)
        assert answer.separable == z3_separable(signed_rows(X, y, fit_intercept))


@given(
    seed=st.integers(0, 2**32 - 1),
    separable=st.booleans(),
    exponent=st.sampled_from([0, 40, 300]),
)
def test_verdict_is_exact_from_tiny_to_huge_entries(seed, separable, exponent):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 15)), int(rng.integers(1, 4))
    X = rng.integers(-4, 5, (n, d)) * 10.0 ** rng.uniform(-exponent, exponent, (n, d))
    if seed % 3 == 0:
        X[rng.random((n, d)) < 0.2] = 5e-324
    y = rng.integers(0, 2, n)
    if separable:
        dots = [sum(map(Fraction, map(float, row))) for row in X]
        y = np.array([dot > 0 for dot in dots]).astype(int)
        y[0] = 1 - y[1] if len(set(y.tolist())) == 1 else y[0]
    answer = separate(X, y)
    if len(np.unique(y)) == 2:
        assert_proved(answer, X, y)


@given(
    seed=st.integers(0, 2**32 - 1),
    offset=st.sampled_from([0.0, 1e6, 1e9]),
    flipped=st.sampled_from([0.0, 0.05]),
)
def test_every_search_ends_in_a_proof_far_from_the_origin(seed, offset, flipped):
    # Margins near the rounding of a . w once made the active set go round for ever.
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 60)), int(rng.integers(1, 6))
    X = rng.integers(-10, 11, (n, d)).astype(float)
    y = (X @ rng.integers(-2, 3, d) > 0) ^ (rng.random(n) < flipped)
    X = X * 10.0 ** rng.integers(-3, 8, d) + offset
    answer = separate(X, y)
    if len(answer.classes) == 2:
        assert_proved(answer, X, y)


@given(seed=st.integers(0, 2**32 - 1), ulps=st.sampled_from([-1, 0, 1]))
def test_verdict_hangs_on_the_last_bit(seed, ulps):
    # The two classes meet at one point, but for one unit in the last place.
    rng = np.random.default_rng(seed)
    meeting = float(rng.uniform(0.5, 1e6))
    other = meeting
    if ulps:
        other = float(np.nextafter(meeting, ulps * np.inf))
    X = np.array([[meeting - 1.0], [meeting], [other], [other + 1.0]])
    answer = separate(X, [0, 0, 1, 1])
    assert answer.separable == (ulps > 0)
    assert_proved(answer, X, [0, 0, 1, 1])


@given(seed=st.integers(0, 2**32 - 1), inseparable=st.booleans())
def test_status_does_not_depend_on_how_the_data_are_written(seed, inseparable):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 5))
    X = rng.integers(-8, 9, (n, d)).astype(float)
    y = X @ rng.integers(-3, 4, d) > 0
    if inseparable:
        y = rng.random(n) > 0.5
    if len(np.unique(y)) < 2:
        return
    status = separate(X, y).status
    order = rng.permutation(n)
    mixing = np.triu(rng.integers(-2, 3, (d, d)), 1) + np.eye(d)
    again = rng.integers(0, n, n)
    assert separate(X[order], y[order]).status == status
    assert separate(X * 2.0 ** rng.integers(-30, 30, d), y).status == status
    assert separate(X @ mixing, y).status == status  # integers: exactly mixed
    assert separate(X + rng.integers(-1000, 1000, d), y).status == status
    assert separate(np.vstack([X, X[again]]), np.r_[y, y[again]]).status == status
    assert separate(np.c_[X, X[:, :1], np.ones(n)], y).status == status
    assert separate(sparse.csr_array(X), y).status == status
    assert separate(X.astype(np.float32), y).status == status
    assert separate(X, ~y).status == status
    rows = np.c_[X, np.ones(n)] * 2.0 ** rng.integers(-20, 20, n)[:, None]
    assert separate(rows, y, fit_intercept=False).status == status


def test_result_is_the_same_from_run_to_run():
    X, y = planted(30_000, 10, 1e-3)
    first, again = separate(X, y), separate(X, y)
    np.testing.assert_array_equal(first.coef, again.coef)
    assert (first.n_passes, first.n_rounds) == (again.n_passes, again.n_rounds)
    assert separate(X, y, random_state=5).separable


def test_one_class_is_a_constant_decision():
    answer = separate([[1.0], [2.0]], ["a", "a"])
    assert answer.separable
    assert answer.classes.tolist() == ["a"]
    assert "one class" in answer.message
    assert (answer.decision_function([[5.0], [-5.0]]) > 0).all()


def test_one_class_without_intercept_is_a_real_problem():
    assert separate([[1.0], [2.0]], [1, 1], fit_intercept=False).separable
    answer = separate([[1.0], [-2.0]], [1, 1], fit_intercept=False)
    assert answer.separable is False
    assert answer.conflict.tolist() == [0, 1]


def test_zero_row_without_intercept_is_its_own_conflict():
    answer = separate([[1.0], [0.0]], [0, 1], fit_intercept=False)
    assert answer.conflict.tolist() == [1]
    assert answer.conflict_weights == (1,)


def test_same_point_with_both_labels_is_the_conflict():
    answer = separate([[0.1, 5.0], [3.0, 4.0], [0.1, 5.0]], [0, 0, 1])
    assert answer.conflict.tolist() == [0, 2]


def test_no_features_with_an_intercept_needs_one_class():
    assert separate(np.zeros((2, 0)), [1, 1]).separable
    assert separate(np.zeros((2, 0)), [0, 1]).separable is False


def test_labels_are_sorted_and_the_last_is_positive():
    answer = separate([[0.0], [1.0]], ["yes", "no"])
    assert answer.classes.tolist() == ["no", "yes"]
    assert answer.decision_function([[-9.0]])[0] > 0


@pytest.mark.parametrize("stop_at", [1, 2])
def test_callback_stops_the_run_with_an_honest_interval(stop_at):
    X, y = planted(60_000, 20, 1e-4)
    seen = []

    def callback(record):
        seen.append(record)
        return record.n_passes >= stop_at

    answer = separate(X, y, callback=callback)
    whole = separate(X, y)
    assert answer.status == "undecided"
    assert not answer.proved
    assert answer.coef is None
    assert answer.n_passes == stop_at
    assert answer.margin_lower <= whole.margin_lower
    assert whole.margin_lower <= answer.margin_upper
    assert "callback" in answer.message
    uppers = [record.margin_upper for record in whole.trace]
    lowers = [record.margin_lower for record in whole.trace]
    assert uppers == sorted(uppers, reverse=True)
    assert lowers == sorted(lowers)


def test_ctrl_c_returns_what_was_found(ctrl_c):
    X, y = planted(60_000, 20, 1e-4)

    def press(record):
        if record.n_passes:
            ctrl_c()

    answer = separate(X, y, callback=press)
    assert answer.status == "undecided"
    assert "interrupted" in answer.message
    assert answer.n_passes == 1
    assert answer.margin_lower <= answer.margin_upper


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"max_passes": 1}, "max_passes=1"),
        ({"max_rounds": 5}, "max_rounds=5"),
        ({"time_limit": 1e-9}, "time limit"),
    ],
)
def test_limits_end_the_search_undecided(limits, said):
    X, y = planted(60_000, 20, 1e-4)
    answer = separate(X, y, **limits)
    assert answer.status == "undecided"
    assert said in answer.message
    assert answer.margin_lower <= answer.margin_upper
    assert answer.separable is None
    assert answer.certificate is None


def test_separator_found_in_the_last_round_allowed_is_proved():
    answer = separate([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1], max_rounds=1)
    assert (answer.separable, answer.n_rounds, answer.n_passes) == (True, 1, 1)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("max_passes", 0),
        ("max_passes", 2.5),
        ("max_passes", True),
        ("max_rounds", -1),
        ("time_limit", 0),
        ("time_limit", "5"),
        ("time_limit", float("nan")),
        ("random_state", -1),
        ("random_state", "seed"),
        ("random_state", True),
        ("callback", "call me"),
    ],
)
def test_bad_arguments_are_named(argument, value):
    with pytest.raises(linsep.InputError, match=argument):
        separate([[0.0], [1.0]], [0, 1], **{argument: value})


def test_undecided_and_inseparable_have_no_decision_function():
    answer = separate([[0.0], [1.0], [2.0]], [0, 1, 0])
    with pytest.raises(ValueError, match="inseparable"):
        answer.decision_function([[0.0]])


def test_margins_are_in_the_users_units():
    # Two points 2 apart: the best margin is 1, wherever the origin.
    X = np.array([[1e6, 3.0], [1e6 + 2, 3.0]])
    answer = separate(X, [0, 1])
    # The intercept is moved half-way, and no bit of the offset is lost.
    assert 0.3 < answer.margin_lower <= 1.0 <= answer.margin_upper
    assert separate(X * 4, [0, 1]).margin_lower == pytest.approx(
        4 * answer.margin_lower
    )


def test_summary_names_features_rows_and_reason():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [20, 30, 40], "dose": [1.0, 2.0, 3.0]})
    text = separate(frame, ["no", "yes", "no"]).summary()
    assert "Inseparable" in text
    assert "age=30, dose=2" in text
    assert "row 1, yes" in text
    text = separate(frame, ["no", "yes", "yes"]).summary()
    assert "Largest coefficients: dose 1.125, age 0.1125;" in text


def test_html_escapes_what_the_data_say():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"<script>alert(1)</script>": [0.0, 1.0]})
    html = separate(frame, ["<b>", "c"])._repr_html_()
    assert "<script>" not in html


def test_result_pickles_with_its_certificate_and_without_the_data():
    X = np.random.default_rng(0).standard_normal((20_000, 10))
    answer = separate(X, X[:, 0] > 0)
    data = pickle.dumps(answer)
    assert len(data) < 20_000
    again = pickle.loads(data)
    np.testing.assert_array_equal(again.coef, answer.coef)
    assert again.certificate.to_json() == answer.certificate.to_json()


def test_a_limit_beyond_every_double_is_no_limit():
    assert separate([[0.0], [1.0]], [0, 1], time_limit=10**400).separable


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["offset", "rows", "wide"]))
def test_decisions_on_the_rows_themselves_are_never_wrong(seed, kind):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 20)), int(rng.integers(1, 6))
    if kind == "offset":
        X = 1e15 + rng.integers(0, 9, (n, d)) * 0.125
    else:
        power = rng.integers(-300, 300, (n, 1) if kind == "rows" else (n, d))
        X = rng.standard_normal((n, d)) * 10.0**power
    y = X[:, 0] > np.median(X[:, 0])
    answer = separate(X, y)
    if not answer.separable or len(answer.classes) < 2:
        return
    for rows in (X, sparse.csr_array(X)):
        values = answer.decision_function(rows)
        assert np.isfinite(values).all()
        np.testing.assert_array_equal(values > 0, y)
        assert (values != 0).all()


def test_ctrl_c_while_the_data_are_read_is_an_answer_too(ctrl_c):
    class Pressed:
        def __array__(self, dtype=None, copy=None):
            ctrl_c()

    answer = separate(Pressed(), [0, 1])
    assert answer.status == "undecided"
    assert (answer.margin_lower, answer.margin_upper) == (-np.inf, np.inf)
    assert "still being read" in answer.summary()


def test_rows_of_weight_zero_count_as_absent():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 9, (60, 2)).astype(float), rng.integers(0, 2, 60)
    weights = rng.integers(0, 3, 60)
    present = np.flatnonzero(weights)
    for data in (X, sparse.csr_array(X)):
        answer = separate(data, y, sample_weight=weights)
        alone = separate(X[present], y[present])
        assert answer.status == alone.status == "inseparable"
        np.testing.assert_array_equal(answer.conflict, present[alone.conflict])
        assert answer.conflict_weights == alone.conflict_weights
        np.testing.assert_array_equal(answer.conflict_rows, X[answer.conflict])
        np.testing.assert_array_equal(answer.conflict_labels, y[answer.conflict])
        assert answer.n_samples == present.size
        assert not any(answer.certificate.verify(X[present], y[present]))
    # Without the rows of one class the rest is separable by a constant.
    assert separate(X, y, sample_weight=y).classes.tolist() == [1]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0], "one number for each of the 2 rows, got 1"),
        ([1.0, -1.0], "non-negative and finite, got -1.0 in row 1"),
        ([1.0, np.nan], "non-negative and finite, got nan in row 1"),
        ([0, 0], "at least one row must be present"),
        (["a", "b"], "sample_weight must hold numbers"),
    ],
)
@pytest.mark.parametrize("search", [separate, linsep.max_margin])
def test_bad_weights_are_refused(search, weights, said):
    with pytest.raises(linsep.InputError, match=said):
        search([[0.0], [1.0]], [0, 1], sample_weight=weights)


def test_names_may_be_given_in_place_of_the_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.0, 1.0], "b": [5.0, 5.0]})
    answer = separate(frame, [0, 1], feature_names=["dose", "age"])
    assert answer.feature_names == ("dose", "age")
    assert "dose" in answer.summary()
    with pytest.raises(linsep.InputError, match="each of the 2 columns of X, got 1"):
        separate(frame, [0, 1], feature_names="dose")


def test_to_dict_holds_the_answer_in_what_json_can_say():
    answer = separate([[0.0], [1.0], [2.0]], [0, 1, 0])
    found = json.loads(json.dumps(answer.to_dict()))
    assert found["status"] == "inseparable"
    assert found["conflict"] == [0, 1, 2]
    assert found["conflict_weights"] == ["1/4", "1/2", "1/4"]
    assert found["coef"] is None
    answer = separate([[0.0], [1.0]], ["no", "yes"], feature_names=["x"])
    found = json.loads(json.dumps(answer.to_dict()))
    assert found["proved"] is found["separable"] is True
    assert (found["classes"], found["feature_names"]) == (["no", "yes"], ["x"])
    assert found["coef"] == answer.coef.tolist()


def test_what_moved_to_the_largest_margin_warns():
    answer = separate([[0.0], [1.0], [2.0]], [0, 1, 0])
    with pytest.warns(DeprecationWarning, match="LargestMargin"):
        assert answer.margin_squared() == 0
    with pytest.warns(DeprecationWarning, match="LargestMargin"):
        assert answer.support is None


def test_ctrl_c_at_the_very_end_is_an_answer_too(monkeypatch):
    from linsep.search import answers

    results = []

    def pressed_once(*arguments, result_of=answers.result_of):
        results.append(len(results))
        if len(results) == 1:
            raise KeyboardInterrupt
        return result_of(*arguments)

    # The press must come when the search is over, which takes no callback.
    monkeypatch.setattr(answers, "result_of", pressed_once)
    answer = separate([[0.0], [1.0]], [0, 1])
    assert answer.status == "undecided"
    assert 0 < answer.margin_lower <= answer.margin_upper
    assert "interrupted" in answer.message
