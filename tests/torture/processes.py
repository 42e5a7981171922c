"""Attacks on running commands: signals at random instants, full disks, crowds."""

import contextlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

import linsep
from helpers import peak_of_command

COMMAND = [sys.executable, "-m", "linsep"]


def write_csv(path, rng, n=300, d=8, overlap=True):
    """A file of two classes; returns its path as text."""
    X = np.round(rng.standard_normal((n, d)), 3)
    y = X[:, 0] > (rng.standard_normal(n) if overlap else 0)
    names = ",".join([*(f"x{j}" for j in range(d)), "y"])
    lines = [names] + [
        ",".join(map(repr, row)) + f",{'yes' if label else 'no'}"
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def start(*arguments, **options):
    """Start a command as a shell in the foreground would: SIGINT is not ignored."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **options,
    )


def write_batches(path, folder):
    """The same rows as a folder of Parquet files, and as a table of DuckDB."""
    import duckdb
    import pandas as pd

    frame = pd.read_csv(path)
    many, database = folder / "many", folder / "rows.duckdb"
    many.mkdir()
    for k, start in enumerate(range(0, len(frame), 1 + len(frame) // 3)):
        part = frame.iloc[start : start + 1 + len(frame) // 3]
        part.to_parquet(many / f"{k}.parquet")
    with duckdb.connect(str(database)) as opened:
        opened.execute("CREATE TABLE rows AS SELECT * FROM frame")
    return str(many), str(database)


def seconds_of(*arguments):
    """How long a command takes when nothing disturbs it."""
    started = time.perf_counter()
    start(*arguments).communicate()
    return time.perf_counter() - started


def interrupt(figures, rng, n_tries, folder):
    """Signals at random instants."""
    path = write_csv(folder / "signals.csv", rng, 2000, 30)
    many, database = write_batches(path, folder)
    commands = [
        ("separate", many, "--target", "y"),
        ("separate", database, "--sql", "FROM rows", "--target", "y"),
        ("separate", path, "--target", "y"),
        ("diagnose", path, "--target", "y"),
        ("max-margin", path, "--target", "y"),
    ]
    lasting = [seconds_of(*command) for command in commands]
    for k in range(n_tries):
        which = k % len(commands)
        number = signal.SIGINT if rng.random() < 0.7 else signal.SIGTERM
        process = start(*commands[which])
        time.sleep(float(rng.uniform(0.0, lasting[which])))
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        try:
            printed, errors = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            figures.fail(f"{commands[which][0]} went on for 30 s after {number.name}")
            continue
        code = process.returncode
        early = not printed and (code in (-2, -15) or "<frozen" in errors)
        if early:  # the interpreter itself was still starting
            figures.counts["before the command began"] += 1
        elif "Traceback" in errors:
            figures.fail(f"{number.name}: {errors[-400:]}")
        elif number == signal.SIGTERM and code not in (0, 143, -15):
            figures.fail(f"SIGTERM ended with {code}")
        else:
            figures.counts[f"{number.name}, exit code {code}"] += 1


def _saves(path, apart, folder):
    """Commands that save a file, short of the file's name; one class apart in one."""
    proof = str(folder / "beside.json")
    return {
        "page.html": ("separate", path, "--target", "y", "--report"),
        "model.onnx": ("fit", path, "--target", "y", "--model"),
        "search.json": ("separate", apart, "--target", "y", "--checkpoint"),
        "proof.json": ("separate", path, "--target", "y", "--certificate"),
        "rows.npz": (
            *("diagnose", path, "--target", "y", "--certificate", proof),
            "--certificate-data",
        ),
        "model.json": ("fit", path, "--target", "y", "--model"),
    }


def kill_saves(figures, rng, n_tries, folder):
    """SIGKILL while a file is saved."""
    path = write_csv(folder / "kills.csv", rng, 3000, 40)
    apart = write_csv(folder / "apart.csv", rng, 3000, 40, overlap=False)
    saves = _saves(path, apart, folder)
    names = list(saves)
    whole = {}
    lasting = {}
    for name, command in saves.items():
        begun = time.perf_counter()
        done = start(*command, str(folder / name))
        _, errors = done.communicate()
        lasting[name] = time.perf_counter() - begun
        if not (folder / name).exists():
            figures.fail(f"{' '.join(command[:1])} saved nothing: {errors[-200:]}")
            names.remove(name)
            continue
        whole[name] = (folder / name).read_bytes()
    for _ in range(n_tries):
        name = str(rng.choice(names))
        target = folder / name
        # A search does not begin with a checkpoint that it cannot read.
        is_older = rng.random() < 0.5 and name != "search.json"
        before = b"an older file" if is_older else None
        target.unlink(missing_ok=True)
        if before is not None:
            target.write_bytes(before)
        process = start(*saves[name], str(target))
        time.sleep(float(lasting[name] * rng.uniform(0.5, 1.05)))
        process.kill()
        process.communicate()
        found = target.read_bytes() if target.exists() else None
        if found == before:
            figures.counts["as it was"] += 1
        elif found is not None and _is_whole(found, whole[name]):
            figures.counts["saved whole"] += 1
        else:
            figures.fail(f"{name}: {len(found or b'')} bytes of {len(whole[name])}")
        for left in folder.glob(f".{name}*"):
            left.unlink()


def _is_whole(found, whole):
    """Whether two saved files say the same; a model's file says how long it took."""
    if found == whole:
        return True
    if found.lstrip().startswith(b"<!"):
        return found.rstrip().endswith(b"</html>")
    if found[:2] == b"PK":
        return found[-22:-18] == b"PK\x05\x06" and len(found) == len(whole)
    try:
        return json.loads(found).keys() == json.loads(whole).keys()
    except ValueError:
        return False


def fill_disk(figures, rng, n_tries, folder):
    """A full disk, where mounting is allowed."""
    disk = folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)],
        capture_output=True,
    )
    if mounted.returncode != 0:
        figures.counts["left out: mounting is not allowed"] += 1
        return
    try:
        # So many columns that each file needs more than the disk has.
        path = write_csv(folder / "full.csv", rng, 400, 120, overlap=False)
        apart = write_csv(folder / "apart.csv", rng, 3000, 40, overlap=False)
        saves = _saves(path, apart, folder)
        for _ in range(max(1, n_tries // len(saves))):
            for name, command in saves.items():
                target = disk / name
                # A search does not begin with a checkpoint that it cannot read.
                before = [] if name == "search.json" else [b"old"]
                for old in before:
                    target.write_bytes(old)
                # Four pages of 4,096 bytes there are, and the old file has one.
                (disk / "ballast").write_bytes(b"x" * (10_000 if before else 13_000))
                done = start(*command, str(target))
                _, errors = done.communicate()
                if "Traceback" in errors:
                    figures.fail(f"{name}: {errors[-300:]}")
                elif [file.read_bytes() for file in disk.glob(name)] != before:
                    figures.fail(f"{name}: the old file was harmed")
                elif list(disk.glob(".*")):
                    figures.fail(f"{name}: something half-written was left")
                elif done.returncode == 0:
                    figures.fail(f"{name}: exit code 0, but nothing was saved")
                else:
                    figures.counts[f"exit code {done.returncode}"] += 1
                target.unlink(missing_ok=True)
                (disk / "ballast").unlink()
    finally:
        subprocess.run(["umount", str(disk)], check=True)
        shutil.rmtree(disk)


def full_device(figures, rng, n_tries, folder):
    """Output and files on /dev/full."""
    path = write_csv(folder / "data.csv", rng, 200, 6, overlap=False)
    apart = write_csv(folder / "apart.csv", rng, 3000, 40, overlap=False)
    many, database = write_batches(path, folder)
    model, proof = str(folder / "model.json"), str(folder / "proof.json")
    start("fit", path, "--target", "y", "--model", model).communicate()
    start("separate", path, "--target", "y", "--certificate", proof).communicate()
    printing = [
        *((name, path, "--target", "y") for name in ("separate", "diagnose")),
        ("max-margin", path, "--target", "y", "--json"),
        ("separate", many, "--target", "y"),
        ("separate", database, "--sql", "FROM rows", "--target", "y"),
        ("fit", path, "--target", "y", "--model", str(folder / "other.json")),
        ("predict", model, path),
        ("verify", proof, path),
        ("--help",),
        ("--version",),
        ("separate", "--help"),
    ]
    for arguments in printing:
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True
            )
        if "Traceback" in done.stderr or done.returncode != 2:
            figures.fail(f"{arguments}: {done.returncode} {done.stderr[-300:]}")
        else:
            figures.counts["output"] += 1
    for name, command in _saves(path, apart, folder).items():
        place = folder / f"full{Path(name).suffix}"
        place.unlink(missing_ok=True)
        place.symlink_to("/dev/full")
        process = start(*command, str(place))
        _, errors = process.communicate()
        if "Traceback" in errors or process.returncode != 2:
            figures.fail(f"{name}: {process.returncode} {errors[-300:]}")
        else:
            figures.counts["files"] += 1


def read_only_home(figures, rng, n_tries, folder):
    """A system on which nothing can be written."""
    path = write_csv(folder / "home.csv", rng)
    surroundings = {
        **os.environ,
        "HOME": "/proc",
        "TMPDIR": "/proc",
        "XDG_CACHE_HOME": "/proc",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for command in ("separate", "diagnose", "max-margin"):
        process = start(command, path, "--target", "y", env=surroundings)
        _, errors = process.communicate()
        if process.returncode == 0 and not errors:
            figures.counts["answered"] += 1
        else:
            figures.fail(f"{command}: {process.returncode} {errors[-300:]}")


def save_in_a_crowd(figures, rng, n_tries, folder):
    """Threads that save to one path."""
    answer = linsep.separate([[0.0], [1.0], [2.0]], [0, 1, 0])
    path = folder / "crowd.json"

    def save(_):
        try:
            answer.certificate.save(path)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    with ThreadPoolExecutor(8) as pool:
        for fault in pool.map(save, range(n_tries)):
            if fault is None:
                figures.counts["saved"] += 1
            else:
                figures.fail(fault)
    linsep.Certificate.load(path)


def solve_in_a_crowd(figures, rng, n_tries):
    """Calls from several threads and processes at once."""
    problems = []
    for _ in range(4):
        X = rng.standard_normal((400, 30))
        problems.append((X, (X[:, 0] + 0.3 * rng.standard_normal(400) > 0).astype(int)))
    expected = [_outcome(problem) for problem in problems]
    before = _blas_threads()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(_outcome, problems * max(1, n_tries // 8)))
    after = _blas_threads()
    for k, outcome in enumerate(found):
        if outcome == expected[k % 4]:
            figures.counts["threads"] += 1
        else:
            figures.fail("another answer in a thread")
    if before != after:
        figures.fail(f"the BLAS had {before} threads before, {after} after")
    with multiprocessing.get_context("spawn").Pool(2) as crowd:
        for k, outcome in enumerate(crowd.map(_outcome, problems * 2)):
            if outcome == expected[k % 4]:
                figures.counts["processes"] += 1
            else:
                figures.fail("another answer in a process")


def _outcome(problem):
    answer = linsep.separate(*problem)
    vector = answer.coef if answer.separable else answer.conflict
    return answer.status.value, np.asarray(vector).tobytes()


def _blas_threads():
    return sorted(
        (one["filepath"], one["num_threads"])
        for one in threadpool_info()
        if one["user_api"] == "blas"
    )


def processor_seconds(process):
    """Seconds of the processor a process has used."""
    text = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
    return sum(map(int, text.split()[11:13])) / os.sysconf("SC_CLK_TCK")


def seconds_late(call, limit):
    """Seconds of the processor a call uses after its limit; load does not change them.

    Another process looks at the clock, as this one may be held by a long product.
    """
    here, (reader, writer) = os.getpid(), os.pipe()
    watcher = os.fork()
    if watcher == 0:
        time.sleep(limit)
        os.write(writer, repr(processor_seconds(here)).encode())
        os._exit(0)
    os.close(writer)
    call()
    ended = processor_seconds(here)
    with os.fdopen(reader) as told:
        at_limit = float(told.read())
    os.waitpid(watcher, 0)
    return max(0.0, ended - at_limit)


def keep_time(figures, rng, n_tries):
    """Calls with a time limit of one second."""
    shapes = [(2000, 700), (4000, 3500), (2000, 5000), (20_000, 1000), (50_000, 100)]
    for k in range(n_tries):
        n, d = shapes[k % len(shapes)]
        X = rng.standard_normal((n, d))
        y = rng.integers(0, 2, n)
        for call in (linsep.separate, linsep.max_margin, linsep.diagnose):
            seconds = seconds_late(partial(call, X, y, time_limit=1), 1.0)
            if seconds < 1:
                figures.counts["in time" if seconds < 0.5 else "up to 1 s late"] += 1
            else:
                figures.fail(f"{call.__name__} {n} x {d}: {seconds:.1f} s late")


def keep_memory(figures, rng, n_tries, folder):
    """CSV files, all of the process beside their matrix."""
    d, n_blocks = 50, 33
    numbers = rng.standard_normal((10_000, d)).tolist()
    block = "".join(
        ",".join(f"{x:.14f}" for x in row) + f",{row[0] > 0:d}\n" for row in numbers
    )
    path = folder / "large.csv"
    with path.open("w") as file:
        file.write(",".join([*(f"x{j}" for j in range(d)), "y"]) + "\n")
        file.writelines([block] * n_blocks)
    for k in range(n_tries):
        command = ("separate", "max-margin", "diagnose")[k % 3]
        peak = peak_of_command(command, path, "--target", "y")
        share = peak / (n_blocks * 10_000 * d * 8)
        if share <= 1.5:
            figures.counts[f"{command} {share:.2f} of the matrix"] += 1
        else:
            figures.fail(f"{command}: {share:.2f} of the matrix")
