"""Folders, patterns, data sets, relations and streams: read in batches, and checked."""

import datetime

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

import linsep
from linsep.input import InputError, problem_from
from linsep.input.streams import sources

N = 900


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = (rng.integers(-200, 200, N) / 64).astype(np.float32)
    colour = rng.choice(["red", "green", "blue"], N, p=[0.2, 0.5, 0.3])
    return pd.DataFrame(
        {
            "x": x,
            "count": rng.integers(0, 100, N),
            "is_new": rng.random(N) < 0.5,
            "colour": colour,
            "day": [datetime.date(2024, 1, 1)] * N,
            "kind": np.where(x + 0.5 * (colour == "red") > 0, "yes", "no"),
        }
    )


def parts(frame, n_parts=3):
    return np.array_split(np.arange(len(frame)), n_parts)


def folder_of(frame, place, kind):
    place.mkdir()
    for k, rows in enumerate(parts(frame)):
        table = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        path = place / f"part-{k}.{kind}"
        if kind == "parquet":
            pa.parquet.write_table(table, path, row_group_size=70)
        elif kind == "feather":
            pa.feather.write_feather(table, path)
        else:
            frame.iloc[rows].to_csv(path, index=False)
    (place / "_SUCCESS").write_text("")
    return place


def stream(frame):
    tables = [pa.Table.from_pandas(frame.iloc[rows]) for rows in parts(frame)]
    return lambda: pa.concat_tables(tables).select(list(frame.columns))


def sources_of(frame, tmp_path):
    """The same data in every way that is read in batches."""
    folder = folder_of(frame, tmp_path / "data", "parquet")
    yield str(folder)
    yield f"{folder}/*.parquet"
    yield folder_of(frame, tmp_path / "arrow", "feather")
    yield folder_of(frame, tmp_path / "text", "csv")
    yield pa.dataset.dataset(folder)
    yield duckdb.sql(f"SELECT * FROM '{folder}/*.parquet'")
    yield stream(frame)
    yield lambda: iter(stream(frame)().to_batches())


