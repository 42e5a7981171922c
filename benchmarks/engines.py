"""The two engines of a working set side by side, and what the pipeline makes of them.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/engines.py

First the cost of a multiply-add in each engine, and the steps the active set takes a
coordinate: the constants of `linsep.solvers.engines` are read off here. Then, over a
range of margins, the seconds of the loop alone (at most 20,000 rounds), of the active
set alone, and of the pipeline that runs the loop first within its budget.
"""

import itertools
import time

import numpy as np

from linsep.solvers.active_set import ActiveSet
from linsep.solvers.engines import loop_budget, solve
from linsep.solvers.metric import whiten
from linsep.solvers.optimistic import OptimisticLoop
from linsep.solvers.oracle import Oracle


def planted(n, d, margin, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    A *= np.sign(A @ w)[:, None]
    return A + np.outer(np.maximum(0, margin - A @ w), w)


def loop_alone(rows, limit=20_000):
    state = OptimisticLoop(Oracle(rows)).play(limit)
    return state.n_rounds, state.found


def active_set_alone(rows):
    problem = ActiveSet(rows)
    list(problem.solve())
    return problem


def timed(function, *arguments, **keywords):
    started = time.perf_counter()
    result = function(*arguments, **keywords)
    return result, time.perf_counter() - started


def main():
    solve(planted(50, 5, 0.1))  # load the compiled code
    print("rows x columns | ns a multiply-add: loop, active set | steps a coordinate")
    for n, d in [(1_000, 30), (2_000, 100), (4_000, 200), (5_000, 600)]:
        rows = whiten(planted(n, d, 1e-3)).rows
        ask = Oracle(rows).sweep.answer
        v = np.ones(d)
        ask(v, v)
        _, seconds = timed(lambda ask=ask, v=v: [ask(v, v) for _ in range(20)])
        of_loop = seconds / 20 / (2 * n * d)
        state, seconds = timed(active_set_alone, rows)
        of_active_set = seconds / state.n_steps / (2.5 * d**2 + n * d / 16)
        print(
            f"{n:>5} x {d:<4} | {of_loop * 1e9:.2f}, {of_active_set * 1e9:.2f} "
            f"| {state.n_steps / d:.1f}"
        )
    print("rows x columns, margin | loop alone | active set alone | pipeline")
    for (n, d), margin in itertools.product(
        [(600, 30), (2_000, 100), (5_000, 400)], [0.3, 0.03, 0.003]
    ):
        A = planted(n, d, margin)
        coordinates, whitening = timed(whiten, A)
        (rounds, found), loop = timed(loop_alone, coordinates.rows)
        _, active = timed(active_set_alone, coordinates.rows)
        candidate, pipeline = timed(solve, A)
        print(
            f"{n:>5} x {d:<4} {margin:<5} | {loop:.3f} s, {rounds} rounds"
            f"{'' if found else ', none found'} | {active:.3f} s | "
            f"{pipeline - whitening:.3f} s, {candidate.n_rounds} rounds, "
            f"budget {loop_budget(n, d)}"
        )


if __name__ == "__main__":
    main()
