"""How fast the margin of Algorithm 1's plain average nears the largest one.

The relative gap ``1 - margin(average) / largest``, on 16 instances, beside the bound
that `docs/theory.rst` proves, ``(2 tau + 1) / (tau^2 - 1)``, and ``1 / tau^2``, with
``tau = T margin / (r sqrt(2 ln n))``. Run as ``python benchmarks/average_margin.py``;
with a folder as an argument the picture and the table are written there.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import linsep
from linsep.figure_style import BLACK, BLUE, VERMILION, new_figure, save, style
from linsep.lab.reproduce.theorems import planted_rows
from linsep.perceptrons import Optimistic

ROUNDS = 16_000


def instances():
    """Yield a name, rows and labels of each instance, separable through the origin."""
    for n in (20, 200, 2000):
        for margin in (0.3, 0.1, 0.03):
            yield f"planted n={n}, {margin}", *planted_rows(n, 1.0, margin, seed=n)
    for size in (4, 6, 8):
        data = linsep.datasets.paper_rows(size)
        yield f"data set (2), n={size}", np.asarray(data.X, dtype=float), data.y
    for name, load, one in (
        ("iris, setosa", load_iris, 0),
        ("wine, first", load_wine, 0),
        ("digits, zeros", load_digits, 0),
        ("breast cancer", load_breast_cancer, 0),
    ):
        X, y = load(return_X_y=True)
        scale = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
        yield name, np.column_stack([X, np.ones(len(X))]), np.where(y == one, 1, -1)


def gaps_of(X, y):
    """Return ``tau`` and the relative gap at rounds that grow by a tenth."""
    A = y[:, None] * X
    largest = linsep.max_margin(X, y, fit_intercept=False, tol=1e-10).margin_upper
    radius = np.linalg.norm(A, axis=1).max()
    first = radius * np.sqrt(2 * np.log(len(A))) / largest
    rounds = np.unique(np.geomspace(1, ROUNDS, 103).astype(int))
    gaps = []
    for t, state in zip(range(1, ROUNDS + 1), Optimistic().rounds(A), strict=False):
        if t in rounds:
            w = state.w
            gaps.append(1 - (A @ w).min() / np.linalg.norm(w) / largest)
    return rounds / first, np.array(gaps)


def main(folder=None):
    """Measure, print, and draw."""
    lines = [
        "instance                      tau at T=16,000      gap   most gap*tau^2, tau>2"
    ]
    with style():
        figure, ax = new_figure((6.4, 4.2))
        for name, X, y in instances():
            tau, gap = gaps_of(X, y)
            most = np.max((gap * tau**2)[tau > 2], initial=0.0)
            lines.append(f"{name:28} {tau[-1]:14.1f} {gap[-1]:11.2e} {most:12.3f}")
            ax.plot(tau, np.maximum(gap, 1e-9), color=BLUE, lw=0.9, alpha=0.7)
            if (bad := gap[tau > 1] > ((2 * tau + 1) / (tau**2 - 1))[tau > 1]).any():
                lines[-1] += f"  ABOVE THE BOUND {bad.sum()} times"
        tau = np.geomspace(1.05, 3000, 200)
        bound = (2 * tau + 1) / (tau**2 - 1)
        ax.plot(
            tau, bound, color=VERMILION, label=r"proved: $(2\tau + 1) / (\tau^2 - 1)$"
        )
        ax.plot(tau, 1 / tau**2, color=BLACK, ls="--", label=r"$1 / \tau^2$")
        ax.plot([], [], color=BLUE, label="measured, 16 instances")
        ax.set(xscale="log", yscale="log", xlim=(0.05, 3000), ylim=(1e-7, 5))
        ax.set_xlabel(
            r"$\tau = T\gamma / (r\sqrt{2 \ln n})$: rounds, in units of the bound"
        )
        ax.set_ylabel("1 - margin of the average / largest")
        ax.legend()
        if folder is not None:
            save(figure, Path(folder) / "average-margin.png")
    print("\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
