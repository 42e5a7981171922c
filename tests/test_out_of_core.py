"""Data larger than memory: the same answers, in few readings and bounded memory."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from fractions import Fraction
from itertools import pairwise, product
from operator import mul

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import linsep
from helpers import PEAK, ROOT
from linsep import datasets
from linsep.cli import main
from linsep.cli.progress import Progress as ProgressLine
from linsep.input import InputError, problem_from
from linsep.input.files.svmlight import SvmlightText
from linsep.proof.checker import content_digest
from linsep.rows import as_dense
from linsep.rows.blocks import BlockRows


def write(folder, X, y, n_files=4, **options):
    """Write a matrix as a folder of Parquet files, its labels in column y."""
    folder.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(len(X)), n_files)):
        columns = {f"x{j}": X[rows, j] for j in range(X.shape[1])}
        table = pa.table(columns | {"y": y[rows].astype(np.int8)})
        path = folder / f"part-{k}.parquet"
        pa.parquet.write_table(table, path, **options)
    return folder


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    data = datasets.planted_margin(60_000, 20, margin=1e-3)
    X = data.X.astype(np.float32)
    folder = write(tmp_path_factory.mktemp("planted") / "data", X, data.y)
    return folder, X, data.y


@pytest.fixture(scope="module")
def flipped(tmp_path_factory):
    data = datasets.planted_margin(60_000, 20, margin=1e-3)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(data.y)) < 0.01, -data.y, data.y)
    X = data.X.astype(np.float32)
    return write(tmp_path_factory.mktemp("flipped") / "data", X, y), X, y


def test_a_folder_is_separated_in_few_readings(planted):
    folder, X, y = planted
    rows = problem_from(folder, "y").rows
    answer = linsep.separate(folder, "y")
    whole = linsep.separate(X, y)
    assert answer.separable
    assert answer.proved
    assert ((X.astype(float) @ answer.coef + answer.intercept > 0) == (y > 0)).all()
    # The sample takes one reading; each sweep brings the rows that it names.
    assert answer.n_passes <= whole.n_passes + 1 <= 7
    assert rows.n_readings == 0
    rows.take(np.array([5, 3]))
    assert rows.n_readings == 1
    assert answer.certificate.data_sha256 == whole.certificate.data_sha256


def test_a_conflict_of_a_folder_is_one_of_its_rows(flipped):
    folder, X, y = flipped
    answer = linsep.separate(folder, "y")
    assert answer.separable is False
    assert answer.proved
    rows = answer.conflict
    np.testing.assert_array_equal(answer.conflict_rows, X[rows])
    signed = X[rows].astype(float) * y[rows, None]
    weights = np.array([float(p) for p in answer.conflict_weights])
    assert np.abs(weights @ signed).max() < 1e-12
    assert abs(weights @ y[rows]) < 1e-12
    answer.certificate.verify(X, y)


def test_the_largest_margin_is_that_of_the_whole(planted):
    folder, X, y = planted
    answer = linsep.max_margin(folder, "y", tol=1e-4)
    whole = linsep.max_margin(X, y, tol=1e-4)
    assert answer.separable
    assert answer.margin_lower <= whole.margin_upper
    assert whole.margin_lower <= answer.margin_upper


def test_limits_end_a_reading(planted, monkeypatch):
    monkeypatch.setattr("linsep.search.limits.TELL_EVERY", 0.0)
    folder, _, _ = planted
    seen = []

    def stop_while_reading(state):
        seen.append(state)
        return state.rows_read > 0

    answer = linsep.separate(folder, "y", callback=stop_while_reading)
    assert answer.separable is None
    assert "callback" in answer.message
    for more in ({}, {"checkpoint": folder.with_name("search.json")}):
        answer = linsep.separate(folder, "y", time_limit=1e-9, **more)
        assert answer.separable is None
        assert "time limit" in answer.message
    assert {state.n_rows for state in seen} == {60_000}
    assert 0 < max(state.rows_read for state in seen) <= 60_000


def test_the_progress_line_says_pass_rows_rate_and_time_left():
    said = []
    line = ProgressLine(said.append)

    def state(rows_read, seconds):
        return linsep.result.Progress(
            2, 7, 100, None, 0.0, 1.0, seconds, rows_read, 1_000_000
        )

    for at, seconds in ((100_000, 1.0), (500_000, 2.0), (200_000, 3.0)):
        line(state(at, seconds))
    assert said[0].startswith("pass 3: row 100,000 of 1,000,000, 100,000 rows a second")
    assert "250,000 rows a second, 2 s left" in said[1]
    assert "row 200,000 of 1,000,000" in said[2]


# --- going on after an end ---

KILLED = """
import sys, time, linsep
from linsep.rows.streamed import StreamedRows
blocks = StreamedRows.blocks
def slow(self):
    for block in blocks(self):
        time.sleep(0.05)
        yield block
