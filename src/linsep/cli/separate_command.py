"""``linsep separate``: the hyperplane of a data file, or the rows that forbid one."""

from __future__ import annotations

from pathlib import Path

import click

from linsep.cli.options import examples
from linsep.cli.search_options import Asked, search_options


@click.command(
    "separate",
    epilog=examples(
        "linsep separate data.csv --target grown",
        "linsep separate data.csv --target kind --positive rose --drop id",
        "linsep separate 'trips/*.parquet' --target tipped --checkpoint search.json",
        "linsep separate db.duckdb --sql 'FROM t WHERE height > 2' --target grown",
        "zcat data.csv.gz | linsep separate - --target grown --json | jq .separable",
    ),
)
@search_options
@click.option(
    "--minimal-conflict",
    is_flag=True,
    help="Look for a conflict of more than 500 rows too; it may take minutes.",
)
@click.option(
    "--checkpoint",
    metavar="FILE.json",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write down after each sweep how far the search is, and go on from there if "
    "the file is there.",
)
def command(asked: Asked, minimal_conflict: bool, checkpoint: Path | None) -> None:
    """Separate the two classes of FILE, or name the rows that no hyperplane can.

    FILE is CSV (.gz, .bz2 and .xz too), Parquet, JSON lines, Feather, svmlight text,
    .npy or .npz; - is standard input, in any of these. A folder of Parquet, Feather or
    CSV files, a pattern of their paths, and a query (--sql) are read in batches, once a
    sweep, and may be larger than memory. Columns of text become
    0/1 columns, one for each level but the commonest; with --no-intercept all levels of
    the first of them have one. Dates and names of rows are left out.
    """
    from linsep.separation import separate

    answer, table = asked.search(
        separate, minimal_conflict=minimal_conflict, checkpoint=checkpoint
    )
    asked.tell(answer, table)
