"""Data larger than memory: passes, seconds and peak memory, beside Arrow's own reading.

    python benchmarks/out_of_core.py --rows 8000000 --columns 100 FOLDER
    python benchmarks/out_of_core.py --rows 8000000 --flips 0.01 FOLDER
    python benchmarks/out_of_core.py --rows 1000000 --kills 10 FOLDER

The folder is filled with Parquet files of float32 once, and kept. Every measurement is
a process of its own, so that its peak is its own: pyarrow's reading of the same columns
as often (`Dataset.to_batches`, as it comes), `linsep.separate`, and with flipped labels
`linsep.diagnose`. With --kills the search is ended by SIGKILL at random instants, and
goes on from its checkpoint.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

import linsep

ROWS_A_FILE = 500_000
# Rows within this distance of the plane that labels them are moved away from it.
MARGIN = 1e-3


def fill(folder, n_rows, n_columns, flips):
    """Write planted rows, some labels flipped."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    w = rng.standard_normal(n_columns)
    w /= np.linalg.norm(w)
    for start in range(0, n_rows, ROWS_A_FILE):
        n = min(ROWS_A_FILE, n_rows - start)
        X = rng.standard_normal((n, n_columns), dtype=np.float32)
        y = np.where(X @ w > 0, 1, -1)
        X += (2 * MARGIN * y)[:, np.newaxis].astype("f4") * w.astype("f4")
        y = np.where(rng.random(n) < flips, -y, y)
        columns = {f"x{j}": X[:, j] for j in range(n_columns)}
        table = pa.table(columns | {"y": y.astype(np.int8)})
        pa.parquet.write_table(
            table, folder / f"part-{start // ROWS_A_FILE:04d}.parquet"
        )


def read(folder, n_passes):
    """Read all columns as often, as pyarrow does by itself."""
    dataset = pa.dataset.dataset(folder)
    for _ in range(int(n_passes)):
        for _ in dataset.to_batches():
            pass
    return {}


def separate(folder, checkpoint=None):
    """Separate, and count the readings of all columns."""
    from linsep.rows.blocks import BlockRows

    held = []
    begun = BlockRows.__init__
    BlockRows.__init__ = lambda self, *a, **k: (
        held.append(self),
        begun(self, *a, **k),
    )[1]
    answer = linsep.separate(folder, "y", checkpoint=checkpoint)
    return {
        "status": answer.status.value,
        "proved": answer.proved,
        "n_passes": answer.n_passes,
        "readings": held[0].n_readings,
    }


def diagnose(folder):
    """Diagnose, from moments."""
    answer = linsep.diagnose(folder, "y")
    return {"status": answer.status.value, "proved": answer.proved}


TASKS = {"read": read, "separate": separate, "diagnose": diagnose}


def measured(task, *arguments):
    """Run a task in a process of its own; return what it found, seconds and memory."""
    command = [sys.executable, __file__, "--task", task, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    told = ", ".join(f"{name} {value}" for name, value in found.items())
    print(f"{task}: {told}", flush=True)
    return found


def kill_and_go_on(folder, times):
    """End the search by SIGKILL, again and again, and see that it comes to the same."""
    expected = linsep.separate(folder, "y")
    random.seed(0)
    for number in range(times):
        checkpoint = Path(folder).with_suffix(f".checkpoint-{number}.json")
        checkpoint.unlink(missing_ok=True)
        command = [sys.executable, __file__, "--task", "separate", folder, checkpoint]
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
        time.sleep(random.uniform(0.2, 1.3 * expected.seconds))
        process.send_signal(signal.SIGKILL)
        process.wait()
        answer = linsep.separate(folder, "y", checkpoint=checkpoint)
        same = np.array_equal(answer.coef, expected.coef)
        print(
            f"killed and resumed: {answer.status.value}, the same: {same}", flush=True
        )
        checkpoint.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--flips", type=float, default=0.0)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--task", choices=TASKS)
    parser.add_argument("arguments", nargs="+")
    given = parser.parse_args()
    if given.task:
        started = time.perf_counter()
        found = TASKS[given.task](*given.arguments)
        found["seconds"] = round(time.perf_counter() - started, 2)
        # Not what `resource` says: that begins with the peak of the parent.
        status = Path("/proc/self/status").read_text()
        peak = int(status.split("VmHWM:")[1].split()[0])
        print(json.dumps(found | {"peak MB": peak // 1024}))
        return
    folder = Path(given.arguments[0])
    if not folder.exists():
        fill(folder, given.rows, given.columns, given.flips)
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e9
    print(f"{given.rows:,} x {given.columns}, {size:.2f} GB, {os.cpu_count()} cores")
    found = measured("separate", folder)
    alone = measured("read", folder, found["readings"])
    share = alone["seconds"] / found["seconds"]
    print(f"{share:.0%} of the speed of reading alone")
    if given.flips:
        measured("diagnose", folder)
    if given.kills:
        kill_and_go_on(folder, given.kills)


if __name__ == "__main__":
    main()
