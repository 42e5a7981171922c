"""``linsep predict``: the labels that a saved model gives the rows of a data file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from linsep.cli.output import say
from linsep.input import InputError
from linsep.input.files import read_table
from linsep.rows import as_dense

if TYPE_CHECKING:
    from linsep.cli.model_file import LinearModel


@click.command("predict")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--scores", is_flag=True, help="The decision values too, comma-separated."
)
def command(model: Path, file: Path, scores: bool) -> None:
    """Print the label of every row of FILE, one a line, by the model in MODEL.

    FILE needs the columns that the model was fitted on, found by name; others are
    ignored.
    """
    from linsep.cli.model_file import LinearModel

    rule = LinearModel.load(model)
    X = _features(file, rule)
    labels = rule.predict(X)
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


def _features(file: Path, rule: LinearModel) -> NDArray[np.float64]:
    """Return the model's columns, texts coded as they were when it was fitted."""
    source_of = {
        f"{column}[{level}]": column
        for column, levels in rule.dummies.items()
        for level in levels
    }
    columns = dict.fromkeys(source_of.get(name, name) for name in rule.feature_names)
    table = read_table(file, columns=tuple(columns))
    for text, levels in table.dummies.items():
        unknown = sorted(set(levels) - set(rule.dummies.get(text, levels)))
        if unknown and text in rule.dummies:
            raise InputError(
                f"column {text!r} must hold levels that the model knows, "
                f"{list(rule.dummies[text])}, got {unknown[:5]}; drop those rows"
            )
    X = as_dense(table.X)
    known = {name: j for j, name in enumerate(table.feature_names)}
    out = np.zeros((X.shape[0], len(rule.feature_names)))
    for j, name in enumerate(rule.feature_names):
        column = source_of.get(name, name)
        if name in known:
            out[:, j] = X[:, known[name]]
        elif name == column or column not in table.dummies:
            kind = "numbers" if name == column else "texts"
            raise InputError(
                f"{file} must hold {kind} in the column {column!r}, as when the model "
                "was fitted, got other values; correct them"
            )
    return out
