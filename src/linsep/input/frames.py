"""Data frames of pandas, polars and Arrow to one float array and the columns' names."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linsep.input.errors import InputError
from linsep.input.exact_numbers import Floats, exact_floats, non_number

__all__ = ["FrameReader", "reader_for"]


@dataclass(frozen=True)
class _Column:
    """One column of a frame: the values present, or None where they are no numbers."""

    name: str
    dtype: str
    values: NDArray[Any] | None
    missing: NDArray[np.bool_] | None = None  # None: every value is present


FrameReader: TypeAlias = Callable[[Any], tuple[Any, tuple[str, ...]]]


def reader_for(X: object) -> FrameReader | None:
    """Return the function that reads this kind of frame, or None for other things.

    A frame of a library that was never imported cannot have been passed, so nothing
    is imported to find out.
    """
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return _read_pandas
    if polars is not None and isinstance(X, polars.DataFrame):
        return _read_polars
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise InputError(
            "X must hold its data, got a polars LazyFrame; pass X.collect()"
        )
    # A single column speaks the Arrow protocol too, but has no columns of its own.
    is_table = hasattr(X, "columns") or hasattr(X, "schema")
    if hasattr(X, "__dataframe__") or (is_table and hasattr(X, "__arrow_c_stream__")):
        return _read_arrow
    return None


def _read_pandas(X: Any) -> tuple[Any, tuple[str, ...]]:
    """Read a pandas frame: one block of floats uncopied, sparse columns as sparse."""
    import pandas as pd

    names = tuple(str(name) for name in X.columns)
    dtypes = list(X.dtypes)
    if len(set(dtypes)) == 1 and dtypes[0] in (np.float32, np.float64):
        return X.to_numpy(), names
    if dtypes and all(
        isinstance(t, pd.SparseDtype) and t.fill_value == 0 and t.kind in "biuf"
        for t in dtypes
    ):
        return X.sparse.to_coo(), names
    columns = [_pandas_column(name, X.iloc[:, j]) for j, name in enumerate(names)]
    return _assemble(columns, len(X)), names


def _pandas_column(name: str, column: Any) -> _Column:
    """Read one pandas column, nullable, sparse and Arrow-backed ones included."""
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return _numbers_or_none(name, str(dtype), column.to_numpy())
    numeric = pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)
    if isinstance(dtype, pd.CategoricalDtype) or not (
        numeric or str(dtype).startswith("decimal")
    ):
        return _Column(name, str(dtype), None)
    if isinstance(dtype, pd.SparseDtype):
        return _numbers_or_none(name, str(dtype), np.asarray(column.sparse.to_dense()))
    missing = column.isna().to_numpy(dtype=bool)
    return _numbers_or_none(name, str(dtype), column[~missing].to_numpy(), missing)


def _read_polars(X: Any) -> tuple[Any, tuple[str, ...]]:
    """Read a polars frame; nulls become NaN."""
    import polars as pl

    names = tuple(X.columns)
    kinds = set(X.dtypes)
    if kinds in ({pl.Float32}, {pl.Float64}):
        return X.to_numpy(), names
    columns = []
    for series in X.get_columns():
        dtype = str(series.dtype)
        if series.dtype == pl.Null:
            series = series.cast(pl.Float64)
        if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
            columns.append(_Column(series.name, dtype, None))
            continue
        missing = series.is_null().to_numpy()
        series = series.drop_nulls()
        if series.dtype.is_decimal():
            values = np.array(series.to_list(), dtype=object)
        else:
            values = series.to_numpy()
        columns.append(_numbers_or_none(series.name, dtype, values, missing))
    return _assemble(columns, X.height), names


def _read_arrow(X: Any) -> tuple[Any, tuple[str, ...]]:
    """Read anything that speaks an Arrow or data-frame interchange protocol."""
    table = _arrow_table(X)
    import pyarrow as pa

    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        is_number = (
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_boolean(kind)
            or pa.types.is_decimal(kind)
            or pa.types.is_null(kind)
        )
        if not is_number:
            columns.append(_Column(name, str(kind), None))
            continue
        if pa.types.is_null(kind):
            column = column.cast(pa.float64())
        missing = np.asarray(column.is_null())
        values = column.drop_null().to_numpy()
        columns.append(_numbers_or_none(name, str(kind), values, missing))
    names = tuple(str(name) for name in table.column_names)
    return _assemble(columns, table.num_rows), names


def _arrow_table(X: Any) -> Any:
    """Return a pyarrow table of the same data."""
    try:
        import pyarrow as pa
        import pyarrow.interchange
    except ImportError as error:
        raise InputError(
            f"X must be readable, got a {type(X).__name__}, which needs pyarrow, and "
            'that is not installed; pip install "linsep[data]", or pass a NumPy array'
        ) from error
    try:
        if hasattr(X, "__arrow_c_stream__"):
            return pa.table(X)
        return pyarrow.interchange.from_dataframe(X)
    except Exception as error:
        raise InputError(
            f"X must be a table of numbers, got a {type(X).__name__} that could not be "
            f"read as one ({error}); pass a NumPy array or a pandas frame"
        ) from error


def _numbers_or_none(
    name: str,
    dtype: str,
    values: NDArray[Any],
    missing: NDArray[np.bool_] | None = None,
) -> _Column:
    """Make a column of the values present, if they are real numbers."""
    kind = values.dtype.kind
    if kind not in "biufO" or (kind == "O" and non_number(values) is not None):
        return _Column(name, dtype, None)
    return _Column(name, dtype, values, missing)


def _assemble(columns: list[_Column], n_rows: int) -> Floats:
    """Fill one column-major array, or raise and name every column without numbers."""
    bad = [f"{c.name!r} ({c.dtype})" for c in columns if c.values is None]
    if bad:
        noun = "column" if len(bad) == 1 else "columns"
        shown = ", ".join(bad[:10]) + (", ..." if len(bad) > 10 else "")
        raise InputError(
            f"X must hold numbers only, got {len(bad)} {noun} without: {shown}; turn "
            "text and categories into 0/1 columns (pandas.get_dummies(X), "
            "X.to_dummies() in polars) and dates into numbers, or drop them"
        )
    floats = []
    for column in columns:
        assert column.values is not None
        numbers = exact_floats(column.values, f"column {column.name!r} of X")
        if column.missing is not None and column.missing.any():
            present, numbers = numbers, np.full(n_rows, np.nan, dtype=numbers.dtype)
            numbers[~column.missing] = present
        floats.append(numbers)
    dtype = np.result_type(*floats) if floats else np.dtype(np.float64)
    out: Floats = np.empty((n_rows, len(columns)), dtype=dtype, order="F")
    for j, numbers in enumerate(floats):
        out[:, j] = numbers
    return out
