"""Planted data for the tests of this folder."""

import math

import numpy as np
from hypothesis import strategies as st


def paper_rows(n):
    """Data set (2) of the paper: X (n, n), y; largest margin sqrt(3 / (4^n - 1))."""
    X = np.zeros((n, n))
    y = np.zeros(n)
    for i in range(1, n + 1):
        X[i - 1, : i - 1] = (-1.0) ** i
        X[i - 1, i - 1] = (-1.0) ** (i + 1)
        y[i - 1] = (-1.0) ** (i + 1)
    return X, y


def planted(seed, n, d, margin, *, scale=1.0):
    """X, y without intercept, both classes present, margin `scale * margin` along u.

    Returns (X, y, u) with y_i x_i . u >= scale * margin and |x_i| <= scale.
    """
    rng = np.random.default_rng(seed)
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    X = rng.normal(size=(n, d))
    X -= np.outer(X @ u, u)
    length = np.linalg.norm(X, axis=1)
    X *= (rng.uniform(0.2, 1.0, n) * math.sqrt(1 - margin**2) / length)[:, None]
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    rng.shuffle(y)
    X += np.outer(y * margin, u)
    return scale * X, y, u


@st.composite
def planted_problems(draw, max_rows=25, max_columns=6):
    """(X, y, u, margin), many scales and shapes."""
    n = draw(st.integers(2, max_rows))
    d = draw(st.integers(2, max_columns))
    margin = 10.0 ** -draw(st.floats(0.2, 1.3))
    scale = draw(st.sampled_from([1e-2, 1.0, 1e2]))
    X, y, u = planted(draw(st.integers(0, 2**32 - 1)), n, d, margin, scale=scale)
    return X, y, u, scale * margin * (1 - 1e-9)
