"""Predictions of data read in batches are those of the same data held whole."""

import re
import shutil

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from helpers import peak_of_command
from linsep.cli import main

N = 900


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result


def a_frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", " green", "blue"], N),
            "x": (rng.integers(-200, 200, N) / 64).astype(np.float32),
            "is_new": rng.choice(["true", "False"], N),
            "count": rng.integers(0, 9, N),
            "day": pd.date_range("2024", periods=N),
        }
    )
    push = 2 * frame.x + (frame.colour == "red") - frame["count"] / 4 + 1
    noise = rng.standard_normal((2, N))
    frame["y"] = np.where(push + noise[0] > 0, "yes", "no")
    frame["kind"] = np.select([push + noise[1] > 1, push < -1], ["p", "q"], "r")
    return frame


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The same rows in every form that is read in batches, and options for it."""
    folder = tmp_path_factory.mktemp("data")
    frame = a_frame()
    frame.to_csv(folder / "whole.csv", index=False)
    frame.to_parquet(folder / "whole.parquet")
    for kind in ("csv", "parquet", "feather"):
        (folder / kind).mkdir()
    for k, rows in enumerate(np.array_split(np.arange(N), 3)):
        part = frame.iloc[rows]
        part.to_csv(folder / f"csv/{k}.csv", index=False)
        table = pa.Table.from_pandas(part, preserve_index=False)
        pa.parquet.write_table(table, folder / f"parquet/{k}.parquet")
        pa.feather.write_feather(table, str(folder / f"feather/{k}.feather"))
    with duckdb.connect(str(folder / "rows.duckdb")) as base:
        base.execute("CREATE TABLE t AS SELECT * FROM frame")
    forms = {kind: (folder / kind,) for kind in ("csv", "parquet", "feather")}
    forms["pattern"] = (folder / "parquet" / "*.parquet",)
    forms["large Parquet"] = (folder / "whole.parquet", "--max-memory", "2000")
    forms["large CSV"] = (folder / "whole.csv", "--max-memory", "2000")
    forms["query"] = (folder / "rows.duckdb", "--sql", "FROM t")
    return folder, forms


@pytest.fixture(scope="module", params=["two classes", "three classes", "kernel"])
def model(request, data, tmp_path_factory):
    target, drop = ("y", "kind") if request.param != "three classes" else ("kind", "y")
    path = tmp_path_factory.mktemp("model") / "model.json"
    asked = "--target", target, "--drop", drop, "--model", path
    more = ("--kernel", "rbf") if request.param == "kernel" else ()
    run("fit", data[0] / "whole.csv", *asked, *more)
    return path


def test_labels_and_scores_are_those_of_the_file_held_whole(data, model, tmp_path):
    folder, forms = data
    expected = run("predict", model, folder / "whole.csv", "--scores").stdout
    rows = [line.split(",") for line in expected.splitlines()]
    assert len(rows) == N
    assert len({label for label, *_ in rows}) > 1
    for form, given in forms.items():
        out = tmp_path / "labels.txt"
        said = run("predict", model, *given, "--scores", "--output", out)
        assert said.output == ""
        found = [line.split(",") for line in out.read_text().splitlines()]
        assert [label for label, *_ in found] == [label for label, *_ in rows], form
        np.testing.assert_allclose(
            np.array([scores for _, *scores in found], float),
            np.array([scores for _, *scores in rows], float),
            rtol=1e-9,
            atol=1e-9,
        )
    printed = run("predict", model, folder / "parquet").stdout
    assert printed.split() == [label for label, *_ in rows]


def test_svmlight_text_is_read_in_batches_too(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (400, 6))
    lines = [
        " ".join([str(int(a > d)), f"1:{a} 2:{b} 4:{d}", *(["6:1"] * (c > 0))])
        for a, b, c, d, *_ in X.tolist()
    ]
    path, model = tmp_path / "rows.svm", tmp_path / "model.json"
    path.write_text("\n".join(lines) + "\n")
    run("fit", path, "--model", model)
    whole = run("predict", model, path).stdout
    assert run("predict", model, path, "--max-memory", 2_000).stdout == whole
    assert len(whole.split()) == 400


@pytest.fixture(scope="module")
def plain_model(data):
    path = data[0] / "plain.json"
    run(
        "fit", data[0] / "whole.csv", "--target", "y", "--drop", "kind", "--model", path
    )
    return path


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("x", [None, 1.0], "'x'.* must hold a value.* remove (such|the) rows"),
        (
            "colour",
            [None, "red"],
            "'colour'.* must hold a value.* remove (such|the) rows",
        ),
        ("colour", ["red", "pink"], r"the model knows, .* got \['pink'\]"),
        ("colour", [1, 2], "'colour'|columns must be those"),
        ("x", ["many", "few"], "must hold numbers in the column 'x'"),
        ("count", [np.inf, 1.0], "'count'.*inf"),
        ("x", pd.date_range("2024", periods=2), "dates|numbers"),
        ("is_new", ["perhaps", "true"], "must hold numbers in the column 'is_new'"),
    ],
)
@pytest.mark.parametrize("is_folder", [False, True])
def test_what_the_model_cannot_judge_is_refused(
    plain_model, tmp_path, column, values, said, is_folder
):
    frame = a_frame().iloc[:2].assign(**{column: values})
    path = tmp_path / "new.parquet"
    frame.to_parquet(path)
    refused = run("predict", plain_model, tmp_path if is_folder else path, code=2)
    message = " ".join(refused.output.split())
    assert re.search(said, message), message
    assert "--missing" not in message
    assert "--drop" not in message


def test_what_does_not_go_with_batches_is_refused(plain_model, data, tmp_path):
    folder, _ = data
    for given, said in [
        ((folder / "parquet", "--json"), "--json goes with a file that is held whole"),
        ((folder / "parquet", "--sep", ";"), "--sep goes with a file of text"),
        ((folder / "rows.duckdb", "--sql", "SELECT x FROM t"), "column 'colour'"),
        ((folder / "rows.duckdb", "--sql", "FROM t LIMIT 0"), "at least one row"),
        ((folder / "csv" / "*.txt",), "match at least one file"),
        ((folder / "whole.csv", "--output", folder / "whole.csv"), "data itself"),
    ]:
        assert said in run("predict", plain_model, *given, code=2).output


def test_a_file_of_labels_is_whole_or_what_it_was(plain_model, data, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    frame = a_frame()
    frame.iloc[:600].to_parquet(parts / "0.parquet")
    frame.iloc[600:].assign(x=np.nan).to_parquet(parts / "1.parquet")
    out = tmp_path / "labels.txt"
    out.write_text("as it was")
    refused = run("predict", plain_model, parts, "--output", out, code=2)
    assert "row 600" in refused.output
    assert out.read_text() == "as it was"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["labels.txt", "parts"]
    (parts / "1.parquet").unlink()
    run("predict", plain_model, parts, "--output", out)
    assert len(out.read_text().split()) == 600


def test_memory_does_not_grow_with_the_rows(plain_model, tmp_path):
    one, peaks = tmp_path / "one.parquet", []
    pd.concat([a_frame()] * 4).to_parquet(one)
    for n_files in (2, 300):
        folder = tmp_path / str(n_files)
        folder.mkdir()
        for k in range(n_files):
            shutil.copy(one, folder / f"{k:03d}.parquet")
        given = folder, "--max-memory", "10M", "--output", tmp_path / "labels"
        peaks.append(peak_of_command("predict", plain_model, *given))
    # A million rows are 35 MB of numbers.
    assert peaks[1] - peaks[0] < 8e6
