"""``linsep predict``: the labels that a saved model gives the rows of a data file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from linsep.cli.options import LAYOUT, LAYOUT_NAMES, examples, shared_options
from linsep.cli.output import require_writable, say, strict_json, writing
from linsep.cli.progress import progress_line
from linsep.cli.streams import bytes_of, source_of
from linsep.input import InputError
from linsep.input.files import Request, read_request
from linsep.input.streams import new_rows
from linsep.rows import as_dense, split
from linsep.whole_files import whole_file

if TYPE_CHECKING:
    from linsep.cli.model_file import LinearModel


@click.command(
    "predict",
    epilog=examples(
        "linsep predict model.json new.csv",
        "linsep predict model.json - --json < new.csv",
        "linsep predict model.json 'trips/*.parquet' --output labels.txt",
        "linsep predict model.json db.duckdb --sql 'FROM t' --output labels.txt",
    ),
)
@click.argument("model", type=click.Path(path_type=Path))
@shared_options("FILE")
@click.option(
    "--scores", is_flag=True, help="The decision values too, comma-separated."
)
@click.option(
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file for what is else printed; it is there when all of it is written.",
)
@shared_options("--sql", "--max-memory", *LAYOUT, "--json")
def command(
    model: Path,
    file: Path,
    scores: bool,
    output: Path | None,
    max_memory: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Print the label of every row of FILE, one a line, by the model in MODEL.

    FILE is as for `linsep separate`, and needs the columns that the model was fitted
    on, found by name; others are ignored. A folder, a pattern and a query are read in
    batches, and their labels written as they come, in order.
    """
    from linsep.cli.model_file import LinearModel

    require_writable(output, file)
    rule = LinearModel.load(model)
    with progress_line(f"reading {file}") as progress, _written(output) as write:
        parts = _features(file, rule, reading, bytes_of(max_memory), as_json)
        if as_json:
            [X] = parts
            record: dict[str, Any] = {"target": rule.target, "labels": rule.predict(X)}
            if scores:
                record["scores"] = rule.decisions(X).tolist()
            write(strict_json(record))
            return
        n_rows = 0
        for X in parts:
            write("\n".join(_lines(rule, X, scores)))
            n_rows += X.shape[0]
            progress.say(f"reading {file}: {n_rows:,} rows")


@contextmanager
def _written(output: Path | None) -> Iterator[Callable[[str], None]]:
    """Give what prints a text, or writes it to a file that is there at the end."""
    if output is None:
        yield say
        return
    with (
        writing(output),
        whole_file(output) as unfinished,
        open(unfinished, "w", encoding="utf-8", newline="\n") as file,
    ):
        yield lambda text: print(text, file=file)
        file.flush()


def _lines(rule: LinearModel, X: Any, scores: bool) -> Iterator[str]:
    """Yield the line of each row."""
    labels = rule.predict(X)
    if not scores:
        yield from map(_field, labels)
        return
    decisions = rule.decisions(X).reshape(len(labels), -1)
    for label, values in zip(labels, decisions.tolist(), strict=True):
        yield ",".join([_field(label), *(repr(value) for value in values)])


def _field(label: Any) -> str:
    """Write a label on one line."""
    return str(label).replace("\n", "\\n")


def _features(
    file: Path,
    rule: LinearModel,
    reading: dict[str, Any],
    max_memory: int | None,
    as_json: bool,
) -> Iterator[Any]:
    """Yield the model's columns, texts coded as they were when it was fitted."""
    source = source_of(file, reading | {"levels": rule.levels}, max_memory)
    if source is None:
        yield _held_whole(file, rule, reading)
        return
    if as_json:
        raise InputError(
            f"--json goes with a file that is held whole, got {source.name}, which is "
            "read in batches; leave it out for a label a line"
        )
    given = rule.columns, rule.levels, rule.feature_names, max_memory
    for X in new_rows(source, *given):
        for start, stop in split(X.shape[0], rule.width):
            yield X[start:stop]


def _held_whole(file: Path, rule: LinearModel, reading: dict[str, Any]) -> Any:
    """Return the model's columns of a file in memory."""
    layout = {name: reading[name] for name in LAYOUT_NAMES}
    request = Request(
        columns=rule.columns, levels=rule.levels, needs_all=True, **layout
    )
    table = read_request(file, request)
    for column in table.levels:
        if column not in rule.levels:
            raise InputError(
                f"{file} must hold numbers in the column {column!r}, as when the model "
                "was fitted, got other values; correct them"
            )
    return as_dense(table.features(rule.feature_names)).astype(np.float64, copy=False)
