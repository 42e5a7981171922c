"""Rows of a memory-mapped file, which are let go of again once they were looked at.

The pages of a mapped file that were read stay part of the process until memory is
short: one sweep makes it as large as the file. Letting go of them loses nothing, since
they are the file's, and they come back when they are looked at again.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Smaller matrices stay in memory, and the pages of smaller files are kept.
_LEAST_MAPPED = 64 * 2**20
# Bytes looked at before all are let go of. More of them make a sweep no quicker.
_MOST_HELD = 4 * 2**20
# One number that is looked at may bring as much along: a large page.
_PAGE = 2 * 2**20

# Whether a process can let go of pages: not on Windows, which does so by itself.
_CAN_LET_GO = hasattr(mmap.mmap, "madvise") and hasattr(mmap, "MADV_DONTNEED")


def is_large(n_bytes: int) -> bool:
    """Tell whether a matrix of this size had better lie in a file."""
    return _CAN_LET_GO and n_bytes >= _LEAST_MAPPED


def mapped_rows(X: NDArray[Any]) -> NDArray[Any]:
    """Return the same array; one over a large file lets go of what was looked at.

    A map of a file that keeps changes to itself stays as it is: they would be lost.

    Examples
    --------
    >>> X = np.zeros((2, 3))
    >>> mapped_rows(X) is X
    True
    """
    array: Any = X
    while isinstance(array, np.ndarray):
        if isinstance(array, MappedRows):
            return X.view(MappedRows)._with(array.pages)
        if isinstance(array, np.memmap) and isinstance(array.base, mmap.mmap):
            if array.mode not in ("r", "r+", "w+") or not is_large(array.nbytes):
                return X
            return X.view(MappedRows)._with(_Pages(array.base))
        array = array.base
    return X


def chunks_of(X: Any) -> int:
    """Return into how many chunks to cut one of rows in memory: each thread holds one.

    What a chunk of columns comes to depends on where it begins, in its last bits.
    """
    is_by_rows = isinstance(X, MappedRows) and X.strides[0] > X.strides[1]
    return 4 if is_by_rows else 1


class _Pages:
    """The pages of a mapped file that this process holds, about counted.

    Threads share it. A count that two of them change at once may be off by a chunk,
    and pages that one lets go of come back to another that still looks at them.
    """

    def __init__(self, mapping: mmap.mmap) -> None:
        self._mapping = mapping
        self._n_held = 0

    def look_at(self, n_bytes: int) -> None:
        """Make room for bytes that are looked at next."""
        if self._n_held + n_bytes > _MOST_HELD:
            self.let_go()
        self._n_held += n_bytes

    def let_go(self) -> None:
        """Let go of all pages; a system that will not keeps them."""
        self._n_held = 0
        with suppress(OSError):
            self._mapping.madvise(mmap.MADV_DONTNEED)


class MappedRows(np.ndarray[Any, np.dtype[Any]]):
    """An array over a file, to be looked at by ranges of rows, or by copies of some.

    Rows and columns that are taken, and what is computed, are plain arrays. What looks
    at the whole array at once is right too, but brings the whole file into memory.
    """

    pages: _Pages | None = None  # of what NumPy made after it, which is in memory
    __array_priority__ = -1.0

    def _with(self, pages: _Pages | None) -> MappedRows:
        self.pages = pages
        return self

    def __array_finalize__(self, array: Any) -> None:
        """Keep hold of the pages that a view is over."""
        self.pages = getattr(array, "pages", None)

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False
    ) -> Any:
        """Return what is computed as a plain array."""
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    def __reduce__(self) -> Any:
        """Travel as a plain array."""
        return np.asarray(self).__reduce__()

    def __getitem__(self, index: Any) -> Any:
        """Return rows, columns or numbers, as of a plain array."""
        plain, pages = np.asarray(self), self.pages
        if pages is None:
            return plain[index]
        if isinstance(index, np.ndarray) and index.ndim == 1 and len(self) > 0:
            return _rows_taken(plain, index, pages)
        found = plain[index]
        if not isinstance(found, np.ndarray):
            pages.look_at(_PAGE)
        elif not np.may_share_memory(found, plain):  # a copy, so it was looked at
            pages.let_go()
        elif found.ndim == 2 and len(found) == len(self):
            return found.view(MappedRows)._with(pages)
        elif found.ndim == 1 and _extent(found) > max(found.nbytes, _MOST_HELD):
            return _column_taken(found, pages)  # its pages are those of all others
        else:
            pages.look_at(max(_extent(found), _PAGE))
        return found


def _column_taken(column: NDArray[Any], pages: _Pages) -> NDArray[Any]:
    """Copy a column some rows at a time."""
    copy = np.empty(len(column), column.dtype)
    step = max(1, _MOST_HELD * len(column) // _extent(column))
    for start in range(0, len(column), step):
        part = slice(start, start + step)
        pages.look_at(_extent(column[part]))
        copy[part] = column[part]
    return copy


def _rows_taken(
    plain: NDArray[Any], index: NDArray[Any], pages: _Pages
) -> NDArray[Any]:
    """Copy the rows named, those together that lie near each other."""
    if index.dtype == bool and len(index) == len(plain):
        index = np.flatnonzero(index)
    is_usual = index.dtype.kind in "iu" and index.size > 0
    if not is_usual or index.min() < 0 or index.max() >= len(plain):
        pages.let_go()
        found: NDArray[Any] = plain[index]  # or what is wrong with it
        return found
    order = None
    if (index[1:] < index[:-1]).any():
        order = np.argsort(index, kind="stable")
        index = index[order]
    rows = np.empty((index.size, *plain.shape[1:]), plain.dtype)
    a_row = max(1, _extent(plain) // len(plain))
    n_near, n_far = max(1, _MOST_HELD // a_row), _MOST_HELD // _PAGE
    start = 0
    while start < index.size:
        first = int(index[start])
        stop = max(int(np.searchsorted(index, first + n_near)), start + n_far)
        part = index[start:stop]
        extent = int(part[-1]) + 1 - first
        pages.look_at(min(extent * a_row, part.size * _PAGE))
        if extent == part.size and (part[1:] > part[:-1]).all():
            rows[start:stop] = plain[first : first + extent]
        else:
            rows[start:stop] = plain[part]
        start = stop
    if order is None:
        return rows
    found = np.empty_like(rows)
    found[order] = rows
    return found


def _extent(array: NDArray[Any]) -> int:
    """Return about how many bytes of the file a view is over."""
    a_row = abs(array.strides[0]) if array.ndim else 0
    return max(array.nbytes, len(array) * a_row if array.ndim else 0)
