"""``linsep separate``: the hyperplane of a data file, or the rows that forbid one."""

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


@click.command("separate")
@data_options
@no_intercept_option
@max_passes_option
@time_limit_option
@seed_option
@certificate_option
@json_option
def command(
    read: Callable[[], Labelled],
    file: Path,
    no_intercept: bool,
    max_passes: int,
    time_limit: float | None,
    seed: int | None,
    certificate: Path | None,
    as_json: bool,
) -> None:
    """Separate the two classes of FILE, or name the rows that no hyperplane can.

    FILE is CSV (.gz too), Parquet, svmlight text, .npy or .npz. Columns of text become
    0/1 columns, one for each level.
    """
    from linsep.cli.answers import search_file, tell
    from linsep.separation import separate

    answer, table = search_file(
        separate,
        read,
        file,
        certificate,
        fit_intercept=not no_intercept,
        max_passes=max_passes,
        time_limit=time_limit,
        random_state=seed,
    )
    tell(answer, table, certificate, as_json)
