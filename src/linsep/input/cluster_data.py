"""Collections on a cluster to a problem whose rows stay where they are.

Arrays and frames of Dask, data sets of Ray and frames of Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any

import numpy as np

from linsep.input.errors import InputError
from linsep.input.features import features_from
from linsep.input.files.table import Request
from linsep.input.labels import (
    are_positive,
    labels_from,
    signs_from,
    signs_of_counts,
)
from linsep.input.problem import Problem
from linsep.input.streams.coding import Coding
from linsep.input.streams.problem import coded_problem, coding_of, selected
from linsep.input.streams.sources import Source
from linsep.input.streams.survey import Survey, label_codes, signs_of, survey
from linsep.rows import rows_from
from linsep.rows.clusters import DaskCluster, RayCluster, SparkCluster
from linsep.rows.matrix_rows import MatrixRows
from linsep.rows.partitioned import Cluster, PartitionedRows


def cluster_problem(
    X: Any, y: Any, fit_intercept: bool, missing: str, is_count: bool = False
) -> Problem:
    """Return the problem of a Dask array and its labels, or of a frame.

    Parameters
    ----------
    X : dask array of shape (n, d), or frame of Dask, Ray or Spark
    y : dask array or array-like of shape (n,), or of a frame the name of a column
    fit_intercept : bool
    missing : {"refuse"}
        Rows without a value are refused.
    is_count : bool
        Whether the labels are counts, of which matters whether they are zero.
    """
    if missing != "refuse":
        raise InputError(
            'missing must be "refuse" for data on a cluster, got '
            f"{missing!r}; drop the rows there, as by X.dropna()"
        )
    given = y, fit_intercept, is_count
    if hasattr(X, "to_arrow_refs"):
        refs = X.to_arrow_refs()
        schema = X.schema().base_schema
        return _frame_problem(schema, RayCluster(refs), len(refs), *given)
    if hasattr(X, "mapInArrow"):
        from pyspark.sql.pandas.types import to_arrow_schema

        n_parts = X.rdd.getNumPartitions()
        schema = to_arrow_schema(X.schema)
        return _frame_problem(schema, SparkCluster(X), n_parts, *given)
    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        schema = next(_batches(X._meta_nonempty, list(X.columns))).schema
        parts = X.to_delayed()
        return _frame_problem(schema, DaskCluster(parts), len(parts), *given)
    if not (hasattr(X, "chunks") and getattr(X, "ndim", 0) == 2):
        raise InputError(
            "X must be a Dask array of two dimensions or a frame of Dask, Ray or "
            f"Spark, got {type(X).__name__}; make an array or a frame of it"
        )
    return _array_problem(X, *given)


def _array_problem(X: Any, y: Any, fit_intercept: bool, is_count: bool) -> Problem:
    import dask
    import dask.array

    if any(np.isnan(size) for size in X.chunks[0]):
        X = X.compute_chunk_sizes()
    X = X.rechunk({1: -1})
    if not isinstance(y, dask.array.Array):
        if hasattr(y, "to_dask_array"):
            y = y.to_dask_array(lengths=True)
        else:
            labels = labels_from(y)
            chunks = X.chunks[0] if len(labels) == X.shape[0] else len(labels)
            y = dask.array.from_array(labels, chunks=(chunks,))
    if y.ndim != 1 or y.shape[0] != X.shape[0]:
        raise InputError(
            f"X and y must have the same number of rows, got {X.shape[0]} rows in X "
            f"and labels of shape {y.shape}; pass one label for every row of X"
        )
    y = y.rechunk((X.chunks[0],))
    labels = labels_from(y.compute())
    classes, signs = (
        signs_of_counts(are_positive(labels)) if is_count else signs_from(labels)
    )
    parts = [
        dask.delayed(_both)(*pair)
        for pair in zip(X.to_delayed()[:, 0], y.to_delayed(), strict=True)
    ]
    dtype = np.dtype(np.float32 if X.dtype in (np.float32, np.float16) else np.float64)
    rows = PartitionedRows(
        DaskCluster(parts),
        LoadArray(classes[-1], fit_intercept, is_count),
        X.chunks[0],
        signs,
        X.shape[1],
        fit_intercept,
        dtype,
        changed=_changed,
    )
    return Problem(rows, classes, None, fit_intercept)


def _changed(row: int) -> InputError:
    """Word the error for partitions that are not computed to the same rows again."""
    return InputError(
        "partitions must hold the same rows in the same order each time they are "
        f"computed, got others by row {row}; keep them, as by X.persist() or "
        "X.cache(), or order the rows"
    )


def _both(features: Any, labels: Any) -> tuple[Any, Any]:
    return features, labels


@dataclass(frozen=True)
class LoadArray:
    """Makes signed rows of a block of features and one of labels, on a worker."""

    positive: Any
    fit_intercept: bool
    is_count: bool = False

    def __call__(self, part: tuple[Any, Any]) -> Iterator[MatrixRows]:
        """Refuse what is not finite, as for data in memory."""
        features, _ = features_from(part[0])
        labels = labels_from(part[1])
        is_positive = are_positive(labels) if self.is_count else labels == self.positive
        is_positive = np.asarray(is_positive, dtype=bool)
        signs = np.where(is_positive, 1, -1).astype(np.int8)
        yield rows_from(features, signs, self.fit_intercept)


def _frame_problem(
    schema: Any,
    cluster: Cluster,
    n_parts: int,
    y: Any,
    fit_intercept: bool,
    is_count: bool,
) -> Problem:
    if not isinstance(y, str | int):
        raise InputError(
            "y must name the column of the labels where X is a frame on a cluster, got "
            f"{type(y).__name__}; pass y='name'"
        )
    source = Source("the frame", schema, _no_batches)
    request = Request(target=y, fit_intercept=fit_intercept)
    names, target, notes = selected(source, request)
    # What makes, of the number of a partition, the function that surveys it.
    surveys = partial(partial, _surveyed, tuple(names), target, is_count)
    parts = dict(cluster.fold(surveys, add))
    found = Survey.merged([parts[number] for number in sorted(parts)])
    classes, signs = signs_of(found, target, None)
    coding = coding_of(source, names, found, request)
    of_label = {
        label: int(signs[np.argmax(found.codes == code)])
        for code, label in enumerate(found.labels)
    }
    sizes = [parts[k].n_given if k in parts else 0 for k in range(n_parts)]
    rows = PartitionedRows(
        cluster,
        LoadFrame(coding, target, of_label, fit_intercept, is_count),
        sizes,
        signs,
        len(coding.feature_names),
        fit_intercept,
        coding.dtype,
        coding.entries_a_row,
        _changed,
    )
    return coded_problem(rows, classes, coding, found, notes)


def _no_batches(columns: Sequence[str], size: int) -> Any:
    raise AssertionError("a frame is read by partitions")


def _batches(partition: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield columns of a pandas frame, an Arrow table or record batches, in batches."""
    import pyarrow as pa

    if hasattr(partition, "columns") and not isinstance(partition, pa.Table):
        frame = partition[list(names)]
        partition = pa.Table.from_pandas(frame, preserve_index=False)
    if isinstance(partition, pa.Table):  # whose texts may be in pieces
        partition = partition.to_batches()
    for batch in partition:
        yield batch.select(list(names))


def _surveyed(
    names: tuple[str, ...], target: str, is_count: bool, number: int, partition: Any
) -> list[tuple[int, Survey]] | None:
    """Survey the partition of a number, on a worker; None if it is empty."""
    batches = list(_batches(partition, [*names, target]))
    if not batches:
        return None
    schema = batches[0].schema
    source = Source("the frame", schema, lambda columns, size: iter(batches))
    return [(number, survey(source, names, target, is_count=is_count))]


@dataclass(frozen=True)
class LoadFrame:
    """Makes signed rows of a partition of a frame, on a worker."""

    coding: Coding
    target: str
    of_label: dict[Any, int]
    fit_intercept: bool
    is_count: bool = False

    def __call__(self, partition: Any) -> Iterator[MatrixRows]:
        """Code it as the whole frame is coded."""
        for batch in _batches(partition, [*self.coding.names, self.target]):
            labels: dict[Any, int] = {}
            column = batch.column(self.target)
            codes = label_codes(column, labels, self.target, 0, self.is_count)
            signs = np.array([self.of_label[label] for label in labels], dtype=np.int8)
            features = self.coding.matrix(batch, 0, True)
            yield rows_from(features, signs[codes], self.fit_intercept)
