"""The options every command shares that reads a data file, and what they yield."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.cli.options import LABELLED, LAYOUT_NAMES, shared_options, taken
from linsep.cli.streams import source_of, streamed_table
from linsep.input import InputError
from linsep.input.errors import did_you_mean
from linsep.input.files import Table, read_labelled
from linsep.input.row_names import RowNames, row_names_of_file


@dataclass(frozen=True)
class Labelled:
    """A data file with its two classes told apart.

    The labels `y` are the file's own, or with --positive whether each is that one;
    `names` says what each is called, `reading` with what options the file was read,
    and `row_names` what the rows are.
    """

    table: Table
    y: NDArray[Any]
    names: dict[Any, str]
    reading: dict[str, Any]
    row_names: RowNames = field(default_factory=RowNames)


def data_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument FILE and its options, as `read`, a `Labelled`."""

    @shared_options("FILE", *LABELLED)
    @wraps(command)
    def wrapped(file: Path, **options: Any) -> None:
        asked = taken(options, LABELLED)

        def read(
            fit_intercept: bool = True,
            recorded: Mapping[str, Any] | None = None,
            sql: str | None = None,
            max_memory: int | None = None,
        ) -> Labelled:
            given = without_defaults(asked)
            kept = dict(_checked(recorded or {}) | given)
            kept |= {} if sql is None else {"sql": sql}
            return read_data(file, kept, fit_intercept, max_memory)

        command(read=read, file=file, **options)

    return wrapped


def read_data(
    file: Path,
    kept: dict[str, Any],
    fit_intercept: bool,
    max_memory: int | None = None,
    *,
    may_be_many: bool = False,
) -> Labelled:
    """Read a file as the options kept say; `may_be_many` allows more classes than two.

    Labels of data that are read in batches stay there: `y` is empty.
    """
    source = source_of(file, kept, max_memory)
    if source is not None:
        table, names = streamed_table(source, kept, fit_intercept, max_memory)
        return Labelled(table, np.empty(0), names, kept)
    most = kept | {"fit_intercept": fit_intercept}
    label = most.pop("positive", None)
    table, y = read_labelled(file, most.pop("target", None), **most)
    names = {}
    if label is not None or not may_be_many:
        y, names = two_classes(table, y, label)
    layout = {name: kept[name] for name in LAYOUT_NAMES if name in kept}
    row_names = row_names_of_file(file, kept.get("target"), **layout)
    return Labelled(table, y, names, kept, row_names)


def without_defaults(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that say something."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asked.items()
        if value not in (None, (), "refuse")
    }


def _checked(recorded: object) -> dict[str, Any]:
    """Return how a certificate says that its data were read, or refuse it."""
    texts = ("target", "positive", "missing", "sql", *LAYOUT_NAMES)
    kinds: dict[str, type] = dict.fromkeys(texts, str)
    kinds |= {"header": bool, "drop": list}
    given: dict[str, Any] = recorded if isinstance(recorded, dict) else {"": None}
    is_whole = all(type(value) is kinds.get(name) for name, value in given.items())
    if not (is_whole and all(type(one) is str for one in given.get("drop", []))):
        raise InputError(
            "the reading in a certificate must be that of `linsep separate FILE "
            "--certificate`, got another; make the certificate again"
        )
    return given


def two_classes(
    table: Table, y: NDArray[Any], positive: str | None
) -> tuple[NDArray[Any], dict[Any, str]]:
    """Tell two classes apart, by --positive if it is given, and name each."""
    classes = sorted(set(y.tolist()))
    known = ", ".join(map(str, classes[:8])) + (", ..." if len(classes) > 8 else "")
    if positive is None:
        if len(classes) > 2:
            raise InputError(
                f"column {table.target!r} must hold two classes, got {len(classes)} "
                f"({known}); choose one with --positive LABEL to separate it from the "
                "rest"
            )
        return y, {label: str(label) for label in classes}
    others = [label for label in classes if str(label) != positive]
    if len(others) == len(classes):
        meant = did_you_mean(positive, classes) or f"its labels are {known}"
        raise InputError(
            f"--positive must be a label of column {table.target!r}, got {positive!r}; "
            f"{meant}"
        )
    other = str(others[0]) if len(others) == 1 else f"not {positive}"
    is_positive = np.array([str(label) == positive for label in classes])
    chosen = is_positive[np.searchsorted(classes, y)]
    return chosen, {False: other, True: positive}
