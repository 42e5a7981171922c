"""The options several commands share that say when to stop, and how to answer."""

import click

__all__ = ["json_option", "max_passes_option", "time_limit_option"]

max_passes_option = click.option(
    "--max-passes",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Sweeps over the data at most.",
)
time_limit_option = click.option(
    "--time-limit",
    metavar="S",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds at most, reading not counted.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="The answer as one JSON object."
)
