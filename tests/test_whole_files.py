"""Files are written whole or not at all, whatever comes in between."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linsep
from linsep.whole_files import whole_file

posix = pytest.mark.skipif(os.name != "posix", reason="limits and kills are of POSIX")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_many_threads_may_save_to_one_path(tmp_path):
    certificate = linsep.separate([[0.0], [1.0]], [0, 1]).certificate
    path = tmp_path / "proof.json"

    def save(_):
        certificate.save(path)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save, range(400)))
    assert names(tmp_path) == ["proof.json"]
    assert path.read_text() == certificate.to_json()


def test_a_failure_leaves_what_stood_there(tmp_path):
    path = tmp_path / "answer.txt"
    path.write_text("old")

    def fail():
        with whole_file(path) as unfinished:
            unfinished.write_text("new, but not all of it")
            raise RuntimeError("in the midst")

    with pytest.raises(RuntimeError, match="midst"):
        fail()
    assert (names(tmp_path), path.read_text()) == (["answer.txt"], "old")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_device_is_written_to_and_not_replaced():
    with pytest.raises(OSError, match="No space"), whole_file("/dev/full") as device:
        device.write_text("much")
    certificate = linsep.separate([[0.0], [1.0]], [0, 1]).certificate
    certificate.save("/dev/null")
    assert not os.path.isfile("/dev/full")
    assert not os.path.isfile("/dev/null")


# A process whose files may hold 2,000 bytes at most, as on a disk that is full by then.
LIMITED = """
import resource, sys
from linsep.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
main(prog_name="linsep")
"""


@posix
@pytest.mark.parametrize("command", ["diagnose", "separate", "fit"])
def test_a_full_disk_is_one_sentence_and_old_files_stay(tmp_path, command):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 60))
    np.savez(tmp_path / "data.npz", X=X, y=rng.integers(0, 2, 300))
    saved = {
        "diagnose": {"--certificate": "proof.json", "--certificate-data": "rows.npz"},
        "separate": {"--certificate": "proof.json"},
        "fit": {"--model": "model.json"},
    }[command]
    for name in saved.values():
        (tmp_path / name).write_text("old")
    options = [part for pair in saved.items() for part in pair]
    target = ["--target", "y"] if command == "diagnose" else []
    asked = [command, "data.npz", *target, *options]
    done = subprocess.run(
        [sys.executable, "-B", "-c", LIMITED, *asked],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ},
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "File too large" in done.stderr
    assert names(tmp_path) == sorted(["data.npz", *saved.values()])
    last = list(saved.values())[-1]
    assert (tmp_path / last).read_text() == "old"


SAVING = """
import sys
import numpy as np
from pathlib import Path
import linsep
from linsep.cli.diagnose_command import _save_data
X = np.random.default_rng(0).standard_normal((2000, 50))
answer = linsep.diagnose(X, X[:, 0] > 0)
print("saving", flush=True)
while True:
    _save_data(answer, Path(sys.argv[1]))
"""


@posix
def test_a_kill_in_the_midst_of_saving_leaves_a_whole_archive(tmp_path):
    path = tmp_path / "rows.npz"
    process = subprocess.Popen(
        [sys.executable, "-c", SAVING, path], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "saving\n"
    while not path.exists():
        time.sleep(0.01)
    time.sleep(0.3)
    process.kill()
    process.wait()
    process.stdout.close()
    with np.load(path) as archive:
        assert archive["X"].shape[1] == 50
