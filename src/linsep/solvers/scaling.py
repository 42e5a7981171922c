"""Powers of two: scaling that no bit of a mantissa pays for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats
from linsep.rows import is_sparse, split
from linsep.solvers._sparse_rows import largest_of_columns

# Powers of two beyond this one, up or down, are near an end of the doubles.
SAFE_EXPONENT = 900
# Blocks of a sparse matrix are so many times smaller than those of a sweep.
SMALL_BLOCKS = 8
# Rows this many powers of two from the typical one are scaled on their own.
EXTREME_ROW_BITS = 20


def exponent_above(values: Any) -> int:
    """Return the exponent of the power of two above all magnitudes; 0 for zeros.

    Examples
    --------
    >>> exponent_above(np.array([3.0, -4.0])), exponent_above(np.zeros(2))
    (3, 0)
    """
    largest = float(max(values.max(), -values.min())) if min(values.shape) else 0.0
    return math.frexp(largest)[1]


def shifted(values: Any, power: int, out: Any = None) -> Any:
    """Multiply an array or a CSR matrix by a power of two, an array in `out` if given.

    Entries that become subnormal are rounded; the caller sees that none overflow.

    Examples
    --------
    >>> shifted(np.array([5e-324, 1.0]), 2).tolist()
    [2e-323, 4.0]
    """
    if is_sparse(values):
        result = values.copy()
        result.data = np.ldexp(result.data, power)
        return result
    if abs(power) > SAFE_EXPONENT:
        return np.ldexp(values, power, out=out)
    # The usual case, in a tenth of the time.
    return np.multiply(values, math.ldexp(1.0, power), out=out)


def exponents(values: Floats) -> NDArray[np.int64]:
    """Return for each value > 0 the exponent of the power of two above it, else 0."""
    return np.frexp(values)[1].astype(np.int64)


@dataclass(frozen=True)
class Balanced:
    """Rows whose columns are about 1, by powers of two: no norm of them overflows.

    Attributes
    ----------
    values : ndarray or csr_matrix of shape (m, d)
        The scaled rows.
    rows, columns : ndarray of shape (m,) and (d,)
        The exponents taken out. Only rows of extreme size are scaled on their own:
        scaling every row by its largest entry, which depends on units, would make a
        metric depend on them.
    """

    values: Any
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    @classmethod
    def of(cls, A: Any, largest: Floats | None = None) -> Balanced:
        """Scale the rows of a dense or CSR matrix.

        Where the `largest` magnitude of each column is given, A is dense and scaled in
        place: new memory takes as long to get as the arithmetic does.
        """
        m = A.shape[0]
        columns = exponents(_largest(A, 0) if largest is None else largest)
        overwrite = largest is not None
        if overwrite and np.abs(columns).max(initial=0) <= SAFE_EXPONENT:
            values = np.multiply(A, np.ldexp(1.0, -columns), out=A)
        else:
            values = _shifted_both(A, None, -columns)
        as_they_are = cls(values, np.zeros(m, dtype=np.int64), columns)
        if not m or _are_alike(values):
            return as_they_are
        by_row = exponents(_largest(values, 1))
        if by_row.max() - by_row.min() <= EXTREME_ROW_BITS:
            return as_they_are
        rows = by_row - int(np.median(by_row))
        rows[np.abs(rows) <= EXTREME_ROW_BITS] = 0
        scaled = _shifted_both(A, -rows, -columns)
        # Scaling the rows may have left a column small.
        again = exponents(_largest(scaled, 0))
        return cls(_shifted_both(scaled, None, -again), rows, columns + again)

    def weights(self, w: Floats) -> Floats:
        """Return weights on the columns as they were before, given those on `values`.

        Over a common power of two if need be. Weights too small beside the largest for
        any double become zero.
        """
        fraction, exponent = np.frexp(w)
        exponent = exponent.astype(np.int64) - self.columns
        used = exponent[w != 0]
        if used.size and (used.max() > SAFE_EXPONENT or used.min() < -SAFE_EXPONENT):
            exponent -= used.max()
        return np.asarray(np.ldexp(fraction, np.maximum(exponent, -5000)))

    def lengths(self, length: Floats) -> Floats:
        """Return lengths of the rows as they were, kept within the range of doubles."""
        if not self.rows.any():
            return length
        return np.ldexp(length, np.clip(self.rows, -SAFE_EXPONENT, SAFE_EXPONENT))


def row_squares(rows: Floats) -> Floats:
    """Return the squared lengths of dense rows, infinite where they overflow."""
    with np.errstate(over="ignore"):
        return np.asarray(np.vecdot(rows, rows))  # two or three times as fast as einsum


def row_blocks(A: Any) -> Iterator[tuple[slice, slice]]:
    """Yield ranges of the rows of a CSR matrix, and of their entries, a few at a time.

    What is made of the entries of a range is far smaller than the matrix.
    """
    m = A.shape[0]
    for start, stop in split(m, SMALL_BLOCKS * (1 + A.nnz // max(1, m))):
        yield slice(start, stop), slice(int(A.indptr[start]), int(A.indptr[stop]))


def reduced_rows(ufunc: np.ufunc, entries: Floats, A: Any, rows: slice) -> Floats:
    """Reduce the entries of each of a range of rows of a CSR matrix; 0 for none."""
    starts = A.indptr[rows.start : rows.stop + 1]
    filled = np.flatnonzero(np.diff(starts))
    reduced = np.zeros(rows.stop - rows.start)
    if filled.size:
        reduced[filled] = ufunc.reduceat(entries, starts[filled] - starts[0])
    return reduced


def with_entries(A: Any, data: Floats) -> Any:
    """Return a CSR matrix with other entries in the same places, which are shared."""
    from scipy import sparse

    return sparse.csr_matrix((data, A.indices, A.indptr), shape=A.shape)


def _shifted_both(
    A: Any, rows: NDArray[np.int64] | None, columns: NDArray[np.int64]
) -> Any:
    """Multiply rows and columns by powers of two: exact, but for underflow to zero."""
    is_usual = rows is None and np.abs(columns).max(initial=0) <= SAFE_EXPONENT
    factors = np.ldexp(1.0, columns) if is_usual else None
    if is_sparse(A):
        scaled = np.empty(A.nnz)
        for here, part in row_blocks(A):
            if factors is not None:
                np.multiply(A.data[part], factors[A.indices[part]], out=scaled[part])
                continue
            shift = columns[A.indices[part]]
            if rows is not None:
                shift += np.repeat(rows[here], np.diff(A.indptr)[here])
            scaled[part] = np.ldexp(A.data[part], shift)
        return with_entries(A, scaled)
    if factors is not None:
        return A * factors  # in a tenth of the time
    return np.ldexp(A, columns if rows is None else rows[:, None] + columns)


def _are_alike(A: Any) -> bool:
    """Tell, where that is quick, that no row of entries up to 1 is of extreme size.

    The largest entry of a row of d is at least its length over the root of d.
    """
    if is_sparse(A):
        return False
    return bool(
        row_squares(A).min() >= math.ldexp(A.shape[1], 2 * (2 - EXTREME_ROW_BITS))
    )


def _largest(A: Any, axis: int) -> Floats:
    """Return the largest magnitude along an axis of a dense or CSR matrix."""
    if is_sparse(A):
        largest = np.zeros(A.shape[1 - axis])
        if axis == 0:
            largest_of_columns(A.data, A.indices, largest)
            return largest
        for here, part in row_blocks(A):
            largest[here] = reduced_rows(np.maximum, np.abs(A.data[part]), A, here)
        return largest
    if A.shape[axis] == 0:
        return np.zeros(A.shape[1 - axis])
    return np.asarray(np.maximum(A.max(axis=axis), -A.min(axis=axis)))
