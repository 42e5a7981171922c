"""``linsep separate``: the hyperplane of a data file, or the rows that forbid one."""

from __future__ import annotations

import click

from linsep.cli.search_options import Asked, search_options


@click.command("separate")
@search_options
@click.option(
    "--minimal-conflict",
    is_flag=True,
    help="Look for a conflict of more than 500 rows too; it may take minutes.",
)
def command(asked: Asked, minimal_conflict: bool) -> None:
    """Separate the two classes of FILE, or name the rows that no hyperplane can.

    FILE is CSV (.gz too), Parquet, svmlight text, .npy or .npz. Columns of text become
    0/1 columns, one for each level.
    """
    from linsep.separation import separate

    answer, table = asked.search(separate, minimal_conflict=minimal_conflict)
    asked.tell(answer, table)
