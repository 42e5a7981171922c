"""Pictures inside a page: what the displays of `linsep.displays` hold, as SVG.

Altair says what is drawn, and Vega-Lite draws it here, so that a page needs no script
for it. Colours are variables of the style sheet, which change with the scheme.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.arrays import Floats
from linsep.figure_style import class_look
from linsep.printable import printable
from linsep.report.page import require_report

if TYPE_CHECKING:
    from altair import Chart as Layer

    from linsep.report.shown_rows import ShownRows
    from linsep.result import Progress

# Vega's names of CLASS_MARKERS, in their order; the style sheet has them too.
_SHAPES = ("circle", "triangle-up", "square", "diamond", "triangle-down")
# Pixels between what is drawn and the axes: room for rings, and a histogram's ticks.
_PADDING = 10
# Powers of ten that stand at the ticks; others stand beside the axis.
MOST_ZEROS = 15
# A mark with a name, as Vega writes it: pointers show titles.
_NAMED = re.compile(
    r'<path aria-label="([^"]*)" role="[^"]*" aria-roledescription="[^"]*"([^>]*)/>'
)


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
        The classes of the style sheet that a mark is drawn by, a colour first and then
        a shape, and what the mark means.
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
    require_report()
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
    of_classes = map(class_look, range(len(shown.classes)))
    looks = [f"class-{colour} {_SHAPES[shape]}" for colour, shape in of_classes]
    legend = list(zip(looks, shown.classes, strict=True))
    ring = "ink" if shown.marked_as == "support rows" else "mark"
    ring += " circle ring"
    if shown.marked.size:
        legend.append((ring, f"{shown.marked_as} ({shown.marked.size:,}), ringed"))
    across, by_x = _drawn(display.across)
    up, by_y = _drawn(display.up)
    at, names = list(zip(across, up, strict=True)), _names(shown)
    points = [(*at[i], looks[display.codes[i]], names[i]) for i in display.drawn]
    rings = [(*at[i], ring, names[i]) for i in display.marked]
    size, width = display.ring
    layers = [
        _marks(points).mark_point(filled=True, size=30, opacity=0.7),
        _marks(rings, "marked").mark_point(size=size, strokeWidth=width, opacity=1.0),
    ]
    axes = {"title": shown.axis + by_x}, {"title": f"what varies most besides{by_y}"}
    sample = ""
    if len(points) < shown.n_rows:
        sample = f" {len(points):,} of {shown.n_rows:,} rows are shown."
    return Chart(
        "The rows, seen from the side that shows most",
        _svg(layers, legend, *axes, "x" if shown.is_distance else ""),
        f"Each point is a row. Across is the {shown.axis}: {_places(shown)}. Point at "
        f"a row, or use the arrow keys in the picture, to read its name.{sample}",
        legend,
    )


def _names(shown: ShownRows) -> list[str]:
    """Name every row with its class, and what it is marked as."""
    named = zip(shown.names, shown.codes.tolist(), strict=True)
    names = [f"{name}: {shown.classes[code]}" for name, code in named]
    for row in shown.marked.tolist():
        names[row] += f", {shown.marked_as}"
    return names


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
    return printable("; ".join(said))


def _margins(shown: ShownRows) -> Chart:
    """Draw the histogram of margins by class."""
    from linsep.displays import MarginDisplay

    display = MarginDisplay.of(shown)
    legend = [(f"class-{k} square", label) for k, label in enumerate(shown.classes)]
    bars, names = [], _names(shown)
    marked, edges = (
        display.support,
        np.histogram_bin_edges(display.margins, **display.bins),
    )
    drawn, by_x = _drawn(np.append(edges, display.margins[marked]))
    for (look, label), margins in zip(legend, display.sides, strict=True):
        counts, _ = np.histogram(margins, **display.bins)
        for k in np.flatnonzero(counts).tolist():
            low, high = edges[k : k + 2]
            name = f"{counts[k]:,} of {label} from {low:.3g} to {high:.3g}"
            bars.append((drawn[k], counts[k], look, name))
    if shown.marked.size:
        legend.append(("mark tick", f"{shown.marked_as}, ticks below"))
    places = zip(drawn[edges.size :], marked, strict=True)
    ticks = [(x, 0, "mark tick", names[i]) for x, i in places]
    layers = [
        _marks(bars)
        .transform_calculate(end=f"datum.x + {drawn[1] - drawn[0]}")
        .mark_bar(orient="vertical")
        .encode(x2="end:Q", order="look:N"),
        _marks(ticks, "marked").mark_tick(
            yOffset=_PADDING / 2, size=8, thickness=1.5, opacity=1.0
        ),
    ]
    axes = {"title": shown.axis + by_x}, {"title": "rows", "tickMinStep": 1}
    n_wrong, n_at_0 = int((shown.margins < 0).sum()), int((shown.margins == 0).sum())
    caption = "Rows counted by distance, by class; right of 0 is the right side."
    if n_wrong:
        caption += f" Left of 0, on the wrong side: {n_wrong:,} of these rows."
    elif n_at_0:
        caption += f" The {n_at_0:,} at 0 are not predicted."
    else:
        caption += f" The smallest distance is {float(shown.margins.min()):.3g}."
    svg = _svg(layers, legend, *axes, "x")
    return Chart("How far the rows are on the right side", svg, caption, legend)


def _interval(trace: Sequence[Progress]) -> Chart:
    """Draw the interval that holds the largest margin, pass by pass."""
    from linsep.displays import ConvergenceDisplay

    display, last = ConvergenceDisplay(trace=tuple(trace)), trace[-1]
    legend = [
        ("class-1 triangle-down", "no margin is larger"),
        ("class-0 triangle-up", "reached by a hyperplane"),
    ]
    points: list[tuple[Any, ...]] = []
    for (look, meaning), name in zip(
        legend, ("margin_upper", "margin_lower"), strict=True
    ):
        points += [
            (n_passes, margin, look, f"after pass {n_passes}: {margin:.4g}, {meaning}")
            for n_passes, margin in zip(*display.bound(name), strict=True)
        ]
    drawn, by_y = _drawn(np.array([margin for _, margin, *_ in points]))
    points = [(p[0], y, *p[2:]) for p, y in zip(points, drawn, strict=True)]
    marks = _marks(points)
    layers = [
        marks.mark_line(aria=False, point=False),
        marks.mark_point(filled=True, size=50, opacity=1.0),
    ]
    axes = (
        {"title": "passes over the data", "tickMinStep": 1},
        {"title": f"margin{by_y}"},
    )
    return Chart(
        "The largest margin, closed in on pass by pass",
        _svg(layers, legend, *axes, "y"),
        "The largest margin lies between the two: after the last pass between "
        f"{last.margin_lower:.4g} and {last.margin_upper:.4g}.",
        legend,
    )


def _drawn(values: Floats) -> tuple[Floats, str]:
    """Return values as axes can have them, and what to say of their unit.

    Ticks are no doubles near the ends of these, nor between values that differ in their
    last bits.
    """
    largest = float(np.abs(values).max(initial=0.0))
    power = math.floor(math.log10(largest)) if largest else 0
    # In two steps, since ten to a power may be no double where its root is.
    half = power // 2
    scaled = np.round(values / 10.0**half / 10.0 ** (power - half), 12)
    if abs(power) > MOST_ZEROS:
        return scaled, f", in 1e{power}"
    return scaled * 10.0**power, ""


def _marks(values: Sequence[tuple[Any, ...]], name: str = "named") -> Layer:
    """Return marks: across, up, the style sheet's classes for their looks, a name."""
    import altair as alt

    data = [
        {"x": float(x), "y": float(y), "look": look, "name": printable(called)}
        for x, y, look, called in values
    ]
    return alt.Chart(alt.InlineData(data), name=name)


