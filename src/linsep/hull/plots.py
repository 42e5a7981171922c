"""The picture of points in a plane, their hull, and what is asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.figure_style import (
    BLACK,
    BLUE,
    GREEN,
    VERMILION,
    finished,
    new_figure,
    style,
)
from linsep.hull.membership import Hull, in_hull, table_of
from linsep.input import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Points beyond this many are drawn as a sample; corners always are.
MOST_POINTS = 4000


def plot_hull(points: Any, queries: Any, *, path: str | Path | None = None) -> Figure:
    """Draw points of a plane, their convex hull, and which queries lie in it.

    Of a query outside, the line that proves it is drawn: all points are on its other
    side.

    Parameters
    ----------
    points : array-like or frame of shape (n, 2)
    queries : array-like or frame of shape (m, 2)
    path : str, Path or None, default=None
        Where to save the picture.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If the points are not of two columns.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure = plot_hull([[0, 0], [4, 0], [0, 4]], [[1, 1], [4, 4]])
    >>> figure.axes[0].get_legend_handles_labels()[1][1:]
    ['1 inside', '1 outside']
    >>> plt.close(figure)
    """
    known, wanted = table_of(points, "points"), table_of(queries, "queries")
    if known.shape[1] != 2:
        raise InputError(
            f"a picture of a hull is of two columns, got {known.shape[1]}; choose two"
        )
    answers = in_hull(known, wanted)
    with style():
        figure, axes = new_figure((6.4, 4.8))
        corners = _corners(known)
        some = known[:: -(-len(known) // MOST_POINTS)]
        axes.plot(*some.T, ".", color=BLUE, alpha=0.5, label=f"{len(known):,} points")
        axes.fill(*known[corners].T, facecolor="none", edgecolor=BLACK, linewidth=1.2)
        outside = answers.decided & ~answers.inside
        for chosen, colour, marker, word in (
            (answers.inside, GREEN, "o", "inside"),
            (outside, VERMILION, "X", "outside"),
        ):
            if chosen.any():
                label = f"{chosen.sum()} {word}"
                axes.plot(*wanted[chosen].T, marker, color=colour, label=label)
        axes.autoscale(False)
        _draw_lines(axes, answers, outside)
        axes.set(xlabel="first column", ylabel="second column")
        axes.legend()
    return finished(figure, path)


def _draw_lines(axes: Any, answers: Hull, outside: Any) -> None:
    """Draw the line beside all points of each query outside."""
    for k in np.flatnonzero(outside).tolist():
        hyperplane = answers[k].hyperplane
        assert hyperplane is not None
        c, b = hyperplane
        c0, c1 = (float(value / max(map(abs, c))) for value in c)
        end = float(b / max(map(abs, c)))
        squares = c0 * c0 + c1 * c1
        base = c0 * end / squares, c1 * end / squares
        axes.axline(
            base,
            (base[0] - c1, base[1] + c0),
            color=VERMILION,
            linestyle=":",
            linewidth=1.0,
        )


def _corners(points: Floats) -> Index:
    """Return the corners of the hull in order (A. M. Andrew's monotone chain, 1979)."""
    order = np.lexsort(points.T[::-1]).tolist()
    chains = []
    for ranked in (order, order[::-1]):
        chain: list[int] = []
        for k in ranked:
            while len(chain) > 1 and _turn(points[chain[-2:]], points[k]) <= 0:
                chain.pop()
            chain.append(k)
        chains += chain[:-1] or chain
    return np.array(chains)


def _turn(two: Floats, third: Floats) -> float:
    """Return twice the area of a triangle, positive where it turns left."""
    (x, y), (u, v) = two[1] - two[0], third - two[0]
    return float(x * v - y * u)
