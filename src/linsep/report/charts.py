"""Pictures inside a page: a display of `linsep.displays` as SVG that a page can style.

Matplotlib draws; what it writes is then given the page's colours, which change with the
scheme, its fonts, and a name for every point.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from linsep.figure_style import (
    BLACK,
    CLASS_COLOURS,
    VERMILION,
    require_matplotlib,
    style,
)
from linsep.printable import printable

if TYPE_CHECKING:
    from linsep.report.shown_rows import ShownRows
    from linsep.result import Progress

_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
# Colours of the page, by those that matplotlib is told.
_OF_PAGE = {
    BLACK: "var(--ink)",
    VERMILION: "var(--mark)",
    "#DDDDDD": "var(--grid)",
    **{colour: f"var(--class-{k})" for k, colour in enumerate(CLASS_COLOURS)},
}
# Shapes of the page, in the order of CLASS_MARKERS.
_SHAPES = ("disc", "up", "square", "diamond", "down")
# Inches: as wide as a phone, so that nothing is shrunk there.
_SIZE = (4.1, 2.9)


@dataclass(frozen=True)
class Chart:
    """A picture of a page.

    Attributes
    ----------
    title : str
    svg : str
        Markup.
    caption : str
        What it shows, for those who do not see it too.
    legend : sequence of (str, str)
        The classes of the style sheet that colour and shape a mark, and what the mark
        means.
    """

    title: str
    svg: str
    caption: str
    legend: Sequence[tuple[str, str]] = ()


def charts_of(shown: ShownRows | None, trace: Sequence[Progress] = ()) -> list[Chart]:
    """Draw rows and, of a search, the interval of the margin.

    Parameters
    ----------
    shown : ShownRows or None
    trace : sequence of Progress, default=()
    """
    charts = []
    if shown is not None:
        charts.append(_projection(shown))
        if shown.is_distance:
            charts.append(_margins(shown))
    if len(trace) > 1:
        charts.append(_interval(trace))
    return charts


def _projection(shown: ShownRows) -> Chart:
    """Draw the rows as points that say their names."""
    from linsep.displays import ProjectionDisplay

    display = ProjectionDisplay.of(shown)
    svg = _svg(display, {"ylabel": "what varies most besides"})
    root = ElementTree.fromstring(svg)
    for group, at in display.drawn_.items():
        what = f", {shown.marked_as}" if group == "marked" else ""
        points = root.findall(f".//{{{_SVG}}}g[@id='{group}']//{{{_SVG}}}use")
        for point, row in zip(points, at.tolist(), strict=False):
            title = ElementTree.SubElement(point, f"{{{_SVG}}}title")
            label = shown.classes[shown.codes[row]]
            title.text = printable(f"{shown.names[row]}: {label}{what}")
    legend = [
        (f"class-{code % len(CLASS_COLOURS)} {_SHAPES[code % len(_SHAPES)]}", label)
        for code, label in enumerate(shown.classes)
    ]
    if shown.marked.size:
        look = "ring" if shown.marked_as == "support rows" else "mark"
        legend.append((look, f"{shown.marked_as} ({shown.marked.size:,}), ringed"))
    sample = ""
    if shown.across.size < shown.n_rows:
        sample = f" {shown.across.size:,} of {shown.n_rows:,} rows are shown."
    return Chart(
        "The rows, seen from the side that shows most",
        ElementTree.tostring(root, encoding="unicode"),
        f"Each point is a row. Across is the {shown.axis}: {_places(shown)}. Point at "
        f"a row, or use the arrow keys in the picture, to read its name.{sample}",
        legend,
    )


def _places(shown: ShownRows) -> str:
    """Say where the rows of each class lie across, and those that are ringed."""
    groups = [
        (f"{int(rows.sum()):,} of {label}", shown.across[rows])
        for code, label in enumerate(shown.classes)
        if (rows := shown.codes == code).any()
    ]
    if shown.marked.size:
        groups.append((f"the {shown.marked.size:,} ringed", shown.across[shown.marked]))
    said = []
    for name, across in groups:
        low, high = float(across.min()), float(across.max())
        where = f"from {low:.3g} to {high:.3g}" if low < high else f"at {low:.3g}"
        said.append(f"{name} {where}")
    return "; ".join(said)


def _margins(shown: ShownRows) -> Chart:
    """Draw the histogram of margins by class."""
    from linsep.displays import MarginDisplay

    svg = _svg(MarginDisplay.of(shown), {"xlabel": shown.axis})
    n_wrong, n_at_0 = int((shown.margins < 0).sum()), int((shown.margins == 0).sum())
    caption = "Rows counted by distance, by class; right of 0 is the right side."
    if n_wrong:
        caption += f" Left of 0, on the wrong side: {n_wrong:,} of these rows."
    elif n_at_0:
        caption += f" The {n_at_0:,} at 0 are not predicted."
    else:
        caption += f" The smallest distance is {float(shown.margins.min()):.3g}."
    return Chart(
        "How far the rows are on the right side",
        svg,
        caption,
        [(f"class-{k} square", label) for k, label in enumerate(shown.classes)]
        + [("tick", f"{shown.marked_as}, ticks below")] * bool(shown.marked.size),
    )


def _interval(trace: Sequence[Progress]) -> Chart:
    """Draw the interval that holds the largest margin, pass by pass."""
    from linsep.displays import ConvergenceDisplay

    last = trace[-1]
    return Chart(
        "The largest margin, closed in on pass by pass",
        _svg(ConvergenceDisplay(trace=tuple(trace))),
        "The largest margin lies between the two: after the last pass between "
        f"{last.margin_lower:.4g} and {last.margin_upper:.4g}.",
        [
            ("class-1 down", "no margin is larger"),
            ("class-0 up", "reached by a hyperplane"),
        ],
    )


def _svg(display: Any, labels: dict[str, str] | None = None) -> str:
    """Draw a display without its legend and title, which the page has, as SVG."""
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Axes at the ends of the doubles overflow on the way to their ticks.
    look: dict[Any, Any] = {"svg.fonttype": "none", "font.size": 9}
    with style(), mpl.rc_context(look), np.errstate(all="ignore"):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.subplots()
        display.plot(ax=axes)
        axes.set(title="", **(labels or {}))
        legend = axes.get_legend()
        if legend is not None:
            legend.remove()
        kept = StringIO()
        figure.savefig(kept, format="svg", transparent=True, metadata={"Date": None})
    text = kept.getvalue()
    for colour, name in _OF_PAGE.items():
        text = re.sub(re.escape(colour), name, text, flags=re.IGNORECASE)
    root = ElementTree.fromstring(text)
    for part in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(part)
    for part in root.findall(f"{{{_SVG}}}defs"):
        for style_of_all in part.findall(f"{{{_SVG}}}style"):
            part.remove(style_of_all)
    for size in ("width", "height"):
        del root.attrib[size]
    root.set("aria-hidden", "true")  # what stands beside it says the same
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK[1:].partition("}")[0])
    return ElementTree.tostring(root, encoding="unicode")
