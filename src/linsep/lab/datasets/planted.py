"""Gaussian rows around a planted hyperplane: separable, spoilt by one row, by many."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from linsep.arrays import Floats, Mask
from linsep.input import InputError, checked_count, checked_number, checked_random_state
from linsep.lab.datasets.record import Dataset, RandomState, with_conflict

# Rows of exact constructions are multiples of this: sums of a few thousand of them,
# with weights of a few units, stay within 53 bits.
GRID = 2.0**-20
_CHUNK = 1 << 18  # entries drawn together: 2 MB


def planted_margin(
    n_samples: int,
    n_features: int,
    *,
    margin: float = 1e-3,
    fit_intercept: bool = True,
    offset: float = 0.0,
    dtype: DTypeLike = np.float64,
    random_state: RandomState = None,
) -> Dataset:
    """Return Gaussian rows, each at least `margin` away from a planted hyperplane.

    Construction: a random unit vector w; labels in equal numbers, shuffled; standard
    Gaussian rows x, moved along w until ``y (x @ w + offset)`` is what
    ``|x @ w + offset|`` was, or the margin if that is more.

    Truth: w separates with the margin asked for. The rows are pushed beyond it by
    more than a bound on the rounding of the dot product (Higham, *Accuracy and
    Stability of Numerical Algorithms*, 2002, section 3.1), of the stored entries and
    of the norm of w, so it holds for the numbers as stored. The largest margin is
    larger, but close when n_samples is much larger than n_features.

    Parameters
    ----------
    n_samples, n_features : int, at least 1
        1,000,000 x 100 takes a few seconds, and no memory beyond X but some 30 MB.
    margin : float, default=1e-3
        Distance from the hyperplane, in the units of X; positive. A margin below the
        resolution of `dtype` is exceeded.
    fit_intercept : bool, default=True
    offset : float, default=0.0
        Distance of the hyperplane from the origin; needs `fit_intercept`.
    dtype : float64 or float32, default=float64
    random_state : int, Generator or None, default=None

    Examples
    --------
    >>> data = planted_margin(1000, 5, margin=0.01)
    >>> slack = data.y * (data.X @ data.coef + data.intercept)
    >>> bool(slack.min() >= 0.01 * np.linalg.norm(data.coef))
    True
    """
    checked_count("n_samples", n_samples)
    if offset and not fit_intercept:
        raise InputError(
            f"offset must be 0 without an intercept, got {offset!r}; pass "
            "fit_intercept=True for a hyperplane that misses the origin"
        )
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise InputError(f"dtype must be float64 or float32, got {np.dtype(dtype)}")
    rng, plane, y = _begun(n_samples, n_features, margin, random_state)
    X = np.empty((n_samples, n_features), dtype=dtype)
    _draw_rows(X, y, plane, offset, margin, rng)
    return Dataset(
        X=X,
        y=y,
        fit_intercept=fit_intercept,
        separable=True,
        description=f"Gaussian rows with a planted margin of {margin:g}",
        margin_squared=Fraction(margin) ** 2,
        coef=plane,
        intercept=float(offset),
    )


def planted_overlap(
    n_samples: int,
    n_features: int,
    *,
    n_conflict: int | None = None,
    margin: float = 1e-3,
    fit_intercept: bool = True,
    random_state: RandomState = None,
) -> Dataset:
    """Return planted rows, and one that lies in the hull of the other class.

    Construction: rows as in `planted_margin`, rounded to multiples of 2^-20; then one
    row of class +1 becomes an average of ``n_conflict - 1`` rows of class -1, with
    integer weights that sum to a power of two, so that it is stored exactly.

    Truth: not separable, since the weighted signed rows sum to zero (Gordan's
    theorem), and that is exact: the sum is one of integers below 2^53. All other
    rows are separated by the planted hyperplane, so every conflict holds that row.

    Parameters
    ----------
    n_samples, n_features : int
        At least `n_conflict` rows; at least 1 column.
    n_conflict : int or None, default=None
        Rows in the planted conflict: from 2 (one point with both labels) to
        ``n_features + 1``, one more with an intercept; the most by default, if there
        are as many rows.
    margin : float, default=1e-3
        The margin of the other rows; it grows a little by the rounding.
    fit_intercept : bool, default=True
    random_state : int, Generator or None, default=None

    Returns
    -------
    Dataset
        With `conflict` and `conflict_weights`.

    Examples
    --------
    >>> data = planted_overlap(50, 3, random_state=1)
    >>> len(data.conflict), data.separable
    (5, False)
    >>> signed = data.y[:, None] * np.column_stack([data.X, np.ones(50)])
    >>> np.array(data.conflict_weights) @ signed[data.conflict]
    array([0., 0., 0., 0.])
    """
    checked_count("n_samples", n_samples, least=2)
    checked_count("n_features", n_features)
    most = min(n_samples, n_features + 1 + int(fit_intercept))
    size = most if n_conflict is None else n_conflict
    if not 2 <= size <= most:
        raise InputError(
            f"n_conflict must be from 2 to {most} (n_features + 1, one more with an "
            f"intercept, and no more than n_samples), got {n_conflict!r}"
        )
    rng, plane, y = _begun(n_samples, n_features, margin, random_state)
    rows = rng.choice(n_samples, size=size, replace=False)
    hull, inside = rows[:-1], rows[-1]
    y[hull], y[inside] = -1, 1
    X = np.empty((n_samples, n_features))
    _draw_rows(X, y, plane, 0.0, margin, rng, grid=GRID)
    weights = integer_weights(size - 1, rng)
    X[inside] = weights @ X[hull] / weights.sum()
    description = f"Gaussian rows with a planted conflict of {size} rows"
    data = Dataset(X, y, fit_intercept, False, description, coef=plane)
    return with_conflict(data, rows, np.append(weights, weights.sum()))


def flipped_labels(
    n_samples: int,
    n_features: int,
    *,
    n_flips: int = 10,
    margin: float = 1e-3,
    fit_intercept: bool = True,
    random_state: RandomState = None,
) -> Dataset:
    """Return planted rows with the labels of a few rows near the plane flipped.

    Construction: rows as in `planted_margin`, rounded to multiples of 2^-20. For each
    flip, two rows of one class are moved to within twice the margin, a third becomes
    their midpoint, and its label is flipped.

    Truth: separable before the flips. Not separable after: twice the flipped row and
    its two parents sum to zero, exactly. The violations are no larger than twice the
    margin, which makes the conflicts hard to see.

    Parameters
    ----------
    n_samples, n_features : int
        At least ``3 * n_flips`` rows; at least 1 column.
    n_flips : int, default=10
    margin : float, default=1e-3
    fit_intercept : bool, default=True
    random_state : int, Generator or None, default=None

    Returns
    -------
    Dataset
        With `flipped`, and the `conflict` of the first flip.

    Examples
    --------
    >>> data = flipped_labels(1000, 5, n_flips=3)
    >>> slack = data.y * (data.X @ data.coef)
    >>> np.array_equal(np.flatnonzero(slack < 0), data.flipped)
    True
    """
    checked_count("n_flips", n_flips)
    checked_count("n_samples", n_samples, least=3 * n_flips)
    rng, plane, y = _begun(n_samples, n_features, margin, random_state)
    triples = rng.choice(n_samples, size=(n_flips, 3), replace=False)
    y[triples] = y[triples[:, :1]]
    X = np.empty((n_samples, n_features))
    near = np.zeros(n_samples, dtype=bool)
    near[triples] = True
    _draw_rows(X, y, plane, 0.0, margin, rng, grid=GRID, near=near)
    one, other, middle = triples.T
    X[middle] = (X[one] + X[other]) / 2
    y[middle] = -y[middle]
    description = f"Gaussian rows with {n_flips} labels flipped"
    data = Dataset(
        X, y, fit_intercept, False, description, coef=plane, flipped=np.sort(middle)
    )
    return with_conflict(data, triples[0], (1, 1, 2))


def integer_weights(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return positive integers, a few units each, whose sum is a power of two."""
    weights = rng.integers(1, 5, size=count)
    total = int(weights.sum())
    missing = (1 << (total - 1).bit_length()) - total
    return weights + np.bincount(rng.integers(count, size=missing), minlength=count)


