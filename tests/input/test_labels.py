"""Labels of two classes in any coding, and the errors about all others."""

import datetime
import enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep.input import InputError
from linsep.input.labels import labels_from, signs_from

SIGNS = [-1, 1, 1, -1]


def signs_of(y):
    return signs_from(labels_from(y))


CODINGS = {
    "bool": [False, True, True, False],
    "01": [0, 1, 1, 0],
    "signs": [-1, 1, 1, -1],
    "floats": [0.5, 2.5, 2.5, 0.5],
    "int and float": [0, 1.0, 1, 0.0],
    "strings": ["no", "yes", "yes", "no"],
    "bytes": [b"no", b"yes", b"yes", b"no"],
    "large": [-1, 2**63 + 1, 2**63 + 1, -1],
    "huge": [2**70, 2**70 + 1, 2**70 + 1, 2**70],
    "dates": [datetime.date(2020, 1, day) for day in (1, 2, 2, 1)],
    "infinite": [-np.inf, np.inf, np.inf, -np.inf],
}


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        lambda y: np.array(y, dtype=object),
        lambda y: np.array(y, dtype=object)[:, None],
        lambda y: [[label] for label in y],
        lambda y: pd.Series(y, dtype=object),
        lambda y: pd.Categorical(y),
        lambda y: pd.DataFrame({"y": pd.Series(y, dtype=object)}),
    ],
    ids=[
        "list",
        "tuple",
        "array",
        "column",
        "nested",
        "Series",
        "Categorical",
        "frame",
    ],
)
def test_any_coding_in_any_container_gives_the_same_signs(coding, container):
    y = CODINGS[coding]
    classes, signs = signs_of(container(y))
    assert signs.tolist() == SIGNS
    assert signs.dtype == np.int8
    assert classes.tolist() == sorted(set(y))


