"""The clusters that partitions may lie on: tasks of Dask, of Ray and of Spark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

from linsep.rows.partitioned import Tasks

# Findings that one task merges.
FAN_IN = 8


class Futures(ABC):
    """Partitions that are results of tasks, and tasks on these, merged by a tree."""

    def __init__(self, partitions: Sequence[Any]) -> None:
        self._partitions = list(partitions)

    @abstractmethod
    def submit(self, function: Callable[..., Any], *parts: Any) -> Any:
        """Return the future of a function of other futures."""

    @abstractmethod
    def result(self, future: Any) -> Any:
        """Wait for a future."""

    def fold(self, tasks: Tasks, merged: Callable[[Any, Any], Any]) -> Any:
        """Run a task on every partition, and merge what was found."""
        merge = partial(_merged_all, merged)
        parts = enumerate(self._partitions)
        found = [self.submit(tasks(number), part) for number, part in parts]
        while len(found) > 1:
            groups = range(0, len(found), FAN_IN)
            found = [self.submit(merge, *found[k : k + FAN_IN]) for k in groups]
        return self.result(found[0])

    def each(self, tasks: Tasks) -> Iterator[Any]:
        """Run a task on a partition after the other."""
        for number, part in enumerate(self._partitions):
            yield self.result(self.submit(tasks(number), part))


class DaskCluster(Futures):
    """Delayed objects, on any of Dask's schedulers."""

    def submit(self, function: Callable[..., Any], *parts: Any) -> Any:
        """Delay a call."""
        from dask import delayed

        return delayed(_called, pure=False)(function, *parts)

    def result(self, future: Any) -> Any:
        """Compute a delayed object."""
        return future.compute()


class RayCluster(Futures):
    """References to objects in Ray's store."""

    def __init__(self, partitions: Sequence[Any]) -> None:
        import ray

        super().__init__(partitions)
        self._call, self._get = ray.remote(_called), ray.get

    def submit(self, function: Callable[..., Any], *parts: Any) -> Any:
        """Start a task."""
        return self._call.remote(function, *parts)

    def result(self, future: Any) -> Any:
        """Wait for a task."""
        return self._get(future)


class SparkCluster:
    """The partitions of a Spark frame, as record batches."""

    def __init__(self, frame: Any) -> None:
        from pyspark.serializers import CPickleSerializer

        self._frame, self._serializer = frame, CPickleSerializer()

    def fold(self, tasks: Tasks, merged: Callable[[Any, Any], Any]) -> Any:
        """Run a job of one task a partition, and merge what was found here."""
        rows = sorted(self._job(tasks).collect())
        found = (self._serializer.loads(row.found) for row in rows)
        return _merged_all(merged, *found)

    def each(self, tasks: Tasks) -> Iterator[Any]:
        """Run a job of which one partition after the other comes here."""
        for row in self._job(tasks).toLocalIterator():
            yield self._serializer.loads(row.found)

    def _job(self, tasks: Tasks) -> Any:
        task = partial(_in_partition, tasks, self._serializer)
        return self._frame.mapInArrow(task, "number long, found binary")


def _in_partition(
    tasks: Tasks, serializer: Any, batches: Iterator[Any]
) -> Iterator[Any]:
    """Run the task of a Spark partition on its record batches."""
    import pyarrow as pa
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    number = context.partitionId()
    found = tasks(number)(batches)
    if found is not None:
        yield pa.RecordBatch.from_pydict(
            {"number": [number], "found": [serializer.dumps(found)]}
        )


def _called(function: Callable[..., Any], *parts: Any) -> Any:
    return function(*parts)


def _merged_all(merged: Callable[[Any, Any], Any], *found: Any) -> Any:
    """Merge findings in the order of the rows; None if there are none."""
    there = [part for part in found if part is not None]
    return reduce(merged, there) if there else None