def _begun(
    n_samples: int, n_features: int, margin: float, random_state: RandomState
) -> tuple[np.random.Generator, Floats, NDArray[np.int64]]:
    """Return what draws, the normal of the plane, and the labels, all checked.

    The normal is a random direction, of length 1 up to rounding; there are as many
    labels -1 as +1, or one more +1, in random order.
    """
    checked_count("n_features", n_features)
    checked_number("margin", margin, above=0)
    rng = checked_random_state(random_state)
    direction = rng.standard_normal(n_features)
    labels = np.where(np.arange(n_samples) % 2 == 0, 1, -1).astype(np.int64)
    return rng, direction / np.linalg.norm(direction), rng.permutation(labels)


def _draw_rows(
    X: NDArray[Any],
    y: NDArray[np.int64],
    plane: NDArray[Any],
    offset: float,
    margin: float,
    rng: np.random.Generator,
    *,
    grid: float = 0.0,
    near: Mask | None = None,
) -> None:
    """Fill X with Gaussian rows on their own sides of the plane.

    The slack asked for is the margin and an allowance for everything that rounding
    may take away: the stored entries (half a unit of `dtype`, or half the grid) and
    the dot product, whose error is at most (d + 2) 2^-53 times the sum of the
    absolute products. Moving a row at most trebles that sum.
    """
    n, d = X.shape
    sizes = np.abs(plane)
    unit = np.finfo(X.dtype).eps / 2 + (d + 8) * 2.0**-53
    step = max(1, _CHUNK // d)
    for start in range(0, n, step):
        chunk = slice(start, min(start + step, n))
        rows = rng.standard_normal((chunk.stop - start, d))
        slack = rows @ plane + offset
        terms = np.abs(rows) @ sizes + abs(offset) + margin
        least = (1 + 2.0**-40) * margin + 4 * unit * terms + grid * sizes.sum()
        wanted = np.maximum(np.abs(slack), least)
        if near is not None:
            close = least * (1 + rng.random(len(least)))
            wanted = np.where(near[chunk], close, wanted)
        rows += (y[chunk] * wanted - slack)[:, None] * plane
        X[chunk] = np.rint(rows / grid) * grid if grid else rows
