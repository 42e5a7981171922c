"""A matrix filled some rows at a time: in a file if it is large, else in memory."""

import os
import signal
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import linsep
from helpers import PEAK, peak_of_command
from linsep.input import growing_matrix
from linsep.input.files import read_labelled, read_table
from linsep.input.growing_matrix import GrowingMatrix
from linsep.rows import mapped

pytestmark = pytest.mark.skipif(
    not mapped.is_large(1 << 40), reason="this system does not let go of pages"
)
ROWS = np.random.default_rng(0).normal(size=(3000, 7))


@pytest.fixture(autouse=True)
def _large_is_small(monkeypatch, tmp_path):
    """A matrix of some hundred kilobytes counts as large; its file is in a folder."""
    monkeypatch.setattr(mapped, "_LEAST_MAPPED", 1)
    monkeypatch.setattr(growing_matrix, "_WRITTEN", 10_000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def filled(dtype=np.float64, *, sizes=(1, 500, 0, 999, 1500), **options):
    matrix = GrowingMatrix(*ROWS.shape, dtype, **options)
    start = 0
    for size in sizes:
        matrix.append(ROWS[start : start + size])
        start += size
    return matrix


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("in_memory", [False, True])
def test_the_rows_are_those_appended(dtype, in_memory):
    matrix = filled(dtype, in_memory=in_memory)
    assert matrix.is_in_file is not in_memory
    X = matrix.matrix()
    np.testing.assert_array_equal(X, ROWS.astype(dtype), strict=True)
    assert isinstance(X, np.memmap) is not in_memory
    assert X.flags.writeable is in_memory
    kept = np.flatnonzero(ROWS[:, 0] > 0)
    some = filled(dtype, in_memory=in_memory).matrix(kept)
    np.testing.assert_array_equal(some, ROWS[kept].astype(dtype), strict=True)
    assert isinstance(some, np.memmap) is not in_memory


def test_small_matrices_stay_in_memory(monkeypatch):
    monkeypatch.setattr(mapped, "_LEAST_MAPPED", ROWS.nbytes + 1)
    assert not filled().is_in_file
    monkeypatch.setattr(mapped, "_LEAST_MAPPED", ROWS.nbytes)
    assert filled().is_in_file


def refuse(*_, **__):
    raise OSError(30, "Read-only file system")


@pytest.mark.parametrize("trouble", ["no folder", "read-only", "no room", "no system"])
def test_where_no_file_can_be_made_the_rows_are_in_memory(monkeypatch, trouble):
    if trouble == "no folder":
        monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    elif trouble == "read-only":
        monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    elif trouble == "no room":
        usage = type("Usage", (), {"free": 2 * ROWS.nbytes - 1})
        monkeypatch.setattr(growing_matrix.shutil, "disk_usage", lambda _: usage)
    else:
        monkeypatch.setattr(mapped, "_CAN_LET_GO", False)
    matrix = filled()
    assert not matrix.is_in_file
    np.testing.assert_array_equal(matrix.matrix(), ROWS, strict=True)


def test_a_file_that_cannot_be_mapped_is_read(monkeypatch):
    matrix = filled()
    monkeypatch.setattr(np, "memmap", refuse)
    np.testing.assert_array_equal(matrix.matrix(), ROWS, strict=True)


@pytest.mark.parametrize("n_bytes", [0, 9_999, 10_100, 100_000, ROWS.nbytes - 1])
def test_a_disk_that_fills_up_brings_the_rows_into_memory(n_bytes):
    """The limit of a process on files: the system's own error, at any byte."""
    import resource  # which Windows has not

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    matrix = GrowingMatrix(*ROWS.shape, np.float64)
    assert matrix.is_in_file
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        for start in range(0, len(ROWS), 100):
            matrix.append(ROWS[start : start + 100])
        X = matrix.matrix()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not matrix.is_in_file
    np.testing.assert_array_equal(X, ROWS, strict=True)


def test_a_process_that_is_killed_leaves_nothing_behind(tmp_path):
    code = (
        "import sys, numpy as np\nfrom linsep.rows import mapped\n"
        "mapped._LEAST_MAPPED = 1\n"
        "from linsep.input.growing_matrix import GrowingMatrix\n"
        "G = GrowingMatrix(1000, 5, float)\nG.append(np.ones((1000, 5)))\n"
        "X = G.matrix()\nprint(type(X).__name__, flush=True)\nsys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "memmap\n"
        assert os.listdir(tmp_path) == []
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert os.listdir(tmp_path) == []


def write_table(path, n_rows, rng):
    """A text of numbers and two columns of text, some of them missing."""
    numbers = rng.normal(size=(n_rows, 3))
    with open(path, "w") as file:
        file.write("a,colour,b,size,c,y\n")
        for k, (a, b, c) in enumerate(numbers.tolist()):
            b = "" if k % 11 == 5 else f"{b:.5f}"
            colour, size = ("red", "green", "blue")[k % 3], "SML"[k * k % 3]
            file.write(f"{a:.5f},{colour},{b},{size},{c:.4f},{int(a > 0)}\n")


@pytest.mark.parametrize("drop", [(), ("colour", "size")])
def test_a_file_is_the_same_table_in_a_file_and_in_memory(tmp_path, drop, monkeypatch):
    path = tmp_path / "table.csv"
    write_table(path, 4000, np.random.default_rng(0))
    options = {"missing": "drop", "drop": drop}
    own = read_table(path, "y", **options)
    assert own.X.flags.writeable  # it goes to a caller, who may change it
    table, y = read_labelled(path, "y", **options)
    assert isinstance(table.X, np.memmap)
    np.testing.assert_array_equal(table.X, own.X, strict=True)
    assert table.feature_names == own.feature_names
    assert table.X.shape == (len(y), 3 + 3 * (not drop))
    answers = [linsep.diagnose(path, "y", missing="drop")]
    monkeypatch.setattr(mapped, "_LEAST_MAPPED", 1 << 40)
    in_memory, _ = read_labelled(path, "y", **options)
    assert type(in_memory.X) is np.ndarray
    np.testing.assert_array_equal(in_memory.X, own.X, strict=True)
    answers.append(linsep.diagnose(path, "y", missing="drop"))
    first, second = (a.certificate.to_json() for a in answers)
    assert first == second


def test_a_column_that_counts_the_rows_is_seen_in_a_file_too(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,x,y\n" + "".join(f"{k},{k % 5},{k % 2}\n" for k in range(400)))
    table, _ = read_labelled(path, "y")
    assert isinstance(table.X, np.memmap)
    assert any("'id' counts the rows" in note for note in table.notes)


SOLVE = f"""
import sys
import numpy as np
import linsep
from linsep.input import growing_matrix
from linsep.input.growing_matrix import GrowingMatrix
from linsep.rows import mapped
{PEAK}
growing_matrix._WRITTEN = 2**20
call, mapped._LEAST_MAPPED = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(0)
matrix, y = GrowingMatrix(150_000, 20, float), np.zeros(150_000, dtype=bool)
for k in range(0, 150_000, 1000):
    X = rng.normal(size=(1000, 20))
    y[k : k + 1000] = X[:, 0] + X[:, 1] > 0
    X[:, 0] += np.where(y[k : k + 1000], 0.01, -0.01)
    matrix.append(X)
if "overlap" in sys.argv:
    y[::97] ^= True
getattr(linsep, call)(matrix.matrix(), y).summary()
print(peak())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of one process is Linux'")
@pytest.mark.parametrize("kind", ["separable", "overlap"])
@pytest.mark.parametrize("call", ["separate", "max_margin", "diagnose"])
def test_a_matrix_in_a_file_is_hardly_part_of_the_process(call, kind):
    peaks = []
    for least in (1, 1 << 40):
        done = subprocess.run(
            [sys.executable, "-c", SOLVE, call, str(least), kind],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(done.stdout))
    # Of 24 MB some five are there while they are looked at.
    assert peaks[1] - peaks[0] > 0.6 * 150_000 * 20 * 8


def write_numbers(path, n_rows, is_separable):
    """A text of 20 columns, all rows different, quickly: one counts."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 19)).round(2).tolist()
    texts = [",".join(map(str, row)) for row in rows]
    with open(path, "w") as file:
        file.write(",".join(f"x{j}" for j in range(20)) + ",y\n")
        for k in range(n_rows):
            y = rows[k % 1000][0] > 0
            y ^= not is_separable and k % 97 == 0
            file.write(f"{k % 4099 + k / n_rows:.6f},{texts[k % 1000]},{y:d}\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of one process is Linux'")
@pytest.mark.parametrize("is_separable", [True, False])
def test_commands_take_at_most_half_more_than_the_matrix(tmp_path, is_separable):
    path, n_rows = tmp_path / "numbers.csv", 850_000
    write_numbers(path, n_rows, is_separable)
    for command in ("separate", "max-margin", "diagnose"):
        peak = peak_of_command(command, path, "--target", "y")
        assert peak <= 1.5 * n_rows * 20 * 8, command