@pytest.mark.parametrize(
    "y",
    [
        np.array([0, 1, 1, 0], dtype=np.uint8),
        np.array([0.0, 1.0, 1.0, -0.0], dtype=np.float16),
        np.array([0, 1, 1, 0], dtype=np.longdouble),
        np.array(["no", "yes", "yes", "no"]),
        np.array(["no", "yes", "yes", "no"], dtype=np.dtypes.StringDType()),
        np.array(["2020", "2021", "2021", "2020"], dtype="M8[Y]"),
        np.array([0, 9, 1, 9, 1, 9, 0, 9])[::2],
        np.ma.masked_array([0, 1, 1, 0], mask=False),
        np.matrix([[0], [1], [1], [0]]),
        sparse.csr_array(np.array([[0], [1], [1], [0]])),
        pd.Series([0, 1, 1, 0], index=[9, 9, 3, 1]),
        pd.Series([0, 1, 1, 0], dtype="Int64"),
        pd.Series([False, True, True, False], dtype="boolean"),
        pd.Series(["no", "yes", "yes", "no"]),
        pd.Series(["no", "yes", "yes", "no"], dtype="string[pyarrow]"),
        pd.Series(["no", "yes", "yes", "no"], dtype="category"),
        pd.Series([0, 1, 1, 0], dtype=pd.ArrowDtype(pa.int64())),
        pd.Series(pd.arrays.SparseArray([0, 1, 1, 0])),
        pd.Categorical.from_codes([0, 1, 1, 0], ["no", "yes", "unused"]),
        pd.Index(["no", "yes", "yes", "no"]),
        pd.DataFrame({"y": [0, 1, 1, 0]}),
        pl.Series([False, True, True, False]),
        pl.Series(["no", "yes", "yes", "no"]),
        pl.Series(["no", "yes", "yes", "no"], dtype=pl.Categorical),
        pl.Series(["no", "yes", "yes", "no"], dtype=pl.Enum(["yes", "no"])),
        pl.DataFrame({"y": [0, 1, 1, 0]}),
        pa.array([0, 1, 1, 0]),
        pa.chunked_array([["no", "yes"], ["yes", "no"]]),
        pa.array(["no", "yes", "yes", "no"]).dictionary_encode(),
    ],
    ids=lambda y: f"{type(y).__module__.split('.')[0]} {getattr(y, 'dtype', '')}",
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_columns_of_every_library_are_read(y):
    classes, signs = signs_of(y)
    assert signs.tolist() == SIGNS
    assert len(classes) == 2
    assert classes[0] < classes[1]


def test_a_list_keeps_labels_apart_that_numpy_would_merge():
    classes, signs = signs_of([2**63, 2**63 + 1])
    assert classes.tolist() == [2**63, 2**63 + 1]
    assert signs.tolist() == [-1, 1]


def test_classes_have_the_natural_type_of_the_labels():
    assert signs_of([True, False])[0].dtype == np.bool_
    assert signs_of([3, 4])[0].dtype.kind == "i"
    assert signs_of(["a", "b"])[0].dtype.kind == "U"
    assert signs_of(np.array([1, 0], dtype=np.int8))[0].dtype == np.int8


def test_one_class_has_positive_signs():
    for y in ([7, 7, 7], ["a"], np.zeros(3), pd.Series([True, True])):
        classes, signs = signs_of(y)
        assert classes.tolist() == [np.asarray(y)[0]]
        assert np.all(signs == 1)


def test_labels_are_not_changed():
    y = np.array([3, 1, 3])
    y.flags.writeable = False
    assert signs_of(y)[1].tolist() == [1, -1, 1]


@given(
    st.lists(st.booleans(), min_size=1),
    st.lists(
        st.one_of(st.integers(), st.floats(allow_nan=False)),
        min_size=2,
        max_size=2,
        unique=True,
    ),
)
def test_signs_depend_on_the_order_of_the_classes_only(answers, pair):
    low, high = sorted(pair)
    _, signs = signs_of([high if answer else low for answer in answers])
    expected = np.where(answers, 1, -1) if any(answers) else np.ones(len(answers))
    assert np.array_equal(signs, expected)


# --- missing labels -----------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        [0, None, 1, None],
        ["a", None, "b", float("nan")],
        [0.0, np.nan, 1.0, np.nan],
        np.array([0.0, np.nan, 1.0, np.nan]),
        np.array([0, None, 1, None]),
        [0, pd.NA, 1, pd.NaT],
        np.array(["2020", "NaT", "2021", "NaT"], dtype="M8[Y]"),
        np.ma.masked_equal([0, 9, 1, 9], 9),
        pd.Series([0, pd.NA, 1, pd.NA], dtype="Int64"),
        pd.Series([True, None, False, None], dtype="boolean"),
        pd.Series(["a", None, "b", None]),
        pd.Series(["a", None, "b", None], dtype="category"),
        pd.Categorical(["a", None, "b", None]),
        pd.DataFrame({"y": [0, None, 1, None]}),
        pl.Series([True, None, False, None]),
        pl.Series(["a", None, "b", None]),
        pl.Series([0.0, float("nan"), 1.0, float("nan")]),
        pl.DataFrame({"y": [0, None, 1, None]}),
        pa.array(["a", None, "b", None]),
        np.array(
            ["a", np.nan, "b", np.nan], dtype=np.dtypes.StringDType(na_object=np.nan)
        ),
    ],
    ids=lambda y: f"{type(y).__module__.split('.')[0]} {getattr(y, 'dtype', '')}",
)
def test_missing_labels_are_counted(y):
    with pytest.raises(
        InputError,
        match=r"y must have a label for every row, got 2 .* labels; drop those rows",
    ):
        signs_of(y)


def test_one_missing_label_is_reported_in_the_singular():
    with pytest.raises(InputError, match=r"got 1 missing \(NaN, None or NA\) label;"):
        signs_of([0, 1, None])


