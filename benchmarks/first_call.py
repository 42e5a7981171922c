"""The first call in a fresh process, imports included, beside scikit-learn's.

    python benchmarks/first_call.py [--pairs 11] [--all-cases] [--save FILE]

Each process reads the same .npy files with NumPy and makes one call: of
`linsep.separate`, with its proof, or of scikit-learn's `LogisticRegression(C=inf).fit`.
They take turns. Shown are medians of milliseconds of whole processes, of those less
what a process takes that only reads the data, and the median of the ratios of whole
processes, scikit-learn's over linsep's, with the least and the largest.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from reporting import Lines
from sklearn.datasets import load_breast_cancer

import linsep

READ = """
import sys
import numpy as np
X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
"""
CALLS = {
    "reading": READ,
    "linsep": READ + "import linsep\nassert linsep.separate(X, y).proved",
    "scikit-learn": READ
    + "from sklearn.linear_model import LogisticRegression\n"
    + "LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)",
}
CASES = Path(__file__).parents[1] / "tests" / "data" / "cases.jsonl"


def data_sets(all_cases):
    """Yield names, rows and labels of small data, separable and not."""
    some = ("mlumr32-yx", "sm2282-quasi", "sm2282-strong-overlap")
    for case in map(json.loads, CASES.read_text().splitlines()):
        is_plain = case["problem"] == "binary" and len(set(case["y"])) > 1
        if case["id"] in some or (all_cases and is_plain):
            yield f"case {case['id']}", np.array(case["X"], float), np.array(case["y"])
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 5))
    yield "50 x 5, planted", X, (X @ rng.standard_normal(5) > 0).astype(int)
    yield (
        "200 x 5, labels by coin",
        rng.standard_normal((200, 5)),
        rng.integers(2, size=200),
    )
    yield "breast cancer", *load_breast_cancer(return_X_y=True)


def seconds_of(call, files):
    """Return the seconds of one process."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", call, *files], check=True, cwd="/"
    )
    return time.perf_counter() - started


def compare(name, X, y, pairs, folder):
    """Return a line of the table."""
    files = [str(Path(folder, "X.npy")), str(Path(folder, "y.npy"))]
    np.save(files[0], X), np.save(files[1], y)
    seconds = {who: [] for who in CALLS}
    for _ in range(pairs + 1):
        for who, call in CALLS.items():
            seconds[who].append(seconds_of(call, files))
    last = {who: spent[1:] for who, spent in seconds.items()}  # files were cold
    middle = {who: 1e3 * median(spent) for who, spent in last.items()}
    ratios = np.divide(last["scikit-learn"], last["linsep"])
    return (
        f"{name:28}{middle['linsep']:9.0f}{middle['scikit-learn']:14.0f}"
        f"{middle['linsep'] - middle['reading']:10.0f}"
        f"{middle['scikit-learn'] - middle['reading']:14.0f}"
        f"{median(ratios):8.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    )


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pairs", type=int, default=11)
    options.add_argument("--all-cases", action="store_true", help="all small cases")
    options.add_argument("--save", type=Path)
    given = options.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once
    # The processes must find the linsep that this one has.
    source = str(Path(linsep.__file__).parents[1])
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    import sklearn

    lines = Lines(f"scikit-learn {sklearn.__version__}", f"{given.pairs} pairs")
    lines.say(f"{'whole process, then beyond reading':>50}")
    lines.say(
        f"{'':28}{'linsep':>9}{'scikit-learn':>14}{'linsep':>10}"
        f"{'scikit-learn':>14}{'ratio':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, X, y in data_sets(given.all_cases):
            lines.say(compare(name, X, y, given.pairs, folder))
    lines.save(given.save)


if __name__ == "__main__":
    main()
