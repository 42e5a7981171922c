"""Frames of pandas, polars and Arrow: the same numbers, names, and errors by name."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep.input import InputError
from linsep.input.features import features_from

COLUMNS = {"age": [30, 41, 7], "dose": [0.5, -1.0, 0.0], "sick": [True, False, True]}
NUMBERS = np.array([[30.0, 0.5, 1.0], [41.0, -1.0, 0.0], [7.0, 0.0, 1.0]])


def frames(columns):
    """The same columns in every kind of frame."""
    frame = pd.DataFrame(columns)
    table = pa.table(columns)
    return {
        "pandas": frame,
        "pandas nullable": frame.convert_dtypes(),
        "pandas Arrow": frame.convert_dtypes(dtype_backend="pyarrow"),
        "pandas objects": frame.astype(object),
        "polars": pl.DataFrame(columns),
        "Arrow table": table,
        "Arrow batch": table.to_batches()[0],
        "interchange only": InterchangeOnly(table),
        "stream only": StreamOnly(table),
    }


class InterchangeOnly:
    def __init__(self, table):
        self._table = table

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self._table.__dataframe__(nan_as_null, allow_copy)


class StreamOnly:
    def __init__(self, table):
        self._table = table
        self.schema = table.schema

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kind", frames(COLUMNS))
def test_every_frame_gives_the_same_numbers_and_names(kind):
    features, names = features_from(frames(COLUMNS)[kind])
    assert names == ("age", "dose", "sick")
    assert features.dtype == np.float64
    assert np.array_equal(features, NUMBERS)


@given(
    st.lists(
        st.tuples(
            st.integers(-(2**53), 2**53),
            st.floats(allow_nan=False, allow_infinity=False),
            st.booleans(),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_frames_agree_with_arrays_on_any_numbers(rows):
    columns = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    expected = np.array(rows, dtype=float)
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert np.array_equal(features_from(frame)[0], expected)


# --- no copies, and float32 ---------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_block_of_floats_is_not_copied(dtype):
    values = np.arange(12, dtype=dtype).reshape(4, 3)
    features, names = features_from(pd.DataFrame(values, copy=False))
    assert np.shares_memory(features, values)
    assert names == ("0", "1", "2")


def test_float32_frames_stay_float32():
    values = np.arange(6, dtype=np.float32).reshape(3, 2)
    for frame in (
        pd.DataFrame(values, columns=list("ab")),
        pl.DataFrame(values, schema=list("ab")),
        pa.table({"a": values[:, 0], "b": values[:, 1]}),
        pd.DataFrame(values, columns=list("ab")).astype("Float32"),
    ):
        features = features_from(frame)[0]
        assert features.dtype == np.float32
        assert np.array_equal(features, values)


def test_mixed_float_widths_become_float64():
    frame = pd.DataFrame({"a": np.ones(2, np.float32), "b": np.ones(2)})
    assert features_from(frame)[0].dtype == np.float64


def test_a_frame_is_not_changed():
    for frame in (frames(COLUMNS)["pandas nullable"], frames(COLUMNS)["pandas"]):
        before = frame.copy()
        features = features_from(frame)[0]
        assert features.shape == (3, 3)
        pd.testing.assert_frame_equal(frame, before)


# --- sparse columns -----------------------------------------------------------------


def test_pandas_sparse_columns_stay_sparse():
    dense = np.array([[0.0, 2.0], [0.0, 0.0], [-1.0, 0.0]])
    frame = pd.DataFrame(dense, columns=["a", "b"]).astype(pd.SparseDtype(float, 0.0))
    features, names = features_from(frame)
    assert sparse.issparse(features)
    assert features.nnz == 2
    assert np.array_equal(features.toarray(), dense)
    assert names == ("a", "b")


def test_sparse_dummies_of_pandas_are_numbers():
    dummies = pd.get_dummies(pd.Series(["a", "b", "a"]), sparse=True)
    features, names = features_from(dummies)
    assert np.array_equal(features.toarray(), [[1, 0], [0, 1], [1, 0]])
    assert names == ("a", "b")


def test_sparse_columns_filled_with_something_else_become_dense():
    frame = pd.DataFrame(
        {
            "a": pd.arrays.SparseArray([1.0, 1.0, 3.0], fill_value=1.0),
            "b": pd.arrays.SparseArray([0, 5, 0], fill_value=0),
        }
    )
    assert np.array_equal(features_from(frame)[0], [[1, 0], [1, 5], [3, 0]])


# --- missing values, by name --------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [[1.5, None, 2.5], [1, None, 2], [True, None, False], [2**60, None, 1]],
    ids=["float", "int", "bool", "large int"],
)
@pytest.mark.parametrize("kind", frames(COLUMNS))
def test_missing_values_are_placed_by_row_and_name(kind, column):
    frame = frames({"full": [1, 2, 3], "gaps": column})[kind]
    with pytest.raises(
        InputError,
        match=r"got 1 NaN or missing value, the first in row 1, column 1 \('gaps'\)",
    ):
        features_from(frame)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, np.nan]}),
        pl.DataFrame({"a": [1.0, float("nan")]}),
        pl.DataFrame({"a": [1.0, None]}),
        pl.DataFrame({"a": [None, None]}),
        pa.table({"a": [None, None]}),
        pd.DataFrame({"a": pd.arrays.SparseArray([1.0, np.nan])}),
        pd.DataFrame({"a": [None, 1.0]}, dtype=object),
        pd.DataFrame({"a": [Decimal(1), Decimal("NaN")]}),
    ],
    ids=lambda frame: type(frame).__module__.split(".")[0],
)
def test_nan_in_a_frame_is_named(frame):
    with pytest.raises(InputError, match=r"NaN or missing values?, .* \('a'\)"):
        features_from(frame)


def test_infinity_in_a_frame_is_named():
    with pytest.raises(InputError, match=r"1 infinite value, .*column 1 \('b'\)"):
        features_from(pl.DataFrame({"a": [1.0], "b": [float("inf")]}))


# --- columns without numbers --------------------------------------------------------


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_without_numbers_are_all_named(make):
    day = datetime.date(2020, 1, 2)
    frame = make({"x": [1.0, 2.0], "city": ["Rome", "Oslo"], "born": [day, day]})
    with pytest.raises(
        InputError, match=r"got 2 columns without: 'city' \(.*\), 'born' \(.*\); turn"
    ):
        features_from(frame)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", "b"], dtype="category"),
        pd.Series([1, 2], dtype="category"),
        pd.Series(["a", "b"], dtype="string"),
        pd.Series(["a", "b"], dtype="string[pyarrow]"),
        pd.Series(["a", 1.0], dtype=object),
        pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"])),
        pd.Series(pd.to_timedelta([1, 2])),
        pd.Series([1j, 2j]),
        pd.Series([[1], [2]]),
        pd.Series(pd.period_range("2020", periods=2, freq="D")),
    ],
    ids=lambda column: str(column.dtype),
)
def test_pandas_columns_of_every_other_type_are_named(column):
    with pytest.raises(
        InputError, match=r"got 1 column without: 'bad' .*pandas.get_dummies"
    ):
        features_from(pd.DataFrame({"good": [1.0, 2.0], "bad": column}))


@pytest.mark.parametrize(
    "column",
    [
        pl.Series(["a", "b"]),
        pl.Series(["a", "b"], dtype=pl.Categorical),
        pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])),
        pl.Series([[1], [2]]),
        pl.Series([datetime.datetime(2020, 1, 1)] * 2),
        pl.Series([datetime.timedelta(1)] * 2),
    ],
    ids=lambda column: str(column.dtype),
)
def test_polars_columns_of_every_other_type_are_named(column):
    frame = pl.DataFrame({"good": [1.0, 2.0]}).with_columns(column.alias("bad"))
    with pytest.raises(InputError, match=r"1 column without: 'bad' .*X.to_dummies"):
        features_from(frame)


def test_a_long_list_of_columns_is_cut():
    frame = pd.DataFrame({f"c{j}": ["a"] for j in range(30)})
    with pytest.raises(
        InputError, match=r"got 30 columns without: 'c0' .*'c9' .*\.\.\."
    ):
        features_from(frame)


# --- numbers that would be rounded ----------------------------------------------------


@pytest.mark.parametrize("kind", frames(COLUMNS))
def test_large_integers_in_a_frame_are_refused_by_name(kind):
    frame = frames({"x": [1, 2], "id": [5, 2**53 + 1]})[kind]
    with pytest.raises(
        InputError, match=r"column 'id' of X must hold .* 9007199254740993, which would"
    ):
        features_from(frame)


def test_decimals_are_taken_if_exact_and_refused_if_not():
    exact = [Decimal("0.50"), Decimal("-2.25")]
    rounded = [Decimal("0.50"), Decimal("0.10")]
    for make in (pd.DataFrame, pl.DataFrame, pa.table, arrow_backed):
        assert features_from(make({"a": exact}))[0].tolist() == [[0.5], [-2.25]]
        with pytest.raises(
            InputError, match=r"'a' of X .* 0.10, which would be rounded"
        ):
            features_from(make({"a": rounded}))


def arrow_backed(columns):
    return pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)


# --- shapes and oddities --------------------------------------------------------------


def test_column_names_are_made_strings_and_may_repeat():
    frame = pd.DataFrame([[1.0, 2, True]], columns=[("a", 1), "b", "b"])
    assert features_from(frame)[1] == ("('a', 1)", "b", "b")


def test_a_frame_without_columns_has_its_rows():
    features, names = features_from(pd.DataFrame(index=range(3)))
    assert features.shape == (3, 0)
    assert names == ()


@pytest.mark.parametrize(
    ("column", "advice"),
    [
        (pd.Series([1.0, 2.0]), "pass X.to_frame()"),
        (pl.Series([1.0, 2.0]), "pass X.to_frame()"),
        (pa.chunked_array([[1.0, 2.0]]), "pass X.reshape"),
    ],
    ids=["pandas", "polars", "Arrow"],
)
def test_a_single_column_is_told_to_become_a_frame(column, advice):
    with pytest.raises(InputError, match=r"two-dimensional.*shape \(2,\)") as raised:
        features_from(column)
    assert advice in str(raised.value)


def test_a_lazy_frame_must_be_collected():
    with pytest.raises(InputError, match=r"LazyFrame; pass X.collect\(\)"):
        features_from(pl.LazyFrame({"a": [1]}))


def test_a_table_that_pyarrow_cannot_read_passes_its_reason_on():
    class Broken:
        def __dataframe__(self, nan_as_null=False, allow_copy=True):
            raise RuntimeError("connection lost")

    with pytest.raises(InputError, match=r"got a Broken .*\(connection lost\)"):
        features_from(Broken())
