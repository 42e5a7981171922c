"""Whole figures of a game, made of the displays, and the game as an animation.

Each function takes a `linsep.game.Transcript`, returns what matplotlib makes, and saves
it if given a path (the suffix chooses the format: .png, .svg, .pdf; .gif to animate).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from linsep.figure_style import finished, new_figure, style
from linsep.input import checked_integers
from linsep.lab.game.transcript import Transcript
from linsep.lab.game_displays import (
    BoundsDisplay,
    GameDisplay,
    WeightsDisplay,
    game_legend,
    points_of,
)
from linsep.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.figure import Figure


def plot_convergence(
    transcript: Transcript, *, path: str | Path | None = None
) -> Figure:
    r"""Draw the interval that holds the largest margin: a figure of `BoundsDisplay`.

    Parameters
    ----------
    transcript : Transcript
        The play.
    path : str, Path or None, default=None
        Where to save the picture.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        figure, axes = new_figure((6.4, 4.0))
        BoundsDisplay.from_transcript(transcript, ax=axes)
        axes.get_legend().remove()
        figure.legend(loc="outside upper center", ncols=2, fontsize=8.5)
        return finished(figure, path)


def plot_weights(
    transcript: Transcript,
    *,
    rows: Sequence[int] | None = None,
    average: bool = False,
    path: str | Path | None = None,
) -> Figure:
    """Draw the data player's weights over time: a figure of `WeightsDisplay`.

    Parameters
    ----------
    transcript, path
        As of `plot_convergence`.
    rows, average
        As of `WeightsDisplay`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    display = WeightsDisplay(transcript=transcript, rows=rows, average=average)
    height = max(2.6, 1.5 + 0.19 * len(display.chosen))
    with style():
        figure, axes = new_figure((6.4, height))
        display.plot(ax=axes)
        return finished(figure, path)


def plot_game(
    transcript: Transcript,
    *,
    rounds: Sequence[int] | None = None,
    labels: ArrayLike | None = None,
    path: str | Path | None = None,
) -> Figure:
    r"""Draw a two-dimensional game as it unfolds: a `GameDisplay` a round.

    Parameters
    ----------
    transcript, path
        As of `plot_convergence`; the rows as of `GameDisplay`.
    rounds : sequence of int or None, default=None
        Which rounds; None takes the first, the last, and two or more between.
    labels : array-like of shape (n,) or None, default=None
        As of `GameDisplay`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    _, signs, _ = points_of(transcript.A, labels)
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
        for k, (panel, t) in enumerate(zip(flat, rounds, strict=False)):
            GameDisplay(
                transcript=transcript, round=t, labels=labels, has_legend=False
            ).plot(ax=panel)
            if k + n_columns < len(rounds):
                panel.set_xlabel("")
            if k % n_columns:
                panel.set_ylabel("")
        for panel in flat[len(rounds) :]:
            panel.set_visible(False)
        figure.legend(
            handles=game_legend(signs),
            loc="outside upper center",
            ncols=n_columns,
            fontsize=8.5,
        )
        return finished(figure, path)


def animate_game(
    transcript: Transcript,
    *,
    labels: ArrayLike | None = None,
    most_frames: int = 120,
    seconds: float = 12.0,
    path: str | Path | None = None,
) -> FuncAnimation:
    """Show a two-dimensional game as it unfolds, a frame a round.

    Parameters
    ----------
    transcript, labels
        As of `GameDisplay`.
    most_frames : int, default=120
        Frames at most, > 0; of more rounds the early ones, which move most, are kept.
    seconds : float, default=12.0
        How long it runs, > 0.
    path : str, Path or None, default=None
        Where to save it; ``.gif`` needs nothing besides matplotlib.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        In a notebook ``IPython.display.HTML(animation.to_jshtml())`` shows it.

    Examples
    --------
    >>> import tempfile
    >>> import matplotlib.pyplot as plt
    >>> from linsep.game import OFTRL, MirrorDescent, play
    >>> t = play([[1.0, 0.0], [-1.0, 1.0]], OFTRL(), MirrorDescent(), 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animation = animate_game(t, path=Path(folder) / "game.gif")
    >>> plt.close("all")
    """
    (most,) = checked_integers("most_frames", [most_frames], least=1, most=10_000)
    T = transcript.n_rounds
    frames = np.unique(np.geomspace(1, T, min(most, T)).round().astype(int))
    _, signs, _ = points_of(transcript.A, labels)
    with style():
        from matplotlib.animation import FuncAnimation

        figure, axes = new_figure((5.0, 5.4))
        figure.legend(
            handles=game_legend(signs), loc="outside upper center", ncols=2, fontsize=8
        )

        def draw(t: int) -> tuple[()]:
            axes.clear()
            GameDisplay(
                transcript=transcript, round=int(t), labels=labels, has_legend=False
            ).plot(ax=axes)
            return ()

        made = FuncAnimation(
            figure, draw, frames=frames, interval=1000.0 * seconds / len(frames)
        )
        if path is not None:
            with whole_file(path) as unfinished:
                made.save(unfinished, writer="pillow", dpi=90)
    return made
