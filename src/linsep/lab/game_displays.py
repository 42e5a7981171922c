"""Displays of a game: its interval, the data player's weights, a round in the plane.

Lines differ by style and marker as well as by colour, so that they survive print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linsep.arrays import Floats, Index, Mask
from linsep.displays.display import Display
from linsep.figure_style import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION
from linsep.input import InputError, checked_integers
from linsep.lab.game.transcript import Transcript

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Up to this many rounds, points are marked as well as joined.
FEW_ROUNDS = 20
# What `plot_convergence` draws of a play: colour, dashes, marker, name in the legend.
LINES = (
    ("pseudoexample_norm", VERMILION, "-", "o", r"$\|A^\top \bar p\|$ (above it)"),
    ("margin_average", BLUE, "--", "s", "margin of the average (below it)"),
    ("margin_last", BLACK, ":", "^", "margin of the last move (below it)"),
)


@dataclass(kw_only=True, eq=False, repr=False)
class BoundsDisplay(Display):
    r"""The interval that holds the largest margin, round by round.

    Above, ``|A^T p|`` of the average distribution so far (no margin is larger); below,
    the margin of the last move and of the average. The shaded band lies between the
    best of each. The vertical line marks the first round whose average separates.

    Parameters
    ----------
    transcript : Transcript
        The play.

    Attributes
    ----------
    ax_, figure_
        Matplotlib's, after `plot`.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from linsep.game import OFTRL, Backtracking, MirrorDescent, play
    >>> rows = [[1.0, 0.0], [-1.0, 1.0]]
    >>> t = play(rows, OFTRL(), MirrorDescent(), 30, weights=Backtracking(1.0, 1.3))
    >>> display = BoundsDisplay.from_transcript(t)
    >>> display.ax_.get_xlabel()
    'round'
    >>> plt.close(display.figure_)
    """

    transcript: Transcript

    @classmethod
    def from_transcript(
        cls, transcript: Transcript, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw a play.

        Parameters
        ----------
        transcript : Transcript
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **kwargs
            To ``Axes.plot``, here and in `plot`.
        """
        return cls(transcript=transcript).plot(ax=ax, **kwargs)

    def _draw(self, ax: Axes, given: dict[str, Any]) -> None:
        play, t = self.transcript, self.transcript.rounds
        lower = np.where(np.isfinite(play.margin_lower), play.margin_lower, np.nan)
        # The band of a single round, from half a round before it to half a round after.
        across = t if len(t) > 1 else np.array([0.5, 1.5])
        ax.fill_between(
            across,
            np.broadcast_to(lower, across.shape),
            np.broadcast_to(play.margin_upper, across.shape),
            color=SKY,
            alpha=0.25,
            lw=0,
            label="holds the largest margin",
        )
        for name, colour, dashes, marker, label in LINES:
            # Lines of one point have no length: of few rounds every point is marked.
            if len(t) > FEW_ROUNDS:
                marker = ""
            look: dict[str, Any] = {"color": colour, "ls": dashes, "marker": marker}
            look |= {"ms": 5, "label": label}
            ax.plot(t, getattr(play, name), **look | given)
        if len(t) == 1:
            ax.set(xlim=(0.0, 2.0), xticks=[1])
        if len(t) > FEW_ROUNDS:
            ax.set_xscale("log")
        ax.axhline(0.0, color="#777777", lw=0.8)
        if play.separated_at is not None:
            ax.axvline(
                play.separated_at,
                color=GREEN,
                lw=1.4,
                ls="-.",
                label=f"average separates (round {play.separated_at:,})",
            )
        _frame_margins(ax, play)
        ax.set(xlabel="round", ylabel="margin (units of the rows)")
        ax.legend(fontsize=8.5)


