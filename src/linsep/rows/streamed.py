"""Rows of a source that is read anew for every sweep, the next blocks ahead."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

import numpy as np

from linsep.arrays import Signs
from linsep.rows.blocks import BlockRows, Blocks, rows_changed
from linsep.rows.fingerprint import Fingerprint
from linsep.rows.matrices import rows_from
from linsep.rows.threads import one_ahead


class StreamedRows(BlockRows):
    """Signed rows over matrices that a source yields, one after the other.

    Parameters
    ----------
    read : callable
        Returns a fresh generator of the data: ndarrays, CSR matrices or `ColumnsApart`
        of shape (m, n_features), the same rows in the same order each time, at least
        one matrix, and all of one kind.
    signs, n_features, fit_intercept, dtype, entries_a_row, changed
        As of `BlockRows`.
    is_kept : bool, default=False
        Whether `read` itself sees to it that the rows are the same each time; else each
        reading is compared with the others.
    """

    def __init__(
        self,
        read: Callable[[], Generator[Any, None, None]],
        signs: Signs,
        n_features: int,
        fit_intercept: bool,
        dtype: np.dtype[Any],
        entries_a_row: int | None = None,
        changed: Callable[[int], Exception] = rows_changed,
        *,
        is_kept: bool = False,
    ) -> None:
        super().__init__(
            signs, n_features, fit_intercept, dtype, entries_a_row, changed
        )
        self._read = read
        self._is_kept = is_kept

    def blocks(self) -> Blocks:
        """Yield the blocks of one reading, while the next are compared and read."""
        yield from one_ahead(self._compared())

    def _compared(self) -> Blocks:
        """Yield the blocks of one reading, each compared with those of the others."""
        start, fingerprint = 0, Fingerprint()
        with closing(self._read()) as reading:
            for features in reading:
                stop = start + features.shape[0]
                if stop > self.shape[0]:
                    raise self._changed(start)
                signs = self.signs[start:stop]
                if not self._is_kept:
                    self._compare(stop, fingerprint.add(features, signs))
                yield start, rows_from(features, signs, self.fit_intercept)
                start = stop
        if start < self.shape[0]:
            raise self._changed(start)
