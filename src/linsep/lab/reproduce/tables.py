"""Measurements as tables: CSV files, and tables for the terminal."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING

from linsep.whole_files import whole_file

if TYPE_CHECKING:
    from linsep.lab.reproduce.figure_1 import Measurement
    from linsep.lab.reproduce.theorems import Comparison

# Heading, field, and how its values are written: a format or a function.
Column = tuple[str, str, str | Callable[[float], str]]


def write_csv(rows: Sequence[Measurement] | Sequence[Comparison], path: Path) -> None:
    """Write records as CSV, a line each below the names of their fields."""
    with (
        whole_file(path) as unfinished,
        unfinished.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(rows[0])])
        writer.writerows(astuple(row) for row in rows)


def print_table(
    rows: Sequence[Measurement] | Sequence[Comparison],
    columns: Sequence[Column],
    *,
    title: str,
    caption: str,
) -> None:
    """Print records as a table for the terminal, narrow enough for eighty columns."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=title, caption=caption, box=box.SIMPLE_HEAD, padding=0, pad_edge=False
    )
    for heading, _, _ in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        values = [(getattr(row, name), form) for _, name, form in columns]
        table.add_row(
            *(form(x) if callable(form) else format(x, form) for x, form in values)
        )
    Console().print(table)
