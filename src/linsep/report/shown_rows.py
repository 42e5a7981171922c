"""The rows a picture shows, and their places in the plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.rows import as_dense

# Rows drawn at most, of those marked and of the others.
MOST_SHOWN = 1000
MOST_MARKED = 500
# Steps of the power method: the picture needs a direction, not its digits.
_STEPS = 30


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Rows as points: across, how far along a direction; up, what varies most besides.

    Attributes
    ----------
    across, up : ndarray of shape (m,)
    codes : ndarray of shape (m,), int
        The number of each row's class.
    classes : tuple of str
    marked : ndarray of int
        The points a result is about.
    marked_as : str
        What they are, in the plural.
    numbers : tuple of int
        The numbers of these rows in the data given.
    names : tuple of str
        What they are called.
    axis : str
        What is measured across.
    is_distance : bool
        Whether 0 across is a hyperplane between two classes.
    n_rows : int
        How many rows these stand for.
    """

    across: Floats
    up: Floats
    codes: Index
    classes: tuple[str, ...]
    marked: Index
    marked_as: str
    numbers: tuple[int, ...]
    names: tuple[str, ...]
    axis: str
    is_distance: bool
    n_rows: int

    @property
    def margins(self) -> Floats:
        """Signed distances, positive on the right side; of two classes."""
        return np.where(self.codes > 0, self.across, -self.across)


def shown_rows(
    take: Callable[[Index], Any],
    codes: Index,
    classes: tuple[str, ...],
    marked: Index,
    marked_as: str,
    given: Callable[[Index], Index],
    name: Callable[[int], str],
    direction: tuple[Floats, float] | None = None,
    axis: str = "signed distance from the hyperplane",
) -> ShownRows | None:
    """Choose rows to show, those marked first, and place them in the plane.

    Parameters
    ----------
    take : callable
        Returns the rows asked for, an ndarray or csr_array of shape (m, d).
    codes : ndarray of shape (n,), int
        The number of each row's class.
    classes, marked, marked_as, axis
        As of `ShownRows`; `marked` are numbers of rows.
    given : callable
        Returns the numbers that rows have in the data given.
    name : callable
        Returns the name of a row from that number.
    direction : (ndarray of shape (d,), float) or None
        The normal and the intercept of what is measured across; None takes the plane
        that fits the classes best by least squares.

    Returns
    -------
    ShownRows or None
        None where there is nothing to draw: no column, or numbers that overflow.
    """
    n = codes.size
    even = np.linspace(0, n - 1, min(n, MOST_SHOWN)).astype(np.intp)
    shown = np.union1d(even, marked[:MOST_MARKED])
    rows, codes = take(shown), codes[shown]
    if 0 in rows.shape:
        return None
    with np.errstate(all="ignore"):
        scale = as_dense(abs(rows).max(axis=0)).ravel()
        scale = np.where(scale > 0, scale, 1.0)
        normal, intercept = direction or _best_fit(rows, scale, codes)
        length = float(np.linalg.norm(normal)) or 1.0
        across = (rows @ (normal / length)) + intercept / length
        up = _principal(rows, scale, across)
    if not (np.isfinite(across).all() and np.isfinite(up).all()):
        return None
    numbers = tuple(given(shown).tolist())
    if direction is None:
        axis = "distance from the plane that fits best (least squares)"
    return ShownRows(
        across=across,
        up=up,
        codes=codes,
        classes=classes,
        marked=np.flatnonzero(np.isin(shown, marked)),
        marked_as=marked_as,
        numbers=numbers,
        names=tuple(map(name, numbers)),
        axis=axis,
        is_distance=len(classes) == 2,
        n_rows=n,
    )


def _best_fit(rows: Any, scale: Floats, codes: Index) -> tuple[Floats, float]:
    """Fit the classes' numbers by least squares; return normal and intercept."""
    from scipy.sparse.linalg import lsqr

    target = np.sign(codes - codes.mean()) if codes.max() > 1 else 2.0 * codes - 1.0
    mean = np.asarray(rows.mean(axis=0)).ravel()
    centred = target - target.mean()
    w = lsqr(_scaled(rows, scale), centred, damp=1e-3, iter_lim=200)[0] / scale
    return w, float(target.mean() - mean @ w)


def _principal(rows: Any, scale: Floats, across: Floats) -> Floats:
    """Return the first principal component of what `across` does not explain."""
    scaled = _scaled(rows, scale)
    base, _ = np.linalg.qr(np.column_stack([np.ones_like(across), across]))

    def rest(values: Floats) -> Floats:
        return values - base @ (base.T @ values)

    v = np.random.default_rng(0).standard_normal(rows.shape[1])
    for _ in range(_STEPS):
        v = scaled.T @ rest(scaled @ v)
        v /= float(np.linalg.norm(v)) or 1.0
    return rest(scaled @ v)


def _scaled(rows: Any, scale: Floats) -> Any:
    """Divide columns by their sizes, dense or sparse."""
    if isinstance(rows, np.ndarray):
        return np.asarray(rows / scale, dtype=np.float64)
    return rows.multiply(1.0 / scale).tocsr()
