"""Integer planes and rows on a grid: what exact constructions start from."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["GRID", "integer_rows", "integer_weights", "rows_at_heights", "small_plane"]

#: Rows of exact constructions are multiples of this: sums of a few thousand of them,
#: with weights of a few units, stay within 53 bits.
GRID = 2.0**-20


def small_plane(n_features: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return weights from -3 to 3, the first of them 1, of a plane through zero."""
    plane = rng.integers(-3, 4, size=n_features)
    plane[0] = 1
    return plane


def integer_rows(
    n_samples: int, plane: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows of integers from -9 to 10, none on the plane, and their sides."""
    rows = rng.integers(-9, 10, size=(n_samples, len(plane)))
    rows[rows @ plane == 0, 0] += 1
    return rows, np.sign(rows @ plane)


def rows_at_heights(
    heights: NDArray[np.int64], plane: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return Gaussian rows x, rounded to the grid, with ``x @ plane == height``."""
    rows = np.rint(rng.standard_normal((len(heights), len(plane))) / GRID) * GRID
    rows[:, 0] = heights - rows[:, 1:] @ plane[1:]
    return rows


def integer_weights(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return positive integers, a few units each, whose sum is a power of two."""
    weights = rng.integers(1, 5, size=count)
    total = int(weights.sum())
    missing = (1 << (total - 1).bit_length()) - total
    return weights + np.bincount(rng.integers(count, size=missing), minlength=count)
