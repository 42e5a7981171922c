"""The largest margin: known answers, optimality checked exactly, peers, refusals."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

import linsep
from helpers import known_cases
from linsep.solvers.hard_margin import working

CASES = [
    case
    for case in known_cases("binary")
    if case.values[0].get("max_margin") is not None
]


def exact_rows(X, y):
    """The rows and the signs as fractions; the larger label is +1."""
    top = max(y)
    return [
        ([Fraction(float(v)) for v in row], 1 if label == top else -1)
        for row, label in zip(np.asarray(X, dtype=float), y, strict=True)
    ]


def assert_optimal(answer, X, y, free=True):
    """The exact conditions of Karush, Kuhn and Tucker, from the support alone.

    The multipliers of the support are solved for by elimination in fractions; they
    must be positive and balanced, the hyperplane they make must have every row at 1 or
    above, and 1 / sum of them must be the margin squared that is claimed.
    """
    rows = exact_rows(X, y)
    support = [rows[i] for i in answer.support]
    k, size = len(support), len(support) + int(free)
    system = [[Fraction(0)] * (size + 1) for _ in range(size)]
    for i, (x, s) in enumerate(support):
        for j, (z, t) in enumerate(support):
            system[i][j] = s * t * sum(a * b for a, b in zip(x, z, strict=True))
        system[i][size] = Fraction(1)
        if free:
            system[i][k] = system[k][i] = Fraction(s)
    for i in range(size):  # Gauss-Jordan
        pivot = next(r for r in range(i, size) if system[r][i] != 0)
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [v / system[i][i] for v in system[i]]
        for r in range(size):
            if r != i and system[r][i] != 0:
                factor = system[r][i]
                system[r] = [
                    v - factor * p for v, p in zip(system[r], system[i], strict=True)
                ]
    solution = [row[size] for row in system]
    multipliers, b = solution[:k], solution[k] if free else Fraction(0)
    assert all(m > 0 for m in multipliers)
    w = [
        sum(m * s * x[j] for m, (x, s) in zip(multipliers, support, strict=True))
        for j in range(len(rows[0][0]))
    ]
    slacks = [s * (sum(a * c for a, c in zip(x, w, strict=True)) + b) for x, s in rows]
    assert min(slacks) == 1
    assert answer.margin_squared() == 1 / sum(multipliers)
    return math.sqrt(1 / sum(multipliers))


@pytest.mark.parametrize("case", CASES)
def test_max_margin_matches_cases(case):
    X = np.array(case["X"], dtype=float)
    answer = linsep.max_margin(X, case["y"], fit_intercept=case["intercept"])
    known = case["max_margin"]
    squared = Fraction(known["half_width_sq"])
    assert answer.margin_squared() == squared
    assert answer.support.tolist() == known["support_rows"]
    margin = math.sqrt(squared)
    assert answer.margin_lower <= margin * (1 + 1e-15)
    assert answer.margin_upper >= margin * (1 - 1e-15)
    assert answer.margin_upper - answer.margin_lower <= 1e-9 * margin
    w = np.array([float(Fraction(v)) for v in known["w"]])
    np.testing.assert_allclose(answer.coef, w, rtol=1e-9, atol=1e-9 * np.abs(w).max())
    assert answer.intercept == pytest.approx(float(Fraction(known["b"])), rel=1e-9)


def real_pairs():
    X, y = load_wine(return_X_y=True)
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        keep = (y == a) | (y == b)
        yield pytest.param(X[keep], y[keep], id=f"wine-{a}{b}")
    X, y = load_digits(return_X_y=True)
    for a, b in [(0, 1), (3, 8), (4, 9), (1, 8)]:
        keep = (y == a) | (y == b)
        yield pytest.param(X[keep], y[keep], id=f"digits-{a}{b}")
    yield pytest.param(*load_breast_cancer(return_X_y=True), id="breast-cancer")


@pytest.mark.parametrize(("X", "y"), list(real_pairs()))
def test_max_margin_is_optimal_on_real_data(X, y):
    answer = linsep.max_margin(X, y, tol=1e-10)
    margin = assert_optimal(answer, X, y)
    assert answer.margin_lower <= margin * (1 + 1e-15)
    assert margin <= answer.margin_upper * (1 + 1e-15)
    assert answer.margin_upper - answer.margin_lower <= 1e-10 * answer.margin_upper
    decision = answer.decision_function(X) * np.where(y == y.max(), 1, -1)
    assert decision.min() / np.linalg.norm(answer.coef) == pytest.approx(
        margin, rel=1e-9
    )


def clarabel_margin(X, y):
    clarabel = pytest.importorskip("clarabel")
    signs = np.where(y == y.max(), 1.0, -1.0)
    n, d = X.shape
    quadratic = sparse.csc_matrix(np.diag(np.append(np.ones(d), 0.0)))
    rows = sparse.csc_matrix(-np.column_stack([X, np.ones(n)]) * signs[:, None])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        quadratic,
        np.zeros(d + 1),
        rows,
        -np.ones(n),
        [clarabel.NonnegativeConeT(n)],
        settings,
    )
    solution = solver.solve()
    return 1 / np.linalg.norm(np.array(solution.x)[:d]), str(solution.status)


@pytest.mark.parametrize(("X", "y"), list(real_pairs()))
def test_max_margin_agrees_with_clarabel(X, y):
    margin, status = clarabel_margin(X, y)
    answer = linsep.max_margin(X, y)
    # Clarabel ends raw breast cancer as "almost solved": its looser tolerance then.
    tolerance = {"Solved": 1e-7, "AlmostSolved": 1e-3}[status] + 1e-6
    assert answer.margin_lower == pytest.approx(margin, rel=tolerance)


@given(data=st.data())
def test_max_margin_of_small_integers_is_optimal(data):
    d = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(2, 9))
    point = st.lists(st.integers(-4, 4), min_size=d, max_size=d)
    X = np.array(data.draw(st.lists(point, min_size=n, max_size=n)), dtype=float)
    y = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    free = data.draw(st.booleans())
    answer = linsep.max_margin(X, y, fit_intercept=free)
    verdict = linsep.separate(X, y, fit_intercept=free)
    assert answer.status == verdict.status
    if answer.separable and answer.support is not None:
        margin = assert_optimal(answer, X, y, free)
        assert answer.margin_lower == pytest.approx(margin, rel=1e-9)
        assert answer.margin_upper == pytest.approx(margin, rel=1e-9)
        assert verdict.margin_lower <= answer.margin_upper * (1 + 1e-15)
    elif not answer.separable:
        assert answer.margin_squared() == 0
        assert answer.conflict is not None


@pytest.mark.parametrize("n", [10, 40, 60])
def test_max_margin_of_paper_rows_is_exact(n):
    """Data set (2): the margin squared is 3 / (4^n - 1), all rows on it."""
    A = np.eye(n) - np.tril(np.ones((n, n)), -1)
    answer = linsep.max_margin(A, np.ones(n), fit_intercept=False)
    assert answer.margin_squared() == Fraction(3, 4**n - 1)
    assert answer.support.tolist() == list(range(n))
    assert answer.margin_upper - answer.margin_lower <= 1e-6 * answer.margin_upper


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-10])
def test_max_margin_closes_the_interval_to_tol(tol):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5000, 12))
    y = X @ rng.normal(size=12) > 0.2
    answer = linsep.max_margin(X, y, tol=tol)
    assert answer.margin_upper - answer.margin_lower <= tol * answer.margin_upper
    exact = math.sqrt(answer.margin_squared())
    assert answer.margin_lower <= exact * (1 + 1e-15)
    assert exact <= answer.margin_upper * (1 + 1e-15)


@pytest.fixture(params=["small made dense", "kept sparse"])
def sparse_rows(request, monkeypatch):
    """Both ways in which sparse rows are solved; the second is for large ones."""
    if request.param == "kept sparse":
        monkeypatch.setattr(working, "DENSE_ENTRIES", 0)


@pytest.mark.usefixtures("sparse_rows")
@pytest.mark.parametrize("shape", [(400, 6), (30, 200)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_max_margin_of_sparse_equals_dense(shape, fit_intercept):
    X = sparse.random_array(shape, density=0.3, random_state=5, format="csr")
    y = X @ np.linspace(-1, 1, shape[1]) > 0
    dense = linsep.max_margin(X.toarray(), y, fit_intercept=fit_intercept)
    thin = linsep.max_margin(X, y, fit_intercept=fit_intercept)
    assert thin.margin_lower == pytest.approx(dense.margin_lower, rel=2e-6)
    assert thin.margin_squared() == dense.margin_squared()


def test_max_margin_moves_with_scale_shift_and_labels():
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    base = linsep.max_margin(X, y)
    assert linsep.max_margin(4 * X, y).margin_squared() == 16 * base.margin_squared()
    swapped = linsep.max_margin(X, 1 - y)
    assert swapped.margin_squared() == base.margin_squared()
    np.testing.assert_allclose(swapped.coef, -base.coef, rtol=1e-9)
    shifted = linsep.max_margin(np.round(X * 4) + 1024.0, y)
    assert (
        shifted.margin_squared()
        == linsep.max_margin(np.round(X * 4), y).margin_squared()
    )


def test_max_margin_names_the_first_of_equal_rows():
    X = np.array([[5.0], [1.0], [1.0], [-1.0], [-1.0], [-1.0]])
    answer = linsep.max_margin(X, [1, 1, 1, 0, 0, 0])
    assert answer.support.tolist() == [1, 3]


def test_max_margin_on_inseparable_data_gives_the_conflict():
    answer = linsep.max_margin([[0.0], [1.0], [2.0], [9.0]], [0, 1, 0, 1])
    assert answer.status == "inseparable"
    assert answer.proved
    assert answer.conflict.tolist() == [0, 1, 2]
    assert answer.margin_squared() == 0
    assert answer.support is None


def test_max_margin_reports_an_open_interval_at_a_limit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    y = X @ np.ones(10) > 0
    answer = linsep.max_margin(X, y, max_passes=1)
    assert answer.margin_lower < answer.margin_upper
    if answer.separable:
        assert "max_passes=1" in answer.message
    else:
        assert answer.status == "undecided"


def test_max_margin_of_one_class_is_a_constant_decision():
    answer = linsep.max_margin([[0.0], [1.0]], ["a", "a"])
    assert answer.separable
    assert answer.margin_lower == np.inf


@pytest.mark.parametrize("tol", [0, 1, -1e-3, "small", None])
def test_max_margin_refuses_a_bad_tol(tol):
    with pytest.raises(linsep.InputError, match="tol must be a number between 0 and 1"):
        linsep.max_margin([[0.0], [1.0]], [0, 1], tol=tol)


def test_margin_squared_needs_a_largest_margin():
    answer = linsep.separate([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"call linsep\.max_margin"):
        answer.margin_squared()


def test_max_margin_pickles_with_what_was_asked_before():
    answer = linsep.max_margin([[0.0], [1.0]], [0, 1])
    answer.margin_squared()
    again = pickle.loads(pickle.dumps(answer))
    assert again.margin_squared() == Fraction(1, 4)
    assert again.support.tolist() == [0, 1]


def test_max_margin_callback_sees_the_interval_close():
    seen = []
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    linsep.max_margin(X, X @ np.ones(10) > 0, callback=seen.append)
    uppers = [state.margin_upper for state in seen]
    assert uppers == sorted(uppers, reverse=True)
    assert all(state.margin_lower <= state.margin_upper for state in seen)


SMALLEST = 5e-324


@pytest.mark.parametrize(
    ("X", "y", "free"),
    [
        ([[1e-320], [-1e-320]], [0, 1], True),
        ([[0.0, 1e-315], [1e-315, 0.0]], [0, 1], True),
        ([[3 * SMALLEST]], [1], False),
        ([[5e-310, 1e-310]], [1], False),
        ([[4 * SMALLEST, -5 * SMALLEST, -3 * SMALLEST]], [1], False),
        ([[8.05e-322], [-SMALLEST]], [1, 0], False),
        ([[-1.7e308, 1e308], [1.7e308, 1e-320]], [0, 1], True),
        ([[3e-142, -2.7e227, -8.9e252, -4.5e-318]], [1], False),
    ],
)
@pytest.mark.usefixtures("sparse_rows")
@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix])
def test_max_margin_at_either_end_of_the_doubles(X, y, free, kind):
    answer = linsep.max_margin(kind(X), y, fit_intercept=free)
    assert answer.separable
    first, last = ([Fraction(v) for v in row] for row in (X[0], X[-1]))
    if free:  # half the distance of two points
        square = sum((a - b) ** 2 for a, b in zip(first, last, strict=True)) / 4
    else:  # the nearest point to 0, in one dimension or of one row
        square = sum(a**2 for a in last)
    assert answer.margin_squared() == square
    assert Fraction(answer.margin_lower) ** 2 <= square
    assert square <= Fraction(answer.margin_upper) ** 2
    assert np.isfinite(answer.coef).all()
    answer.certificate.verify(kind(X), y)


def test_max_margin_is_a_result_of_its_own_whatever_the_status():
    for y in ([0, 0, 1], [0, 1, 0], [1, 1, 1]):
        answer = linsep.max_margin([[0.0], [1.0], [2.0]], y)
        assert isinstance(answer, linsep.LargestMargin)
        assert isinstance(answer, linsep.Separation)
    assert repr(answer).startswith("LargestMargin(separable, proved=True")


def test_max_margin_to_dict_says_the_square_once_it_was_asked_for():
    answer = linsep.max_margin([[0.0], [1.0], [3.0]], [0, 0, 1])
    assert answer.to_dict()["support"] == [1, 2]
    assert answer.to_dict()["margin_squared"] is None
    answer.margin_squared()
    assert answer.to_dict()["margin_squared"] == "1"


def test_max_margin_loses_a_square_never_asked_for_when_pickled():
    X = np.random.default_rng(0).standard_normal((20_000, 10))
    answer = linsep.max_margin(X, X[:, 0] > 0)
    data = pickle.dumps(answer)
    assert len(data) < 20_000
    again = pickle.loads(pickle.dumps(pickle.loads(data)))
    assert again.certificate.to_json() == answer.certificate.to_json()
    with pytest.raises(linsep.InputError, match=r"call linsep\.max_margin"):
        again.margin_squared()


def test_max_margin_leaves_out_rows_of_weight_zero():
    X, y = [[0.0], [9.0], [1.0], [3.0], [4.0]], [0, 0, 0, 1, 1]
    answer = linsep.max_margin(X, y, sample_weight=[2, 0, 1, 1, 1])
    assert answer.support.tolist() == [2, 3]
    assert answer.margin_squared() == 1


def test_max_margin_refuses_a_callback_that_cannot_be_called():
    with pytest.raises(linsep.InputError, match="callback"):
        linsep.max_margin([[0.0], [1.0]], [0, 1], callback="call me")


@pytest.mark.parametrize("stop_at", [1, 3])
def test_ctrl_c_in_max_margin_is_an_answer(stop_at, ctrl_c):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    y = X @ np.ones(10) > 0

    def press(state):
        if state.n_passes >= stop_at:
            ctrl_c()

    answer = linsep.max_margin(X, y, callback=press, tol=1e-12)
    assert answer.margin_lower <= answer.margin_upper
    assert "interrupted" in answer.message


def test_ctrl_c_while_the_data_of_max_margin_are_read(ctrl_c):
    class Pressed:
        def __array__(self, dtype=None, copy=None):
            ctrl_c()

    answer = linsep.max_margin(Pressed(), [0, 1], fit_intercept=False)
    assert answer.status == "undecided"
    assert not answer.fit_intercept
    assert "still being read" in answer.message


@pytest.mark.parametrize("seed", range(8))
def test_support_of_rows_that_tie_is_the_first_in_every_layout(seed):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], 60)
    X = rng.integers(-2, 3, (60, 3)).astype(float)
    X[:, 0] = y * (1 + np.abs(X[:, 0]))
    as_given, by_columns = linsep.max_margin(X, y), linsep.max_margin(X[:, ::-1], y)
    twice = linsep.max_margin(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert as_given.margin_squared() == 1
    assert as_given.support.tolist() == by_columns.support.tolist()
    assert twice.support.tolist() == (2 * as_given.support).tolist()