def _svg(
    layers: Sequence[Layer],
    legend: Sequence[tuple[str, str]],
    x: dict[str, Any],
    y: dict[str, Any],
    zero: str,
) -> str:
    """Draw marks as a legend has them on axes `x` and `y`, with a line at 0 of one."""
    import altair as alt
    from vl_convert import vegalite_to_svg

    looks = list(dict.fromkeys(look for look, _ in legend))
    colours = [f"var(--{look.split()[0]})" for look in looks]
    shapes = [look.split()[1] for look in looks]
    scale = alt.Scale(zero=False, nice=False, padding=_PADDING)
    encoded = [
        layer.encode(
            x=alt.X("x:Q", axis=alt.Axis(**x), scale=scale),
            y=alt.Y("y:Q", axis=alt.Axis(**y), scale=scale),
            color=alt.Color("look:N", legend=None).scale(domain=looks, range=colours),
            shape=alt.Shape("look:N", legend=None).scale(domain=looks, range=shapes),
            description="name:N",
        )
        for layer in layers
    ]
    if zero:
        rule = alt.Chart(alt.InlineData([{}])).mark_rule(aria=False, color="var(--ink)")
        encoded.insert(1, rule.encode(**{zero: alt.datum(0)}))
    chart = alt.layer(
        *encoded,
        width=340,  # pixels of a phone, so that nothing is shrunk there
        height=240,
        autosize=alt.AutoSizeParams(type="fit", contains="padding"),
        background="transparent",
        config=alt.Config(
            axis=alt.AxisConfig(tickCount=6, titlePadding=8),
            numberFormat=".8~g",
            view=alt.ViewConfig(stroke=None),
        ),
    )
    # What readers have set for charts of their own is not for these.
    with alt.theme.enable("none"), alt.data_transformers.enable("default"):
        spec = chart.to_dict(validate=False)  # a test does
    svg = vegalite_to_svg(spec, allowed_base_urls=[])
    return _NAMED.sub(r"<path\2><title>\1</title></path>", svg)
