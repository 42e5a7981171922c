"""Planted data."""

import numpy as np


def planted(n, d, margin, flips, seed=0):
    """Rows, labels, and the truth; flips is a number of labels or a share of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    values = X @ w
    y = np.where(values > 0, 1, -1)
    # Rows nearer than the margin move out to it.
    X += np.outer(y * np.maximum(0.0, margin - np.abs(values)), w)
    n_flips = int(flips) if flips >= 1 else round(flips * n)
    # The rows farthest out, whose flips no hyperplane can mend, come first.
    far = np.argsort(-np.abs(values), kind="stable")
    chosen = far[:n_flips] if flips >= 1 else rng.choice(n, n_flips, replace=False)
    y[chosen] *= -1
    return X, y, n_flips == 0
