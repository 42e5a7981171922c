"""Numbers of any type to float arrays, without rounding one of them.

linsep proves its answers about the numbers it was given, so a number that double
precision cannot hold is an error, never an approximation.
"""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Mask, Reals
from linsep.input.errors import InputError

_CHUNK = 1 << 18  # entries looked at together: a mask of 256 KB
_LARGEST_SAFE_INTEGER = 2**53  # every integer up to here is a float64
_ENCODE = (
    "turn text and categories into 0/1 columns (for example with pandas.get_dummies) "
    "and dates into numbers, or leave those columns out"
)


def exact_floats(values: NDArray[Any], where: str) -> Reals:
    """Return the same numbers as float64 or float32, or raise InputError.

    float32 and float64 in native byte order are returned as they are, not copied;
    float16 becomes float32. Mask, integers, long doubles and Python numbers (int,
    float, Fraction, Decimal) become float64, unless one would be rounded. Missing
    entries of an object array (None, NaN, NA) are NaN. `where` says what the numbers
    are, for the error text: "X" or "column 'age' of X".

    Examples
    --------
    >>> exact_floats(np.array([1, 2**60]), "X")
    array([1.0000000e+00, 1.1529215e+18])
    """
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f" and size <= 8:
        return np.require(values, np.float64 if size == 8 else np.float32, "A")
    if kind == "O":
        return _from_objects(values, where)
    if kind not in "biuf":
        raise InputError(not_numbers_message(values.dtype, where))
    with np.errstate(over="ignore", invalid="ignore"):
        converted = values.astype(np.float64)
        rounded = _is_rounded(values, converted)
    if rounded is not None and rounded.any():
        raise InputError(_would_round(values[rounded][0], where))
    return converted


def are_real(values: NDArray[Any]) -> bool:
    """Tell whether every entry of an object array is a real number or missing."""
    return all(_is_real(value) or is_missing(value) for value in values.flat)


def is_missing(value: object) -> bool:
    """Tell whether a Python object stands for a missing value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value))


def require_finite(
    values: Reals, names: tuple[str, ...] | None = None, rows: Any = None
) -> None:
    """Raise if a NaN or an infinity is among the numbers, saying where and how many.

    The numbers are features (n, d) under these names, or the stored entries (nnz,) of
    the CSR matrix `rows`. Numbers whose sum is finite are finite themselves. The
    converse fails (a sum may overflow), so the others are looked at themselves.
    """
    step = max(1, _CHUNK * len(values) // max(1, values.size))
    starts = range(0, len(values), step)
    with np.errstate(over="ignore", invalid="ignore"):
        if all(np.isfinite(values[k : k + step].sum()) for k in starts):
            return
    n_nan = n_infinite = 0
    first: list[int] = []
    for start in starts:
        block = values[start : start + step]
        bad = ~np.isfinite(block)
        if not bad.any():
            continue
        if not first:
            first = np.argwhere(bad)[0].tolist()
            first[0] += start
        n_nan += int(np.count_nonzero(np.isnan(block)))
        n_infinite += int(np.count_nonzero(np.isinf(block)))
    if not first:
        return
    if rows is not None:
        row = int(np.searchsorted(rows.indptr, first[0], side="right")) - 1
        first = [row, int(rows.indices[first[0]])]
    row, column = first
    raise InputError(_not_finite(n_nan, n_infinite, row, column, names))


def _is_rounded(values: NDArray[Any], converted: Floats) -> Mask | None:
    """Tell which integers or long doubles their doubles differ from; None: no one."""
    if values.dtype.kind == "f":
        return np.asarray((converted != values) & ~np.isnan(values))
    if values.dtype.itemsize < 8 or values.size == 0:
        return None
    if max(-int(values.min()), int(values.max())) <= _LARGEST_SAFE_INTEGER:
        return None
    # A double beyond the integers of this type comes back as anything.
    beyond = converted >= float(np.iinfo(values.dtype).max)
    return np.asarray(beyond | (converted.astype(values.dtype) != values))


def _from_objects(values: NDArray[Any], where: str) -> Floats:
    """Convert Python numbers one by one, or raise at the first that is none."""
    converted = np.empty(values.size, dtype=np.float64)
    for k, value in enumerate(values.flat):
        if is_missing(value):
            converted[k] = np.nan
            continue
        if not _is_real(value):
            raise InputError(
                f"{where} must hold real numbers only, got {value!r} of type "
                f"{type(value).__name__}; {_ENCODE}"
            )
        try:
            number = float(value)
        except OverflowError:
            raise InputError(_would_round(value, where)) from None
        if number != value:  # Python compares a float with an int or Fraction exactly
            raise InputError(_would_round(value, where))
        converted[k] = number
    return converted.reshape(values.shape)


def _is_real(value: object) -> bool:
    """Tell whether a Python object is a real number of some type."""
    return isinstance(value, numbers.Real | Decimal | np.bool_)


def not_numbers_message(dtype: np.dtype[Any], where: str) -> str:
    """Word the error for an array that holds no real numbers."""
    if dtype.kind == "c":
        return (
            f"{where} must hold real numbers, got complex ones ({dtype}); pass the "
            "real and imaginary parts as two columns"
        )
    if dtype.names:
        return (
            f"{where} must be a plain array of numbers, got a structured one with "
            f"fields {list(dtype.names)}; use "
            "numpy.lib.recfunctions.structured_to_unstructured"
        )
    kinds = {"U": "text", "S": "bytes", "T": "text", "M": "dates", "m": "durations"}
    got = kinds.get(dtype.kind, "something else")
    return f"{where} must hold numbers only, got {got} (dtype {dtype}); {_ENCODE}"


def _would_round(value: object, where: str) -> str:
    """Word the error for a number that double precision cannot hold."""
    return (
        f"{where} must hold numbers that double precision holds exactly, got "
        f"{_short(value)}, which would be rounded; scale or shift the column "
        "(subtract its smallest value), or round it yourself with astype(float)"
    )


def _short(value: object) -> str:
    """Write a number in at most some thirty characters."""
    text = str(value)
    return text if len(text) <= 30 else f"{text[:12]}... ({len(text)} characters)"


def _not_finite(
    n_nan: int, n_infinite: int, row: int, column: int, names: tuple[str, ...] | None
) -> str:
    """Word the error for NaN and infinite entries."""
    nan = f"{n_nan} NaN or missing" if n_nan else ""
    infinite = f"{n_infinite} infinite" if n_infinite else ""
    counts = " and ".join(filter(None, (nan, infinite)))
    plural = "value" if n_nan + n_infinite == 1 else "values"
    name = f" ({names[column]!r})" if names else ""
    return (
        f"X must be finite, got {counts} {plural}, the first in row {row}, column "
        f"{column}{name}; drop or fill in the rows with missing values, and replace "
        "infinities by finite numbers"
    )
