"""Pictures of a game: how it converges, what the data player weighs, where w points.

Each function takes a `linsep.game.Transcript`, returns a matplotlib Figure, and saves
it if given a path (the suffix chooses the format: .png, .svg, .pdf). Lines differ by
style and marker as well as by colour, so that they survive print.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linsep.figure_style import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    SKY,
    VERMILION,
    new_figure,
    save,
    style,
)
from linsep.input import InputError, checked_integers
from linsep.lab.game.transcript import Transcript

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Up to this many rounds, points are marked as well as joined.
FEW_ROUNDS = 20
# What `plot_convergence` draws of a play: colour, dashes, marker, name in the legend.
LINES = (
    ("pseudoexample_norm", VERMILION, "-", "o", r"$\|A^\top \bar p\|$ (above it)"),
    ("margin_average", BLUE, "--", "s", "margin of the average (below it)"),
    ("margin_last", BLACK, ":", "^", "margin of the last move (below it)"),
)


def plot_convergence(
    transcript: Transcript, *, path: str | Path | None = None
) -> Figure:
    r"""Draw the interval that holds the largest margin, round by round.

    Above, ``|A^T p|`` of the average distribution so far (no margin is larger); below,
    the margin of the last move and of the average. The shaded band lies between the
    best of each. The vertical line marks the first round whose average separates.

    Parameters
    ----------
    transcript : Transcript
        The play.
    path : str, Path or None, default=None
        Where to save the picture.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from linsep.game import OFTRL, Backtracking, MirrorDescent, play
    >>> rows = [[1.0, 0.0], [-1.0, 1.0]]
    >>> t = play(rows, OFTRL(), MirrorDescent(), 30, weights=Backtracking(1.0, 1.3))
    >>> figure = plot_convergence(t)
    >>> figure.axes[0].get_xlabel()
    'round'
    >>> plt.close(figure)
    """
    with style():
        figure, axes = new_figure((6.4, 4.0))
        t = transcript.rounds
        lower = np.where(
            np.isfinite(transcript.margin_lower), transcript.margin_lower, np.nan
        )
        # The band of a single round, from half a round before it to half a round after.
        across = t if len(t) > 1 else np.array([0.5, 1.5])
        axes.fill_between(
            across,
            np.broadcast_to(lower, across.shape),
            np.broadcast_to(transcript.margin_upper, across.shape),
            color=SKY,
            alpha=0.25,
            lw=0,
            label="holds the largest margin",
        )
        for name, colour, dashes, marker, label in LINES:
            # Lines of one point have no length: of few rounds every point is marked.
            if len(t) > FEW_ROUNDS:
                marker = ""
            look = {"color": colour, "ls": dashes, "marker": marker, "label": label}
            axes.plot(t, getattr(transcript, name), ms=5, **look)
        if len(t) == 1:
            axes.set(xlim=(0.0, 2.0), xticks=[1])
        if len(t) > FEW_ROUNDS:
            axes.set_xscale("log")
        axes.axhline(0.0, color="#777777", lw=0.8)
        if transcript.separated_at is not None:
            axes.axvline(
                transcript.separated_at,
                color=GREEN,
                lw=1.4,
                ls="-.",
                label=f"average separates (round {transcript.separated_at:,})",
            )
        _frame_margins(axes, transcript)
        axes.set(xlabel="round", ylabel="margin (units of the rows)")
        figure.legend(loc="outside upper center", ncols=2, fontsize=8.5)
        return _finish(figure, path)


def _frame_margins(axes: Axes, transcript: Transcript) -> None:
    """Choose limits, and a scale on which a small interval still shows."""
    top = float(transcript.pseudoexample_norm.max())
    final = float(transcript.margin_upper[-1])
    lowest = np.concatenate([transcript.margin_last, transcript.margin_average])
    bottom = float(np.nanmin(lowest, initial=-0.02 * top))
    if top == 0.0 == bottom:
        axes.set_ylim(-1.0, 1.0)
        return
    if final < 0.03 * top:
        # Linear within the threshold, logarithmic beyond it; a tick a decade.
        threshold = max(final, 1e-4 * top)
        axes.set_yscale("symlog", linthresh=threshold, linscale=0.6)
        decades = 10.0 ** np.arange(
            np.ceil(np.log10(threshold)), np.floor(np.log10(max(top, -bottom))) + 1
        )
        axes.set_yticks([*-decades[::-1], 0.0, *decades])
        axes.minorticks_off()
    axes.set_ylim(1.15 * bottom, 1.25 * top)


def plot_weights(
    transcript: Transcript,
    *,
    rows: Sequence[int] | None = None,
    average: bool = False,
    path: str | Path | None = None,
) -> Figure:
    """Draw the data player's weights over time, a line of the picture a row.

    Parameters
    ----------
    transcript, path
        As of `plot_convergence`.
    rows : sequence of int or None, default=None
        Which rows, from top to bottom; None takes the 25 of largest average weight at
        the end, the heaviest on top.
    average : bool, default=False
        Draw the average distributions instead of the moves.

    Returns
    -------
    matplotlib.figure.Figure
    """
    weights = transcript.average_p if average else transcript.p
    n = weights.shape[1]
    if rows is None:
        heaviest = np.argsort(-transcript.average_p[-1], kind="stable")
        chosen = heaviest[: min(25, n)]
    else:
        chosen = np.array(checked_integers("rows", rows, least=0, most=n - 1))
    with style():
        from matplotlib.colors import LogNorm

        height = 1.5 + 0.19 * len(chosen)
        figure, axes = new_figure((6.4, max(2.6, height)))
        axes.grid(False)
        # Rounds in columns, log-spaced when there are many: early rounds move most.
        columns = _columns(transcript.n_rounds)
        image = axes.pcolormesh(
            _edges(transcript.rounds[columns]),
            np.arange(len(chosen) + 1) - 0.5,
            np.maximum(weights[columns][:, chosen].T, 1e-300),
            norm=LogNorm(vmin=1e-4, vmax=1.0, clip=False),
            cmap="YlGnBu",
            rasterized=True,
        )
        if transcript.n_rounds > 20:
            axes.set_xscale("log")
        axes.set_yticks(np.arange(len(chosen)), [str(i) for i in chosen], fontsize=8)
        axes.invert_yaxis()
        axes.set(xlabel="round", ylabel="row")
        if rows is None:
            axes.set_title("rows by average weight, the heaviest on top", fontsize=10)
        bar = figure.colorbar(image, ax=axes, extend="min", pad=0.02)
        bar.set_label("average weight so far" if average else "weight of the row")
        return _finish(figure, path)


def plot_game(
    transcript: Transcript,
    *,
    rounds: Sequence[int] | None = None,
    labels: ArrayLike | None = None,
    path: str | Path | None = None,
) -> Figure:
    r"""Draw a two-dimensional game as it unfolds: the hyperplane and the rows' weights.

    One panel a round: every point with an area that grows with its weight ``p_t``, and
    the hyperplanes of the move ``w_t`` and of the average so far. Points on the wrong
    side of the average's hyperplane are ringed.

    Parameters
    ----------
    transcript, path
        As of `plot_convergence`; the rows have two columns, or three whose last is the
        signed constant.
    rounds : sequence of int or None, default=None
        Which rounds; None takes the first, the last, and two or more between.
    labels : array-like of shape (n,) or None, default=None
        +1 or -1 for each row, to draw the points ``x_i = y_i a_i`` of two-column rows;
        None draws the signed rows themselves. With a constant column it tells.

    Returns
    -------
    matplotlib.figure.Figure
    """
    points, signs, has_constant = _points(transcript.A, labels)
    T = transcript.n_rounds
    if rounds is None:
        rounds = sorted({1, *np.geomspace(1, T, 6).round().astype(int).tolist()})
    rounds = checked_integers("rounds", rounds, least=1, most=T)
    n_columns = min(3, len(rounds))
    n_lines = -(-len(rounds) // n_columns)
    with style():
        figure, panels = new_figure(
            (2.9 * n_columns, 2.75 * n_lines + 0.6), n_lines, n_columns
        )
        flat = np.atleast_1d(panels).ravel()
        low, high = _window(points, include_origin=not has_constant)
        kind = "signed " if signs is None else ""
        for k, (panel, t) in enumerate(zip(flat, rounds, strict=False)):
            _draw_round(panel, transcript, t, points, signs, has_constant)
            panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
            panel.set_title(f"round {t:,}", fontsize=10)
            panel.set_aspect("equal", adjustable="box")
            if k + n_columns >= len(rounds):
                panel.set_xlabel(f"first coordinate of {kind}rows", fontsize=9)
            if k % n_columns == 0:
                panel.set_ylabel("second coordinate", fontsize=9)
        for panel in flat[len(rounds) :]:
            panel.set_visible(False)
        figure.legend(
            handles=_game_legend(signs),
            loc="outside upper center",
            ncols=n_columns,
            fontsize=8.5,
        )
        return _finish(figure, path)


def _groups(
    signs: NDArray[np.float64] | None, n: int
) -> list[tuple[str, str, str, NDArray[np.bool_]]]:
    """Return marker, colour, name and members of each class."""
    if signs is None:
        return [("o", ORANGE, "signed row", np.ones(n, dtype=bool))]
    return [("o", ORANGE, "class +1", signs > 0), ("s", SKY, "class -1", signs < 0)]


def _game_legend(signs: NDArray[np.float64] | None) -> list[Any]:
    """Return the entries of the legend, of one size whatever the weights."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"ls": "none", "ms": 7.0, "mec": "black", "mew": 0.5}
    entries = [
        Line2D(
            [], [], marker=marker, color=colour, label=f"{name} (area: weight)", **look
        )
        for marker, colour, name, _ in _groups(signs, 1)
    ]
    look |= {"mfc": "none", "mec": VERMILION, "mew": 1.6, "ms": 10.0}
    return [
        *entries,
        Line2D([], [], marker="o", label="wrong side of the average", **look),
        Line2D([], [], color=BLUE, ls="-", label="hyperplane of the average"),
        Line2D([], [], color=BLACK, ls=":", label="hyperplane of the move"),
    ]