StreamedRows.blocks = slow
print(linsep.separate(sys.argv[1], "y", checkpoint=sys.argv[2]).n_passes)
"""


@pytest.mark.parametrize("moment", [0.3, 1.1])
def test_a_search_that_was_killed_goes_on(planted, tmp_path, moment):
    folder, _, _ = planted
    path = tmp_path / "search.json"
    expected = linsep.separate(folder, "y")
    arguments = [sys.executable, "-c", KILLED, str(folder), str(path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    running = subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE)
    while running.poll() is None and not path.exists():
        time.sleep(0.01)
    time.sleep(moment / 4)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    state = json.loads(path.read_text())
    assert 1 <= state["n_passes"] <= expected.n_passes
    answer = linsep.separate(folder, "y", checkpoint=path)
    np.testing.assert_array_equal(answer.coef, expected.coef)
    assert answer.intercept == expected.intercept
    assert answer.n_passes == expected.n_passes
    assert len(answer.trace) <= expected.n_passes - state["n_passes"] + 1
    # What it was writing when it was killed stays under a name of its own, if anything.
    assert not [p for p in tmp_path.glob(".*") if f".{running.pid}." not in p.name]


def forged(document, **entries):
    """A checkpoint changed by someone who can compute its digest."""
    rest = {k: v for k, v in (document | entries).items() if k != "content_sha256"}
    return json.dumps(rest | {"content_sha256": content_digest(rest)})


def forged_states(document):
    for name in ("index", "support"):
        for rows in ([10**9], [-1], [0, 0], ["0"], [True], [1.0], None, "01", {"0": 1}):
            yield forged(document, **{name: rows})
    for name in ("is_stuck", "is_factored"):
        for value in (None, 0, "true"):
            yield forged(document, **{name: value})
    for name in ("n_passes", "n_rounds"):
        for value in (None, -1, "1", 1.5, True, 1 << 62):
            yield forged(document, **{name: value})


def test_a_forged_checkpoint_makes_no_bound(planted, tmp_path):
    folder, X, y = planted
    path = tmp_path / "search.json"
    linsep.separate(folder, "y", checkpoint=path)
    lies = {"margin_lower": (1e9).hex(), "margin_upper": (1e-9).hex()}
    path.write_text(forged(json.loads(path.read_text()), **lies, index=[1, 0]))
    answer = linsep.separate(folder, "y", checkpoint=path)
    assert answer.separable
    slacks = np.where(y == answer.classes[-1], 1, -1) * answer.decision_function(X)
    achieved = slacks.min() / np.linalg.norm(answer.coef)
    assert 0 < answer.margin_lower <= achieved * (1 + 1e-6)
    assert achieved * (1 - 1e-6) <= answer.margin_upper


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices are of POSIX")
def test_checkpoints_and_certificates_are_files_of_bounded_size(tmp_path):
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    for place in (pipe, "/dev/zero"):
        with pytest.raises(InputError, match="cannot be read"):
            linsep.separate([[0.0], [1.0]], [0, 1], checkpoint=place)
        with pytest.raises(linsep.CertificateError, match="a device or pipe"):
            linsep.Certificate.load(place)


def test_a_checkpoint_of_something_else_is_refused(planted, flipped, tmp_path):
    folder, X, y = planted
    path = tmp_path / "search.json"
    linsep.separate(folder, "y", checkpoint=path)
    text = path.read_text()
    document = json.loads(text)
    linsep.separate(X, y, checkpoint=path)  # the same data, held whole
    refused = [
        (flipped[0], {}, text, "other data"),
        (folder, {"random_state": 3}, text, "another random_state"),
        (folder, {"fit_intercept": False}, text, "another intercept|other data"),
        (folder, {}, text.replace("0.1.0", "0.0.9"), "version 0.0.9"),
        (folder, {}, text.replace('"n_passes": ', '"n_passes": 1'), "changed"),
        (folder, {}, text[:-40], "another file"),
        (folder, {}, "[]", "another file"),
        (folder, {}, "{}", "another file"),
        (folder, {}, "[" * 100_000, "another file"),
        *((folder, {}, text, "changed") for text in forged_states(document)),
    ]
    for source, options, content, message in refused:
        path.write_text(content)
        with pytest.raises(InputError, match=message):
            linsep.separate(source, "y", checkpoint=path, **options)
        assert path.read_text() == content


MEASURED = (
    PEAK
    + """
