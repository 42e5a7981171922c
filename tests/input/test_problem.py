"""Problems: signed rows from any input, and what X and y must satisfy together."""

import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from linsep.input import InputError, check_features, problem_from


def signed_rows(problem):
    rows = problem.rows.take(np.arange(problem.n_samples))
    return rows.toarray() if sparse.issparse(rows) else rows


def textbook_signed_rows(X, y, fit_intercept):
    """Signed rows as the definition has them, one row at a time."""
    positive = max(y)
    rows = []
    for x, label in zip(X, y, strict=True):
        extended = [*x, 1.0] if fit_intercept else list(x)
        rows.append([value if label == positive else -value for value in extended])
    return np.array(rows)


@given(
    X=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=1, max_dims=2, max_side=4),
        elements=st.sampled_from([0.0, 1.5, 1e308, np.nan, np.inf]),
    ),
    labels=st.lists(st.sampled_from([0, 1, 1, 2]), min_size=4, max_size=4),
    kind=st.sampled_from([np.int64, np.float64]),
    is_short=st.booleans(),
    with_nan=st.booleans(),
)
def test_plain_arrays_are_read_as_others_are(X, labels, kind, is_short, with_nan):
    y = np.array(labels[: len(X) - is_short], dtype=kind)
    if with_nan and y.dtype == np.float64:
        y[:1] = np.nan
    short, long = outcome_of(X, y), outcome_of(np.asfortranarray(X), list(y))
    if "rows of X" in long or "two-dimensional" in long:  # who comes first may differ
        assert isinstance(short, str)
    else:
        assert short == long


@pytest.mark.parametrize(
    "kind", [">i8", ">f8", "<f8", "<i8", "<i4", ">i4", "<i2", "i1", "u1", "?", "S1"]
)
def test_labels_of_any_bytes_are_labels(kind):
    X, y = np.array([[0.0], [2.0], [1.0]]), np.array([0, 1, 0]).astype(kind)
    packed = np.zeros(3, dtype=[("other", "i1"), ("y", kind)])  # not aligned
    packed["y"] = y
    for labels in (y, packed["y"], y.repeat(2)[::2]):
        problem = problem_from(X, labels)
        assert problem.classes.tolist() == np.unique(y).tolist()
        assert problem.classes.dtype == y.dtype
        assert problem.rows.signs.tolist() == [-1, 1, -1]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_plain_array_is_refused_wherever_a_number_is_not_finite(value):
    for n in range(2, 40):
        X = np.full((n, 1), -1.7e308)
        problem_from(X, np.arange(n) % 2)
        for row in range(n):
            X[row] = value
            with pytest.raises(InputError, match=f"must be finite.*row {row},"):
                problem_from(X, np.arange(n) % 2)
            X[row] = 1.7e308


def outcome_of(X, y):
    """What a problem says, or the text of the error."""
    try:
        problem = problem_from(X, y)
    except InputError as error:
        return str(error)
    return problem.classes.tolist(), signed_rows(problem).tolist(), problem.notes


@given(
    X=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    data=st.data(),
    fit_intercept=st.booleans(),
)
def test_every_kind_of_input_gives_the_same_signed_rows(X, data, fit_intercept):
    y = data.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X)))
    expected = textbook_signed_rows(X, y, fit_intercept)
    names = [f"x{j}" for j in range(X.shape[1])]
    for same in (
        X,
        np.asfortranarray(X),
        X.tolist(),
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
    ):
        problem = problem_from(same, y, fit_intercept=fit_intercept)
        assert np.array_equal(signed_rows(problem), expected)
        assert (problem.n_samples, problem.n_features) == X.shape
        assert problem.fit_intercept is fit_intercept
        assert problem.rows.signs.dtype == np.int8


@given(st.lists(st.booleans(), min_size=2).filter(lambda y: len(set(y)) == 2))
def test_every_coding_of_the_labels_gives_the_same_signed_rows(answers):
    X = np.arange(len(answers), dtype=float)[:, None]
    expected = signed_rows(problem_from(X, answers))
    for low, high in [(0, 1), (-1, 1), ("a", "b"), (0.5, 7.5), (b"0", b"1")]:
        y = [high if answer else low for answer in answers]
        problem = problem_from(X, y)
        assert np.array_equal(signed_rows(problem), expected)
        assert problem.classes.tolist() == [low, high]


def test_float32_is_kept_for_the_hot_path():
    X = np.ones((3, 2), dtype=np.float32)
    problem = problem_from(X, [0, 1, 1])
    assert problem.rows.dtype == np.float32
    assert np.shares_memory(problem.rows.X, X)


def test_names_come_from_frames_only():
    frame = pd.DataFrame({"age": [1.0, 2.0], "dose": [3.0, 4.0]})
    assert problem_from(frame, [0, 1]).feature_names == ("age", "dose")
    assert problem_from(frame.to_numpy(), [0, 1]).feature_names is None