@dataclass(kw_only=True, eq=False, repr=False)
class WeightsDisplay(Display):
    """The data player's weights over time, a line of the picture a row.

    Parameters
    ----------
    transcript : Transcript
        The play.
    rows : sequence of int or None, default=None
        Which rows, from top to bottom; None takes the 25 of largest average weight at
        the end, the heaviest on top.
    average : bool, default=False
        Draw the average distributions instead of the moves.

    Attributes
    ----------
    ax_, figure_
        Matplotlib's, after `plot`.
    """

    transcript: Transcript
    rows: Sequence[int] | None = None
    average: bool = False

    @classmethod
    def from_transcript(
        cls,
        transcript: Transcript,
        *,
        rows: Sequence[int] | None = None,
        average: bool = False,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a play; `rows` and `average` as of the class, `kwargs` to the mesh."""
        made = cls(transcript=transcript, rows=rows, average=average)
        return made.plot(ax=ax, **kwargs)

    @property
    def chosen(self) -> Index:
        """The rows drawn, from top to bottom."""
        n = self.transcript.p.shape[1]
        if self.rows is None:
            heaviest = np.argsort(-self.transcript.average_p[-1], kind="stable")
            return heaviest[: min(25, n)]
        return np.array(checked_integers("rows", self.rows, least=0, most=n - 1))

    def _draw(self, ax: Axes, given: dict[str, Any]) -> None:
        from matplotlib.colors import LogNorm

        transcript, chosen = self.transcript, self.chosen
        weights = transcript.average_p if self.average else transcript.p
        ax.grid(False)
        # Rounds in columns, log-spaced when there are many: early rounds move most.
        columns = _columns(transcript.n_rounds)
        look: dict[str, Any] = {
            "norm": LogNorm(vmin=1e-4, vmax=1.0, clip=False),
            "cmap": "YlGnBu",
            "rasterized": True,
        }
        image = ax.pcolormesh(
            _edges(transcript.rounds[columns]),
            np.arange(len(chosen) + 1) - 0.5,
            np.maximum(weights[columns][:, chosen].T, 1e-300),
            **look | given,
        )
        if transcript.n_rounds > FEW_ROUNDS:
            ax.set_xscale("log")
        ax.set_yticks(np.arange(len(chosen)), [str(i) for i in chosen], fontsize=8)
        ax.invert_yaxis()
        ax.set(xlabel="round", ylabel="row")
        if self.rows is None:
            ax.set_title("rows by average weight, the heaviest on top", fontsize=10)
        bar = ax.figure.colorbar(image, ax=ax, extend="min", pad=0.02)
        bar.set_label("average weight so far" if self.average else "weight of the row")


@dataclass(kw_only=True, eq=False, repr=False)
class GameDisplay(Display):
    """A round of a game in two dimensions: the hyperplane and the rows' weights.

    Every point has an area that grows with its weight ``p_t``; lines are the
    hyperplanes of the move ``w_t`` and of the average so far. Points on the wrong side
    of the average's hyperplane are ringed.

    Parameters
    ----------
    transcript : Transcript
        The play; its rows have two columns, or three whose last is the signed constant.
    round : int or None, default=None
        Which round, from 1; None is the last.
    labels : array-like of shape (n,) or None, default=None
        +1 or -1 for each row, to draw the points ``x_i = y_i a_i`` of two-column rows;
        None draws the signed rows themselves. With a constant column it tells.

    Attributes
    ----------
    ax_, figure_
        Matplotlib's, after `plot`.
    """

    transcript: Transcript
    round: int | None = None
    labels: ArrayLike | None = None
    has_legend: bool = True

    @classmethod
    def from_transcript(
        cls,
        transcript: Transcript,
        *,
        round: int | None = None,
        labels: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a round of a play; `kwargs` go to ``Axes.scatter``."""
        made = cls(transcript=transcript, round=round, labels=labels)
        return made.plot(ax=ax, **kwargs)

    def _draw(self, ax: Axes, given: dict[str, Any]) -> None:
        last = self.transcript.n_rounds
        asked = [last if self.round is None else self.round]
        (t,) = checked_integers("round", asked, least=1, most=last)
        points, signs, has_constant = points_of(self.transcript.A, self.labels)
        low, high = _window(points, include_origin=not has_constant)
        _draw_round(ax, self.transcript, t, points, signs, has_constant, given)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        ax.set_title(f"round {t:,}", fontsize=10)
        ax.set_aspect("equal", adjustable="box")
        kind = "signed " if signs is None else ""
        ax.set_xlabel(f"first coordinate of {kind}rows", fontsize=9)
        ax.set_ylabel("second coordinate", fontsize=9)
        if self.has_legend:
            ax.legend(handles=game_legend(signs), fontsize=8.5)


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


def _groups(signs: Floats | None, n: int) -> list[tuple[str, str, str, Mask]]:
    """Return marker, colour, name and members of each class."""
    if signs is None:
        return [("o", ORANGE, "signed row", np.ones(n, dtype=bool))]
    return [("o", ORANGE, "class +1", signs > 0), ("s", SKY, "class -1", signs < 0)]


def game_legend(signs: Floats | None) -> list[Any]:
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
    points: Floats,
    signs: Floats | None,
    has_constant: bool,
    given: dict[str, Any],
) -> None:
    """Draw the points and lines of a round."""
    p = transcript.p[t - 1]
    area = 14.0 + 260.0 * p
    for marker, colour, _, members in _groups(signs, len(p)):
        look: dict[str, Any] = {"color": colour, "edgecolor": BLACK, "linewidth": 0.5}
        look |= {"marker": marker, "s": area[members], "zorder": 3}
        axes.scatter(points[members, 0], points[members, 1], **look | given)
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


def _draw_line(axes: Axes, w: Floats, has_constant: bool, **look: Any) -> None:
    """Draw the line ``w . x = 0``, if there is one."""
    normal = w[:2]
    length = float(np.hypot(*normal))
    if length == 0.0:
        return
    foot = -(w[2] if has_constant else 0.0) / length**2 * normal
    along = np.array([-normal[1], normal[0]]) / length
    axes.axline(tuple(foot), tuple(foot + along), zorder=2, lw=1.6, **look)


def points_of(
    A: Floats, labels: ArrayLike | None
) -> tuple[Floats, Floats | None, bool]:
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


def _window(points: Floats, *, include_origin: bool) -> tuple[Floats, Floats]:
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


def _edges(rounds: NDArray[np.int64]) -> Floats:
    """Return the borders of columns centred on these rounds."""
    middle = 0.5 * (rounds[1:] + rounds[:-1])
    return np.concatenate([[rounds[0] - 0.5], middle, [rounds[-1] + 0.5]])
