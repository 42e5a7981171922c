"""Overlapping classes: accuracy by cross-validation, and seconds to a gap of 1e-4.

Accuracy: five folds, `OptimisticPerceptron()` at its defaults beside the best of a grid
of C for LinearSVC and LogisticRegression on the same raw columns; the grid's best is
chosen on the very folds it is reported on, which favours the peers. Seconds: one solve
of the capped game at a given nu to a relative gap of 1e-4, computed from both players'
sides, beside LinearSVC at its own tolerance.

Run as ``python benchmarks/soft_margin.py [FILE.csv TARGET]...``; data sets shipped with
scikit-learn and planted ones are used, files are added.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC

from linsep import OptimisticPerceptron
from linsep.files import read_table

GRID = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
N_REPEATS = 5


def data_sets(files: list[str]) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Yield name, rows, labels."""
    X, y = load_digits(return_X_y=True)
    yield "digits 8 v rest", X, y == 8
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer 30", X, y == 1
    rng = np.random.default_rng(0)
    for flips in (0.05, 0.15):
        X = rng.normal(size=(2000, 20))
        y = (X @ rng.normal(size=20) > 0) ^ (rng.random(2000) < flips)
        yield f"planted, {flips:.0%} flipped", X, y
    for path, target in zip(files[::2], files[1::2], strict=True):
        table = read_table(path, target)
        yield path, np.asarray(table.X), table.y == np.unique(table.y)[1]


def seconds_of(model, X: NDArray, y: NDArray) -> float:
    """Return the best time of a few fits."""
    best = np.inf
    for _ in range(N_REPEATS):
        start = time.perf_counter()
        model.fit(X, y)
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    warnings.simplefilter("ignore")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, X, y in data_sets(sys.argv[1:]):
        scores = {}
        for C in GRID:
            for peer in (LinearSVC(C=C), LogisticRegression(C=C, max_iter=1000)):
                scores[repr(peer)] = cross_val_score(peer, X, y, cv=folds)
        best = max(scores, key=lambda peer: scores[peer].mean())
        error = scores[best].std(ddof=1) / np.sqrt(5)
        accuracy = cross_val_score(OptimisticPerceptron(), X, y, cv=folds).mean()
        print(
            f"{name:22} {X.shape}: ours {accuracy:.4f}, best peer "
            f"{scores[best].mean():.4f} +- {error:.4f} ({best})"
        )
        chosen = OptimisticPerceptron().fit(X, y)
        nu = chosen.nu_
        if nu is None:
            print(f"{'':22} separable: {chosen.separation_}")
            continue
        model = OptimisticPerceptron(nu=nu)
        spent, peer = seconds_of(model, X, y), seconds_of(LinearSVC(), X, y)
        low, high = model.value_bounds_
        print(
            f"{'':22} nu={nu:.3f}: {spent:.4f} s to gap {(high - low) / high:.1e}; "
            f"LinearSVC {peer:.4f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
