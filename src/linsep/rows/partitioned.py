"""Rows in partitions that lie on a cluster, looked at where they lie.

A fold is one task a partition, and merges: what travels is what was found, as the few
worst rows of a scan, or a sum over rows. A partition that is lost with a worker is made
again by the cluster, since nothing else is kept there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from linsep.arrays import Index, Signs
from linsep.rows.blocks import BlockRows, Blocks, Found, rows_changed
from linsep.rows.columns import ColumnsApart
from linsep.rows.fingerprint import Fingerprint
from linsep.rows.matrices import rows_from, stacked
from linsep.rows.matrix_rows import MatrixRows
from linsep.rows.threads import one_thread

# Turns a partition into blocks of signed rows, on a worker.
Load = Callable[[Any], Iterable[MatrixRows]]
# Given the number of a partition, says what is to be done with it, on a worker.
Tasks = Callable[[int], Callable[[Any], Any]]


class Cluster(Protocol):
    """Partitions in the order of the rows, and who works on them."""

    def fold(self, tasks: Tasks, merged: Callable[[Any, Any], Any]) -> Any:
        """Run a task on every partition, and merge what is not None, in order."""

    def each(self, tasks: Tasks) -> Iterator[Any]:
        """Run a task on a partition after the other, and yield what is not None."""


class PartitionedRows(BlockRows):
    """Signed rows in partitions.

    Parameters
    ----------
    cluster : Cluster
    load : callable
        Turns a partition into blocks of signed rows; is sent to the workers.
    sizes : sequence of int
        The rows of each partition.
    signs, n_features, fit_intercept, dtype, entries_a_row, changed
        As of `BlockRows`.
    """

    def __init__(
        self,
        cluster: Cluster,
        load: Load,
        sizes: Sequence[int],
        signs: Signs,
        n_features: int,
        fit_intercept: bool,
        dtype: np.dtype[Any],
        entries_a_row: int | None = None,
        changed: Callable[[int], Exception] = rows_changed,
    ) -> None:
        super().__init__(
            signs, n_features, fit_intercept, dtype, entries_a_row, changed
        )
        self._cluster, self._load = cluster, load
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()

    def blocks(self) -> Blocks:
        """Yield the partitions one by one: all rows travel, for a certificate alone."""
        visits = Visits(self._load, self._starts, fetched, _both)
        stops: set[int] = set()
        for seen in self._cluster.each(visits):
            self._compare_all(seen)
            stops.update(seen.fingerprints)
            for start, features in seen.found:
                signs = self.signs[start : start + features.shape[0]]
                yield start, rows_from(features, signs, self.fit_intercept)
        self._require_all(stops)

    def fold(
        self,
        visit: Callable[[int, MatrixRows], Found],
        merged: Callable[[Found, Found], Found],
    ) -> Found:
        """Visit every partition by a task of its own, and merge what was found."""
        self.n_readings += 1
        visits = Visits(self._load, self._starts, visit, merged)
        seen = self._cluster.fold(visits, visits.both) or Seen(None, {})
        self._compare_all(seen)
        self._require_all(seen.fingerprints)
        self._tell(self.shape[0])
        found: Found = seen.found
        return found

    def _compare_all(self, seen: Seen) -> None:
        """Raise if partitions hold other rows than when they were visited before."""
        for stop, fingerprint in seen.fingerprints.items():
            if fingerprint is None:
                raise self._changed(stop)
            self._compare(stop, fingerprint)

    def _require_all(self, stops: Collection[int]) -> None:
        """Raise if a partition that held rows was not seen."""
        for start, stop in pairwise(self._starts):
            if start < stop and stop not in stops:
                raise self._changed(stop)

    def gather(self, index: Index) -> Any:
        """Return the rows named, at least one, which increase."""
        return self.fold(Gathering(index), _stacked)


class Seen(NamedTuple):
    """What was found in some partitions, and the fingerprint of each, by its end.

    None where there are more rows than there were, or fewer.
    """

    found: Any
    fingerprints: dict[int, int | None]


@dataclass(frozen=True)
class Visits:
    """The visits to all partitions: what `PartitionedRows.fold` makes tasks of."""

    load: Load
    starts: Sequence[int]
    visit: Callable[[int, MatrixRows], Any]
    merged: Callable[[Any, Any], Any]

    def __call__(self, number: int) -> Callable[[Any], Any]:
        """Return the visit to one of them."""
        start, stop = self.starts[number : number + 2]
        return partial(_visited, self.load, start, stop, self.visit, self.merged)

    def both(self, a: Seen, b: Seen) -> Seen:
        """Merge what was seen in partitions with what was seen in later ones."""
        return Seen(self.merged(a.found, b.found), a.fingerprints | b.fingerprints)


def _visited(
    load: Load,
    start: int,
    stop: int,
    visit: Callable[[int, MatrixRows], Any],
    merged: Callable[[Any, Any], Any],
    partition: Any,
) -> Seen | None:
    """Visit a partition's blocks, on a worker, whose other threads have their own.

    None where there is no block.
    """
    found, at = None, start
    of_all, fingerprint = Fingerprint(), 0
    with one_thread():
        for rows in load(partition):
            here = visit(at, rows)
            found = here if found is None else merged(found, here)
            fingerprint = of_all.add(rows.X, rows.signs)
            at += rows.shape[0]
    if found is None:
        return None
    return Seen(found, {stop: fingerprint if at == stop else None})


@dataclass(frozen=True)
class Gathering:
    """The rows of a block among those named, which increase."""

    index: Index

    def __call__(self, start: int, block: MatrixRows) -> Any:
        """Take them from a block."""
        low, high = np.searchsorted(self.index, [start, start + block.shape[0]])
        return block.features(self.index[low:high] - start)


def fetched(start: int, block: MatrixRows) -> list[tuple[int, Any]]:
    """Return all features of a block as a matrix that travels."""
    features = block.features(slice(None))
    whole = features[:] if isinstance(features, ColumnsApart) else features
    return [(start, whole)]


def _both(a: list[Any], b: list[Any]) -> list[Any]:
    return a + b


def _stacked(a: Any, b: Any) -> Any:
    return stacked([a, b])