@pytest.mark.parametrize(
    ("shape", "fit_intercept"), [((1, 3), True), ((2, 50), False), ((3, 0), True)]
)
def test_one_row_wide_data_and_no_columns_are_legal(shape, fit_intercept):
    y = np.arange(shape[0]) % 2
    problem = problem_from(np.ones(shape), y, fit_intercept=fit_intercept)
    assert problem.rows.shape == (shape[0], shape[1] + fit_intercept)


def test_one_class_is_a_problem_with_positive_signs():
    problem = problem_from([[1.0], [2.0]], ["a", "a"])
    assert problem.classes.tolist() == ["a"]
    assert problem.rows.signs.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((5, 2)), [0, 1, 0, 1],
         r"same number of rows, got 5 rows in X \(shape \(5, 2\)\) and 4 labels in y; "
         "pass one label for every row"),
        (np.ones((2, 4)), [0, 1, 0, 1], "one column for every label: pass its transpo"),
        (np.empty((0, 3)), [], r"X must have at least one row, got shape \(0, 3\)"),
        ([], [], "X must have at least one row"),
        (pd.DataFrame({"a": []}), [], r"at least one row, got shape \(0, 1\)"),
    ],
)  # fmt: skip
def test_sizes_that_disagree_are_explained(X, y, message):
    with pytest.raises(InputError, match=message):
        problem_from(X, y)


def test_no_columns_need_an_intercept():
    with pytest.raises(
        InputError, match="at least one column when fit_intercept=False, got shape"
    ):
        problem_from(np.empty((3, 0)), [0, 1, 1], fit_intercept=False)


@pytest.mark.parametrize("value", [None, 1, 0, "yes", 1.0])
def test_fit_intercept_must_be_a_boolean(value):
    with pytest.raises(InputError, match="fit_intercept must be True or False, got"):
        problem_from([[1.0]], [1], fit_intercept=value)


def test_a_numpy_boolean_is_a_boolean():
    assert problem_from([[1.0]], [1], fit_intercept=np.True_).fit_intercept is True


@pytest.mark.parametrize("wrap", [str, pathlib.Path])
@pytest.mark.parametrize("target", ["kind", 1, -1])
def test_a_path_is_read_and_names_its_columns(tmp_path, wrap, target):
    path = tmp_path / "fruit.csv"
    path.write_text("weight,kind\n150,apple\n8,cherry\n")
    problem = problem_from(wrap(path), target)
    assert problem.feature_names == ("weight",)
    assert problem.classes.tolist() == ["apple", "cherry"]
    assert signed_rows(problem).tolist() == [[-150.0, -1.0], [8.0, 1.0]]


def test_a_path_needs_the_name_of_a_column():
    with pytest.raises(InputError, match="name the column of the labels when X is a p"):
        problem_from("data.csv", [0, 1])


def test_input_errors_are_value_errors_that_travel_between_processes():
    with pytest.raises(ValueError, match="two classes") as raised:
        problem_from([[1.0], [2.0], [3.0]], [0, 1, 2])
    copy = pickle.loads(pickle.dumps(raised.value))
    assert type(copy) is InputError
    assert str(copy) == str(raised.value)


def test_arrays_are_read_without_importing_any_library_of_frames():
    script = (
        "import sys, numpy; from linsep.input import problem_from;"
        "problem_from(numpy.ones((2, 1)), [0, 1]);"
        "print([m for m in ('pandas', 'polars', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


# --- new rows for a hyperplane already found ---------------------------------------


def test_new_rows_are_read_like_the_old_ones():
    assert check_features([[1, 2]], 2).tolist() == [[1.0, 2.0]]
    assert check_features(np.empty((0, 2)), 2).shape == (0, 2)
    assert sparse.issparse(check_features(sparse.eye_array(2, format="csc"), 2))
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]})
    assert check_features(frame, 2, ("a", "b")).tolist() == [[1.0, 2.0]]
    assert check_features(frame.to_numpy(), 2, ("a", "b")).tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((4, 3)), r"must have 2 columns, .*, got 3 \(shape \(4, 3\)\)"),
        (sparse.eye_array(5, format="csr"), "must have 2 columns, .*, got 5"),
        ([1.0, 2.0], r"X.reshape\(1, -1\) if it is one sample"),
        ([[np.nan, 0.0]], "must be finite"),
        (pd.DataFrame({"b": [1.0], "a": [1.0]}), "got the same names in another order"),
        (pd.DataFrame({"a": [1.0], "c": [1.0]}),
         r"the columns \['a', 'b'\] in this order, got missing \['b'\], unexpected "
         r"\['c'\]; select them by name"),
    ],
)  # fmt: skip
def test_new_rows_that_differ_from_the_old_are_explained(X, message):
    with pytest.raises(InputError, match=message):
        check_features(X, 2, ("a", "b"))
