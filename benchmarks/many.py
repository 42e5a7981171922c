"""Many answers at once: a screen of 100,000 columns, and 1,000 small problems.

    python benchmarks/many.py [--quick] [--save FILE]

The screen has 1,000 rows and dosages of 0, 1 and 2, of which 1 in 100 are rare: these
separate now and then. `linsep.screen_columns` answers for each column, with one
covariate beside it, and every answer is to be proved. The small problems are of 50 x 5,
half of them planted and half with labels by coin, each through `linsep.separate`.
"""

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np
from reporting import Lines

import linsep


def dosages(n_rows, n_columns, rng):
    """Return counts of an allele, an outcome, and a covariate."""
    share = np.where(
        rng.random(n_columns) < 0.01, 3 / n_rows, rng.uniform(0.05, 0.5, n_columns)
    )
    columns = rng.binomial(2, share, (n_rows, n_columns)).astype(np.int8)
    return columns, rng.integers(0, 2, n_rows), rng.standard_normal((n_rows, 1))


def screen(n_rows, n_columns, rng):
    """Return a line on the screen."""
    columns, y, covariate = dosages(n_rows, n_columns, rng)
    linsep.screen_columns(covariate[:20], y[:20], columns[:20, :2])
    started = time.perf_counter()
    batch = linsep.screen_columns(covariate, y, columns)
    found = Counter(str(item.status) for item in batch)
    seconds = time.perf_counter() - started
    counts = ", ".join(f"{n:,} {status}" for status, n in found.most_common())
    return (
        f"screen of {n_columns:,} columns on {n_rows:,} rows: {seconds:.1f} s; {counts}"
    )


def small(n_problems, rng):
    """Return a line on the small problems."""
    problems = []
    for k in range(n_problems):
        X = rng.standard_normal((50, 5))
        coin = rng.integers(0, 2, 50)
        problems.append((X, (X @ rng.standard_normal(5) > 0) if k % 2 else coin))
    linsep.separate(*problems[0])
    started = time.perf_counter()
    answers = [linsep.separate(X, y) for X, y in problems]
    seconds = time.perf_counter() - started
    return (
        f"{n_problems:,} problems of 50 x 5: {seconds:.2f} s; "
        f"{sum(answer.proved for answer in answers):,} proved, "
        f"{sum(bool(answer.separable) for answer in answers):,} separable"
    )


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a tenth of each")
    options.add_argument("--save", type=Path)
    given = options.parse_args()
    share = 10 if given.quick else 1
    rng = np.random.default_rng(0)
    lines = Lines()
    for work, size in ((small, (1_000,)), (screen, (1_000, 100_000))):
        lines.say(work(*size[:-1], size[-1] // share, rng))
    lines.save(given.save)


if __name__ == "__main__":
    main()
