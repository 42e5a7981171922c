"""`linsep.in_hull`: 10,000 queries against 100,000 points of 20 columns, all proved.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/hull.py

Queries at three distances: most inside, half, and most outside. Beside it SciPy's HiGHS
on some of the same queries, whose answers are compared. Last, all points as queries.
"""

import time

import numpy as np
from scipy.optimize import linprog

import linsep

N, D, N_QUERIES, N_PEER = 100_000, 20, 10_000, 3


def highs(points, query):
    started = time.perf_counter()
    solved = linprog(
        np.zeros(len(points)),
        A_eq=np.vstack([points.T, np.ones(len(points))]),
        b_eq=np.append(query, 1.0),
        method="highs",
    )
    return solved.status == 0, time.perf_counter() - started


def main():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((N, D))
    for scale in (0.5, 0.8, 1.0):
        queries = scale * rng.standard_normal((N_QUERIES, D))
        started = time.perf_counter()
        answers = linsep.in_hull(points, queries)
        seconds = time.perf_counter() - started
        peer = [highs(points, query) for query in queries[:N_PEER]]
        agree = sum(
            found == inside
            for (found, _), inside in zip(peer, answers.inside, strict=False)
        )
        theirs = np.mean([spent for _, spent in peer])
        print(
            f"scale {scale}: {answers.inside.sum()} inside, "
            f"{(~answers.decided).sum()} undecided, {seconds:.1f} s; HiGHS "
            f"{theirs:.2f} s a query, "
            f"{theirs / (seconds / N_QUERIES):.0f} times as long; "
            f"{agree} of {N_PEER} agree",
            flush=True,
        )
    started = time.perf_counter()
    own = linsep.in_hull(points, points)
    print(
        f"its own points: {(~own.inside).sum()} outside, "
        f"{time.perf_counter() - started:.1f} s"
    )


if __name__ == "__main__":
    main()
