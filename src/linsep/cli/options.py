"""The options that several commands share, each written once."""

from __future__ import annotations

from pathlib import Path

import click

file_argument = click.argument("file", type=click.Path(path_type=Path))
target_option = click.option(
    "--target",
    metavar="COL",
    help="The column of the labels: its name, or its number from 0 (-1: the last).",
)
drop_option = click.option(
    "--drop",
    metavar="COL",
    multiple=True,
    help="A column to leave out. May be given several times.",
)
header_option = click.option(
    "--header/--no-header",
    default=None,
    help="Whether the first line of a CSV names the columns; told from the file if "
    "not given.",
)
no_intercept_option = click.option(
    "--no-intercept", is_flag=True, help="Only hyperplanes through the origin."
)
max_passes_option = click.option(
    "--max-passes",
    metavar="N",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Sweeps over the data at most.",
)
time_limit_option = click.option(
    "--time-limit",
    metavar="S",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds at most for the search; reading does not count.",
)
seed_option = click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    help="Seed of the search's random choices; 0 if not given, so that runs repeat.",
)
certificate_option = click.option(
    "--certificate",
    metavar="OUT.json",
    type=click.Path(path_type=Path),
    help="Save the proof, for `linsep verify` or a checker of your own.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="The answer as one JSON object."
)
