"""``linsep separate``: the hyperplane of a data file, or the rows that forbid one."""

from __future__ import annotations

import click

from linsep.cli.options import examples
from linsep.cli.search_options import Asked, search_options


@click.command(
    "separate",
    epilog=examples(
        "linsep separate data.csv --target grown",
        "linsep separate data.csv --target kind --positive rose --drop id",
        "zcat data.csv.gz | linsep separate - --target grown --json | jq .separable",
    ),
)
@search_options
@click.option(
    "--minimal-conflict",
    is_flag=True,
    help="Look for a conflict of more than 500 rows too; it may take minutes.",
)
def command(asked: Asked, minimal_conflict: bool) -> None:
    """Separate the two classes of FILE, or name the rows that no hyperplane can.

    FILE is CSV (.gz, .bz2 and .xz too), Parquet, JSON lines, Feather, svmlight text,
    .npy or .npz; - is standard input, in any of these. Columns of text become
    0/1 columns, one for each level but the commonest; with --no-intercept all levels of
    the first of them have one. Dates and names of rows are left out.
    """
    from linsep.separation import separate

    answer, table = asked.search(separate, minimal_conflict=minimal_conflict)
    asked.tell(answer, table)
