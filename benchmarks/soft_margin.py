"""Overlapping classes: accuracy by cross-validation, and seconds to a gap of 1e-4.

Accuracy: five folds, dealt anew a few times, `OptimisticPerceptron()` at its defaults
beside the best of a grid of C for LinearSVC and LogisticRegression on the same columns.
The grid's best is chosen on the very folds it is reported on, which favours the peers,
the more the fewer the folds: the last line is about the means over all deals, and the
peer best by them. Differences are in standard errors over the folds.

Seconds: one play of the game, the choice of its share included, to a relative gap of
1e-4 computed from both players' sides; then fits: at the share chosen; the default,
which first proves that no hyperplane separates; and the capped game itself, without a
temperature. Each is paired with a LinearSVC fit at its own tolerance, and the ratio is
the median of the pairs.

Run as ``python benchmarks/soft_margin.py [FILE.csv TARGET]...``; data sets shipped with
scikit-learn and planted ones are used, files are added.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC

from linsep import OptimisticPerceptron
from linsep.input.files import read_table
from linsep.solvers.soft_margin.tempered import solve_tempered

GRID = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
N_DEALS = 8
N_PAIRS = 15


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


def compare_seconds(play, X: NDArray, y: NDArray) -> str:
    """Run a call and a LinearSVC fit in turns; word the medians."""
    ours, theirs = [], []
    for _ in range(N_PAIRS):
        start = time.perf_counter()
        play()
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        LinearSVC().fit(X, y)
        theirs.append(time.perf_counter() - start)
    ratio = np.median(np.array(ours) / np.array(theirs))
    return f"{1e3 * np.median(ours):.2f} ms, {ratio:.2f} times LinearSVC"


def worded(ours: float, theirs: float, peer: str, error: float) -> str:
    return (
        f"ours {ours:.4f}, best peer {theirs:.4f} ({peer}): "
        f"{(ours - theirs) / max(error, 1e-9):+.2f} standard errors"
    )


def compare_accuracy(X: NDArray, y: NDArray) -> list[str]:
    """Return a line a deal of the folds, and one over all deals."""
    lines = []
    peers: dict[str, list[float]] = {}
    own, errors = [], []
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
        for peer, found in scores.items():
            peers.setdefault(peer, []).append(found.mean())
        own.append(ours)
        errors.append(error)
        lines.append(worded(ours, mean, best, error))
    best = max(peers, key=lambda peer: np.mean(peers[peer]))
    over_all = worded(np.mean(own), np.mean(peers[best]), best, np.mean(errors))
    lines.append(f"over {N_DEALS} deals: {over_all}")
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
        signs = np.where(y, 1.0, -1.0)
        scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        rows, ones = (X - X.mean(axis=0)) / scale * signs[:, None], np.ones(len(y))
        spent = compare_seconds(partial(solve_tempered, rows, signs, ones, None), X, y)
        print(f"  the game alone: {spent}", flush=True)
        for what, model in (
            ("fit at that share", OptimisticPerceptron(nu=chosen.nu_, temperature=0.5)),
            ("default fit", OptimisticPerceptron()),
            ("no temperature", OptimisticPerceptron(nu=chosen.nu_)),
        ):
            spent = compare_seconds(partial(model.fit, X, y), X, y)
            low, high = model.value_bounds_
            print(
                f"  {what}: {spent}; nu={model.nu_:.3f}, gap {(high - low) / high:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
