"""Rows in the partitions of a Dask collection, looked at where they lie.

A fold is one task a partition, and a tree of merges: what travels is what was found, as
the few worst rows of a scan, or a sum over rows. Any scheduler will do; a partition
that is lost with a worker is made again by Dask, since nothing else is kept there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows.blocks import BlockRows, Found, Index
from linsep.rows.columns import ColumnsApart
from linsep.rows.matrices import rows_from, stacked
from linsep.rows.matrix_rows import MatrixRows
from linsep.rows.threads import one_thread

# Findings that one task merges.
FAN_IN = 8


class DaskRows(BlockRows):
    """Signed rows in partitions.

    Parameters
    ----------
    partitions : sequence of delayed
        One for each partition, in the order of the rows.
    load : callable
        Turns a computed partition into signed rows; is sent to the workers.
    sizes : sequence of int
        The rows of each partition.
    signs, n_features, fit_intercept, dtype, entries_a_row
        As of `BlockRows`.
    """

    def __init__(
        self,
        partitions: Sequence[Any],
        load: Callable[[Any], MatrixRows],
        sizes: Sequence[int],
        signs: NDArray[np.int8],
        n_features: int,
        fit_intercept: bool,
        dtype: np.dtype[Any],
        entries_a_row: int | None = None,
    ) -> None:
        super().__init__(signs, n_features, fit_intercept, dtype, entries_a_row)
        self._partitions, self._load = list(partitions), load
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()

    def blocks(self) -> Iterator[tuple[int, MatrixRows]]:
        """Yield the partitions one by one: all rows travel, for a certificate alone."""
        for number, start in enumerate(self._starts[:-1]):
            features = self._computed(number, Fetching())
            signs = self.signs[start : self._starts[number + 1]]
            yield start, rows_from(features, signs, self.fit_intercept)

    def fold(
        self,
        visit: Callable[[int, MatrixRows], Found],
        merged: Callable[[Found, Found], Found],
    ) -> Found:
        """Visit every partition by a task of its own, and merge what was found."""
        from dask import delayed

        self.n_readings += 1
        found = [self._task(number, visit) for number in range(len(self._partitions))]
        merge = delayed(_merged_all, pure=False)
        while len(found) > 1:
            groups = range(0, len(found), FAN_IN)
            found = [merge(merged, found[first : first + FAN_IN]) for first in groups]
        whole: Found = found[0].compute()
        self._tell(self.shape[0])
        return whole

    def gather(self, index: Index) -> Any:
        """Return the rows named, at least one, which increase."""
        return self.fold(Gathering(index), _stacked)

    def _task(self, number: int, visit: Callable[[int, MatrixRows], Any]) -> Any:
        from dask import delayed

        start, stop = self._starts[number : number + 2]
        task = delayed(_visited, pure=False)
        return task(self._partitions[number], self._load, start, stop - start, visit)

    def _computed(self, number: int, visit: Callable[[int, MatrixRows], Any]) -> Any:
        return self._task(number, visit).compute()


@dataclass(frozen=True)
class Gathering:
    """The rows of a block among those named, which increase."""

    index: Index

    def __call__(self, start: int, block: MatrixRows) -> Any:
        """Take them from a block."""
        low, high = np.searchsorted(self.index, [start, start + block.shape[0]])
        return block.features(self.index[low:high] - start)


@dataclass(frozen=True)
class Fetching:
    """All features of a block."""

    def __call__(self, start: int, block: MatrixRows) -> Any:
        """Return them as a matrix that travels."""
        features = block.features(slice(None))
        return features[:] if isinstance(features, ColumnsApart) else features


def _visited(
    partition: Any,
    load: Callable[[Any], MatrixRows],
    start: int,
    n_rows: int,
    visit: Callable[[int, MatrixRows], Any],
) -> Any:
    """Load a partition and visit it, on a worker; its other threads have their own."""
    rows = load(partition)
    if rows.shape[0] != n_rows:
        raise RuntimeError(
            f"a partition must hold the same rows each time it is computed, got "
            f"{rows.shape[0]:,} rows in place of {n_rows:,}"
        )
    with one_thread():
        return visit(start, rows)


def _merged_all(merged: Callable[[Any, Any], Any], found: Sequence[Any]) -> Any:
    """Merge findings in the order of the rows."""
    whole, *others = found
    for other in others:
        whole = merged(whole, other)
    return whole


def _stacked(a: Any, b: Any) -> Any:
    return stacked([a, b])
