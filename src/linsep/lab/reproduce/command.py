"""``linsep reproduce figure-1`` and ``linsep reproduce theorems``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linsep.printable import printable

if TYPE_CHECKING:
    from linsep.lab.reproduce.figure_1 import Measurement
    from linsep.lab.reproduce.tables import Column

# Beyond this the Perceptron alone takes over an hour.
LARGEST_N = 18


def _ratio(value: float) -> str:
    """Return a ratio; a negative one says that the measured regret was negative."""
    return f"{value:.3f}" if value >= 0 else "< 0"


FIGURE_1: list[Column] = [
    ("n", "n", "d"),
    ("Perceptron", "perceptron_operations", ","),
    ("mistakes", "perceptron_mistakes_per_pass", ".3f"),
    ("Algorithm 1", "optimistic_operations", ","),
    ("sharper", "sharper_bound_operations", ","),
    ("paper's", "paper_bound_operations", ","),
    ("adaptive", "adaptive_operations", ","),
    ("metric", "metric_operations", ","),
]
THEOREMS: list[Column] = [
    ("n", "n", "d"),
    ("r", "radius", "g"),
    ("margin", "margin", "g"),
    ("Thm 1", "theorem_1", _ratio),
    ("Thm 2", "theorem_2", _ratio),
    ("Thm 3", "theorem_3", _ratio),
    ("rounds", "rounds", ","),
    ("sharper", "sharper_bound", ","),
    ("paper's", "paper_bound", ","),
    ("updates", "perceptron_updates", ","),
    ("bound", "perceptron_bound", ","),
    ("holds", "holds", lambda holds: "yes" if holds else "NO"),
]


@click.group("reproduce")
def command() -> None:
    """Measure again what the paper reports, and draw it."""


@command.command("figure-1")
@click.option(
    "--n-max",
    type=click.IntRange(1, LARGEST_N),
    default=15,
    help="The largest n; each step takes four times the last one's time.",
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("figure-1"),
    help="Folder for figure-1.csv, figure-1.png and figure-1.svg; made if need be.",
)
def figure_1_command(n_max: int, out: Path) -> None:
    """Draw both panels of Figure 1: total iterations against n, and their logarithm.

    Perceptron and Optimistic Perceptron as in the paper, the adaptive step and the
    metric as further lines, the paper's bound and the sharper one. n = 15 takes about
    a minute.
    """
    from linsep.figure_style import require_matplotlib
    from linsep.lab.reproduce import tables
    from linsep.lab.reproduce.drawing import save_all

    try:
        require_matplotlib()
    except ImportError as error:
        raise click.UsageError(str(error)) from error
    _make_folder(out)
    rows = _measure_with_progress(n_max)
    tables.print_table(
        rows,
        FIGURE_1,
        title="Total iterations on data set (2), in the paper's unit",
        caption="Inner products and additions of vectors until the data are "
        "separated.\nBounds: on Algorithm 1. Mistakes: Perceptron's, a pass.",
    )
    path = out / "figure-1.csv"
    with _writing(out):
        tables.write_csv(rows, path)
        pictures = save_all(rows, out)
    _say_written(path, *pictures)


def _make_folder(folder: Path) -> None:
    """Make the folder and try to write there before the long work, or say why not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise click.UsageError(
            "--out must be a folder that can be made and written to: "
            f"{error.strerror} ({folder})"
        ) from error


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn a failure to write, a full disk say, into one message."""
    try:
        yield
    except OSError as error:
        raise click.UsageError(
            f"the table above is complete, but the files could not be written to "
            f"{folder}: {error.strerror or error}"
        ) from error


def _say_written(*paths: Path) -> None:
    """Name the files; whatever is in their names, the terminal acts on none of it."""
    for path in paths:
        click.echo(printable(f"wrote {path}"))


def _measure_with_progress(n_max: int) -> list[Measurement]:
    """Measure n = 1, ..., n_max behind a progress bar of Perceptron's operations."""
    from rich.console import Console
    from rich.progress import Progress

    from linsep.lab.reproduce.figure_1 import measure_all, perceptron_operations

    costs = {n: perceptron_operations(n) for n in range(1, n_max + 1)}
    rows = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("n = 1", total=sum(costs.values()))
        done = 0

        def report(n: int, operations: int) -> None:
            progress.update(
                task, completed=done + min(operations, costs[n]), description=f"n = {n}"
            )

        for row in measure_all(n_max, report):
            rows.append(row)
            done += costs[row.n]
            progress.update(task, completed=done, description=f"n = {row.n + 1}")
    return rows


@command.command("theorems")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    help="Seed of the planted rows.",
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for theorems.csv; made if need be.",
)
def theorems_command(seed: int, out: Path | None) -> None:
    """Set what was measured beside Theorems 1, 2, 3 and the counts of rounds.

    Algorithm 1 on planted rows over a grid of n, r and margin. Exit code 1 if a claim
    fails.
    """
    from linsep.lab.reproduce import tables, theorems

    if out is not None:
        _make_folder(out)
    rows = list(theorems.compare_grid(seed=seed))
    tables.print_table(
        rows,
        THEOREMS,
        title="Measured against bound, Algorithm 1 on planted rows",
        caption="Thm: the largest measured / bound over all rounds (at most 1).\n"
        "Rounds: the first whose average separates, and by when it must.\n"
        "Updates: Perceptron's, and the most there can be.",
    )
    if out is not None:
        path = out / "theorems.csv"
        with _writing(out):
            tables.write_csv(rows, path)
        _say_written(path)
    if not all(row.holds for row in rows):
        raise click.exceptions.Exit(1)
