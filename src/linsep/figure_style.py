"""The look of every picture: colours, style, how a picture is saved.

Colours are Okabe and Ito's ("Color universal design", 2008), which colour-blind readers
tell apart. Matplotlib comes with ``pip install "linsep[plot]"``.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linsep.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
# Of classes, as `class_look` says.
CLASS_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY)
CLASS_MARKERS = ("o", "^", "s", "D", "v")

_STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "savefig.bbox": "tight",
    "savefig.dpi": 200,
    "savefig.pad_inches": 0.08,
    "svg.fonttype": "path",  # looks the same on machines without the font
    "svg.hashsalt": "linsep",  # the same picture is the same file
}


def class_look(code: int) -> tuple[int, int]:
    """Return which colour and which marker a class has: no two of 25 have both."""
    n = len(CLASS_COLOURS)
    return code % n, (code + code // n) % n


def require_matplotlib() -> None:
    """Raise ImportError, and say how to install it, if matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise ImportError(
            'pictures need matplotlib; install it with: pip install "linsep[plot]"'
        )


def style() -> AbstractContextManager[None]:
    """Return the context in which a picture is drawn and saved."""
    require_matplotlib()
    import matplotlib as mpl

    context: AbstractContextManager[None] = mpl.rc_context(_STYLE)
    return context


def plain(text: object) -> str:
    """Return a text that matplotlib writes as it is, not as mathematics."""
    return str(text).replace("$", r"\$")


def new_figure(
    size: tuple[float, float], n_lines: int = 1, n_columns: int = 1
) -> tuple[Figure, Any]:
    """Return a new figure of a size in inches, and its axes."""
    require_matplotlib()
    from matplotlib import pyplot

    made: tuple[Figure, Any] = pyplot.subplots(
        n_lines, n_columns, figsize=size, layout="constrained"
    )
    return made


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure, whole and undated: the same figure gives the same bytes."""
    metadata = {"Date": None} if Path(path).suffix == ".svg" else {}
    with style(), whole_file(path) as unfinished:
        figure.savefig(unfinished, metadata=metadata)


def finished(figure: Figure, path: str | Path | None) -> Figure:
    """Save a figure if asked to, and return it."""
    if path is not None:
        save(figure, path)
    return figure
