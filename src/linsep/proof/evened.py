"""Columns of very different units as short integers: powers of two taken out of both.

An exact engine's time grows with the length of its integers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linsep.proof.exact import (
    INT64_BITS,
    NO_EXPONENT,
    IntegerArray,
    IntegerRows,
    magnitude,
)


def evened(rows: IntegerRows) -> tuple[IntegerRows, list[int]]:
    """Divide columns, and rows once more, by powers of two that shorten the integers.

    Columns of very different units make long integers, of which most bits are zeros.

    Returns
    -------
    rows : IntegerRows
        ``2**exponents[i] * values[i, j] * 2**shifts[j]`` is what entry (i, j) was.
    shifts : list of d int
        The power of two taken out of each column.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep.proof.exact import IntegerRows
    >>> wide = IntegerRows.from_floats(np.array([[1.0, 2.0**90], [0.0, 3.0]]))
    >>> short, shifts = evened(wide)
    >>> short.values.tolist(), shifts, short.exponents.tolist()
    ([[1, 1], [0, 3]], [0, 90], [0, -90])
    """
    values = rows.values
    if not len(values):
        return rows, [0] * values.shape[1]
    filled = values != 0
    zeros = _trailing_zeros(values)
    # Each column's usual power first: one row without an entry in the column of the
    # smallest unit must not keep all columns from theirs.
    powers, middle = np.where(filled, zeros, NO_EXPONENT), filled.sum(axis=0) // 2
    powers.sort(axis=0)
    usual = np.where(
        filled.any(axis=0), np.take_along_axis(powers, middle[np.newaxis], axis=0)[0], 0
    )
    by_row = np.where(filled, zeros - usual, NO_EXPONENT).min(
        axis=1, initial=NO_EXPONENT
    )
    by_row[by_row == NO_EXPONENT] = 0
    left = np.where(filled, zeros - by_row[:, np.newaxis], NO_EXPONENT)
    by_column = left.min(axis=0, initial=NO_EXPONENT)
    by_column[by_column == NO_EXPONENT] = 0
    shift = filled * (by_row[:, np.newaxis] + by_column)
    return (
        IntegerRows(_shifted(values, shift), rows.exponents + by_row),
        [int(power) for power in by_column],
    )


def _trailing_zeros(values: IntegerArray) -> NDArray[np.int64]:
    """Return how often two divides each integer; of no meaning for 0."""
    lowest = values & -values
    if values.dtype != object:
        return np.frexp(lowest.astype(np.float64))[1].astype(np.int64) - 1
    flat = [int(value).bit_length() - 1 for value in lowest.ravel()]
    return np.array(flat, dtype=np.int64).reshape(values.shape)


def _shifted(values: IntegerArray, shift: NDArray[np.int64]) -> IntegerArray:
    """Divide by powers of two that leave integers, or multiply where negative."""
    if values.dtype != object:
        lengths = np.frexp(np.abs(values).astype(np.float64))[1] - shift
        if lengths.max(initial=0) <= INT64_BITS:
            return values >> np.maximum(shift, 0) << np.maximum(-shift, 0)
    flat = [
        int(value) >> power if power >= 0 else int(value) << -power
        for value, power in zip(
            values.ravel().tolist(), shift.ravel().tolist(), strict=True
        )
    ]
    out = np.empty(len(flat), dtype=object)
    out[:] = flat
    if magnitude(out).bit_length() <= INT64_BITS:
        out = out.astype(np.int64)
    return out.reshape(values.shape)