# --- too many classes ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "listed"),
    [
        ([0, 1, 2], r"got 3 \(\[0, 1, 2\]\) in 3 rows"),
        (np.array([2, 0, 1]), r"got 3 \(\[0, 1, 2\]\) in 3 rows"),
        (["c", "b", "a", "a"], r"got 3 \(\['a', 'b', 'c'\]\) in 4 rows"),
        (list("abcdefg"), r"got 7 \(\['a', 'b', 'c', 'd', 'e', \.\.\.\]\) in 7 rows"),
        (pd.Series(list("abc"), dtype="category"), r"got 3 \(.*\) in 3 rows"),
    ],
)
def test_three_classes_point_to_diagnose(y, listed):
    with pytest.raises(
        InputError,
        match=rf"y must contain exactly two classes, {listed}; for more classes use "
        r"linsep.diagnose\(X, y, family=\"multinomial\"\)",
    ):
        signs_of(y)


@pytest.mark.parametrize(
    "y",
    [np.linspace(0, 1, 50), [0.5, 1.25, 2.0], np.arange(100), list(range(21))],
    ids=["floats", "fractions", "many ints", "list"],
)
def test_labels_that_look_continuous_are_called_measurements(y):
    with pytest.raises(
        InputError, match=r"look like measurements.*\(y > threshold\).*multinomial"
    ):
        signs_of(y)


@pytest.mark.parametrize(
    "y", [[0.0, 1.0, 2.0], list(range(20)), list("abcdefghijklmnopqrstuvw")]
)
def test_plain_classes_are_not_called_measurements(y):
    with pytest.raises(InputError, match="exactly two classes") as raised:
        signs_of(y)
    assert "measurements" not in str(raised.value)


# --- other things that are no labels --------------------------------------------------


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0, 1], [1, 0]], r"got shape \(2, 2\).*one-hot columns, y.argmax"),
        ([[0, 1, 1]], r"got shape \(1, 3\)"),
        (np.zeros((2, 1, 1)), r"got shape \(2, 1, 1\)"),
        (pd.DataFrame({"a": [0, 1], "b": [1, 0]}), r"got shape \(2, 2\)"),
        (pl.DataFrame({"a": [0, 1], "b": [1, 0]}), r"got shape \(2, 2\)"),
        (1, r"y must be one column of labels.*got shape \(\)"),
        (None, r"got shape \(\)"),
        ([[0], [1, 2]], "that can be sorted, got list"),
        ("target", r"got the string 'target'.*path or a frame"),
        ([1, "a", 1], "labels of one kind that can be sorted, got int and str"),
        ([True, "a"], "got bool and str; make them all strings or all numbers"),
        ([1j, 2j], "got complex"),
        (np.array([1j, 2j]), "floats or strings, got dtype complex128"),
        (np.zeros(2, dtype=[("a", int)]), "got dtype"),
        ([{"a": 1}, {"a": 2}], "that can be sorted, got dict"),
        ([Colour.RED, Colour.BLUE], "that can be sorted, got Colour"),
    ],
)
def test_things_that_are_no_labels_are_explained(y, message):
    with pytest.raises(InputError, match=message):
        signs_of(y)


def test_labels_that_numpy_cannot_read_pass_their_reason_on():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("on another device")

    with pytest.raises(InputError, match=r"got Broken \(on another device\); pass a"):
        signs_of(Broken())


@given(
    labels=st.lists(st.sampled_from([-3, 0, 7]), min_size=1, max_size=12),
    dtype=st.sampled_from([np.int64, np.float64, np.int32]),
    step=st.sampled_from([1, 2, -1]),
)
def test_arrays_of_numbers_are_signed_as_lists_are(labels, dtype, step):
    numbers = np.repeat(np.array(labels, dtype=dtype), abs(step))[::step]
    as_list = np.array(numbers.tolist(), dtype=object)
    if len(set(labels)) > 2:
        with pytest.raises(InputError, match="two classes"):
            signs_from(numbers)
        return
    (classes, signs), (others, expected) = signs_from(numbers), signs_from(as_list)
    assert classes.dtype == dtype
    assert classes.tolist() == others.tolist() == sorted(set(labels))
    assert signs.tolist() == expected.tolist()


def test_zeros_of_either_sign_are_one_label():
    classes, signs = signs_from(np.array([0.0, -0.0, -1.0]))
    assert classes.tolist() == [-1, 0]
    assert signs.tolist() == [1, 1, -1]