import sys
import pyarrow.parquet, linsep
linsep.separate([[0.0], [1.0]], [0, 1]).certificate
before = peak()
answer = linsep.separate(sys.argv[1], "y", max_memory=40_000_000)
print(answer.status.value, answer.n_passes, (peak() - before) // 2**20)
"""
)


def test_memory_stays_far_below_the_data(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400_000, 100), dtype=np.float32)  # 160 MB
    w = rng.standard_normal(100)
    y = np.where(X @ w > 0, 1, -1)
    X += (0.2 * y / np.linalg.norm(w))[:, None].astype(np.float32) * w.astype("f4")
    plain = {"use_dictionary": False, "compression": "none"}
    folder = write(tmp_path / "data", X, y, n_files=2, **plain)
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(folder)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "LINSEP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    status, _, megabytes = done.stdout.split()
    assert status == "separable"
    # Pages of Parquet, a megabyte a column, are the most of it.
    assert int(megabytes) < 300


# --- the command ---


def run(*arguments, code=0):
    done = CliRunner().invoke(main, [str(part) for part in arguments])
    assert done.exit_code == code, done.output
    return done.output


def test_the_command_takes_folders_patterns_and_queries(planted, tmp_path):
    import duckdb

    folder, X, _ = planted
    database, proof = tmp_path / "rows.duckdb", tmp_path / "proof.json"
    with duckdb.connect(str(database)) as connection:
        connection.sql(
            f"CREATE TABLE t AS SELECT *, y > 0 AS up, 'x' AS same FROM "
            f"'{folder}/*.parquet' LIMIT 3000"
        )
    for arguments in (
        [folder],
        [f"{folder}/part-[01].parquet", "--max-memory", "50M"],
        [database, "--sql", "SELECT * EXCLUDE (up, same) FROM t"],
    ):
        text = run("separate", *arguments, "--target", "y", "--certificate", proof)
        assert text.startswith("Separable")
        assert "Classes: -1 (negative side), 1 (positive side)." in text
    assert run("verify", proof, database).startswith("The certificate holds")
    record = json.loads(
        run(
            "separate", database, "--sql", "FROM t", "--target", "up",
            "--positive", "False", "--drop", "same", "--drop", "y", "--json",
        )
    )  # fmt: skip
    assert record["separable"]
    assert record["n_features"] == X.shape[1]
    assert record["classes"] == ["True", "False"]
    text = run("max-margin", database, "--sql", "FROM t", "--target", "y", "--drop=up")
    assert "Support rows" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sql", "SELEC 1"], "must be a query that DuckDB answers"),
        (["--sql", "FROM t", "--sep", ";"], "--sep goes with a file of text"),
        (["--sql", "FROM t", "--max-memory", "much"], "must be a number of bytes"),
        (["--sql", "FROM t", "--positive", "7"], "must be a label of column 'y'"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path, arguments, message):
    import duckdb

    database = tmp_path / "rows.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.sql("CREATE TABLE t AS SELECT 1.5 AS x, 1 AS y")
    text = run("separate", database, "--target", "y", *arguments, code=2)
    assert message in " ".join(text.split())


# --- diagnosis ---


def test_overlap_is_diagnosed_from_moments(flipped):
    folder, X, y = flipped
    answer = linsep.diagnose(folder, "y")
    whole = linsep.diagnose(X, y)
    assert answer.status == whole.status == "overlap"
    assert answer.proved
    assert answer.rank == whole.rank
    assert answer.overlapped_rows.size == len(y)
    estimates = {name.removeprefix("x"): e for name, e in answer.estimates.items()}
    assert list(estimates.values()) == list(whole.estimates.values())
    assert answer.certificate.kind == "ordered"
    assert answer.certificate.data_sha256 == whole.certificate.data_sha256
    assert "any of the 60,000 rows" in answer.message


@pytest.mark.parametrize("case", ["complete", "quasi-complete", "collinear"])
def test_what_is_not_overlap_is_parted_as_in_memory(case):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3_000, 3))
    X[:, 0] = rng.random(3_000) < 0.3
    y = np.where(X[:, 1] + rng.standard_normal(3_000) > 0, 1, 0)
    if case == "complete":
        y = (X[:, 1] > 0.2).astype(int)
    else:
        y[X[:, 0] == 1] = 1
    if case == "collinear":
        X = np.column_stack([X, X[:, 0] - X[:, 2]])
    names = [f"x{j}" for j in range(X.shape[1])]
    table = pa.table(dict(zip(names, X.T, strict=True)) | {"y": y})
    answer, whole = linsep.diagnose(lambda: table, "y"), linsep.diagnose(X, y)
    assert answer.status == whole.status
    assert answer.status == ("complete" if case == "complete" else "quasi-complete")
    np.testing.assert_array_equal(answer.separated_rows, whole.separated_rows)
    np.testing.assert_array_equal(answer.overlapped_rows, whole.overlapped_rows)
    assert answer.estimates == whole.estimates
    assert answer.rank == whole.rank
    design = np.column_stack([np.ones(len(X)), X]) * np.where(y > 0, 1, -1)[:, None]
    along = design @ answer.direction
    assert (along[answer.separated_rows] > 0).all()
    assert np.abs(along[answer.overlapped_rows]).max(initial=0) < 1e-9 * along.max()
    slacks = np.array(answer.certificate.verify(X, y))
    np.testing.assert_array_equal(np.flatnonzero(slacks > 0), answer.separated_rows)
    assert answer.certificate.data_sha256 == whole.certificate.data_sha256


@pytest.mark.parametrize("start", range(0, 60, 10))
def test_partitions_of_random_rows_read_in_batches_are_certified(start, monkeypatch):
    monkeypatch.setattr("linsep.verified.sums.LEAST_SAMPLE", 60)
    monkeypatch.setattr("linsep.verified.sums.SAMPLE_A_COLUMN", 1)
    n_certified = 0
    for seed in range(start, start + 10):
        rng = np.random.default_rng(seed)
        X = rng.integers(-2, 3, (150, 4)).astype(float)
        X[:, 0] = rng.random(150) < 0.2  # a level, often of one class
        y = (X[:, 1] + 2 * rng.standard_normal(150) > 0).astype(int)
        y[X[:, 0] == 1] |= seed % 3 > 0
        if seed % 4 == 0:
            X = np.column_stack([X, X[:, 0] + 2 * X[:, 2]])
        names = [f"x{j}" for j in range(X.shape[1])]
        table = pa.table(dict(zip(names, X.T, strict=True)) | {"y": y})
        answer, whole = linsep.diagnose(lambda t=table: t, "y"), linsep.diagnose(X, y)
        assert answer.status == whole.status
        np.testing.assert_array_equal(answer.separated_rows, whole.separated_rows)
        slacks = np.array(answer.certificate.verify(X, y))
        np.testing.assert_array_equal(np.flatnonzero(slacks > 0), whole.separated_rows)
        n_certified += whole.status == "quasi-complete"
    assert n_certified > 2


def test_texts_read_in_batches_are_those_of_the_whole():
    n = 400
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "x": rng.standard_normal(n),
            "name": [f"row {i}" for i in range(n)],
            "day": [f"2024-01-{i % 28 + 1:02}" for i in range(n)],
            "is old": rng.choice(["true", "False"], n),
            "dose": rng.choice(["2", "10", "1"], n, p=[0.25, 0.25, 0.5]),
            "in pieces": pa.chunked_array([["a", "b"] * 100, ["b", "c"] * 100]),
            "y": rng.choice(["no", "yes"], n),
        }
    )
    for options in ({}, {"fit_intercept": False}, {"missing": "drop"}):
        problem = problem_from(lambda: table, "y", **options)
        whole = problem_from(table, "y", **options)
        assert problem.feature_names == whole.feature_names
        assert sorted(problem.notes) == sorted(whole.notes)
        every = np.arange(n)
        np.testing.assert_array_equal(problem.rows.take(every), whole.rows.take(every))
    # A row without what is no feature is a row like others.
    names = [None, *table["name"].to_pylist()[1:]]
    table = table.set_column(1, "name", pa.array(names))
    for options in ({}, {"missing": "drop"}):
        assert problem_from(lambda: table, "y", **options).n_samples == n
        assert problem_from(table, "y", **options).n_samples == n
    for column, message in (
        ([*map(str, range(n - 1)), "a typo"], "numbers or a few categories"),
        (["1,5", "2,5"] * (n // 2), "a decimal point"),
        ([None, "b"] * (n // 2), "must hold a value"),
    ):
        odd = table.set_column(4, "dose", pa.array(column))
        for given in (odd, lambda odd=odd: odd):
            with pytest.raises(InputError, match=message):
                problem_from(given, "y")


def a_random_table(rng):
    """Columns of text, numbers and dates of all kinds, some with values missing."""
    n = int(rng.choice([9, 12, 300, 700]))
    makers = {
        "few": lambda: rng.choice(["red ", "red", " green", "blue"], n),
        "truths": lambda: rng.choice(["true", "False", "TRUE"], n),
        "keys": lambda: [f"id{i}" for i in range(n)],
        "days": lambda: [f"2024-01-{i % 28 + 1:02}" for i in range(n)],
        "number": lambda: rng.integers(0, 9, n) / 2,
        "digits": lambda: rng.choice(["2", "10", "1"], n),
        "commas": lambda: [f"{i % 9},5" for i in range(n)],
        "typo": lambda: [*map(str, range(n - 1)), "2O"],
        "cities": lambda: [f"c{i % 299}" for i in range(n)],
    }
    shares = np.array([4, 4, 4, 2, 4, 2, 1, 1, 1])
    columns = {}
    for k, name in enumerate(rng.choice(list(makers), 4, p=shares / shares.sum())):
        values = pa.array(makers[name]())
        if name == "few" and rng.random() < 0.5:
            values = values.dictionary_encode()
        if rng.random() < 0.25:
            values = values.take(pa.array(np.arange(n), mask=rng.random(n) < 0.1))
        columns[f"{name} {k}"] = values
    return pa.table(columns | {"y": rng.choice(["no", "yes"], n)})


def what_became(source, options):
    """What a source became, or what was said of the column refused."""
    try:
        problem = problem_from(source, "y", **options)
        X = as_dense(problem.rows.features(np.arange(problem.n_samples)))
    except InputError as error:
        said = re.sub(r" \(row \d+ \(counted from 0\)\)", "", str(error))
        return "refused", re.search("(column|X must).*?(?=;)", said)[0]
    return problem.feature_names, X.tolist(), sorted(problem.notes)


@pytest.mark.parametrize("seed", range(40))
def test_random_tables_are_the_same_from_every_source(seed, tmp_path, monkeypatch):
    monkeypatch.setattr("linsep.input.streams.sources.MOST_ROWS", 64)
    table = a_random_table(np.random.default_rng(seed))
    for k, rows in enumerate(np.array_split(np.arange(len(table)), 3)):
        pa.parquet.write_table(table.take(rows), tmp_path / f"{k}.parquet")
    query = f"SELECT * FROM '{tmp_path}/*.parquet'"
    for intercept, missing in product([True, False], ["refuse", "drop"]):
        options = {"fit_intercept": intercept, "missing": missing}
        expected = what_became(table.to_pandas(), options)
        for source in (table, lambda: table, tmp_path, duckdb.sql(query)):
            found = what_became(source, options)
            if missing == "refuse" and any(c.null_count for c in table.columns):
                assert found[0] == expected[0]  # perhaps for another of the reasons
            else:
                assert found == expected


def test_a_relation_is_left_free_for_other_queries():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5_000, 2))
    kept = pa.table({"a": X[:, 0], "b": X[:, 1], "y": X[:, 0] + X[:, 1] ** 3 > 0})
    connection = duckdb.connect()
    connection.register("kept", kept)
    relation = connection.sql("SELECT * FROM kept")
    for search in (linsep.separate, linsep.max_margin, linsep.diagnose):
        for _ in range(3):
            answer = search(relation, "y")
            assert connection.sql("SELECT count(*) FROM kept").fetchall() == [(5_000,)]
        assert answer.certificate is not None
        assert connection.sql("SELECT 1").fetchall() == [(1,)]


CELLS = ["1", "2.5", " 3 ", "-4e-3", "NA", "", "?", "nan", "u", "v w", "true", "1_0"]


def write_parts(folder, header, lines, cuts, newline="\n"):
    """Write lines as several files in folders, and as one file beside."""
    text = folder / "whole.csv"
    text.write_text("\n".join([header, *lines, ""]))
    bounds = [0, *cuts, len(lines)]
    for k, (start, stop) in enumerate(pairwise(bounds)):
        part = folder / "parts" / f"year={2020 + k}" / "part.csv"
        part.parent.mkdir(parents=True)
        part.write_text(newline.join([header, *lines[start:stop], ""]))
    return text, folder / "parts"


@pytest.mark.parametrize("seed", range(12))
def test_delimited_texts_in_a_folder_are_read_as_one_text(tmp_path, seed):
    rng = np.random.default_rng(seed)
    n, separator = 60, ",;|\t"[seed % 4]
    columns = []
    for _ in range(4):
        some = rng.choice(CELLS[: int(rng.choice([4, 8, 12]))], 5)
        columns.append(rng.choice(some, n))
    labels = rng.choice(["0", "1"], n)
    lines = [separator.join(row) for row in zip(*columns, labels, strict=True)]
    header = separator.join(["a", "b", "c", "d", "y"])
    cuts = sorted(rng.choice(range(1, n), 2, replace=False))
    text, folder = write_parts(tmp_path, header, lines, cuts, ["\n", "\r\n"][seed % 2])
    for options in ({"missing": "drop"}, {}):
        try:
            whole = problem_from(text, "y", **options)
        except InputError:
            with pytest.raises(InputError):
                linsep.diagnose(folder, "y", **options)
            continue
        problem = problem_from(folder, "y", **options)
        assert problem.feature_names == (*whole.feature_names, "year")
        assert problem.classes.tolist() == whole.classes.tolist()
        every = np.arange(whole.n_samples)
        X = problem.rows.features(every)
        np.testing.assert_array_equal(X[:, :-1], as_dense(whole.rows.features(every)))
        assert set(X[:, -1]) <= {2020.0, 2021.0, 2022.0}


def test_a_text_too_large_to_hold_is_read_in_batches(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3_000, 3))
    y = np.where(X[:, 0] - X[:, 1] > 0, "yes", "no")
    text = tmp_path / "large.csv"
    lines = (
        ";".join([*map(repr, x), label]) for x, label in zip(X.tolist(), y, strict=True)
    )
    text.write_text("a;b;c;y\n" + "\n".join(lines).replace(".", ","))
    whole = linsep.separate(text, "y")
    packed = tmp_path / "large.csv.gz"
    packed.write_bytes(gzip.compress(text.read_bytes()))
    for path in (text, packed):
        problem = problem_from(path, "y", max_memory=10_000)
        assert isinstance(problem.rows, BlockRows)
        assert "decimal commas were read as decimal points" in problem.notes
        answer = linsep.separate(path, "y", max_memory=10_000)
        assert answer.separable
        assert answer.certificate.data_sha256 == whole.certificate.data_sha256
    said = run("separate", text, "--target", "y", "--max-memory", "10K", "--sep", ";")
    assert said.startswith("Separable")


def test_rows_of_a_folder_keep_the_numbers_they_were_given(tmp_path):
    rng = np.random.default_rng(0)
    x = [None if k % 5 == 0 else float(v) for k, v in enumerate(rng.random(200))]
    z = rng.random(200).tolist()
    x[101], x[163] = x[102], x[162] = 0.25, 0.75
    y = ["no" if v is None or v < 0.5 else "yes" for v in x]
    folder = tmp_path / "parts"
    folder.mkdir()

    def write(y):
        for k in range(2):
            rows = slice(100 * k, 100 * (k + 1))
            table = pa.table({"x": x[rows], "z": z[rows], "y": y[rows]})
            pyarrow.parquet.write_table(table, folder / f"{k}.parquet")

    given = "--target", "y", "--missing", "drop", "--json"
    write(y)
    answer = json.loads(run("max-margin", folder, *given))
    assert answer["status"] == "separable"
    assert all(x[row] is not None for row in answer["support"])
    y[103], x[103], x[104], y[104] = "yes", 0.25, 0.75, "no"  # not where others are
    write(y)
    answer = json.loads(run("separate", folder, *given))
    assert answer["status"] == "inseparable"
    sums = [Fraction(0)] * 3
    for row, weight in zip(answer["conflict"], answer["conflict_weights"], strict=True):
        signed = Fraction(weight) * (1 if y[row] == "yes" else -1)
        for k, value in enumerate((x[row], z[row], 1)):
            sums[k] += signed * Fraction(value)
    assert sums == [0, 0, 0]
    run("separate", folder, *given[:4], "--report", tmp_path / "page.html")


def test_delimited_texts_of_other_columns_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x,z,y\n1,2,0\n3,4,1\n")
    (tmp_path / "b.csv").write_text("x,w,y\n1,2,0\n")
    with pytest.raises(InputError, match=r"b.csv must have the columns .*'z'.*'w'"):
        linsep.separate(tmp_path, "y")
    (tmp_path / "b.csv").write_text("y,z,x\n1,7,5\n0,1,0.5\n")
    problem = problem_from(tmp_path, "y")
    assert problem.rows.features(np.arange(4)).tolist() == [
        [1, 2],
        [3, 4],
        [5, 7],
        [0.5, 1],
    ]
    (tmp_path / "b.csv").write_text("x,z,y\n1,7\n")
    with pytest.raises(InputError, match=r"b.csv: every line must have the same"):
        linsep.separate(tmp_path, "y")


def random_counts(rng, kind, n=80):
    """Make small rows, and counts of which some are zero for a reason."""
    X = rng.integers(-2, 3, (n, int(rng.integers(1, 5)))).astype(float)
    y = rng.poisson(rng.choice([0.2, 1.0, 3.0]), n)
    if kind == "a region of zeros":
        y[X[:, 0] > 0] = 0
    elif kind == "all zero":
        y[:] = 0
    elif kind == "none zero":
        y += 1
    elif kind == "collinear":
        X = np.column_stack([X, X @ np.ones(X.shape[1])])
    names = [f"x{j}" for j in range(X.shape[1])]
    return X, y, pa.table(dict(zip(names, X.T, strict=True)) | {"y": y})


@pytest.mark.parametrize(
    "kind", ["plain", "a region of zeros", "all zero", "none zero", "collinear"]
)
def test_counts_read_in_batches_are_parted_as_in_memory(kind, monkeypatch):
    monkeypatch.setattr("linsep.verified.sums.LEAST_SAMPLE", 40)
    monkeypatch.setattr("linsep.verified.sums.SAMPLE_A_COLUMN", 1)
    for seed in range(12):
        X, y, table = random_counts(np.random.default_rng(seed), kind)
        answer = linsep.diagnose(lambda t=table: t, "y", family="log")
        whole = linsep.diagnose(X, y, family="poisson")
        assert (answer.status, answer.family) == (whole.status, "poisson")
        assert answer.proved
        np.testing.assert_array_equal(answer.separated_rows, whole.separated_rows)
        assert answer.estimates == whole.estimates
        assert answer.rank == whole.rank
        assert answer.certificate is None
        if answer.status != "overlap":
            w = list(map(int, answer.exact_direction))
            along = [w[0] + sum(map(mul, w[1:], x)) for x in X.astype(int).tolist()]
            assert [v < 0 for v in along] == np.isin(
                np.arange(len(y)), answer.separated_rows
            ).tolist()
            assert max(along) <= 0
            assert all(v == 0 for v, count in zip(along, y, strict=True) if count)


def test_overlap_of_counts_is_proved_by_sums_alone(monkeypatch):
    monkeypatch.setattr("linsep.diagnosis.exact.block_partition.MOST_COLUMNS", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4_000, 3))
    y = rng.poisson(np.exp(X[:, 0] - 2))
    columns = dict(zip("abc", X.T, strict=True))
    table, positive = pa.table(columns | {"y": y}), pa.table(columns | {"y": y + 1})
    assert linsep.diagnose(lambda: table, "y", family="poisson").status == "overlap"
    assert linsep.diagnose(lambda: positive, "y", family="poisson").status == "overlap"
    level = (rng.random(4_000) < 0.1).astype(float)
    table = pa.table(columns | {"d": level, "y": np.where(level == 1, 0, y)})
    answer = linsep.diagnose(lambda: table, "y", family="poisson")
    assert answer.status == "quasi-complete"  # a direction separates


def test_the_command_diagnoses_counts_of_a_folder(tmp_path):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((3_000, 2)), rng.poisson(1.0, 3_000)
    site = rng.choice(["a", "b", "c"], 3_000, p=[0.5, 0.49, 0.01])
    y[site == "c"] = 0
    table = pa.table({"x0": X[:, 0], "x1": X[:, 1], "site": site, "visits": y})
    (tmp_path / "data").mkdir()
    pyarrow.parquet.write_table(table, tmp_path / "data" / "part.parquet")
    given = tmp_path / "data", "--target", "visits", "--family", "poisson"
    said = run("diagnose", *given)
    n = np.count_nonzero(site == "c")
    assert f"Quasi-complete separation (log link): {n} of 3,000 rows" in said
    assert f"site = c in {n} rows, all visits = 0." in said
    assert "Estimates that go to -inf: site[T.c]." in said
    text = tmp_path / "counts.svm"
    lines = (f"{c} 1:{a!r} 2:{b!r}\n" for c, (a, b) in zip(y, X.tolist(), strict=True))
    text.write_text("".join(lines))
    streamed = SvmlightText(text, 1 << 16)
    answer = linsep.diagnose(streamed, "label", family="poisson")
    assert answer.status == linsep.diagnose(X, y, family="poisson").status == "overlap"
    text.write_text("".join(f"0 1:{x0!r}\n" for x0 in X[:, 0].tolist()))
    assert linsep.diagnose(streamed, "label", family="poisson").status == "complete"
    text.write_text("".join(f"{int(x0 > 0)} 1:{x1!r}\n" for x0, x1 in X.tolist()))
    assert linsep.diagnose(streamed, "label").status == "overlap"


def test_options_of_data_in_memory_are_refused(flipped):
    folder, _, _ = flipped
    with pytest.raises(InputError, match="family goes with data held in memory"):
        linsep.diagnose(folder, "y", family="ordinal")
    with pytest.raises(InputError, match=r"non-negative finite numbers .* got -1\.0"):
        linsep.diagnose(folder, "y", family="poisson")
    stopped = linsep.diagnose(folder, "y", time_limit=1e-9)
    assert stopped.status == "undecided"
    assert "time limit" in stopped.message


@pytest.mark.parametrize("label", [1, "no", 0])
def test_one_class_read_in_batches_is_a_finding(label):
    one = pa.table({"x": [-1.0, 2.0, 4.0], "y": [label] * 3})
    answer, whole = linsep.diagnose(lambda: one, "y"), linsep.diagnose(one, "y")
    assert answer.status == whole.status == "complete"
    assert answer.estimates == whole.estimates
    sign = 1 if label == 1 else -1
    assert answer.estimates["intercept"] == ("+inf" if sign > 0 else "-inf")
    along = np.column_stack([np.ones(3), one["x"]]) @ answer.direction
    assert (sign * along > 0).all()
    for said in (answer, whole):
        assert f"every row has y = {label}, which a constant" in said.summary()
    lacking = one.set_column(0, "x", pa.array([1.0, None, np.nan]))
    for search in (linsep.separate, linsep.diagnose):
        with pytest.raises(InputError, match="none in row 1"):
            search(lambda: lacking, "y")


def separated_table():
    x = np.arange(400.0)
    return pa.table({"x": x, "y": (x > 170).astype(int)})


def test_ctrl_c_while_words_are_looked_for_takes_nothing_of_the_proof(monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("linsep.diagnosis.streamed.telling_rows", interrupted)
    answer = linsep.diagnose(separated_table().to_reader, "y")
    assert answer.status == "complete"
    assert answer.message.startswith("Complete separation")
    assert answer.sentences()[0] == answer.message.partition(" No finite")[0]


def test_a_column_called_as_the_intercept_is_refused_as_in_memory():
    table = separated_table().rename_columns(["intercept", "y"])
    for data in (table, table.to_reader):
        with pytest.raises(InputError, match="from 'intercept' where one is fitted"):
            linsep.diagnose(data, "y")
        answer = linsep.diagnose(data, "y", fit_intercept=False)
        assert answer.coefficient_names == ("intercept",)


def test_the_command_diagnoses_folders(flipped, tmp_path):
    import shutil

    folder = tmp_path / "some"
    folder.mkdir()
    shutil.copy(flipped[0] / "part-0.parquet", folder)
    proof = tmp_path / "proof.json"
    names = ["--drop", "x0"]
    text = run(
        "diagnose", folder, "--target", "y", *names, "--certificate", proof, code=0
    )
    assert text.startswith("Overlap (logistic regression): no direction predicts")
    assert run("verify", proof, folder).startswith("The certificate holds: some rows")


def test_more_columns_than_exact_arithmetic_takes_are_inseparable_by_moments(
    monkeypatch,
):
    from linsep.search import separator_search

    monkeypatch.setattr(separator_search, "MOST_SETTLED", 5)
    monkeypatch.setattr(linsep.separation, "MOST_SETTLED", 5)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4_000, 12))
    y = (rng.random(4_000) < 0.5).astype(int)
    names = [f"x{j}" for j in range(12)]
    table = pa.table(dict(zip(names, X.T, strict=True)) | {"y": y})
    answer = linsep.separate(lambda: table, "y")
    assert answer.separable is False
    assert answer.conflict is None
    assert answer.certificate.kind == "ordered"
