"""Files as they come: standard input, separators, encodings, gaps; by the command."""

import gzip
import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from helpers import ROOT
from linsep.cli import main, standard_input
from linsep.proof.checker import content_digest

DATA = "height,soil,grown\n0,clay,no\n2,clay,no\n8,clay,yes\n9,sand,yes\n"
MESSY = "Nr;Tag;Größe;Kraut;wächst\n" + "".join(
    f"P{i:02d};{i + 1:02d}.05.2024;{i},5;{'ab'[i % 2]};{'ja' if i > 5 else 'nein'}\n"
    for i in range(12)
).replace(";3,5;", ";;")


def linsep(*arguments, stdin=b"", code=0):
    """Run the command as its users do, with bytes on standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "linsep", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"},
    )
    assert done.returncode == code, done.stderr.decode()
    return (done.stderr if code == 2 else done.stdout).decode()


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(part) for part in arguments])
    assert result.exit_code == code, result.output
    return result.output


def as_parquet(text):
    from io import BytesIO

    import pandas as pd

    out = BytesIO()
    frame = pd.DataFrame([line.split(",") for line in text.splitlines()[1:]])
    frame.columns = text.splitlines()[0].split(",")
    frame.astype({"height": float}).to_parquet(out)
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        DATA.encode(),
        gzip.compress(DATA.encode()),
        DATA.replace(",", "\t").encode(),
        as_parquet(DATA),
        b"".join(
            json.dumps(
                dict(zip(["height", "soil", "grown"], cells, strict=True))
            ).encode()
            + b"\n"
            for cells in [(0, "clay", "no"), (2, "clay", "no"), (8, "clay", "yes")]
        ),
    ],
    ids=["CSV", "packed", "tabs", "Parquet", "JSON lines"],
)
def test_a_dash_is_standard_input_in_any_format(content):
    told = linsep("separate", "-", "--target", "grown", stdin=content)
    assert told.startswith("Separable")
    assert "standard input" not in told


def test_every_command_that_reads_a_table_takes_standard_input(tmp_path):
    stdin, proof, model = DATA.encode(), tmp_path / "p.json", tmp_path / "m.json"
    on_input = ("-", "--target", "grown")
    linsep("max-margin", *on_input, "--certificate", proof, stdin=stdin)
    linsep("verify", proof, *on_input, stdin=stdin)
    linsep("fit", *on_input, "--model", model, stdin=stdin)
    labels = linsep("predict", model, "-", stdin=stdin)
    assert labels.split() == ["no", "no", "yes", "yes"]
    told = linsep("diagnose", *on_input, "--certificate", proof, stdin=stdin)
    assert f"linsep verify {proof} -\n" in told
    linsep("verify", proof, "-", stdin=stdin)
    told = linsep("diagnose", "-", "--formula", "grown ~ height", stdin=stdin)
    assert told.startswith("Complete separation")
    sparse = b"1 1:2 2:3\n-1 1:0 2:1\n1 1:5 2:2\n"
    assert linsep("diagnose", "-", stdin=sparse).startswith("Complete separation")


def test_errors_call_standard_input_by_name():
    said = linsep("separate", "-", "--target", "gron", stdin=DATA.encode(), code=2)
    assert "a column of standard input, got 'gron'" in said
    assert "did you mean 'grown'?" in said
    said = linsep("separate", "-", "--target", "x", code=2)
    assert said == "Error: standard input must hold data, got an empty file\n"


def test_standard_input_is_bounded_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(standard_input, "MOST_BYTES", 10)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = CliRunner().invoke(main, ["separate", "-", "--target", "grown"], input=DATA)
    assert done.exit_code == 2
    assert "must end after at most 10 bytes" in done.output
    monkeypatch.setattr(standard_input, "MOST_BYTES", 10_000)
    done = CliRunner().invoke(main, ["separate", "-", "--target", "grown"], input=DATA)
    assert done.exit_code == 0
    assert list(tmp_path.iterdir()) == []


def test_a_file_from_a_spreadsheet_is_read_as_it_is(tmp_path):
    path = tmp_path / "messy.csv"
    path.write_text(MESSY, encoding="cp1252")
    said = run("separate", path, "--target", "wächst", code=2)
    assert "(--encoding latin-1)" in said
    read = (path, "--target", "wächst", "--encoding", "cp1252")
    said = run("separate", *read, code=2)
    assert "column 'Größe', line 5, must hold a value" in said
    assert "1 of 12 rows (values missing: 'Größe' 1)" in said
    for command in ("separate", "max-margin", "diagnose"):
        told = run(command, *read, "--missing", "drop")
        assert "1 of 12 rows were left out for missing values ('Größe' 1)" in told
        assert "decimal commas were read as decimal points" in told.casefold()
        assert "'Nr' holds another text in each of 12 rows (P00, P01, ...)" in told
        assert "'Tag' holds dates or times (01.05.2024, ...)" in told
        assert "Kraut, 2 levels, the reference is a." in told
    record = json.loads(run("max-margin", *read, "--missing", "drop", "--json"))
    assert record["support"] == [5, 6]  # rows as they are in the file
    assert record["references"] == {"Kraut": "a"}


def test_a_proof_of_what_was_left_is_checked_by_the_same_options(tmp_path):
    path, proof = tmp_path / "messy.csv", tmp_path / "p.json"
    path.write_text(MESSY, encoding="latin-1")
    read = ("--target", "wächst", "--encoding", "latin-1", "--missing", "drop")
    told = run("diagnose", path, *read, "--certificate", proof)
    assert f"Check it: linsep verify {proof} {path}" in told
    for options in ((), read):
        assert "certificate holds" in run("verify", proof, path, *options)
    run("max-margin", path, *read, "--positive", "nein", "--certificate", proof)
    record = json.loads(proof.read_text())
    assert record["reading"] == {
        "target": "wächst",
        "positive": "nein",
        "missing": "drop",
        "encoding": "latin-1",
    }
    assert json.loads(run("verify", proof, path, "--json"))["holds"] is True
    other = run("verify", proof, path, "--positive", "ja", "--json", code=1)
    assert json.loads(other)["holds"] is False
    for reading in ([], {"target": 1}, {"drop": "x"}, {"drop": [1]}, {"shell": "rm"}):
        record["reading"] = reading
        record["content_sha256"] = content_digest(record)
        proof.write_text(json.dumps(record))
        if reading:
            assert "the reading in a cert" in run("verify", proof, path, code=2)


def test_a_model_predicts_files_of_another_layout(tmp_path):
    path, new, model = (tmp_path / name for name in ("a.csv", "b.txt", "m.json"))
    path.write_text(DATA)
    run("fit", path, "--target", "grown", "--model", model)
    new.write_text("soil|height\nsand|9,5\nclay|0,5\n")
    layout = ("--sep", "|", "--decimal", ",")
    assert run("predict", model, new, *layout).split() == ["yes", "no"]
    new.write_text("soil\theight\nsand\t9\n")
    assert run("predict", model, new, "--sep", "tab").split() == ["yes"]


def test_weights_choose_the_reference_among_the_rows_present(tmp_path):
    path = tmp_path / "w.csv"
    rows = [("a", i % 2, 0) for i in range(9)] + [("b", i % 2, 1) for i in range(4)]
    rows += [("c", i % 2, 1) for i in range(3)]
    lines = [f"{g},{y},{w}" for g, y, w in rows]
    path.write_text("\n".join(["g,y,w", *lines, ""]))
    told = run(
        "diagnose", path, "--target", "y", "--weights", "w", "--no-header", code=2
    )
    assert "y" in told
    told = run("diagnose", path, "--target", "y", "--weights", "w")
    assert "g, 2 levels, the reference is b." in told
    assert "Not identified" not in told
