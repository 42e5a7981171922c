"""Two installed versions of linsep, taking turns on the same problems.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE \
        python benchmarks/before_after.py BEFORE AFTER [--save FILE]

BEFORE and AFTER are the interpreters of two environments with linsep in them. Each
problem is solved in a fresh process of each by turns; a line has the medians, and how
many times as long BEFORE takes. The first lines are whole commands: the first call
with empty caches, and later ones.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "examples/data/breast_cancer.csv"
PLANTED = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal(({n}, {d}))
w = rng.standard_normal({d})
X += np.sign(X @ w)[:, None] * {margin} * w / np.linalg.norm(w)
y = X @ w > 0
y[:{flips}] ^= True
"""
SKLEARN = "from sklearn.datasets import load_{0}; X, y = load_{0}(return_X_y=True)"
DUMMIES = """
import numpy as np
rng = np.random.default_rng(0)
X = np.c_[rng.standard_normal((2000, 5)), np.eye(20)[rng.integers(20, size=2000)]]
y = rng.random(2000) < 0.3
y[X[:, 7] > 0] = False
"""
# What is made first, and what is timed.
PROBLEMS = {
    "separate 569 x 30": (SKLEARN.format("breast_cancer"), "separate(X, y)"),
    "separate 50 x 5": (
        PLANTED.format(n=50, d=5, margin=0.1, flips=0),
        "separate(X, y)",
    ),
    "separate 178 x 13": (SKLEARN.format("wine") + "; y = y == 1", "separate(X, y)"),
    "separate 1,797 x 64": (
        SKLEARN.format("digits") + "; y = y == 3",
        "separate(X, y)",
    ),
    "separate 1,797 x 64, not": (
        SKLEARN.format("digits") + "; y = y == 8",
        "separate(X, y)",
    ),
    "separate 20,000 x 50": (
        PLANTED.format(n=20_000, d=50, margin=1e-3, flips=0),
        "separate(X, y)",
    ),
    "separate 20,000 x 50, flips": (
        PLANTED.format(n=20_000, d=50, margin=1e-3, flips=10),
        "separate(X, y)",
    ),
    "separate 500,000 x 50": (
        PLANTED.format(n=500_000, d=50, margin=1e-3, flips=0),
        "separate(X, y)",
    ),
    "max_margin 178 x 13": (
        SKLEARN.format("wine") + "; y = y == 1",
        "max_margin(X, y)",
    ),
    "max_margin 2,000 x 20": (
        PLANTED.format(n=2_000, d=20, margin=0.1, flips=0),
        "max_margin(X, y)",
    ),
    "diagnose 569 x 30": (SKLEARN.format("breast_cancer"), "diagnose(X, y)"),
    "diagnose 2,000 x 25": (DUMMIES, "diagnose(X, y)"),
}
TIMED = """
import time, linsep
from linsep import separate, max_margin, diagnose
{setup}
{call}
seconds = []
while len(seconds) < 3 or (sum(seconds) < 0.5 and len(seconds) < 50):
    start = time.perf_counter()
    {call}
    seconds.append(time.perf_counter() - start)
print(sorted(seconds)[len(seconds) // 2])
"""


def command(python: str, *arguments: str, cache: str | None = None) -> float:
    """Return the seconds that a command takes from its start to its end."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    start = time.perf_counter()
    subprocess.run(
        [python, *arguments], check=False, capture_output=True, env=environment
    )
    return time.perf_counter() - start


def inside(python: str, setup: str, call: str) -> float:
    """Return the median seconds of a call after the first, in a process of its own."""
    done = subprocess.run(
        [python, "-c", TIMED.format(setup=setup, call=call)],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


def main() -> None:
    """Run everything, the two by turns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    pythons = (options.before, options.after)
    lines = [f"{'':32s}{'before, s':>10s}{'after, s':>10s}{'ratio':>8s}"]
    print(lines[0])

    def compare(name: str, *seconds: float) -> None:
        before, after = seconds
        lines.append(f"{name:32s}{before:10.4f}{after:10.4f}{before / after:8.2f}")
        print(lines[-1], flush=True)

    whole = ("-m", "linsep", "separate", str(DATA), "--target", "diagnosis")
    with tempfile.TemporaryDirectory() as cache:
        for name in ("first command, separate", "later command, separate"):
            compare(name, *(command(p, *whole, cache=cache) for p in pythons))
        diagnose = ("-m", "linsep", "diagnose", *whole[3:])
        compare(
            "command, diagnose",
            *(command(p, *diagnose, cache=cache) for p in pythons),
        )
    compare("import linsep", *(command(p, "-c", "import linsep") for p in pythons))
    for name, (setup, call) in PROBLEMS.items():
        turns = [
            [inside(p, setup, call) for p in pythons] for _ in range(options.turns)
        ]
        compare(name, *map(statistics.median, zip(*turns, strict=True)))
    if options.save:
        options.save.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
