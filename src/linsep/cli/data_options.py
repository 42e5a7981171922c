"""The options every command shares that reads a data file, and what they yield."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from linsep.cli.options import shared_options
from linsep.input import InputError
from linsep.input.files import Table, read_labelled
from linsep.input.row_names import RowNames, row_names_of_file


@dataclass(frozen=True)
class Labelled:
    """A data file with its two classes told apart.

    The labels `y` are the file's own, or with --positive whether each is that one;
    `names` says what each is called, `row_names` what the rows are.
    """

    table: Table
    y: NDArray[Any]
    names: dict[Any, str]
    row_names: RowNames = field(default_factory=RowNames)


def data_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument FILE and its options, as `read`, a `Labelled`."""

    @shared_options("FILE", "--target")
    @click.option(
        "--positive",
        metavar="LABEL",
        help="The label on the positive side; all others are on the negative side.",
    )
    @shared_options("--drop", "--header")
    @wraps(command)
    def wrapped(
        file: Path,
        target: str | None,
        positive: str | None,
        drop: tuple[str, ...],
        header: bool | None,
        **options: Any,
    ) -> None:
        def read() -> Labelled:
            table, y = read_labelled(file, target, drop=drop, header=header)
            row_names = row_names_of_file(file, target, header)
            return replace(_labelled(table, y, positive), row_names=row_names)

        command(read=read, file=file, **options)

    return wrapped


def _labelled(table: Table, y: NDArray[Any], positive: str | None) -> Labelled:
    """Tell the two classes apart, by --positive if it is given."""
    classes = sorted(set(y.tolist()))
    known = ", ".join(map(str, classes[:8])) + (", ..." if len(classes) > 8 else "")
    if positive is None:
        if len(classes) > 2:
            raise InputError(
                f"column {table.target!r} must hold two classes, got {len(classes)} "
                f"({known}); choose one with --positive LABEL to separate it from the "
                "rest"
            )
        return Labelled(table, y, {label: str(label) for label in classes})
    others = [label for label in classes if str(label) != positive]
    if len(others) == len(classes):
        raise InputError(
            f"--positive must be a label of column {table.target!r}, got {positive!r}; "
            f"its labels are {known}"
        )
    other = str(others[0]) if len(others) == 1 else f"not {positive}"
    is_positive = np.array([str(label) == positive for label in classes])
    chosen = is_positive[np.searchsorted(classes, y)]
    return Labelled(table, chosen, {False: other, True: positive})
