"""The largest margin: seconds and margin, beside Clarabel and scikit-learn's SVC.

Every solver gets the same arrays; the margin is computed here from the hyperplane it
returns, never by the solver itself: ``min_i y_i (w . x_i + b) / |w|``, shown as a share
of the best upper bound. The solvers take turns, so that a busy moment of the machine
falls on all of them: once to warm up, then in rounds until two seconds are spent or as
many rounds as asked are done. Shown are the median of a solver's seconds and the
median, over the rounds, of its seconds divided by ours of the same round. A missing
peer is skipped with a reason.

Run as ``python benchmarks/max_margin.py [--rounds 21] [--quick]``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.svm import SVC

import linsep

Hyperplane = tuple[NDArray[np.float64], float]
Solver = Callable[[NDArray, NDArray], Hyperplane]
# Seconds after which no further round is begun.
ENOUGH = 2.0


def data_sets(quick: bool) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Yield name, rows, signs."""
    X, y = load_digits(return_X_y=True)
    for a, b in [(0, 1), (3, 8), (4, 9), (1, 8)]:
        keep = (y == a) | (y == b)
        yield f"digits {a}{b}", X[keep], np.where(y[keep] == b, 1.0, -1.0)
    X, y = load_wine(return_X_y=True)
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        keep = (y == a) | (y == b)
        yield f"wine {a}{b}", X[keep], np.where(y[keep] == b, 1.0, -1.0)
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer, raw", X, np.where(y == 1, 1.0, -1.0)
    rng = np.random.default_rng(0)
    sizes = [(2_000, 20)] if quick else [(2_000, 20), (20_000, 50)]
    for n, d in sizes:
        X = rng.normal(size=(n, d))
        w = rng.normal(size=d)
        w /= np.linalg.norm(w)
        margins = X @ w
        signs = np.where(margins > 0, 1.0, -1.0)
        near = np.abs(margins) < 0.01
        X += np.outer(np.where(near, 0.01 * signs - margins, 0.0), w)
        yield f"planted {n} x {d}", X, signs
    X = sparse.random_array((300, 3000), density=0.01, rng=rng).toarray()
    yield "wide 300 x 3000", X, rng.choice([-1.0, 1.0], 300)
    if not quick:
        X = rng.normal(size=(1000, 3000))
        yield "wide 1000 x 3000", X, np.sign(X @ rng.normal(size=3000))
        signs = rng.choice([-1.0, 1.0], 2000)
        X = rng.normal(size=(2000, 500))
        X[:, 0] += 4.0 * signs
        yield "two clouds 2000 x 500", X, signs


def ours(X: NDArray, signs: NDArray) -> Hyperplane:
    answer = linsep.max_margin(X, signs)
    return answer.coef, answer.intercept


def clarabel(X: NDArray, signs: NDArray) -> Hyperplane:
    import clarabel as peer

    n, d = X.shape
    quadratic = sparse.diags_array(np.append(np.ones(d), 0.0)).tocsc()
    rows = sparse.csc_matrix(-np.column_stack([X, np.ones(n)]) * signs[:, None])
    settings = peer.DefaultSettings()
    settings.verbose = False
    cones = [peer.NonnegativeConeT(n)]
    solver = peer.DefaultSolver(
        quadratic, np.zeros(d + 1), rows, -np.ones(n), cones, settings
    )
    solution = np.array(solver.solve().x)
    return solution[:d], float(solution[d])


def svc(X: NDArray, signs: NDArray, tol: float = 1e-3) -> Hyperplane:
    model = SVC(C=1e10, kernel="linear", tol=tol, max_iter=1_000_000).fit(X, signs)
    return model.coef_[0], float(model.intercept_[0])


SOLVERS: dict[str, Solver] = {
    "linsep": ours,
    "clarabel": clarabel,
    "SVC": svc,
    "SVC 1e-6": lambda X, signs: svc(X, signs, tol=1e-6),  # our own tolerance
}


def timed(solver: Solver, X: NDArray, signs: NDArray) -> tuple[float, Hyperplane]:
    start = time.perf_counter()
    hyperplane = solver(X, signs)
    return time.perf_counter() - start, hyperplane


def present(X: NDArray, signs: NDArray) -> dict[str, Solver]:
    """Warm every solver up; leave out those that are not installed."""
    found = {}
    for label, solver in SOLVERS.items():
        try:
            solver(X, signs)
        except ImportError as error:
            print(f"{label} skipped: {error}")
        else:
            found[label] = solver
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21, help="at most, on each set")
    parser.add_argument("--quick", action="store_true", help="small data only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    solvers = present(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]))
    heads = f"{'seconds':>9} {'/ linsep':>9} {'margin / bound':>15}"
    print(f"{'data':22} {'solver':9} {heads}")
    for name, X, signs in data_sets(options.quick):
        bound = linsep.max_margin(X, signs, tol=1e-10).margin_upper
        seconds: dict[str, list[float]] = {label: [] for label in solvers}
        started = time.perf_counter()
        planes = {}
        while len(seconds["linsep"]) < options.rounds:
            for label, solver in solvers.items():
                spent, planes[label] = timed(solver, X, signs)
                seconds[label].append(spent)
            if time.perf_counter() - started > ENOUGH:
                break
        for label, (w, b) in planes.items():
            margin = (signs * (X @ w + b)).min() / np.linalg.norm(w)
            ratio = np.median(np.divide(seconds[label], seconds["linsep"]))
            print(
                f"{name:22} {label:9} {np.median(seconds[label]):9.4f} {ratio:9.2f} "
                f"{margin / bound:15.9f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
