"""Figure 1 as a picture: both panels, for print and for colour-blind readers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from linsep.figure_style import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILION,
    new_figure,
    save,
    style,
)
from linsep.lab.reproduce.figure_1 import Measurement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Column of the measurements, colour, dashes, marker, legend. Bounds were not measured:
# no markers.
LINES: tuple[tuple[str, str, Any, str, str], ...] = (
    ("perceptron_operations", VERMILION, "-", "o", "Perceptron"),
    ("optimistic_operations", BLUE, "-", "s", "Optimistic Perceptron (Algorithm 1)"),
    ("adaptive_operations", GREEN, "--", "^", "adaptive step"),
    ("metric_operations", PURPLE, "-.", "D", "adaptive step in the metric"),
    (
        "paper_bound_operations",
        BLACK,
        ":",
        "",
        r"the paper's bound, $T > (1 + 2r^2 \ln n) / (2\gamma)$",
    ),
    (
        "sharper_bound_operations",
        ORANGE,
        (0, (6, 2, 1, 2)),
        "",
        r"the sharper bound, $T > r\sqrt{2 \ln n} / \gamma$",
    ),
)


def draw(rows: list[Measurement]) -> Figure:
    """Draw total iterations against n, and their logarithm, as the paper's Figure 1."""
    n = [row.n for row in rows]
    with style():
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        figure, (left, right) = new_figure((9.6, 4.7), 1, 2)
        for axes in (left, right):
            for name, colour, dashes, marker, label in LINES:
                values = [float(getattr(row, name)) for row in rows]
                look = {"color": colour, "ls": dashes, "marker": marker}
                axes.plot(n, values, ms=5, label=label, **look)
            axes.set_xlabel("n (rows and columns of data set (2))")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        left.set_ylabel("total iterations (inner products and additions)")
        left.set_title("(a) total iteration count")
        left.yaxis.set_major_formatter(FuncFormatter(_short_number))
        left.set_ylim(bottom=0)
        right.set_yscale("log")
        right.set_ylabel("total iterations, logarithmic")
        right.set_title("(b) its logarithm")
        handles, labels = right.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9)
        return figure


def _short_number(value: float, position: object) -> str:
    """Return 2.5e9 as "2.5 billion", and the like."""
    for size, name in ((1e9, " billion"), (1e6, " million"), (1e3, ",000")):
        if abs(value) >= size:
            return f"{value / size:.3g}{name}"
    return f"{value:g}"


def save_all(rows: list[Measurement], folder: Path) -> list[Path]:
    """Write ``figure-1.png`` and ``.svg`` into ``folder``; return their paths."""
    from matplotlib import pyplot

    figure = draw(rows)
    paths = [folder / f"figure-1.{suffix}" for suffix in ("png", "svg")]
    for path in paths:
        save(figure, path)
    pyplot.close(figure)
    return paths
