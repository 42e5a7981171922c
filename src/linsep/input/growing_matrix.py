"""A matrix that is filled some rows at a time: in memory, or a large one in a file."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from linsep.arrays import Index
from linsep.rows import split
from linsep.rows.mapped import is_large, mapped_rows

# Bytes written at a time. The system keeps what was written together in large pages:
# with pages of 4 KB a sweep over mapped rows takes twice as long.
_WRITTEN = 8 * 2**20


class GrowingMatrix:
    """A matrix to which rows are appended until it is full.

    A large one lies in a temporary file without a name, which is gone with the array or
    the process, however that ends. The file is written to first and mapped, for reading
    alone, at the end: so a full disk is an error of a write, after which the rows stay
    in memory. There they also stay where no file can be made.

    Parameters
    ----------
    n_rows, n_columns : int
    dtype : dtype
    in_memory : bool, default=False
        Whether it stays in memory in any case.
    """

    def __init__(
        self, n_rows: int, n_columns: int, dtype: DTypeLike, *, in_memory: bool = False
    ) -> None:
        self._file: BinaryIO | None = None
        self._shape, self._dtype = (n_rows, n_columns), np.dtype(dtype)
        self._row_bytes = n_columns * self._dtype.itemsize
        if not in_memory:
            self._file = _unnamed_file(n_rows * self._row_bytes)
        # All rows, or those that wait to be written.
        n_held = n_rows
        if self._file is not None:
            n_held = min(n_rows, -(-_WRITTEN // self._row_bytes))
        self._held = np.empty((n_held, n_columns), self._dtype)
        self._n_written = self._n_held = 0

    def __del__(self) -> None:
        """Close the file, also after an error; a map of it is open on its own."""
        if self._file is not None:
            self._file.close()

    @property
    def is_in_file(self) -> bool:
        """Whether the rows are not in memory."""
        return self._file is not None

    def append(self, rows: NDArray[Any]) -> None:
        """Take the next rows."""
        while self._file is not None and self._n_held + len(rows) >= len(self._held):
            n_fitting = len(self._held) - self._n_held
            self._hold(rows[:n_fitting])
            rows = rows[n_fitting:]
            self._write_down(self._file)
        self._hold(rows)

    def matrix(self, kept: Index | None = None) -> NDArray[Any]:
        """Return the rows, or those to be kept; no more can be appended then."""
        if self._file is not None:
            self._write_down(self._file)
        if self._file is None:
            return self._held if kept is None else self._held[kept]
        self._held = np.empty((0, self._shape[1]), self._dtype)
        whole = self._mapped(self._file)
        if kept is None:
            return whole
        some = GrowingMatrix(kept.size, self._shape[1], self._dtype)
        for start, stop in split(kept.size, self._shape[1]):
            some.append(mapped_rows(whole)[kept[start:stop]])
        return some.matrix()

    def _hold(self, rows: NDArray[Any]) -> None:
        self._held[self._n_held : self._n_held + len(rows)] = rows
        self._n_held += len(rows)

    def _write_down(self, file: BinaryIO) -> None:
        """Put the rows held into the file; if that fails, bring all into memory."""
        rows = self._held[: self._n_held]
        try:
            if len(rows):
                _write(file, rows.data.cast("B"), self._n_written * self._row_bytes)
        except OSError:
            written = self._mapped(file) if self._n_written else rows[:0]
            self._file, self._n_held = None, 0
            file.close()
            self._held = np.empty(self._shape, self._dtype)
            self._hold(written)
            self._hold(rows)
            return
        self._n_written += self._n_held
        self._n_held = 0

    def _mapped(self, file: BinaryIO) -> NDArray[Any]:
        """Return the rows in the file, read in place if that can be."""
        shape = self._n_written, self._shape[1]
        rows: NDArray[Any]
        try:
            rows = np.memmap(file, self._dtype, mode="r", shape=shape)
        except OSError:
            file.seek(0)
            rows = np.fromfile(file, self._dtype, shape[0] * shape[1]).reshape(shape)
        return rows


def _unnamed_file(n_bytes: int) -> BinaryIO | None:
    """Make a file for a large matrix; None where that is not worth it, or fails."""
    if not is_large(n_bytes):
        return None
    try:
        folder = tempfile.gettempdir()
        if folder == "/tmp":  # often in memory itself; the other is for large files
            folder = "/var/tmp"
        if shutil.disk_usage(folder).free < 2 * n_bytes:
            return None
        return tempfile.TemporaryFile(buffering=0, dir=folder)
    except OSError:
        return None


def _write(file: BinaryIO, left: memoryview, place: int) -> None:
    """Write to a place in a file, or raise OSError."""
    while left:
        n_written = os.pwrite(file.fileno(), left, place)
        left, place = left[n_written:], place + n_written
