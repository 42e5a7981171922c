"""The classifier at its defaults: accuracy on new rows, and seconds, beside its peers.

Accuracy: five folds, dealt anew eight times, beside the best of a grid of C for
LinearSVC and LogisticRegression on the same columns. The grid's best is chosen on the
very folds it is reported on, by its mean over all deals, which favours the peers.
Differences are in standard errors: of the mean of the peer's five folds, averaged over
the deals.

Seconds: a default fit, proof included, paired with a fit of LinearSVC; the ratio is the
median of the pairs. All at one thread of BLAS, and in seconds of the processor, which
other work on the machine changes least.

Run as ``python benchmarks/soft_margin.py [FILE TARGET]...``; data sets shipped with
scikit-learn and planted ones are used, those of genes in ISLP too if it is installed
(``pip install --no-deps ISLP`` will do), and files are added. N_DEALS=2 in the
environment deals less often.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from linsep import OptimisticPerceptron
from linsep.input.files import read_table

GRID = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
N_DEALS = int(os.environ.get("N_DEALS", "8"))
N_PAIRS = 25


def planted(n: int, d: int, flips: float, *, tails: bool = False) -> tuple[Any, Any]:
    """Rows on both sides of a hyperplane, some of the labels flipped."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(n, d)) if tails else rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) > 0) ^ (rng.random(n) < flips)


def gene_like() -> tuple[Any, Any]:
    """63 rows of 2,308 correlated columns in four classes, 40 columns moved by each."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), (23, 20, 12, 8))
    loadings = rng.normal(size=(12, 2308)) * (rng.random((12, 2308)) < 0.3)
    X = rng.normal(size=(63, 12)) @ loadings + rng.normal(size=(63, 2308))
    for k in range(4):
        moved = rng.choice(2308, 40, replace=False)
        X[np.ix_(y == k, moved)] += 3.0
    return X, y


def text_like() -> tuple[Any, Any]:
    """1,200 texts of some 60 of 4,000 words on two topics, 5 % filed at random."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1200)
    topics = np.exp(0.55 * rng.normal(size=(2, 4000))) / (np.arange(4000) + 5.0)
    topics /= topics.sum(axis=1, keepdims=True)
    counts = np.array([rng.multinomial(60, topics[k]) for k in y])
    filed = np.where(rng.random(1200) < 0.05, rng.integers(2, size=1200), y)
    return TfidfTransformer().fit_transform(counts), filed


def genes() -> Iterator[tuple[str, Any, NDArray]]:
    """Yield the data of genes that ISLP ships, of classes of five rows or more."""
    try:
        from ISLP import load_data
    except ImportError:
        return
    khan, nci = load_data("Khan"), load_data("NCI60")
    X = np.vstack([khan["xtrain"], khan["xtest"]]).astype(float)
    yield "Khan, genes", X, np.concatenate([khan["ytrain"], khan["ytest"]])
    _, y, counts = np.unique(nci["labels"], return_inverse=True, return_counts=True)
    kept = counts[y.ravel()] >= 5
    yield "NCI60, genes", nci["data"][kept], y.ravel()[kept]


def data_sets(files: list[str]) -> Iterator[tuple[str, Any, NDArray]]:
    """Yield name, rows, labels."""
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", X, y
    yield "breast cancer, scaled", StandardScaler().fit_transform(X), y
    yield "breast cancer, 5 columns", X[:, :5], y
    yield "wine", *load_wine(return_X_y=True)
    yield "iris", *load_iris(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    yield "digits, 8 v rest", X, y == 8
    yield "digits, ten classes", X, y
    X, y = load_diabetes(return_X_y=True, scaled=False)
    yield "diabetes, halves", X, y > np.median(y)
    yield "planted, 5 % flipped", *planted(2000, 20, 0.05)
    yield "planted, 15 % flipped", *planted(2000, 20, 0.15)
    yield "planted, 10 % flipped", *planted(20_000, 50, 0.1)
    yield "planted, heavy tails", *planted(500, 30, 0.1, tails=True)
    yield "gene-like", *gene_like()
    yield from genes()
    yield "text-like, sparse", *text_like()
    for path, target in zip(files[::2], files[1::2], strict=True):
        table = read_table(path, target)
        yield path, table.X, table.y


def accuracies(model: Any, X: Any, y: NDArray) -> NDArray:
    """Return accuracy by deal and fold, shape (N_DEALS, 5)."""
    deals = [StratifiedKFold(5, shuffle=True, random_state=k) for k in range(N_DEALS)]
    return np.array([cross_val_score(model, X, y, cv=folds) for folds in deals])


def compare_accuracy(X: Any, y: NDArray) -> tuple[float, float, str, float]:
    """Return our accuracy, the best peer's, its name, and the standard error."""
    peers = {}
    for C in GRID:
        peers[f"LinearSVC({C:g})"] = accuracies(LinearSVC(C=C), X, y)
        logistic = LogisticRegression(C=C, max_iter=300)
        peers[f"Logistic({C:g})"] = accuracies(logistic, X, y)
    best = max(peers, key=lambda peer: peers[peer].mean())
    error = float(peers[best].std(axis=1, ddof=1).mean() / np.sqrt(5))
    own = accuracies(OptimisticPerceptron(), X, y)
    return float(own.mean()), float(peers[best].mean()), best, error


def compare_seconds(X: Any, y: NDArray) -> tuple[float, float, OptimisticPerceptron]:
    """Return the seconds of a default fit, the ratio to LinearSVC, and the fit."""
    OptimisticPerceptron().fit(X, y), LinearSVC().fit(X, y)  # what is loaded once
    ours, theirs = [], []
    for _ in range(N_PAIRS):
        start = time.process_time()
        model = OptimisticPerceptron().fit(X, y)
        ours.append(time.process_time() - start)
        start = time.process_time()
        LinearSVC().fit(X, y)
        theirs.append(time.process_time() - start)
    ratio = np.median(np.array(ours) / np.array(theirs))
    return float(np.median(ours)), float(ratio), model


def main() -> None:
    warnings.simplefilter("ignore")
    print(
        f"{'data':24s} {'rows x columns':>15s} {'ours':>7s} {'best of 12 peers':>25s} "
        f"{'s.e.':>6s} {'in s.e.':>7s} {'fit, ms':>8s} {'/ LinearSVC':>11s}  proved"
    )
    for name, X, y in data_sets(sys.argv[1:]):
        seconds, ratio, model = compare_seconds(X, y)
        own, best, peer, error = compare_accuracy(X, y)
        shape = f"{X.shape[0]:,} x {X.shape[1]:,}"
        print(
            f"{name:24s} {shape:>15s} {own:7.4f} {best:7.4f} {peer:>17s} {error:6.4f} "
            f"{(own - best) / max(error, 1e-9):+7.2f} {1e3 * seconds:8.1f} "
            f"{ratio:11.2f}  {model.separation_.status.value}",
            flush=True,
        )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
