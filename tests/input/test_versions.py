"""Files that are written to between two readings are told by when they were written."""

import os
import time

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import linsep
from linsep.input import InputError, problem_from
from linsep.input.files.versions import FileVersions
from linsep.input.streams import sources

SECOND = 1_000_000_000
ODD = 123_456_789  # nanoseconds that only a fine clock tells


def written(path, x, ago):
    """Write rows that count up, as if so many nanoseconds ago."""
    table = pa.table({"x": x, "y": np.arange(len(x)) % 2})
    pa.parquet.write_table(table, path)
    made(path, time.time_ns() - ago)


def made(path, when):
    os.utime(path, ns=(when, when))


def folder(tmp_path, ago):
    place = tmp_path / "rows"
    place.mkdir()
    for k in range(3):
        written(place / f"part-{k}.parquet", np.arange(300.0) + 300 * k, ago)
    return place


@pytest.mark.parametrize(
    ("ago", "is_told"),
    [
        (10 * SECOND, True),
        (-10 * SECOND, False),  # a clock that is ahead
        (0, False),
    ],
)
def test_a_clock_tells_unless_it_may_stand_still(tmp_path, ago, is_told):
    place = folder(tmp_path, ago)
    paths = [str(path) for path in sorted(place.iterdir())]
    assert (FileVersions.of(paths) is not None) == is_told
    assert sources.stream_of(str(place)).is_kept == is_told


@pytest.mark.parametrize(("since", "is_told"), [(0, False), (ODD - SECOND, True)])
def test_times_that_are_whole_may_be_of_a_coarse_clock(tmp_path, since, is_told):
    place = folder(tmp_path, 0)
    whole = time.time_ns() // SECOND * SECOND
    for path in place.iterdir():
        made(path, whole + since)  # less than two seconds ago
    versions = FileVersions.of([str(path) for path in place.iterdir()])
    assert (versions is not None) == is_told


def test_files_that_are_not_there_are_not_kept(tmp_path):
    path = tmp_path / "rows.parquet"
    assert FileVersions.of([str(path)]) is None
    written(path, np.arange(3.0), 10 * SECOND)
    versions = FileVersions.of([str(path)])
    assert versions.are_kept(str(path))
    path.unlink()
    assert not versions.are_kept(str(path))


@pytest.mark.parametrize("ago", [10 * SECOND, -10 * SECOND])
@pytest.mark.parametrize("part", [0, 2])
def test_a_folder_that_is_written_to_between_readings_is_refused(tmp_path, ago, part):
    place = folder(tmp_path, ago)
    rows = problem_from(place, "y").rows
    rows.margins(np.ones(2))
    path = place / f"part-{part}.parquet"
    changed = np.arange(300.0) + 300 * part
    changed[7] += 0.5  # the labels and the size of the file stay as they were
    written(path, changed, ago)
    made(path, time.time_ns() - ago)
    with pytest.raises(InputError, match="the same rows in the same order each time"):
        rows.margins(np.ones(2))


def test_what_is_written_in_the_middle_of_a_reading_is_refused(tmp_path, monkeypatch):
    place = folder(tmp_path, 10 * SECOND)
    read = sources.Source.batches
    n_read = 0

    def meddling(self, columns, max_memory):
        nonlocal n_read
        for batch in read(self, columns, max_memory):
            n_read += "x" in columns
            if n_read == 4:  # the first of three of the second reading
                written(place / "part-1.parquet", np.zeros(300), 10 * SECOND)
            yield batch

    monkeypatch.setattr(sources.Source, "batches", meddling)
    rows = problem_from(place, "y").rows
    rows.margins(np.ones(2))
    with pytest.raises(InputError, match=r"but .*part-1.parquet was written to"):
        rows.margins(np.ones(2))


def test_files_of_other_machines_are_compared_by_what_they_hold(tmp_path):
    place = folder(tmp_path, 10 * SECOND)
    table = pa.parquet.read_table(place / "part-0.parquet")
    remote = pa.fs._MockFileSystem()
    pa.parquet.write_table(table, "rows.parquet", filesystem=remote)
    dataset = pa.dataset.dataset("rows.parquet", filesystem=remote)
    assert not sources.stream_of(dataset).is_kept
    assert sources.stream_of(pa.dataset.dataset(place)).is_kept
    assert linsep.separate(dataset, "y").proved
