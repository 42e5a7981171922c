"""Fashion-MNIST (70,000 x 784): pairs of classes, and each against the rest.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE \
        python benchmarks/fashion_mnist.py [--folder DIR] [--save FILE]

Debian's package dataset-fashion-mnist has the images; without, nothing is done. Each
of the 55 problems is diagnosed under a limit: the exact partition into separated and
overlapped rows, proved, or undecided. Pixels are whole numbers from 0 to 255.
"""

from __future__ import annotations

import argparse
import gzip
import platform
import time
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import linsep

FOLDER = Path("/usr/share/datasets/fashion-mnist")


def read(path: Path, offset: int) -> NDArray[np.uint8]:
    """Return the bytes of a file after its header."""
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8)[offset:]


def load(folder: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the pixels of all 70,000 images, and their classes."""
    parts = ("train", "t10k")
    images = [read(folder / f"{part}-images-idx3-ubyte.gz", 16) for part in parts]
    labels = [read(folder / f"{part}-labels-idx1-ubyte.gz", 8) for part in parts]
    return np.concatenate(images).reshape(-1, 784), np.concatenate(labels)


def main() -> None:
    """Diagnose all problems, print a line for each, and what they took together."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--pairs", type=int, default=45, help="pairs at most")
    parser.add_argument("--rest", type=int, default=10, help="classes against the rest")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each")
    options = parser.parse_args()
    if not options.folder.exists():
        print(f"{options.folder} is absent; install dataset-fashion-mnist")
        return
    X, y = load(options.folder)
    lines = [f"{time.strftime('%Y-%m')}, 2 cores, Python {platform.python_version()}"]
    print(lines[0])
    problems = [
        (f"{a} or {b}", np.isin(y, (a, b)), y == b)
        for a, b in combinations(range(10), 2)
    ][: options.pairs]
    every = np.ones(y.size, dtype=bool)
    problems += [(f"{k} or not", every, y == k) for k in range(options.rest)]
    begun = time.perf_counter()
    for name, chosen, labels in problems:
        started = time.perf_counter()
        pixels = X[chosen].astype(np.float32)
        answer = linsep.diagnose(pixels, labels[chosen], time_limit=options.limit)
        seconds = time.perf_counter() - started
        lines.append(
            f"{name:9} {chosen.sum():6} rows  {seconds:6.2f} s  "
            f"{answer.status.value}, proved: {answer.proved}, rank {answer.rank}, "
            f"{answer.separated_rows.size} separated, "
            f"{answer.overlapped_rows.size} overlapped"
        )
        print(lines[-1], flush=True)
    lines.append(f"together {time.perf_counter() - begun:.0f} s")
    print(lines[-1])
    if options.save:
        options.save.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
