"""`linsep.diagnose` against firthmodels' detect_separation and HiGHS, in one run.

    python benchmarks/diagnose.py [--large]

Each line: the data, who answered, what, and seconds (the best of three; one for the
largest). The peers answer a smaller question: firthmodels whether there is a direction
at all, from one linear program with an absolute cut-off; the partition LP of HiGHS the
separated rows, within its tolerance. `diagnose` also tells complete from
quasi-complete, proves it exactly, and gives a verdict on every coefficient.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize, sparse

import linsep


def quasi_by_one_dummy(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any]:
    X = rng.standard_normal((n, d))
    X[:, -1] = 0
    X[: n // 200, -1] = 1
    y = (X[:, 0] + rng.standard_normal(n) > 0).astype(int)
    y[: n // 200] = 1
    return X, y


def factor_dummies(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Three factors as 25 dummies and five numbers: 30 columns, sparse."""
    codes = [rng.integers(0, k, n) for k in (10, 10, 5)]
    dummies = [
        sparse.csr_array((np.ones(n), (np.arange(n), c)), shape=(n, c.max() + 1))
        for c in codes
    ]
    numbers = sparse.csr_array(rng.standard_normal((n, 5)))
    y = rng.integers(0, 2, n)
    y[codes[0] == 3] = 1
    return sparse.csr_array(sparse.hstack([*dummies, numbers])), y


def partition_lp(X: Any, y: Any) -> str:
    """Maximise ``sum t`` with ``A w >= t``, ``0 <= t <= 1``: t is 1 where separated."""
    A = np.where(y == 1, 1.0, -1.0)[:, None] * np.column_stack([X, np.ones(len(y))])
    n, d = A.shape
    found = optimize.linprog(
        np.r_[np.zeros(d), -np.ones(n)],
        A_ub=sparse.hstack([sparse.csr_array(-A), sparse.eye_array(n)]).tocsr(),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * d + [(0, 1)] * n,
        method="highs",
    )
    return f"{int((found.x[d:] > 0.5).sum())} rows separated"


def firthmodels_answer(X: Any, y: Any) -> str:
    from firthmodels import detect_separation

    return f"separation {detect_separation(X, y).separation}"


def ours(X: Any, y: Any) -> str:
    answer = linsep.diagnose(X, y)
    assert answer.proved
    return f"{answer.status.value}, {answer.separated_rows.size} rows separated"


def report(name: str, who: str, run: Callable[[], str], repeats: int) -> float:
    best, said = np.inf, ""
    for _ in range(repeats):
        started = time.perf_counter()
        said = run()
        best = min(best, time.perf_counter() - started)
    print(f"{name:28} {who:12} {best:9.3f} s  {said}", flush=True)
    return best


def main() -> None:
    rng = np.random.default_rng(0)
    warnings.simplefilter("ignore")
    linsep.diagnose([[0], [1]], [0, 1])  # compiled code is loaded
    X, y = quasi_by_one_dummy(20_000, 50, rng)
    name = "20,000 x 50, one dummy"
    mine = report(name, "linsep", lambda: ours(X, y), 3)
    firth = report(name, "firthmodels", lambda: firthmodels_answer(X, y), 3)
    highs = report(name, "HiGHS", lambda: partition_lp(X, y), 1)
    print(
        f"{'':28} firthmodels {firth / mine:.1f}, HiGHS {highs / mine:.1f} times ours"
    )
    if "--large" in sys.argv[1:]:
        X, y = factor_dummies(1_000_000, rng)
        name = "1,000,000 x 30, sparse"
        report(name, "linsep", lambda: ours(X, y), 1)
        answer = linsep.diagnose(X, y)
        report(name, "certificate", lambda: str(answer.certificate), 1)
        report(name, "summary", lambda: answer.summary().split("\n")[2], 1)


if __name__ == "__main__":
    main()
