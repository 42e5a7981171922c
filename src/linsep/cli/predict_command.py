"""``linsep predict``: the labels that a saved model gives the rows of a data file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from linsep.cli.output import say
from linsep.input import InputError
from linsep.input.files import Table, read_table
from linsep.rows import as_dense


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


def _features(file: Path, rule: Any) -> NDArray[np.float64]:
    """Return the model's columns, texts coded as they were when it was fitted."""
    source_of = {
        f"{column}[{level}]": column
        for column, levels in rule.dummies.items()
        for level in levels
    }
    table, extra = _read(file, rule, source_of)
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
        column: str | None = source_of.get(name)
        if name in known:
            out[:, j] = X[:, known[name]]
        elif extra is not None and extra == (column or name):
            out[:, j] = _from_labels(table.y, name, column)
        elif column is None or column not in table.dummies:
            raise InputError(
                f"{file} must have the column {column or name!r} that the model was "
                f"fitted on, got {list(table.feature_names)[:12]}; add it"
            )
    return out


def _read(
    file: Path, rule: Any, source_of: Mapping[str, str]
) -> tuple[Table, str | None]:
    """Read a file with the labels, or without: a feature stands in for them then."""
    first = rule.feature_names[0]
    stand_in = source_of.get(first, first)
    for target, extra in ((rule.target, None), (None, None)):
        try:
            return read_table(file, target), extra
        except InputError:
            continue
    return read_table(file, stand_in), stand_in


def _from_labels(y: NDArray[Any], name: str, column: str | None) -> NDArray[np.float64]:
    """Return the feature that was read as if it were the labels."""
    if column is not None:
        return np.array([f"{column}[{value}]" == name for value in y], dtype=np.float64)
    try:
        return y.astype(np.float64)
    except ValueError as error:
        raise InputError(
            f"column {name!r} must hold numbers, got {error}; clean the column"
        ) from error