def test_every_source_is_what_the_frame_is(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST_ROWS", 64)
    expected = problem_from(frame, "kind")
    every = np.arange(N)
    for source in sources_of(frame, tmp_path):
        problem = problem_from(source, "kind")
        names = ("x", "count", "is_new", "colour[T.blue]", "colour[T.red]")
        assert problem.feature_names == names
        assert set(names) == set(expected.feature_names)
        assert problem.classes.tolist() == ["no", "yes"]
        np.testing.assert_array_equal(problem.rows.signs, expected.rows.signs)
        np.testing.assert_array_equal(
            problem.rows.take(every), expected.rows.take(every)
        )
        assert "day" in " ".join(problem.notes)
        answer = linsep.separate(source, "kind")
        assert answer.separable
        assert answer.proved
        assert (answer.decision_function(frame) > 0).tolist() == (
            frame["kind"] == "yes"
        ).tolist()


def test_a_dictionary_of_many_levels_is_never_written_out():
    rng = np.random.default_rng(1)
    city = rng.integers(0, 300, 6_000)
    table = pa.table(
        {
            "city": pa.array([f"c{k:03d}" for k in city]).dictionary_encode(),
            "x": rng.standard_normal(6_000).astype(np.float32),
            "y": (city % 2).astype(np.int8),
        }
    )
    problem = problem_from(lambda: table, "y")
    block = problem.rows.features(slice(0, 10))
    assert block.shape == (10, 300)
    assert block.nnz <= 20
    answer = linsep.separate(lambda: table, "y")
    assert answer.separable
    assert answer.proved
    levels = [name for name in answer.feature_names if name.startswith("city")]
    assert len(levels) == 299


def test_rows_without_a_value_are_refused_or_left_out():
    table = pa.table(
        {
            "x": [1.0, None, 3.0, float("nan"), 5.0, 6.0],
            "colour": ["a", "b", None, "a", "b", "a"],
            "y": [0, 0, 0, 1, 1, None],
        }
    )
    with pytest.raises(InputError, match=r"'y' must hold a label .* none in row 5"):
        problem_from(lambda: table, "y")
    known = table.slice(0, 5)
    with pytest.raises(InputError, match=r"'x' must hold a value .* none in row 1"):
        linsep.separate(lambda: known.select(["x", "y"]), "y")
    with pytest.raises(InputError, match=r"'colour' must hold a value .* in row 2"):
        linsep.separate(lambda: known.slice(0, 3).select(["colour", "y"]), "y")
    problem = problem_from(lambda: table, "y", missing="drop")
    assert problem.present.tolist() == [0, 4]
    assert problem.rows.features(slice(0, 2)).tolist() == [[1.0, 0.0], [5.0, 1.0]]
    (note,) = [note for note in problem.notes if "left out" in note]
    assert note.startswith("4 of 6 rows were left out")
    assert linsep.separate(lambda: table, "y", missing="drop").proved


def test_numbers_that_are_not_finite_are_refused_with_their_row():
    table = pa.table({"x": [1.0, 2.0, float("inf")], "y": [0, 1, 1]})
    with pytest.raises(InputError, match="'x' must be finite, got inf in row 2"):
        linsep.separate(lambda: table, "y")
    table = pa.table({"x": [1, 2**60 + 1, 3], "y": [0, 1, 1]})
    with pytest.raises(InputError, match="would be rounded"):
        linsep.separate(lambda: table, "y")


def test_a_source_that_yields_other_rows_is_refused():
    rng = np.random.default_rng(0)
    orders = iter(range(100))

    def shuffled():
        order = np.roll(np.arange(400), next(orders))
        return pa.table({"x": np.arange(400.0)[order], "y": (order > 170).astype(int)})

    with pytest.raises(InputError, match="the same rows in the same order"):
        linsep.separate(shuffled, "y")
    sizes = iter([400, 400, 300, 300])

    def shrinking():
        n = next(sizes)
        return pa.table({"x": rng.standard_normal(n), "y": np.zeros(n) + [1] * n})

    with pytest.raises(InputError, match="the same rows in the same order"):
        linsep.separate(shrinking, "y", fit_intercept=False)


def swapped(table, at):
    """Two rows of the same label in each other's place."""
    order = np.arange(len(table))
    order[[at, at + 2]] = order[[at + 2, at]]
    return table.take(order)


CHANGES = {
    "other numbers": lambda t, at: t.set_column(
        0, "x", pa.array(np.where(np.arange(len(t)) == at, 7e-300, t["x"].to_numpy()))
    ),
    "another text": lambda t, at: t.set_column(
        1, "z", pa.array(["b" if i == at else "a" for i in range(len(t))])
    ),
    "two rows swapped": swapped,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("at", [0, 60, 61, 1000, 7995])
@pytest.mark.parametrize("changes_at", [3, 4])
def test_a_source_whose_features_change_between_readings_is_refused(
    change, at, changes_at
):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(8000)
    texts = ["b" if i == 5 else "a" for i in range(8000)]
    table = pa.table({"x": X, "z": texts, "y": np.arange(8000) % 2})
    n_read = 0

    def changing():
        nonlocal n_read
        n_read += 1
        given = CHANGES[change](table, at) if n_read > changes_at else table
        # Batches need not end where they did before.
        return pa.Table.from_batches(given.to_batches(max_chunksize=900 + n_read % 2))

    rows = problem_from(changing, "y").rows
    for _ in range(changes_at - n_read):
        rows.margins(np.ones(3))
    with pytest.raises(InputError, match="the same rows in the same order"):
        rows.margins(np.ones(3))


def test_a_query_that_draws_at_random_is_refused():
    relation = duckdb.sql("SELECT random() AS x, i % 2 AS y FROM range(300000) t(i)")
    with pytest.raises(InputError, match="the same rows in the same order"):
        _ = linsep.separate(relation, "y").certificate  # reads it once more


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        ({"x": [1.0], "y": [[1, 2]]}, "x", "'y' must hold numbers.*got the type list"),
        ({"x": [1.0, 2.0, 3.0], "y": [0, 1, 2]}, "y", "exactly two classes, got 3"),
        ({"x": [1.0], "y": [0]}, "z", "none of its 2 columns"),
        ({"x": [1.0], "y": [0]}, None, "y must name the column of the labels"),
        ({"x": [1.0], "y": [0]}, [0], "y must name the column of the labels"),
        ({"x": pa.array([], pa.float64()), "y": []}, "y", "at least one row"),
    ],
)
def test_what_cannot_be_read_is_refused(table, target, message):
    with pytest.raises(InputError, match=message):
        linsep.separate(lambda: pa.table(table), target)


