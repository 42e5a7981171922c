"""Overlapping classes: accuracy by cross-validation, and seconds to a gap of 1e-4.

Accuracy: five folds, dealt anew a few times, `OptimisticPerceptron()` at its defaults
beside the best of a grid of C for LinearSVC and LogisticRegression on the same columns.
The grid's best is chosen on the very folds it is reported on, which favours the peers;
the difference is in standard errors over the folds. Seconds: one play of the game at
the chosen share and temperature to a relative gap of 1e-4, computed from both players'
sides; the whole default fit, with the proof that no hyperplane separates; and the
capped game itself at that share; each beside LinearSVC at its own tolerance.

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
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC

from linsep import OptimisticPerceptron
from linsep.files import read_table

GRID = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
N_DEALS = 3
N_REPEATS = 7


def data_sets(files: list[str]) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Yield name, rows, labels."""
    X, y = load_digits(return_X_y=True)
    yield "digits 8 v rest", X, y == 8
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer, 5 columns", X[:, :5], y == 1
    X, y = load_diabetes(return_X_y=True, scaled=False)
    yield "diabetes, halves", X, y > np.median(y)
    rng = np.random.default_rng(0)
    for n, d, flips in ((2000, 20, 0.05), (2000, 20, 0.15), (20_000, 50, 0.1)):
        X = rng.normal(size=(n, d))
        y = (X @ rng.normal(size=d) > 0) ^ (rng.random(n) < flips)
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


def compare_accuracy(X: NDArray, y: NDArray) -> list[str]:
    """Return a line a deal of the folds."""
    lines = []
    for deal in range(N_DEALS):
        folds = StratifiedKFold(5, shuffle=True, random_state=deal)
        scores = {
            repr(peer): cross_val_score(peer, X, y, cv=folds)
            for C in GRID
            for peer in (LinearSVC(C=C), LogisticRegression(C=C, max_iter=1000))
        }
        best = max(scores, key=lambda peer: scores[peer].mean())
        mean, error = scores[best].mean(), scores[best].std(ddof=1) / np.sqrt(5)
        ours = cross_val_score(OptimisticPerceptron(), X, y, cv=folds).mean()
        lines.append(
            f"ours {ours:.4f}, best peer {mean:.4f} ({best}): "
            f"{(ours - mean) / max(error, 1e-9):+.2f} standard errors"
        )
    return lines


def main() -> None:
    warnings.simplefilter("ignore")
    for name, X, y in data_sets(sys.argv[1:]):
        print(f"{name} {X.shape}")
        for line in compare_accuracy(X, y):
            print(f"  {line}", flush=True)
        chosen = OptimisticPerceptron().fit(X, y)
        if chosen.nu_ is None:
            print(f"  separable: {chosen.separation_}")
            continue
        peer = seconds_of(LinearSVC(), X, y)
        played = OptimisticPerceptron(nu=chosen.nu_, temperature=0.5)
        for what, model in (
            ("game", played),
            ("with choice and proof", OptimisticPerceptron()),
            ("no temperature", OptimisticPerceptron(nu=chosen.nu_)),
        ):
            spent = seconds_of(model, X, y)
            low, high = model.value_bounds_
            print(
                f"  {what}: {1e3 * spent:.1f} ms, {spent / peer:.2f} times LinearSVC; "
                f"nu={model.nu_:.3f}, gap {(high - low) / high:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
