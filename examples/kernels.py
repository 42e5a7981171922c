"""Two moons and two rings, separated by a Gaussian kernel, with the margin drawn.

Run as ``python examples/kernels.py docs/figures``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import make_circles, make_moons

from linsep import OptimisticPerceptron


def draw(ax, X, y, title):
    """Draw the decision function, its zero line and where it is -1 and 1."""
    model = OptimisticPerceptron(kernel="rbf", gamma=2.0).fit(X, y)
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    grid = np.meshgrid(
        *(np.linspace(a, b, 200) for a, b in zip(low, high, strict=True))
    )
    values = model.decision_function(np.column_stack([g.ravel() for g in grid]))
    values = values.reshape(grid[0].shape)
    ax.contourf(*grid, values, levels=[-1e9, 0, 1e9], colors=["#CCE3F0", "#FBE8C2"])
    ax.contour(
        *grid, values, levels=[-1, 0, 1], colors="k", linestyles=["--", "-", "--"]
    )
    for label, colour, marker in ((0, "#0072B2", "o"), (1, "#E69F00", "^")):
        ax.scatter(*X[y == label].T, s=14, color=colour, marker=marker)
    ax.scatter(*X[model.support_].T, s=60, facecolors="none", edgecolors="k")
    proved = "proved" if model.separation_.proved else "not proved"
    ax.set_title(f"{title}: {model.separation_.status}, {proved}")
    ax.set_xticks([])
    ax.set_yticks([])


def main(folder):
    """Draw both and save them."""
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
    draw(axes[0], *make_moons(200, noise=0.08, random_state=0), "moons")
    draw(axes[1], *make_circles(200, noise=0.05, factor=0.5, random_state=0), "circles")
    figure.savefig(Path(folder) / "kernels.png", dpi=110)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
