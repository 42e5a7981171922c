"""The features X, of any type, to one float array or CSR matrix with finite entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Reals
from linsep.input.errors import InputError
from linsep.input.exact_numbers import exact_floats, not_numbers_message, require_finite
from linsep.input.frames import frame_features
from linsep.rows import is_masked, is_sparse
from linsep.rows.mapped import mapped_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Features: TypeAlias = "Reals | csr_array"


def features_from(X: object) -> tuple[Features, tuple[str, ...] | None]:
    """Return X as a float array or CSR matrix (n, d), and the names of its columns.

    float32 and float64 are the user's own memory, or file. InputError if X is no table
    of finite real numbers that doubles hold exactly.

    Examples
    --------
    >>> features_from([[1, 2], [3, 4]])
    (array([[1., 2.],
           [3., 4.]]), None)
    """
    names: tuple[str, ...] | None = None
    table: Any = X
    from_frame = frame_features(X)
    if from_frame is not None:
        table, names = from_frame
    if is_sparse(table):
        return _csr_from(table, names), names
    values = mapped_rows(exact_floats(matrix_from(table), "X"))
    require_finite(values, names)
    return values, names


def _csr_from(X: Any, names: tuple[str, ...] | None) -> csr_array:
    """Return a CSR array without duplicates, sharing the user's memory if it can."""
    from scipy.sparse import csr_array

    _require_two_dimensions(X.shape, X)
    if X.dtype.kind in "iu" and X.dtype.itemsize < 8:
        X = X.astype(np.int64)  # room for the sums of duplicates
    rows = csr_array(X)
    try:
        rows.check_format(full_check=True)  # a wild index would be read unchecked
    except ValueError as error:
        raise InputError(
            f"X must be a well-formed sparse matrix, got one whose parts disagree "
            f"({error}); build it anew, for example with X.tocoo().tocsr()"
        ) from error
    # A new object, because looking for duplicates leaves flags behind on the old one.
    rows = csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    values = exact_floats(rows.data, "X")
    require_finite(values, names, rows)
    return csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def matrix_from(X: Any) -> NDArray[Any]:
    """Return X as a two-dimensional array of whatever type numpy gives it."""
    if is_masked(X):
        n_masked = int(np.count_nonzero(np.ma.getmaskarray(X)))
        if n_masked:
            raise InputError(
                f"X must have no missing values, got {n_masked} "
                "masked entries; fill them in (X.filled(value)) or drop their rows"
            )
        X = X.data
    try:
        values = np.asarray(X)
    except Exception as error:
        raise InputError(_not_an_array(X, error)) from error
    if values.dtype.names:
        raise InputError(not_numbers_message(values.dtype, "X"))
    _require_two_dimensions(values.shape, X)
    if isinstance(X, list | tuple) and values.dtype == np.float64 and values.size:
        largest = max(float(values.max()), -float(values.min()))
        if largest >= 2**53:  # an integer in the list may have been rounded
            values = np.array(X, dtype=object).reshape(values.shape)
    return values


def _require_two_dimensions(shape: tuple[int, ...], X: Any) -> None:
    """Raise unless the shape is (rows, columns)."""
    if len(shape) == 2:
        return
    got, advice = f"shape {shape}", "pass X.reshape(len(X), -1) to flatten every sample"
    if shape == ():
        got = f"a single {type(X).__name__}"
        advice = "pass one row for every sample and one column for every feature"
    elif shape == (0,):
        raise InputError(no_rows_message(shape))
    elif len(shape) == 1 and hasattr(X, "to_frame"):
        advice = "pass X.to_frame() for one feature of many samples"
    elif len(shape) == 1 and _has_ragged_rows(X):
        got = f"{shape[0]} rows of different lengths"
        advice = "every row must have the same number of entries"
    elif len(shape) == 1:
        advice = (
            "pass X.reshape(-1, 1) if it is one feature of many samples, or "
            "X.reshape(1, -1) if it is one sample with many features"
        )
    raise InputError(
        f"X must be two-dimensional, (samples, features), got {got}; {advice}"
    )


def _has_ragged_rows(X: Any) -> bool:
    """Tell whether the entries of a one-dimensional X are rows themselves."""
    return any(isinstance(row, list | tuple | np.ndarray) for row in X)


def no_rows_message(shape: tuple[int, ...]) -> str:
    """Word the error for empty input."""
    return (
        f"X must have at least one row, got shape {shape}; check what selected the rows"
    )


def _not_an_array(X: object, error: Exception) -> str:
    """Word the error for something numpy cannot turn into an array."""
    if "inhomogeneous" in str(error):
        return (
            "X must have the same number of entries in every row, got rows of "
            f"different lengths ({error}); fill in or drop the short rows"
        )
    return (
        f"X must be an array, a sparse matrix or a frame of numbers, got "
        f"{type(X).__name__}, which numpy cannot read ({error}); convert it to a NumPy "
        "array"
    )
