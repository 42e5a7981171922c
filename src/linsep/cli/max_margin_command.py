"""``linsep max-margin``: the hyperplane furthest from both classes of a data file."""

from collections.abc import Callable
from pathlib import Path

import click

from linsep.cli.data_options import Labelled, data_options
from linsep.cli.limit_options import json_option, max_passes_option, time_limit_option
from linsep.cli.output import require_writable, strict_json
from linsep.cli.progress import progress_line
from linsep.cli.separate_command import (
    _named,
    _reading_notes,
    _record,
    _save_certificate,
)

__all__ = ["command"]


@click.command("max-margin")
@data_options
@click.option("--no-intercept", is_flag=True, help="The hyperplane through the origin.")
@click.option(
    "--tol",
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
@click.option(
    "--certificate",
    metavar="OUT.json",
    type=click.Path(path_type=Path),
    help="Save the proof of separation, or of the conflict.",
)
@json_option
def command(
    read: Callable[[], Labelled],
    file: Path,
    no_intercept: bool,
    tol: float,
    exact: bool,
    max_passes: int,
    time_limit: float | None,
    certificate: Path | None,
    as_json: bool,
) -> None:
    """Separate the two classes of FILE by the largest margin, or name the conflict."""
    from linsep.largest_margin import max_margin

    require_writable(certificate, file)
    with progress_line(f"reading {file}") as progress:
        data = read()
        progress.say("searching (the first run ever compiles its loops: some seconds)")
        answer = max_margin(
            data.table.X,
            data.y,
            tol=tol,
            fit_intercept=not no_intercept,
            max_passes=max_passes,
            time_limit=time_limit,
            callback=progress,
        )
    square = str(answer.margin_squared()) if exact and answer.separable else None
    answer = _named(answer, data)
    if certificate is not None:
        _save_certificate(answer, certificate)
    if as_json:
        support = None if answer.support is None else answer.support.tolist()
        record = _record(answer, data.table)
        click.echo(strict_json(record | {"support": support, "margin_squared": square}))
    else:
        click.echo(answer.summary())
        if answer.support is not None:
            click.echo(f"Support rows: {', '.join(map(str, answer.support))}.")
        if square is not None:
            click.echo(f"Margin squared, exactly: {square}")
        for sentence in _reading_notes(data.table):
            click.echo(f"Note: {sentence}.")
    raise SystemExit(0 if answer.separable is not None else 1)
