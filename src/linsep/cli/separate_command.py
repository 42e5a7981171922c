"""``linsep separate``: the hyperplane of a data file, or the rows that forbid one."""

from __future__ import annotations

import click

from linsep.cli.search_options import Asked, search_options


@click.command("separate")
@search_options
def command(asked: Asked) -> None:
    """Separate the two classes of FILE, or name the rows that no hyperplane can.

    FILE is CSV (.gz too), Parquet, svmlight text, .npy or .npz. Columns of text become
    0/1 columns, one for each level but the commonest; with --no-intercept all levels of
    the first of them have one. Dates and names of rows are left out.
    """
    from linsep.separation import separate

    answer, table = asked.search(separate)
    asked.tell(answer, table)