def test_files_that_are_not_data_are_refused(tmp_path):
    with pytest.raises(InputError, match="match at least one file, got none"):
        linsep.separate(f"{tmp_path}/*.parquet", "y")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="must be readable"):
        linsep.separate(tmp_path, "y")
    (tmp_path / "b.csv").write_text("x,y\n1,0\n")
    with pytest.raises(InputError, match="files of one kind"):
        linsep.separate(tmp_path, "y")
    with pytest.raises(InputError, match="sample_weight goes with data held in memory"):
        linsep.separate(lambda: pa.table({"x": [1.0]}), "x", sample_weight=[1.0])
    with pytest.raises(InputError, match="must return something with __arrow_c_stream"):
        linsep.separate(lambda: [1, 2], "x")
    with pytest.raises(InputError, match="max_memory must be an integer"):
        linsep.separate(lambda: pa.table({"x": [1.0]}), "x", max_memory=0)


def test_files_of_other_types_and_folders_of_a_column_are_read_too(tmp_path):
    for year in (2023, 2024):
        place = tmp_path / f"year={year}"
        place.mkdir()
        kind = pa.float32() if year == 2023 else pa.float64()
        x = pa.array([1.0, 2.0, 3.0], kind)
        pa.parquet.write_table(pa.table({"x": x, "y": [0, 0, 1]}), place / "a.parquet")
    problem = problem_from(tmp_path, "y")
    assert problem.feature_names == ("x", "year")
    assert problem.rows.features(slice(2, 4)).tolist() == [[3.0, 2023.0], [1.0, 2024.0]]


def test_a_file_is_read_in_batches_where_it_is_larger_than_memory_may_be(
    frame, tmp_path
):
    path = folder_of(frame, tmp_path / "data", "parquet") / "part-0.parquet"
    assert sources.stream_of(path) is None
    source = sources.stream_of(path, max_memory=1_000)
    assert source is not None
    small = linsep.separate(path, "kind", max_memory=1_000)
    whole = linsep.separate(path, "kind")
    assert small.separable
    assert whole.separable
    assert small.feature_names == whole.feature_names


def test_memory_says_how_large_batches_are(frame):
    source = sources.stream_of(stream(frame))
    sizes = [len(batch) for batch in source.batches(["x", "count"], 1)]
    assert max(sizes) <= 1024
    assert sum(sizes) == N
    most = sources.MOST_BYTES
    assert 0 < sources.default_memory() <= most


def test_rows_of_large_texts_keep_their_order(tmp_path):
    """Two threads read a file of megabytes, and a join of these loses the order."""
    n = 120_000
    words = np.random.default_rng(0).choice(["a long word", "another one", "NA"], n)
    frame = pd.DataFrame(
        {"number": np.arange(n) / 7, "word": words, "y": words == "NA"}
    )
    for k, rows in enumerate(parts(frame, 2)):
        frame.iloc[rows].to_csv(tmp_path / f"{k}.csv", index=False)
    source = sources.stream_of(str(tmp_path))
    for columns in (["number", "word"], ["word", "y", "number"]):
        found = [batch.column("number") for batch in source.batches(columns, None)]
        np.testing.assert_array_equal(np.concatenate(found), frame.number)
