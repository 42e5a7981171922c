"""``linsep reproduce figure-1`` and ``linsep reproduce theorems``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

    from linsep.lab.reproduce.figure_1 import Measurement
    from linsep.lab.reproduce.theorems import Comparison

__all__ = ["command", "reproduce_group"]

# Beyond this the Perceptron alone takes over an hour.
LARGEST_N = 18


@click.group("reproduce")
def reproduce_group() -> None:
    """Measure again what the paper reports, and draw it."""


command = reproduce_group


@reproduce_group.command("figure-1")
@click.option(
    "--n-max",
    type=click.IntRange(1, LARGEST_N),
    default=15,
    show_default=True,
    help="The largest n; each step takes four times the last one's time.",
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("figure-1"),
    show_default=True,
    help="Folder for figure-1.csv, figure-1.png and figure-1.svg; made if need be.",
)
def figure_1_command(n_max: int, out: Path) -> None:
    """Draw both panels of Figure 1: total iterations against n, and their logarithm.

    Perceptron and Optimistic Perceptron as in the paper, the adaptive step and the
    metric as further lines, the paper's bound and the sharper one. n = 15 takes about
    a minute.
    """
    from rich.console import Console

    from linsep.figure_style import require_matplotlib
    from linsep.lab.reproduce import figure_1
    from linsep.lab.reproduce.drawing import save_all

    try:
        require_matplotlib()
    except ImportError as error:
        raise click.UsageError(str(error)) from error
    _make_folder(out)
    rows = _measure_with_progress(n_max)
    console = Console()
    console.print(_figure_1_table(rows))
    path = out / "figure-1.csv"
    with _writing(out):
        figure_1.write_csv(rows, path)
        pictures = save_all(rows, out)
    for written in (path, *pictures):
        console.print(f"wrote {written}", highlight=False, soft_wrap=True)


def _make_folder(folder: Path) -> None:
    """Make the folder and try to write there before the long work, or say why not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise click.UsageError(
            "--out must be a folder that can be made and written to: "
            f"{error.strerror} ({folder})."
        ) from error


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn a failure to write, a full disk say, into one message."""
    try:
        yield
    except OSError as error:
        raise click.UsageError(
            f"The table above is complete, but the files could not be written to "
            f"{folder}: {error.strerror or error}."
        ) from error


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


def _figure_1_table(rows: list[Measurement]) -> Table:
    """Return the totals as a table for the terminal."""
    table = _table(
        "Total iterations on data set (2), in the paper's unit",
        "Inner products and additions of vectors until the data are separated.\n"
        "Bounds: on Algorithm 1. Mistakes: Perceptron's, a pass.",
        ("n", "Perceptron", "mistakes", "Algorithm 1", "sharper", "paper's"),
        ("adaptive", "metric"),
    )
    for row in rows:
        table.add_row(
            str(row.n),
            f"{row.perceptron_operations:,}",
            f"{row.perceptron_mistakes_per_pass:.3f}",
            f"{row.optimistic_operations:,}",
            f"{row.sharper_bound_operations:,}",
            f"{row.paper_bound_operations:,}",
            f"{row.adaptive_operations:,}",
            f"{row.metric_operations:,}",
        )
    return table


def _table(title: str, caption: str, *columns: tuple[str, ...]) -> Table:
    """Return an empty table narrow enough for eighty columns."""
    from rich import box
    from rich.table import Table

    table = Table(
        title=title,
        caption=caption,
        box=box.SIMPLE_HEAD,
        padding=0,
        pad_edge=False,
    )
    for name in (name for group in columns for name in group):
        table.add_column(name, justify="right", no_wrap=True)
    return table


@reproduce_group.command("theorems")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
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
    from rich.console import Console

    from linsep.lab.reproduce import theorems

    if out is not None:
        _make_folder(out)
    console = Console()
    rows = list(theorems.compare_grid(seed=seed))
    console.print(_theorems_table(rows))
    if out is not None:
        path = out / "theorems.csv"
        with _writing(out):
            theorems.write_csv(rows, path)
        console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    if not all(row.holds for row in rows):
        raise click.exceptions.Exit(1)


def _theorems_table(rows: list[Comparison]) -> Table:
    """Return the comparisons as a table for the terminal."""
    table = _table(
        "Measured against bound, Algorithm 1 on planted rows",
        "Thm: the largest measured / bound over all rounds (at most 1).\n"
        "Rounds: the first whose average separates, and by when it must.\n"
        "Updates: Perceptron's, and the most there can be.",
        ("n", "r", "margin", "Thm 1", "Thm 2", "Thm 3"),
        ("rounds", "sharper", "paper's", "updates", "bound", "holds"),
    )
    for row in rows:
        table.add_row(
            str(row.n),
            f"{row.radius:g}",
            f"{row.margin:g}",
            *map(_ratio, (row.theorem_1, row.theorem_2, row.theorem_3)),
            f"{row.rounds:,}",
            f"{row.sharper_bound:,}",
            f"{row.paper_bound:,}",
            f"{row.perceptron_updates:,}",
            f"{row.perceptron_bound:,}",
            "yes" if row.holds else "NO",
        )
    return table


def _ratio(value: float) -> str:
    """Return a ratio; a negative one says that the measured regret was negative."""
    return f"{value:.3f}" if value >= 0 else "< 0"
