"""svmlight text in batches: the answers of the text read whole, or an error."""

import gzip

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import dump_svmlight_file

import linsep
from linsep.cli import main
from linsep.input import InputError, problem_from
from linsep.input.files.svmlight import SvmlightText
from linsep.input.streams import stream_of

N, D = 800, 30
# Some lines a batch, and less than the text takes.
MEMORY = 20_000


def rows(flips=0.0):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (N, D)) * (rng.random((N, D)) < 0.2) / 8
    w = rng.standard_normal(D)
    return X, np.where((X @ w > 0.1) ^ (rng.random(N) < flips), 1, -1)


def text(place, X, y, *, first=1, name="data.svm"):
    path = place / name
    dump_svmlight_file(X, y, str(path), zero_based=first == 0, comment="a comment")
    return path


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("flips", [0.0, 0.1])
def test_the_answer_is_that_of_the_text_read_whole(tmp_path, first, flips):
    path = text(tmp_path, *rows(flips), first=first)
    assert isinstance(stream_of(path, MEMORY), SvmlightText)
    whole = linsep.separate(path, None)
    found = linsep.separate(path, None, max_memory=MEMORY)
    assert found.separable is whole.separable is (flips == 0)
    assert found.proved
    assert found.feature_names == whole.feature_names
    assert found.classes.tolist() == whole.classes.tolist() == [-1, 1]
    assert found.notes == whole.notes
    if flips == 0:
        np.testing.assert_array_equal(found.coef, whole.coef)
    assert found.certificate.data_sha256 == whole.certificate.data_sha256
    read = problem_from(path, None, max_memory=MEMORY).rows
    assert len(list(read.blocks())) > 5


def test_the_command_reads_large_texts_in_batches(tmp_path, monkeypatch):
    path = text(tmp_path, *rows())
    packed = tmp_path / "data.svm.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for file in (path, packed):
        arguments = ["separate", str(file), "--max-memory", str(MEMORY // 4)]
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output
        assert "800 rows, 30 features" in done.output
        assert "columns are numbered from 1" in done.output
    monkeypatch.setattr("linsep.input.streams.sources.FREE_SHARE", 1e-9)
    done = CliRunner().invoke(main, ["diagnose", str(path)])
    assert done.exit_code == 0, done.output
    assert "800 rows" in done.output


def test_one_of_several_labels_is_told_from_the_others(tmp_path):
    X, y = rows()
    path = text(tmp_path, X, np.where(X[:, 0] > 0.5, 2 * (y > 0), y))
    with pytest.raises(InputError, match=r"got 4 .* in 800 rows"):
        linsep.separate(path, None, max_memory=MEMORY)
    arguments = ["separate", str(path), "--positive", "-1"]
    expected = CliRunner().invoke(main, arguments)
    done = CliRunner().invoke(main, [*arguments, "--max-memory", str(MEMORY)])
    assert done.output.splitlines()[0] == expected.output.splitlines()[0]
    assert "not -1 (negative side)" in done.output


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1 3:2 2:1", "trouble on line 801"),
        ("1 3:x", "trouble on line 801"),
        ("1 3:nan", "every value must be finite"),
        ("1 9999999:1", "indices must be below"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path, line, said):
    path = text(tmp_path, *rows(), name="bad.svm")
    lines = path.read_text().splitlines()
    kept = [text for text in lines if not text.startswith("#")][:N]
    path.write_text("\n".join([*kept, line, *kept[:50]]) + "\n")
    with pytest.raises(InputError, match=said):
        linsep.separate(path, None, max_memory=MEMORY)


def test_a_text_that_changes_is_refused(tmp_path):
    path = text(tmp_path, *rows())
    problem = problem_from(path, None, max_memory=MEMORY)
    text(tmp_path, *(part[: N // 2] for part in rows()))
    with pytest.raises(InputError, match="the same rows each time"):
        linsep.separate(problem, None)
    X, y = rows()
    problem = problem_from(text(tmp_path, X, y), None, max_memory=MEMORY)
    list(problem.rows.blocks())
    X[N // 2, 0] += 1  # the labels are the same
    text(tmp_path, X, y)
    with pytest.raises(InputError, match="the same rows each time"):
        linsep.separate(problem, None)


def test_what_does_not_go_with_svmlight_text_is_refused(tmp_path):
    path = text(tmp_path, *rows())
    with pytest.raises(InputError, match="target must be left out"):
        linsep.separate(path, "kind", max_memory=MEMORY)
    empty = tmp_path / "empty.svm"
    empty.write_text("# nothing but comments\n" * 1000)
    with pytest.raises(InputError, match="at least one row"):
        linsep.separate(empty, None, max_memory=100)
