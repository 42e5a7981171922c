"""Rows of many columns that are read in batches, parted by a few: as all in memory."""

import pickle
from fractions import Fraction
from operator import mul

import dask
import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import linsep
from linsep.diagnosis.exact import block_partition, sampled_partition
from linsep.diagnosis.exact.sampled_partition import _Looking
from linsep.input import problem_from
from linsep.verified import sums
from linsep.verified.vectors import SparseVector, unit_vector


@pytest.fixture
def few(monkeypatch):
    """Samples of few rows, whatever the columns, and few that join."""
    monkeypatch.setattr(block_partition, "MOST_COLUMNS", 0)
    monkeypatch.setattr(sums, "LEAST_SAMPLE", 12)
    monkeypatch.setattr(sums, "SAMPLE_A_COLUMN", 2)
    monkeypatch.setattr(sampled_partition, "LEAST_JOINING", 3)
    monkeypatch.setattr(sampled_partition, "JOINING_A_COLUMN", 1)


def random_model(seed):
    """Whole numbers, indicators, collinear columns or normal ones; a few rows apart."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(20, 400)), int(rng.integers(1, 9))
    X = rng.integers(-3, 4, (n, d)).astype(float)
    kind = seed % 4
    if kind == 1:
        X = (X > 1).astype(float)
    elif kind == 2:
        X[:, -1] = 2.0 * X[:, 0] - 1.0
    elif kind == 3:
        X = rng.standard_normal((n, d))
    y = rng.integers(0, 2, n)
    if rng.random() < 0.7:
        w = rng.integers(-2, 3, d)
        y = (X @ w + rng.choice([0.0, 0.5]) > 0).astype(int)
        y = np.where((X[:, 0] > 0) & (rng.random(n) < 0.2), 1 - y, y)
    y[:2] = [0, 1]
    return X, y


def assert_separates(along, y, is_count, separated):
    """No row is on the wrong side; those separated, and no others, are off zero."""
    assert [v != 0 for v in along] == np.isin(np.arange(len(y)), separated).tolist()
    for value, label in zip(along, y.tolist(), strict=True):
        if is_count and label:
            assert value == 0
        assert value >= 0 if label else value <= 0


@pytest.mark.parametrize("seed", range(60))
def test_what_a_few_rows_part_is_what_all_in_memory_do(seed, few):
    X, y = random_model(seed)
    is_count = seed % 3 == 0
    family = "poisson" if is_count else "binomial"
    frame = pd.DataFrame({f"x{j}": x for j, x in enumerate(X.T)} | {"y": y})
    table = pa.Table.from_pandas(frame)
    answer = linsep.diagnose(lambda: table.to_reader(37), "y", family=family)
    whole = linsep.diagnose(frame, "y", family=family)
    assert answer.proved
    assert answer.status == whole.status
    np.testing.assert_array_equal(answer.separated_rows, whole.separated_rows)
    assert answer.rank == whole.rank
    assert answer.estimates == whole.estimates
    if answer.exact_direction is not None:
        intercept, *w = map(int, answer.exact_direction)
        along = [intercept + sum(map(mul, map(Fraction, x), w)) for x in X.tolist()]
        assert_separates(along, y, is_count, answer.separated_rows)
    if answer.certificate is not None:
        answer.certificate.verify(X, y)


def with_levels(n, n_levels, rng):
    """A factor of many levels, two of which have one outcome alone."""
    level = rng.integers(0, n_levels, n)
    x = rng.standard_normal(n)
    y = (rng.random(n) < 1 / (1 + np.exp(-x))).astype(int)
    y[level == 5], y[level == 8] = 1, 0
    names = [f"l{k}" for k in range(n_levels)]
    texts = pa.DictionaryArray.from_arrays(level.astype("i4"), names)
    return level, pa.table({"x": x, "f": texts, "y": y})


def test_levels_of_one_outcome_are_named_among_many():
    rng = np.random.default_rng(0)
    level, table = with_levels(12_000, 320, rng)
    n_read = 0

    def read():
        nonlocal n_read
        n_read += 1
        return table

    answer = linsep.diagnose(read, "y")
    assert answer.status == "quasi-complete"
    separated = np.flatnonzero((level == 5) | (level == 8))
    np.testing.assert_array_equal(answer.separated_rows, separated)
    infinite = {k: str(v) for k, v in answer.estimates.items() if v != "finite"}
    assert infinite == {"f[T.l5]": "+inf", "f[T.l8]": "-inf"}
    assert n_read <= 16
    X = pd.get_dummies(table.to_pandas()[["x", "f"]]).to_numpy(float)
    assert X.shape[1] > block_partition.MOST_COLUMNS
    answer.certificate.verify(lambda: table, "y")


def test_partitions_are_looked_at_where_they_lie(few):
    _, table = with_levels(3_000, 20, np.random.default_rng(1))
    frame = table.to_pandas()
    whole = linsep.diagnose(frame, "y")
    with dask.config.set(scheduler="processes"):
        answer = linsep.diagnose(dask.dataframe.from_pandas(frame, npartitions=5), "y")
    assert answer.status == "quasi-complete"
    np.testing.assert_array_equal(answer.separated_rows, whole.separated_rows)
    assert dict(answer.estimates) == dict(whole.estimates)


def test_rows_that_no_sample_holds_join_it(few, monkeypatch):
    """One row of 3,000 overlaps, and one column is filled in another alone."""
    monkeypatch.setattr(sums, "LEAST_SAMPLE", 40)
    X = np.column_stack([np.arange(3_000.0) - 1_499.5, np.zeros(3_000)])
    y = (X[:, 0] > 0).astype(int)
    X[1_234, 1] = 1.0
    table = pa.table({"x": X[:, 0], "z": X[:, 1], "y": y})
    answer = linsep.diagnose(lambda: table, "y")
    assert (answer.status, answer.rank) == ("complete", 3)
    y[10] = 1
    table = pa.table({"x": X[:, 0], "z": X[:, 1], "y": y})
    answer = linsep.diagnose(lambda: table, "y")
    assert answer.separated_rows.tolist() == [1_234]
    assert answer.estimates["z"] == "-inf"


def test_what_a_part_does_not_settle_is_undecided_with_the_reason(few, monkeypatch):
    monkeypatch.setattr(sampled_partition, "MOST_ROUNDS", 1)
    X = np.arange(3_000.0)
    table = pa.table({"x": X, "y": (X > 1_500.3).astype(int)})
    answer = linsep.diagnose(lambda: table, "y")
    assert answer.status == "undecided"
    assert "a part of the rows in memory does not settle it" in answer.message


def test_looks_at_blocks_travel_and_come_to_the_same():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (300, 4)).astype(float)
    table = pa.table({f"x{j}": X[:, j] for j in range(4)} | {"y": np.arange(300) % 2})
    rows = problem_from(lambda: table, "y").rows
    null = [SparseVector.from_values([1, -1, 0, 0, 0])]
    looking = _Looking.of(
        SparseVector.from_values([1, 0, 2, 0, -1]), [unit_vector(3)], null, True
    )
    whole = rows.fold(looking, lambda a, b: a.merged(b))
    again = rows.fold(pickle.loads(pickle.dumps(looking)), lambda a, b: a.merged(b))
    A = rows.take(np.arange(300)).astype(int)
    along, is_count = A @ [1, 0, 2, 0, -1], rows.signs > 0
    fails = (along < 0) | (is_count & (along != 0)) | (A[:, 0] != A[:, 1])
    fails |= (along == 0) & (A[:, 3] != 0)
    for seen in (whole, again):
        np.testing.assert_array_equal(
            np.concatenate(seen.failing), np.flatnonzero(fails)
        )
        np.testing.assert_array_equal(np.concatenate(seen.overlapped), along == 0)
        expected = np.unique(A[along > 0][:, [3]], axis=0)
        np.testing.assert_array_equal(np.unique(seen.separated, axis=0), expected)
