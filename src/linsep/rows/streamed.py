"""Rows of a source that is read anew for every sweep, the next block ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows.blocks import BlockRows
from linsep.rows.matrices import rows_from
from linsep.rows.matrix_rows import MatrixRows
from linsep.rows.threads import one_ahead


class StreamedRows(BlockRows):
    """Signed rows over matrices that a source yields, one after the other.

    Parameters
    ----------
    read : callable
        Returns a fresh iterator over the data: ndarrays, CSR matrices or `ColumnsApart`
        of shape (m, n_features), the same rows in the same order each time, at least
        one matrix, and all of one kind.
    signs, n_features, fit_intercept, dtype, entries_a_row
        As of `BlockRows`.
    """

    def __init__(
        self,
        read: Callable[[], Iterator[Any]],
        signs: NDArray[np.int8],
        n_features: int,
        fit_intercept: bool,
        dtype: np.dtype[Any],
        entries_a_row: int | None = None,
    ) -> None:
        super().__init__(signs, n_features, fit_intercept, dtype, entries_a_row)
        self._read = read

    def blocks(self) -> Iterator[tuple[int, MatrixRows]]:
        """Yield the blocks of one reading, the next one read meanwhile."""
        start = 0
        for features in one_ahead(self._read()):
            stop = start + features.shape[0]
            signs = self.signs[start:stop]
            yield start, rows_from(features, signs, self.fit_intercept)
            start = stop
