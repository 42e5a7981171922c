"""Attacks by what strangers send: files, models, names."""

import gzip
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

from linsep.proof.checker import content_digest
from torture.processes import COMMAND, write_batches, write_csv

# A screen obeys these; none may come from the data.
CONTROLS = {chr(k) for k in range(32)} - {"\n"} | {chr(k) for k in range(127, 160)}


def command(*arguments, seconds=60):
    """Run a command; return its exit code, output and errors (124: it did not end)."""
    try:
        done = subprocess.run(
            [*COMMAND, *arguments],
            capture_output=True,
            text=True,
            timeout=seconds,
            errors="replace",
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return 124, "", ""
    return done.returncode, done.stdout, done.stderr


def judge(figures, what, code, errors, allowed=(0, 1, 2)):
    """A hostile thing is used or refused, in words."""
    if "Traceback" in errors or code not in allowed:
        figures.fail(f"{what}: exit code {code}: {errors[-300:]}")
    else:
        figures.counts["refused" if code == 2 else f"exit code {code}"] += 1


def hostile_files(figures, rng, n_tries, folder):
    """Damaged and hostile files."""
    whole = folder / "whole.csv"
    write_csv(whole, rng, 60, 4)
    npz, npy, svm = folder / "whole.npz", folder / "whole.npy", folder / "whole.svm"
    X = rng.standard_normal((60, 4))
    np.savez(npz, X=X, y=X[:, 0] > 0)
    np.save(npy, np.column_stack([X, X[:, 0] > 0]))
    svm.write_text(
        "".join(f"{int(x[0] > 0)} 1:{x[0]!r} 3:{x[1]!r}\n" for x in X.tolist())
    )
    packed = folder / "whole.csv.gz"
    packed.write_bytes(gzip.compress(whole.read_bytes()))
    sources = [whole, npz, npy, svm, packed]
    for k in range(n_tries):
        source = sources[k % len(sources)]
        data = damaged(source.read_bytes(), rng)
        path = folder / f"damaged{''.join(source.suffixes)}"
        path.write_bytes(data)
        code, _, errors = command("separate", str(path), "--target", "y")
        judge(figures, f"{source.name}: {data[:300]!r}", code, errors)


def hostile_batches(figures, rng, n_tries, folder):
    """Folders, databases and checkpoints, damaged"""
    path = write_csv(folder / "whole.csv", rng, 3000, 20, overlap=False)
    many, database = map(Path, write_batches(path, folder))
    search = folder / "search.json"
    resumed = ("separate", path, "--target", "y", "--checkpoint", str(search))
    command(*resumed)
    tries = [
        (many / "1.parquet", ("separate", str(many), "--target", "y")),
        (many / "0.parquet", ("diagnose", str(many), "--target", "y")),
        (
            database,
            ("separate", str(database), "--sql", "FROM rows", "--target", "y"),
        ),
        (search, resumed),
    ]
    whole = {place: place.read_bytes() for place, _ in tries}
    expected = {arguments: command(*arguments)[1] for _, arguments in tries}
    for k in range(n_tries):
        place, arguments = tries[k % len(tries)]
        data = damaged(whole[place], rng)
        if place is search and rng.random() < 0.7:
            data = forged_checkpoint(whole[place], rng)
        place.write_bytes(data)
        code, printed, errors = command(*arguments)
        place.write_bytes(whole[place])
        if code == 0 and place is search and printed[:10] != expected[arguments][:10]:
            figures.fail(f"another answer: {data[:2000]!r}")
        else:
            judge(figures, f"{place.name}: {data[:300]!r}", code, errors)


def forged_checkpoint(content, rng):
    """A checkpoint with one entry changed, by someone who can compute its digest."""
    document = json.loads(content)
    del document["content_sha256"]
    key = str(rng.choice(list(document)))
    strange = [None, "", -1, 0, [], {}, "1e5", 10**30, True, [[]], [0, 0], [1], 1.5]
    document[key] = strange[rng.integers(len(strange))]
    document["content_sha256"] = content_digest(document)
    return json.dumps(document).encode()


def damaged(content, rng):
    """Bytes cut off, changed, put in, or all others."""
    data, act = bytearray(content), rng.integers(4)
    if act == 0:
        return bytes(data[: rng.integers(len(data))])
    if act == 1:
        for _ in range(int(rng.integers(1, 20))):
            data[rng.integers(len(data))] = rng.integers(256)
        return bytes(data)
    if act == 2:
        at = rng.integers(len(data))
        data[at:at] = rng.integers(0, 256, 30, dtype=np.uint8).tobytes()
        return bytes(data)
    return rng.integers(0, 256, 500, dtype=np.uint8).tobytes()


def special_files(figures, rng, n_tries, folder):
    """Devices, pipes, folders, and archives that swell."""
    pipe = folder / "pipe.csv"
    os.mkfifo(pipe)
    model = folder / "pipe.json"
    os.mkfifo(model)
    bombs = []
    for name, content in {"zeros.csv.gz": b"\0", "rows.csv.gz": b"1,2,3\n"}.items():
        with gzip.open(folder / name, "wb", 9) as stream:
            for _ in range(4000):
                stream.write(content * (1_048_576 // len(content)))
        bombs.append(folder / name)
    with zipfile.ZipFile(folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        header = (
            b"\x93NUMPY\x01\x00v\x00"
            + (
                b"{'descr': '<f8', 'fortran_order': False, 'shape': (500000000, 1), }"
            ).ljust(117)
            + b"\n"
        )
        with archive.open("X.npy", "w", force_zip64=True) as stream:
            stream.write(header)
            for _ in range(3000):
                stream.write(bytes(1_048_576))
    bombs.append(folder / "bomb.npz")
    csv = write_csv(folder / "plain.csv", rng)
    tries = [
        *(("separate", str(bomb), "--target", "0") for bomb in bombs),
        ("separate", str(pipe), "--target", "y"),
        ("separate", "/dev/zero", "--target", "y"),
        ("separate", str(folder), "--target", "y"),
        ("predict", str(model), csv),
        ("predict", "/dev/zero", csv),
        ("verify", "/dev/zero", csv, "--target", "y"),
        ("verify", str(model), csv, "--target", "y"),
    ]
    for arguments in tries:
        limited = [
            "bash", "-c", 'ulimit -v 8000000; exec "$@"', "bash", *COMMAND, *arguments
        ]  # fmt: skip
        try:
            done = subprocess.run(
                limited, capture_output=True, text=True, timeout=60, errors="replace"
            )
            judge(figures, arguments, done.returncode, done.stderr, allowed=(2,))
        except subprocess.TimeoutExpired:
            figures.fail(f"{arguments}: did not end in 60 s")


def hostile_models(figures, rng, n_tries, folder):
    """Models changed at random."""
    csv = write_csv(folder / "models.csv", rng, 80, 4, overlap=False)
    good = folder / "good.json"
    code, _, errors = command("fit", csv, "--target", "y", "--model", str(good))
    assert code == 0, errors
    expected = command("predict", str(good), csv)[1]
    strange = [
        None,
        "",
        -1,
        0,
        [],
        {},
        "1e5",
        10**400,
        True,
        "NaN",
        [[]],
        [None],
        1e308,
    ]
    for _ in range(n_tries):
        document = json.loads(good.read_text())
        key = str(rng.choice(list(document)))
        value = document[key]
        if isinstance(value, list) and value and rng.random() < 0.7:
            k = int(rng.integers(len(value)))
            if rng.random() < 0.3:
                del value[k]
            else:
                value[k] = strange[rng.integers(len(strange))]
        elif isinstance(value, dict) and value and rng.random() < 0.7:
            value[str(rng.choice(list(value)))] = strange[rng.integers(len(strange))]
        elif rng.random() < 0.2:
            del document[key]
        else:
            document[key] = strange[rng.integers(len(strange))]
        path = folder / "model.json"
        path.write_text(json.dumps(document))
        code, printed, errors = command("predict", str(path), csv)
        harmless = key in ("status", "classes", "target", "coef", "intercept")
        if code == 0 and printed != expected and not harmless:
            figures.fail(f"used with {key} = {document.get(key)!r}")
        else:
            judge(figures, f"{key} = {document.get(key)!r}", code, errors, (0, 2))


def hostile_names(figures, rng, n_tries, folder):
    """Names and values that a screen would obey."""
    wicked = [
        "\x1b[2Jx",
        "a\x07b",
        "\x1b]0;t\x07",
        "r\rq",
        "\x9b1m",
        "<b>",
        "[red]x",
        "̈",
    ]
    path = folder / "names.csv"
    for k in range(n_tries):
        one, two, three = rng.choice(wicked, 3)
        lines = [f'"{one}{k}","{two}g","y{three}"']
        for i in range(12):
            level = wicked[int(rng.integers(len(wicked)))]
            lines.append(
                f'{rng.integers(9)},"{level}{i % 3}","{"no" if i % 2 else one}"'
            )
        path.write_text("\n".join(lines) + "\n", newline="")
        tries = [
            (name, str(path), "--target", f"y{three}")
            for name in ("separate", "diagnose", "max-margin")
        ]
        tries.append(("separate", str(path), "--target", one))
        for arguments in tries:
            code, printed, errors = command(*arguments)
            found = CONTROLS & set(printed + errors)
            if found:
                figures.fail(f"{arguments}: {found} in the output")
            else:
                judge(figures, arguments, code, errors)


if sys.platform == "win32":
    raise SystemExit("these attacks need signals, pipes and mounts of Linux")
