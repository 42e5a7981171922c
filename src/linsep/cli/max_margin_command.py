"""``linsep max-margin``: the hyperplane furthest from both classes of a data file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linsep.cli.data_options import data_options
from linsep.cli.options import (
    certificate_option,
    json_option,
    max_passes_option,
    no_intercept_option,
    seed_option,
    time_limit_option,
)

if TYPE_CHECKING:
    from linsep.cli.data_options import Labelled


@click.command("max-margin")
@data_options
@no_intercept_option
@click.option(
    "--tol",
    metavar="SHARE",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=1e-6,
    show_default=True,
    help="Relative width of the margin's interval to reach.",
)
@click.option(
    "--exact", is_flag=True, help="Also the exact square of the margin, as a fraction."
)
@max_passes_option
@time_limit_option
@seed_option
@certificate_option
@json_option
def command(
    read: Callable[[], Labelled],
    file: Path,
    no_intercept: bool,
    tol: float,
    exact: bool,
    max_passes: int,
    time_limit: float | None,
    seed: int | None,
    certificate: Path | None,
    as_json: bool,
) -> None:
    """Separate the two classes of FILE by the largest margin, or name the conflict.

    FILE is as for `linsep separate`. The hyperplane is the one furthest from the
    nearest row of either class: the hard-margin support vector machine.
    """
    from linsep.cli.answers import search_file, tell
    from linsep.largest_margin import max_margin

    answer, table = search_file(
        max_margin,
        read,
        file,
        certificate,
        tol=tol,
        fit_intercept=not no_intercept,
        max_passes=max_passes,
        time_limit=time_limit,
        random_state=seed,
    )
    lines = []
    support, square = answer.support, None
    if support is not None:
        lines.append(f"Support rows: {', '.join(map(str, support))}.")
    if exact and answer.separable:
        square = str(answer.margin_squared())
        lines.append(f"Margin squared, exactly: {square}")
    held = None if support is None else support.tolist()
    tell(
        answer, table, certificate, as_json, lines, support=held, margin_squared=square
    )
