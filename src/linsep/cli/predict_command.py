"""``linsep predict``: the labels that a saved model gives the rows of a data file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from linsep.arrays import Floats
from linsep.cli.options import LAYOUT, examples, shared_options
from linsep.cli.output import say, strict_json
from linsep.cli.progress import progress_line
from linsep.input import InputError
from linsep.input.files import Request, read_request
from linsep.rows import as_dense

if TYPE_CHECKING:
    from linsep.cli.model_file import LinearModel


@click.command(
    "predict",
    epilog=examples(
        "linsep predict model.json new.csv",
        "linsep predict model.json - --json < new.csv",
    ),
)
@click.argument("model", type=click.Path(path_type=Path))
@shared_options("FILE")
@click.option(
    "--scores", is_flag=True, help="The decision values too, comma-separated."
)
@shared_options(*LAYOUT, "--json")
def command(
    model: Path, file: Path, scores: bool, as_json: bool, **layout: Any
) -> None:
    """Print the label of every row of FILE, one a line, by the model in MODEL.

    FILE needs the columns that the model was fitted on, found by name; others are
    ignored.
    """
    from linsep.cli.model_file import LinearModel

    rule = LinearModel.load(model)
    with progress_line(f"reading {file}"):
        X = _features(file, rule, layout)
        labels = rule.predict(X)
    if as_json:
        record: dict[str, Any] = {"target": rule.target, "labels": labels}
        if scores:
            record["scores"] = rule.decisions(X).tolist()
        say(strict_json(record))
        return
    if not scores:
        for label in labels:
            say(_field(label))
        return
    decisions = rule.decisions(X).reshape(len(labels), -1)
    for label, values in zip(labels, decisions.tolist(), strict=True):
        say(",".join([_field(label), *(repr(value) for value in values)]))


def _field(label: Any) -> str:
    """Write a label on one line."""
    return str(label).replace("\n", "\\n")


def _features(file: Path, rule: LinearModel, layout: dict[str, Any]) -> Floats:
    """Return the model's columns, texts coded as they were when it was fitted."""
    request = Request(columns=rule.columns, levels=rule.levels, **layout)
    table = read_request(file, request)
    for column in table.levels:
        if column not in rule.levels:
            raise InputError(
                f"{file} must hold numbers in the column {column!r}, as when the model "
                "was fitted, got other values; correct them"
            )
    return as_dense(table.features(rule.feature_names)).astype(np.float64, copy=False)
