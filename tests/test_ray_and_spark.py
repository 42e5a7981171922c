"""Ray and Spark: the answers of one machine, where `make backends` installs them."""

import os
import sys

import numpy as np
import pandas as pd
import pytest

import linsep
from linsep.input import InputError, problem_from

# What Ray and Spark warn of in themselves.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

N, N_FILES = 6_000, 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Parquet files of numbers, a text, a date and labels."""
    place = tmp_path_factory.mktemp("parts")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.integers(-500, 500, N) / 16,
            "z": rng.standard_normal(N),
            "colour": rng.choice(["red", "green", "blue"], N, p=[0.2, 0.5, 0.3]),
            "day": pd.Timestamp("2024-01-01"),
        }
    )
    shift = 3 * (frame["colour"] == "red") - frame["z"]
    frame["kind"] = np.where(frame["x"] + shift > 0.5, "yes", "no")
    frame["flipped"] = np.where(rng.random(N) < 0.05, "no", frame["kind"])
    for k in range(N_FILES):
        frame.iloc[k::N_FILES].to_parquet(place / f"{k}.parquet", index=False)
    return place


@pytest.fixture(scope="module")
def ray_data(folder):
    """A data set of Ray's, and a cluster of one machine."""
    ray = pytest.importorskip("ray", reason="Ray is installed by `make backends`")
    from ray.data import read_parquet

    ray.init(num_cpus=2, include_dashboard=False, configure_logging=False)
    yield read_parquet(str(folder))
    ray.shutdown()


@pytest.fixture(scope="module")
def spark_frame(folder):
    """A frame of Spark's, of which a partition has several batches and one has none."""
    sql = pytest.importorskip(
        "pyspark.sql", reason="Spark is installed by `make backends`"
    )
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "700")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    frame = session.read.parquet(str(folder))
    yield frame.union(frame.where("x > 1e9").coalesce(1))
    session.stop()


@pytest.fixture(params=["ray", "spark"])
def collected(request):
    """Each collection, and the same rows in the same order as a pandas frame."""
    if request.param == "ray":
        data = request.getfixturevalue("ray_data").materialize()
        return data, data.to_pandas()
    data = request.getfixturevalue("spark_frame")
    return data, data.toPandas()


def without(data, name):
    """Leave a column out."""
    if hasattr(data, "drop_columns"):
        return data.drop_columns([name])
    return data.drop(name)


def test_the_answer_is_that_of_one_machine(collected):
    data, frame = collected
    answer = linsep.separate(without(data, "flipped"), "kind")
    expected = linsep.separate(frame.drop(columns="flipped"), "kind")
    assert answer.separable
    assert answer.proved
    assert answer.feature_names == expected.feature_names
    np.testing.assert_array_equal(answer.coef, expected.coef)
    assert answer.intercept == expected.intercept
    assert answer.certificate.data_sha256 == expected.certificate.data_sha256
    assert any("day" in note for note in answer.notes)


def test_overlap_is_proved_from_moments(collected):
    data, frame = collected
    answer = linsep.diagnose(without(data, "kind"), "flipped")
    assert answer.status == "overlap"
    assert answer.proved
    assert answer.rank == 5
    assert linsep.separate(without(data, "kind"), "flipped").separable is False
    table = problem_from(frame.drop(columns="kind"), "flipped")
    rows = table.rows.features(slice(None))
    answer.certificate.verify(rows, frame["flipped"])


def test_what_cannot_be_used_is_refused(collected):
    data, _ = collected
    with pytest.raises(InputError, match="y must name the column"):
        linsep.separate(data, [0, 1])
    with pytest.raises(InputError, match="missing must be"):
        linsep.separate(data, "kind", missing="drop")
    with pytest.raises(InputError, match="species"):
        linsep.separate(data, "species")
