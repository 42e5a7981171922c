"""``linsep max-margin``: the hyperplane furthest from both classes of a data file."""

from __future__ import annotations

import math

import click

from linsep.cli.options import examples
from linsep.cli.search_options import Asked, search_options
from linsep.printable import exact_text


@click.command(
    "max-margin",
    epilog=examples(
        "linsep max-margin data.csv --target grown",
        "linsep max-margin data.csv --target grown --exact --certificate proof.json",
    ),
)
@search_options
@click.option(
    "--tol",
    metavar="SHARE",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=1e-6,
    help="Relative width of the margin's interval to reach.",
)
@click.option(
    "--exact", is_flag=True, help="Also the exact square of the margin, as a fraction."
)
def command(asked: Asked, tol: float, exact: bool) -> None:
    """Separate the two classes of FILE by the largest margin, or name the conflict.

    FILE is as for `linsep separate`. The hyperplane is the one furthest from the
    nearest row of either class: the hard-margin support vector machine.
    """
    from linsep.largest_margin import max_margin

    answer, table = asked.search(max_margin, tol=tol)
    lines = []
    if answer.support is not None:
        lines.append(f"Support rows: {', '.join(map(str, answer.support))}.")
    if (
        exact and answer.separable and answer.margin_upper < math.inf
    ):  # not of one class
        squared = exact_text(answer.margin_squared())
        lines.append(f"Margin squared, exactly: {squared}")
    asked.tell(answer, table, lines)
