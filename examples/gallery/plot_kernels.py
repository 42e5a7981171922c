"""
Margins under kernels
=====================

Two moons are not linearly separable; in the space of a kernel they are, and the answer
is proved there too. The narrower the Gaussian, the closer the boundary hugs the rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from linsep import OptimisticPerceptron
from linsep.figure_style import BLUE, ORANGE

X, y = make_moons(160, noise=0.09, random_state=0)
low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
grid = np.meshgrid(*(np.linspace(a, b, 120) for a, b in zip(low, high, strict=True)))
points = np.column_stack([g.ravel() for g in grid])
models = {
    "linear": OptimisticPerceptron("max_margin", kernel="linear"),
    "polynomial, degree 3": OptimisticPerceptron("max_margin", kernel="poly", degree=3),
    "Gaussian, gamma 0.5": OptimisticPerceptron("max_margin", kernel="rbf", gamma=0.5),
    "Gaussian, gamma 20": OptimisticPerceptron("max_margin", kernel="rbf", gamma=20.0),
}
figure, panels = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
for ax, (name, model) in zip(panels.ravel(), models.items(), strict=True):
    model.fit(X, y)
    values = model.decision_function(points).reshape(grid[0].shape)
    ax.contourf(*grid, values, levels=[-1e9, 0, 1e9], colors=["#CCE3F0", "#FBE8C2"])
    ax.contour(
        *grid, values, levels=[-1, 0, 1], colors="k", linestyles=["--", "-", "--"]
    )
    for label, colour, marker in ((0, BLUE, "o"), (1, ORANGE, "^")):
        ax.scatter(*X[y == label].T, s=12, color=colour, marker=marker)
    ax.set(title=f"{name}: {model.separation_.status.value}", xticks=[], yticks=[])