def _draw_round(
    axes: Axes,
    transcript: Transcript,
    t: int,
    points: NDArray[np.float64],
    signs: NDArray[np.float64] | None,
    has_constant: bool,
) -> None:
    """Draw one panel of `plot_game`."""
    p = transcript.p[t - 1]
    area = 14.0 + 260.0 * p
    for marker, colour, _, members in _groups(signs, len(p)):
        axes.scatter(
            points[members, 0],
            points[members, 1],
            s=area[members],
            marker=marker,
            color=colour,
            edgecolor="black",
            linewidth=0.5,
            zorder=3,
        )
    average = transcript.average_w[t - 1]
    wrong = transcript.A @ average <= 0
    axes.scatter(
        points[wrong, 0],
        points[wrong, 1],
        s=area[wrong] + 70.0,
        facecolor="none",
        edgecolor=VERMILION,
        linewidth=1.6,
        zorder=4,
    )
    _draw_line(axes, average, has_constant, color=BLUE, ls="-")
    _draw_line(axes, transcript.w[t - 1], has_constant, color=BLACK, ls=":")


def _draw_line(
    axes: Axes, w: NDArray[np.float64], has_constant: bool, **look: Any
) -> None:
    """Draw the line ``w . x = 0``, if there is one."""
    normal = w[:2]
    length = float(np.hypot(*normal))
    if length == 0.0:
        return
    foot = -(w[2] if has_constant else 0.0) / length**2 * normal
    along = np.array([-normal[1], normal[0]]) / length
    axes.axline(tuple(foot), tuple(foot + along), zorder=2, lw=1.6, **look)


