"""The sweep over all rows, and a whole answer, against reading the array once.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/bandwidth.py

A sweep computes every margin with its rounding bound, judges it and keeps the smallest,
in one reading of the rows: float64 and float32, on one thread and on two. Reading is
the faster of a sum and of a dot product with itself, by as many threads, each with a
thread of BLAS; each is done
in turn and ratios are taken pair by pair. A whole answer, proof included, is shown as
multiples of `X.sum()`, which runs in one thread.
"""

import argparse
import os
import statistics
import time
from pathlib import Path

import numpy as np
from reporting import Lines
from threadpoolctl import threadpool_limits

import linsep
from linsep import datasets
from linsep.rows.dense import DenseRows
from linsep.rows.threads import map_in_threads


def read_sum(parts):
    return sum(map_in_threads(np.sum, parts))


def read_dot(parts):
    return sum(map_in_threads(lambda part: part @ part, parts))


def timed(function, *arguments):
    started = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - started, result


def sweep_line(X, y, n_threads, repeats):
    """Return a line on the sweep: its rate, and its share of that of reading."""
    os.environ["LINSEP_NUM_THREADS"] = str(n_threads)
    rows = DenseRows(X, y.astype(np.int8), True)
    w = np.random.default_rng(0).standard_normal(X.shape[1] + 1)
    # As large as what the sweep takes at a time, so that threads share the work alike.
    parts = np.array_split(X.reshape(-1), 16 * n_threads)
    shares, rates = [], []
    for _ in range(repeats + 1):
        with threadpool_limits(1):
            reading = min(timed(read_sum, parts)[0], timed(read_dot, parts)[0])
        sweeping, _ = timed(rows.scan, w, 1_000)
        shares.append(reading / sweeping)
        rates.append(X.nbytes / sweeping / 1e9)
    del os.environ["LINSEP_NUM_THREADS"]
    return (
        f"sweep, {X.dtype}, {n_threads} thread{'s' * (n_threads > 1)}: "
        f"{statistics.median(rates[1:]):.1f} GB/s, "
        f"{statistics.median(shares[1:]):.0%} of reading "
        f"({min(shares[1:]):.0%} to {max(shares[1:]):.0%})"
    )


def answer_line(name, X, y, repeats):
    """Return a line on a whole answer as multiples of reading all of X."""
    linsep.separate(X[:1_000], y[:1_000])
    ratios, passes = [], []
    for _ in range(repeats):
        reading, _ = timed(X.sum)
        seconds, answer = timed(linsep.separate, X, y)
        assert answer.proved
        ratios.append(seconds / reading)
        passes.append(answer.n_passes)
    return (
        f"{name}: {answer.status.value}, {passes[0]} passes, "
        f"{statistics.median(ratios):.1f} times X.sum() "
        f"({min(ratios):.1f} to {max(ratios):.1f})"
    )


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--columns", type=int, default=100)
    options.add_argument("--repeats", type=int, default=11)
    options.add_argument("--save", type=Path)
    given = options.parse_args()
    n, d = given.rows, given.columns
    data = datasets.planted_margin(n, d, margin=1e-3)
    lines = Lines(f"{n:,} x {d}", f"{given.repeats} repetitions")
    for X in (data.X, data.X.astype(np.float32)):
        for n_threads in (1, 2):
            lines.say(sweep_line(X, data.y, n_threads, given.repeats))
    repeats = max(1, given.repeats // 2)
    lines.say(answer_line("margin 1e-3", data.X, data.y, repeats))
    data = datasets.flipped_labels(n, d // 2, n_flips=10)
    lines.say(answer_line("half the columns, 10 flips", data.X, data.y, repeats))
    lines.save(given.save)


if __name__ == "__main__":
    main()
