"""Dask arrays and frames: the answers of one machine, and little of it travels."""

import os
import signal
import threading
import time

import cloudpickle
import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from distributed import Client, LocalCluster

import linsep
from linsep.input import InputError, problem_from
from linsep.rows import rows_from
from linsep.rows.clusters import DaskCluster
from linsep.rows.partitioned import PartitionedRows
from linsep.verified import sums


@pytest.fixture(scope="module")
def client():
    """Two worker processes of a thread each."""
    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


N, D, A_PART = 12_000, 12, 1_500


def part(number, n=A_PART, seconds=0.0):
    """A partition, made on a worker: planted rows and labels."""
    time.sleep(seconds)
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n, D)).astype(np.float32)
    w = np.random.default_rng(99).standard_normal(D)
    y = np.where(X @ w > 0, 1, -1)
    X += (2e-3 * y / np.linalg.norm(w))[:, None].astype("f4") * w.astype("f4")
    return X, y


def collection(seconds=0.0, flips=0.0):
    """The same rows in Dask's arrays, and in memory."""
    pairs = [dask.delayed(part)(k, seconds=seconds) for k in range(N // A_PART)]
    X = [dask.array.from_delayed(p[0], (A_PART, D), np.float32) for p in pairs]
    whole = [part(k) for k in range(N // A_PART)]
    y = np.concatenate([labels for _, labels in whole])
    if flips:
        y = np.where(np.random.default_rng(1).random(N) < flips, -y, y)
    return dask.array.concatenate(X), y, np.concatenate([rows for rows, _ in whole])


@pytest.fixture
def moved(monkeypatch):
    """The bytes of what comes to the client, a computation after the other."""
    sizes = []
    get = Client.get

    def measured(self, *arguments, **options):
        found = get(self, *arguments, **options)
        sizes.append(len(cloudpickle.dumps(found)))
        return found

    monkeypatch.setattr(Client, "get", measured)
    return sizes


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_any_scheduler_gives_the_answer_of_one_machine(scheduler):
    X, y, whole = collection()
    with dask.config.set(scheduler=scheduler):
        answer = linsep.separate(X, dask.array.from_array(y, chunks=5_000))
    expected = linsep.separate(whole, y)
    np.testing.assert_array_equal(answer.coef, expected.coef)
    assert answer.intercept == expected.intercept
    assert answer.proved
    assert answer.n_passes == expected.n_passes


def test_two_processes_give_it_too_and_little_travels(client, moved):
    X, y, whole = collection()
    answer = linsep.separate(X, y)
    expected = linsep.separate(whole, y)
    np.testing.assert_array_equal(answer.coef, expected.coef)
    assert answer.intercept == expected.intercept
    labels, sample, *sweeps = moved
    assert labels < 10 * N
    assert sample < 2 * 1_200 * 4 * (D + 4)
    assert len(sweeps) == answer.n_passes
    # The worst rows: their features, numbers, margins and what they are ranked by.
    assert max(sweeps) < 130 * (4 * D + 3 * 8) + 2_000
    assert max(sweeps) < whole.nbytes / 50
    assert answer.certificate.data_sha256 == expected.certificate.data_sha256


def test_overlap_is_proved_from_moments_that_are_summed_where_the_rows_are(
    client, moved, monkeypatch
):
    monkeypatch.setattr(sums, "LEAST_SAMPLE", 3_000)
    X, y, whole = collection(flips=0.05)
    answer = linsep.diagnose(X, y)
    assert answer.status == "overlap"
    assert answer.proved
    assert answer.rank == D + 1
    _, sample, *found = moved
    assert sample < 2 * 3_000 * 4 * (D + 1)
    assert len(found) <= 4
    assert max(found) < 8 * ((D + 1) ** 2 + 4 * (D + 1)) + 3_000
    answer.certificate.verify(whole, y)
    assert linsep.separate(X, y).separable is False


def test_a_worker_that_is_killed_in_mid_pass_costs_nothing_but_time(client):
    X, y, whole = collection(seconds=0.05)
    pids = client.run(os.getpid)
    found = []
    working = threading.Thread(target=lambda: found.append(linsep.separate(X, y)))
    working.start()
    time.sleep(0.5)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    working.join(timeout=60)
    expected = linsep.separate(whole, y)
    assert set(client.run(os.getpid).values()) != set(pids.values())
    np.testing.assert_array_equal(found[0].coef, expected.coef)
    assert found[0].proved


def test_frames_are_coded_on_the_workers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.integers(-500, 500, 4_000) / 16,
            "colour": rng.choice(["red", "green", "blue"], 4_000, p=[0.2, 0.5, 0.3]),
            "day": pd.Timestamp("2024-01-01"),
        }
    )
    shift = 3 * (frame["colour"] == "red")
    frame["kind"] = np.where(frame["x"] + shift > 0.5, "yes", "no")
    collected = dask.dataframe.from_pandas(frame, npartitions=4)
    problem, expected = problem_from(collected, "kind"), problem_from(frame, "kind")
    assert problem.feature_names == expected.feature_names
    assert problem.classes.tolist() == ["no", "yes"]
    every = np.arange(4_000)
    np.testing.assert_array_equal(problem.rows.take(every), expected.rows.take(every))
    answer = linsep.separate(collected, "kind")
    assert answer.separable
    assert ((answer.decision_function(frame) > 0) == (frame["kind"] == "yes")).all()
    assert linsep.diagnose(collected, "kind").status == "complete"
    # As pandas reads it from a file: texts in several pieces.
    in_pieces = pa.concat_tables([pa.table({"colour": frame["colour"][:9]})] * 2)
    frame = in_pieces.to_pandas(types_mapper=pd.ArrowDtype)
    frame["x"], frame["visits"] = range(18), [0, 1, 2] * 6
    frame.loc[frame["colour"] == "red", "visits"] = 0
    whole = linsep.diagnose(frame, "visits", family="poisson")
    collected = dask.dataframe.from_pandas(frame, npartitions=2)
    answer = linsep.diagnose(collected, "visits", family="poisson")
    assert answer.status == whole.status == "quasi-complete"
    assert answer.estimates == whole.estimates
    X, y = frame[["x"]].to_numpy(float), frame["visits"].to_numpy()
    X, y = dask.array.from_array(X, chunks=5), dask.array.from_array(y, chunks=5)
    assert linsep.diagnose(X, y, family="poisson").status == "overlap"


def test_what_cannot_be_used_is_refused():
    X = dask.array.ones((10, 2), chunks=5)
    with pytest.raises(InputError, match="the same number of rows, got 10 rows"):
        linsep.separate(X, np.array([0, 1]))
    with pytest.raises(InputError, match="two dimensions"):
        linsep.separate(dask.array.ones(3), [0, 1, 0])
    with pytest.raises(InputError, match="X must be finite"):
        linsep.separate(X * np.nan, [0, 1] * 5)
    frame = dask.dataframe.from_pandas(pd.DataFrame({"x": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(InputError, match="y must name the column"):
        linsep.separate(frame, [0, 1])
    with pytest.raises(InputError, match="missing must be"):
        linsep.separate(frame, "x", missing="drop")


ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])


@pytest.mark.parametrize(
    "later",
    [
        ROWS[:3],
        ROWS[[0, 1, 2, 3, 3]],
        ROWS[[0, 3, 2, 1]],
        np.nextafter(ROWS, 9),
        ROWS[:0],
    ],
    ids=["fewer", "more", "in another order", "in the last bits", "none"],
)
def test_a_partition_that_changes_is_refused(later):
    computed = iter([ROWS, later])

    def load(number):
        X = next(computed)
        if len(X):
            yield rows_from(X, np.ones(len(X), dtype=np.int8), False)

    cluster = DaskCluster([dask.delayed(int)(0)])
    signs = np.ones(4, dtype=np.int8)
    rows = PartitionedRows(cluster, load, [4], signs, 2, False, np.dtype(np.float64))
    with dask.config.set(scheduler="synchronous"):
        rows.scan(np.ones(2), 1)
        with pytest.raises(ValueError, match="rows must be the same"):
            rows.scan(np.ones(2), 1)


def test_labels_that_change_places_are_refused():
    signs = np.array([1, 1, -1, 1], dtype=np.int8)
    computed = iter([signs, signs[::-1]])

    def load(number):
        yield rows_from(np.ones((4, 1)), next(computed), False)

    cluster = DaskCluster([dask.delayed(int)(0)])
    rows = PartitionedRows(cluster, load, [4], signs, 1, False, np.dtype(np.float64))
    with dask.config.set(scheduler="synchronous"):
        rows.scan(np.ones(1), 1)
        with pytest.raises(ValueError, match="rows must be the same"):
            list(rows.blocks())


def test_partitions_that_draw_at_random_are_refused():
    rng = np.random.default_rng(0)
    given = pd.DataFrame({"x": np.arange(400.0), "y": np.arange(400) % 2})
    frame = dask.dataframe.from_pandas(given, npartitions=3)
    drawn = frame.map_partitions(
        lambda part: part.assign(x=rng.standard_normal(len(part))), meta=frame._meta
    )
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(InputError, match="the same order each time they are computed"),
    ):
        linsep.separate(drawn, "y")
