"""The options that several commands share, each written once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from linsep.cli.standard_input import from_standard_input

Command = TypeVar("Command", bound=Callable[..., None])


# How options of several characters say one that a shell has its own ideas of.
_SPELLED = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " "}


def intercept_option(help: str) -> Callable[[Command], Command]:
    """Return the flag --no-intercept, which a command takes as `fit_intercept`."""
    return click.option(
        "--no-intercept",
        "fit_intercept",
        is_flag=True,
        callback=lambda _, __, given: not given,
        help=help,
    )


_SHARED = {
    "FILE": click.argument(
        "file", type=click.Path(path_type=Path), callback=from_standard_input
    ),
    "--no-intercept": intercept_option("Only hyperplanes through the origin."),
}


def _share(*words: str, **settings: Any) -> None:
    """Let commands ask for an option by the first of its words."""
    _SHARED[words[0].partition("/")[0]] = click.option(*words, **settings)


_share(
    "--target",
    metavar="COL",
    help="The column of the labels: its name, or its number from 0 (-1: the last).",
)
_share(
    "--positive",
    metavar="LABEL",
    help="The label on the positive side; all others are on the negative side.",
)
_share(
    "--drop",
    metavar="COL",
    multiple=True,
    help="A column to leave out. May be given several times.",
)
_share(
    "--missing",
    type=click.Choice(["refuse", "drop"]),
    default="refuse",
    help="What to do with rows that lack a value: refuse the file, with a count, "
    "or leave them out, with a note.",
)
_share(
    "--header/--no-header",
    default=None,
    help="Whether the first line of a CSV names the columns; told from the file if "
    "not given.",
)
_share(
    "--sep",
    metavar="CHAR",
    callback=lambda _, __, sep: _SPELLED.get(sep, sep),
    help="What separates the fields of a CSV, such as ';', '|' or tab; told from "
    "the file if not given.",
)
_share(
    "--decimal",
    metavar="CHAR",
    help="The decimal point of a CSV, '.' or ','; told from the file if not given.",
)
_share(
    "--encoding",
    metavar="NAME",
    help="The encoding of a text, such as latin-1; UTF-8 if not given.",
)
_share(
    "--max-passes",
    metavar="N",
    type=click.IntRange(min=1),
    default=100,
    help="Sweeps over the data at most.",
)
_share(
    "--time-limit",
    metavar="S",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds at most for the search; reading does not count.",
)
_share(
    "--seed",
    "random_state",
    metavar="N",
    type=click.IntRange(min=0),
    help="Seed of the search's random choices; 0 if not given, so that runs repeat.",
)
_share(
    "--certificate",
    metavar="OUT.json",
    type=click.Path(path_type=Path),
    help="Save the proof, for `linsep verify` or a checker of your own.",
)
_share(
    "--report",
    metavar="OUT.html",
    type=click.Path(path_type=Path),
    help="Save the answer as a page to read, to print and to pass on: what it "
    "means, what to do, pictures, the rows behind it.",
)
_share(
    "--sql",
    metavar="QUERY",
    help="Rows of a query on FILE, a database of DuckDB, in place of a file's.",
)
_share(
    "--max-memory",
    metavar="BYTES",
    help="What reading a folder, a pattern or a query may take, such as 500M; a tenth "
    "of what is free, at most 512M, if not given.",
)
_share("--json", "as_json", is_flag=True, help="The answer as one JSON object.")


def examples(*commands: str) -> str:
    """Return the end of a command's help: examples, a line each."""
    lines = "\n".join(f"  {command}" for command in commands)
    return f"\b\nExamples:\n{lines}"


# How a file is laid out, and all that is said of reading it.
LAYOUT = ("--header", "--sep", "--decimal", "--encoding")
READING = ("--drop", "--missing", *LAYOUT)
LABELLED = ("--target", "--positive", *READING)
LAYOUT_NAMES = tuple(option[2:] for option in LAYOUT)


def taken(options: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Take what was given for some options out of all that was given."""
    return {name[2:]: options.pop(name[2:]) for name in names}


def shared_options(*names: str) -> Callable[[Command], Command]:
    """Give a command some of the options above, listed in this order in its help."""

    def with_options(command: Command) -> Command:
        for name in reversed(names):
            command = _SHARED[name](command)
        return command

    return with_options
