"""Data frames of any library, through narwhals, to one float array and their names."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Reals
from linsep.input.errors import InputError
from linsep.input.exact_numbers import are_real, exact_floats
from linsep.rows import is_sparse

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    from scipy.sparse import coo_matrix


def frame_features(
    X: object,
) -> tuple[NDArray[Any] | coo_matrix, tuple[str, ...]] | None:
    """Return a frame's numbers and its columns' names, or None if X is no frame.

    Missing numbers are NaN. One block of floats is not copied, and sparse columns of
    pandas stay sparse. InputError if the frame cannot be read, if a column holds no
    numbers (all are named), or numbers that would be rounded.
    """
    found = frame_of(X)
    if found is None:
        return None
    import narwhals.stable.v2 as nw

    frame, names = found
    kinds = set(frame.schema.values())
    if kinds == {nw.Float32()} or kinds == {nw.Float64()}:
        whole = frame.to_numpy()
        if whole.dtype.kind == "f":  # pandas' nullable floats may come as objects
            return whole, names
    native = frame.to_native()
    if _is_sparse_pandas(native):
        return native.sparse.to_coo(), names
    return columns_together(frame, names), names


def frame_of(X: object) -> tuple[nw.DataFrame[Any], tuple[str, ...]] | None:
    """Return a frame through narwhals and its columns' names; None if it is none."""
    if isinstance(X, np.ndarray | list | tuple) or is_sparse(X):
        return None  # before narwhals is loaded
    import narwhals.stable.v2 as nw

    names: tuple[str, ...] | None = None
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:  # only pandas lets names repeat
        names = tuple(map(str, X.columns))  # type: ignore[attr-defined]
        frame = nw.from_native(X.set_axis(range(len(names)), axis=1))  # type: ignore[attr-defined]
    if isinstance(frame, nw.LazyFrame):
        raise InputError(
            f"X must hold its data, got a {type(X).__name__}; pass X.collect()"
        )
    if not isinstance(frame, nw.DataFrame):
        # A single column speaks the Arrow protocol too, but has no columns of its own.
        is_table = hasattr(X, "columns") or hasattr(X, "schema")
        streams = hasattr(X, "__arrow_c_stream__") and is_table
        if not streams and not hasattr(X, "__dataframe__"):
            return None
        frame = _through_protocol(X, streams)
    return frame, names or tuple(map(str, frame.columns))


def columns_together(frame: nw.DataFrame[Any], names: tuple[str, ...]) -> Reals:
    """Fill one column-major array, or raise and name every column without numbers."""
    columns, bad = [], []
    for name, column in zip(names, frame.iter_columns(), strict=True):
        numbers = _numbers(column, name)
        if numbers is None:
            bad.append(f"{name!r} ({_type_name(column)})")
        else:
            columns.append(numbers)
    if bad:
        noun = "column" if len(bad) == 1 else "columns"
        shown = ", ".join(bad[:10]) + (", ..." if len(bad) > 10 else "")
        raise InputError(
            f"X must hold numbers only, got {len(bad)} {noun} without: {shown}; turn "
            "text and categories into 0/1 columns (pandas.get_dummies(X), "
            "X.to_dummies() in polars) and dates into numbers, or drop them"
        )
    dtype = np.result_type(*columns) if columns else np.dtype(np.float64)
    out: Reals = np.empty((len(frame), len(columns)), dtype=dtype, order="F")
    for j, numbers in enumerate(columns):
        out[:, j] = numbers
    return out


def _numbers(column: Any, name: str) -> Reals | None:
    """Return a column's numbers, missing ones NaN, or None if it holds no numbers."""
    import narwhals.stable.v2 as nw

    n, n_missing = len(column), column.null_count()
    if n_missing == n > 0:
        return np.full(n, np.nan)
    if isinstance(column.dtype, nw.Categorical | nw.Enum):
        return None
    present = column.drop_nulls().to_numpy()
    kind = present.dtype.kind
    if kind not in "biufO" or (kind == "O" and not are_real(present)):
        return None
    numbers = exact_floats(present, f"column {name!r} of X")
    if n_missing == 0:
        return numbers
    out = np.full(n, np.nan, dtype=numbers.dtype)
    out[~column.is_null().to_numpy().astype(bool)] = numbers
    return out


def _through_protocol(X: object, streams: bool) -> nw.DataFrame[Any]:
    """Read what speaks the Arrow or the data-frame interchange protocol only."""
    import narwhals.stable.v2 as nw

    if not find_spec("pyarrow"):
        raise InputError(
            f"X must be readable, got a {type(X).__name__}, which needs pyarrow, and "
            "that is not installed; pip install pyarrow, or pass a NumPy array"
        )
    try:
        if streams:
            return nw.from_arrow(X, backend="pyarrow")
        interchange = import_module("pyarrow.interchange")
        return nw.from_native(interchange.from_dataframe(X), eager_only=True)
    except Exception as error:
        raise InputError(
            f"X must be a table of numbers, got a {type(X).__name__} that could not be "
            f"read as one ({error}); pass a NumPy array or a pandas frame"
        ) from error


def _is_sparse_pandas(native: Any) -> bool:
    """Tell whether every column is one of pandas' sparse ones, filled up with zeros."""
    pandas = sys.modules.get("pandas")
    return (
        pandas is not None
        and isinstance(native, pandas.DataFrame)
        and native.shape[1] > 0
        and all(
            isinstance(t, pandas.SparseDtype) and t.fill_value == 0 and t.kind in "biuf"
            for t in native.dtypes
        )
    )


def _type_name(column: Any) -> str:
    """Return what the frame's own library calls the type of a column."""
    native = column.to_native()
    return str(getattr(native, "dtype", getattr(native, "type", column.dtype)))


def pandas_for(what: str) -> Any:
    """Return pandas for what returns its frames, or say which extra brings it."""
    try:
        import pandas as pd
    except ImportError as error:
        raise InputError(
            f'{what} needs pandas; pip install "linsep[formula]"'
        ) from error
    return pd