def _points(
    A: NDArray[np.float64], labels: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, bool]:
    """Return points (n, 2), their classes if known, and whether there is a constant."""
    n, d = A.shape
    if d == 3 and np.ptp(np.abs(A[:, 2])) == 0 and A[0, 2] != 0:
        signs = np.sign(A[:, 2])
        return signs[:, None] * A[:, :2] / abs(A[0, 2]), signs, True
    if d != 2:
        raise InputError(
            "a game is drawn in the plane: its rows must have two columns, or three "
            f"with the signed constant last, got {d}"
        )
    if labels is None:
        return A, None, False
    signs = np.asarray(labels, dtype=np.float64)
    if signs.shape != (n,) or not np.isin(signs, (-1.0, 1.0)).all():
        raise InputError(f"labels must be {n} numbers +1 or -1, got {labels!r}")
    return signs[:, None] * A, signs, False


def _window(
    points: NDArray[np.float64], *, include_origin: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners of a square around the points, with a border."""
    shown = np.vstack([points, np.zeros(2)]) if include_origin else points
    low, high = shown.min(axis=0), shown.max(axis=0)
    half = 0.58 * max(float((high - low).max()), 1e-12)
    middle = 0.5 * (low + high)
    return middle - half, middle + half


def _columns(n_rounds: int, most: int = 400) -> NDArray[np.int64]:
    """Return the indices of at most `most` rounds, log-spaced if there are more."""
    if n_rounds <= most:
        return np.arange(n_rounds)
    return np.unique(np.geomspace(1, n_rounds, most).round().astype(np.int64)) - 1


def _edges(rounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the borders of columns centred on these rounds."""
    middle = 0.5 * (rounds[1:] + rounds[:-1])
    return np.concatenate([[rounds[0] - 0.5], middle, [rounds[-1] + 0.5]])


def _finish(figure: Figure, path: str | Path | None) -> Figure:
    """Save the figure if asked to, without the date, and return it."""
    if path is not None:
        save(figure, path)
    return figure
