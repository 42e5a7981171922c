"""Numbers of any type to float arrays, without rounding one of them.

linsep proves its answers about the numbers it was given, so a number that double
precision cannot hold is an error, never an approximation.
"""

import numbers
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linsep.input.errors import InputError

__all__ = [
    "Floats",
    "exact_floats",
    "is_missing",
    "non_number",
    "not_numbers_message",
    "require_finite",
]

Floats: TypeAlias = NDArray[np.float64] | NDArray[np.float32]

_CHUNK = 1 << 18  # entries looked at together: 2 MB of float64, a mask of 256 KB
_LARGEST_SAFE_INTEGER = 2**53  # every integer up to here is a float64


def exact_floats(values: NDArray[Any], where: str) -> Floats:
    """Return the same numbers as float64 or float32, or raise.

    Parameters
    ----------
    values : ndarray, any shape
        float32 and float64 in native byte order are returned as they are, not
        copied. float16 becomes float32; booleans, integers, long doubles and
        Python numbers (int, float, Fraction, Decimal) become float64.
    where : str
        What the numbers are, for the error text: "X" or "column 'age' of X".

    Returns
    -------
    ndarray of float32 or float64, the shape of `values`
        Missing entries of an object array (None, NaN, NA) are NaN.

    Raises
    ------
    InputError
        If the entries are not real numbers, or one of them would be rounded.

    Examples
    --------
    >>> exact_floats(np.array([1, 2**60]), "X")
    array([1.0000000e+00, 1.1529215e+18])
    """
    kind = values.dtype.kind
    if kind == "f" and values.dtype.itemsize <= 8:
        return _native_floats(values)
    if kind in "biu":
        _require_exact_integers(values, where)
        return values.astype(np.float64)
    if kind == "f":
        return _from_long_doubles(values, where)
    if kind == "O":
        return _from_objects(values, where)
    raise InputError(not_numbers_message(values.dtype, where))


def non_number(values: NDArray[Any]) -> object | None:
    """Return the first entry of an object array that is no real number, if any."""
    for value in values.flat:
        if not _is_real(value) and not is_missing(value):
            found: object = value
            return found
    return None


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
    values: Floats, names: tuple[str, ...] | None = None, rows: Any = None
) -> None:
    """Raise if a NaN or an infinity is among the numbers, saying where and how many.

    The check reads the numbers once and makes no temporary of their size: a block
    whose sum is finite holds finite numbers only; the converse fails (a sum may
    overflow), so only the blocks left over are looked at entry by entry.

    Parameters
    ----------
    values : ndarray of float, shape (n, d), or (nnz,) with `rows`
        The features, or the stored entries of a CSR matrix.
    names : tuple of str, optional
        The columns' names, for the error text.
    rows : CSR matrix, optional
        The matrix whose stored entries are `values`.

    Raises
    ------
    InputError
        With the counts and the place of the first one.
    """
    if _all_finite(values):
        return
    n_nan = n_infinite = 0
    first: int | None = None
    for start, block in _flat_blocks(values):
        bad = ~np.isfinite(block)
        if first is None and bad.any():
            first = start + int(np.argmax(bad))
        n_nan += int(np.count_nonzero(np.isnan(block)))
        n_infinite += int(np.count_nonzero(np.isinf(block)))
    assert first is not None
    if rows is None:
        row, column = (int(k) for k in np.unravel_index(first, values.shape))
    else:
        row = int(np.searchsorted(rows.indptr, first, side="right")) - 1
        column = int(rows.indices[first])
    raise InputError(_not_finite(n_nan, n_infinite, row, column, names))


def _native_floats(values: NDArray[Any]) -> Floats:
    """Keep float32 and float64 as they are; widen float16; fix the byte order."""
    double = values.dtype.itemsize == 8
    plain = values.dtype.isnative and values.flags.aligned
    if double:
        return values if plain else values.astype(np.float64)
    return values if plain and values.dtype == np.float32 else values.astype(np.float32)


def _require_exact_integers(values: NDArray[Any], where: str) -> None:
    """Raise if an integer has more than 53 significant bits.

    An integer is a float64 exactly if its odd part is at most 2**53.
    """
    if values.dtype.itemsize < 8 or values.size == 0:
        return
    low, high = int(values.min()), int(values.max())
    if max(-low, high) <= _LARGEST_SAFE_INTEGER:
        return
    for _, block in _flat_blocks(values):
        size = np.where(block < 0, -block.astype(np.uint64), block.astype(np.uint64))
        lowest_bit = size & -size
        rounded = size // np.maximum(lowest_bit, 1) > _LARGEST_SAFE_INTEGER
        if rounded.any():
            raise InputError(_would_round(int(block[np.argmax(rounded)]), where))


def _from_long_doubles(values: NDArray[Any], where: str) -> NDArray[np.float64]:
    """Convert long doubles, or raise at the first that float64 cannot hold."""
    with np.errstate(over="ignore"):
        converted = values.astype(np.float64)
    changed = (converted != values) & ~np.isnan(values)
    if changed.any():
        raise InputError(_would_round(values[changed][0], where))
    return converted


def _from_objects(values: NDArray[Any], where: str) -> NDArray[np.float64]:
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


def _all_finite(values: Floats) -> bool:
    """Tell whether every number is finite, one block at a time."""
    with np.errstate(over="ignore", invalid="ignore"):
        return all(
            np.isfinite(block.sum()) or np.isfinite(block).all()
            for block in _blocks(values)
        )


def _blocks(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield views that together hold every entry once, in memory order if possible."""
    if values.flags.forc:
        flat = values.ravel(order="K")
        for start in range(0, flat.size, _CHUNK):
            yield flat[start : start + _CHUNK]
    else:
        if values.ndim == 2 and abs(values.strides[0]) < abs(values.strides[1]):
            values = values.T
        step = max(1, _CHUNK * len(values) // max(1, values.size))
        for start in range(0, len(values), step):
            yield values[start : start + step]


def _flat_blocks(values: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield (position, flat block) in row-major order; a block may be a copy."""
    per_row = max(1, values.size // max(1, len(values)))
    step = max(1, _CHUNK // per_row)
    for start in range(0, len(values), step):
        yield start * per_row, values[start : start + step].reshape(-1)


_ENCODE = (
    "turn text and categories into 0/1 columns (for example with pandas.get_dummies) "
    "and dates into numbers, or leave those columns out"
)


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
