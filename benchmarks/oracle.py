"""The fused oracle against reading its array once, by the same number of threads.

Run on a quiet machine, with the BLAS settings of tests unset:

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/oracle.py

Reading is a sum of all entries. Each repetition times the sum, the oracle, and the
two-product formula in NumPy one after the other; the ratios are taken pair by pair.
"""

import argparse
import statistics
import time

import numpy as np

from linsep.rows.threads import count_threads, map_in_threads
from linsep.solvers.oracle import Oracle


def read(flat, n_threads):
    return sum(map_in_threads(np.sum, np.array_split(flat, n_threads)))


def two_products(A, v):
    margins = A @ v
    weights = np.exp(margins.min() - margins)
    return weights @ A / weights.sum()


def timed(function, *arguments):
    started = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=21)
    options = parser.parse_args()

    rng = np.random.default_rng(0)
    A = rng.standard_normal((options.rows, options.columns))
    v = 0.1 * rng.standard_normal(options.columns)
    w = rng.standard_normal(options.columns)
    oracle, n_threads = Oracle(A), count_threads()
    flat = A.reshape(-1)
    read(flat, n_threads), oracle.sweep.answer(v, w), two_products(A, v)
    seconds = {"read": [], "oracle": [], "two products": []}
    for _ in range(options.repeats):
        seconds["read"].append(timed(read, flat, n_threads))
        seconds["oracle"].append(timed(oracle.sweep.answer, v, w))
        seconds["two products"].append(timed(two_products, A, v))
    print(f"{options.rows:,} x {options.columns} float64, {n_threads} threads")
    for name, times in seconds.items():
        ratios = [t / r for t, r in zip(times, seconds["read"], strict=True)]
        rate = A.nbytes / statistics.median(times) / 1e9
        print(
            f"{name:>12}: {statistics.median(times) * 1e3:7.1f} ms, {rate:5.1f} GB/s, "
            f"{statistics.median(ratios):.2f} times reading (least {min(ratios):.2f})"
        )


if __name__ == "__main__":
    main()
