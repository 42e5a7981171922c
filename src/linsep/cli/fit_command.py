"""``linsep fit``: a classifier of a data file, saved as plain JSON or ONNX."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linsep.cli.kernel_part import KERNELS, MOST_DEGREE
from linsep.cli.options import LABELLED, examples, shared_options, taken

if TYPE_CHECKING:
    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron
    from linsep.input.files import Table


@click.command(
    "fit",
    epilog=examples(
        "linsep fit data.csv --target grown --model model.json",
        "linsep fit data.csv --target kind --positive rose --model model.json",
        "linsep fit data.csv --target grown --kernel rbf --model model.json",
    ),
)
@shared_options("FILE")
@click.option(
    "--model",
    metavar="OUT",
    required=True,
    type=click.Path(path_type=Path),
    help="Where to save the model: .json, or .onnx if onnx is installed.",
)
@shared_options(*LABELLED)
@click.option(
    "--nu",
    metavar="SHARE",
    type=click.FloatRange(0, 1, min_open=True),
    help="Fit a soft margin that judges this share of the rows, the worst ones, "
    "whether or not the classes are separable.",
)
@click.option(
    "--objective",
    type=click.Choice(["soft_margin", "max_margin", "separate"]),
    default="soft_margin",
    help="Predict new rows as well as possible; or, where classes are separable, ask "
    "for the largest margin or for any hyperplane that separates.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0),
    metavar="T",
    help="What it costs to judge the worst rows alone, in standard deviations of the "
    "margins; 0 judges by the share of --nu alone.",
)
@click.option(
    "--class-weight",
    type=click.Choice(["balanced"]),
    help="Weigh each class inversely to the number of its rows.",
)
@click.option(
    "--kernel",
    type=click.Choice(["linear", *KERNELS]),
    default="linear",
    help="Separate by a function of this kernel; the model is saved as JSON.",
)
@click.option(
    "--gamma",
    type=click.FloatRange(0, min_open=True),
    metavar="G",
    help="The kernel's scale; from the columns and their variance if not given.",
)
@click.option(
    "--degree",
    type=click.IntRange(1, MOST_DEGREE),
    default=3,
    help="The degree of the polynomial kernel.",
)
@click.option(
    "--multi-class",
    type=click.Choice(["joint", "ovr"]),
    default="joint",
    help="More than two classes: all at once, or each one versus the rest.",
)
@shared_options("--no-intercept", "--max-passes", "--time-limit", "--seed", "--json")
def command(
    file: Path,
    model: Path,
    as_json: bool,
    **settings: Any,  # how to read, and the classifier's own, under their names
) -> None:
    """Fit a classifier to FILE, and prove whether a hyperplane separates.

    FILE is as for `linsep separate`, and may hold more than two classes, unless it is
    read in batches. The exit code is 0 whether or not they are separable: the status is
    printed, and saved with the model. `linsep predict` uses the model.
    """
    import numpy as np

    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron
    from linsep.cli.data_options import read_data, without_defaults
    from linsep.cli.model_file import LinearModel
    from linsep.cli.onnx_file import save_onnx
    from linsep.cli.output import require_writable, say, strict_json
    from linsep.cli.progress import progress_line
    from linsep.input import InputError

    require_writable(model, file)
    if model.suffix not in (".json", ".onnx"):
        raise InputError(
            f"--model must end in .json or .onnx, which says what is written, got "
            f"{model}"
        )
    if model.suffix == ".onnx" and settings["kernel"] != "linear":
        raise InputError(
            f"--model must end in .json with --kernel {settings['kernel']}, got {model}"
        )
    for name, own in (("nu", "auto"), ("temperature", "auto"), ("gamma", "scale")):
        settings[name] = own if settings[name] is None else settings[name]
    reading = taken(settings, LABELLED)
    positive = reading["positive"]
    with progress_line(f"reading {file}") as progress:
        kept, whole = without_defaults(reading), settings["fit_intercept"]
        data = read_data(file, kept, whole, may_be_many=True)
        table = data.table
        y: Any = None if table.y is None else data.y
        if y is not None and positive is not None:
            y = np.array([data.names[label] for label in y.tolist()])
        progress.say("fitting")
        classifier = OptimisticPerceptron(**settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the status is printed below
            classifier.fit(table.X, y)
        right = _training_accuracy(classifier, table, y)
    rule = LinearModel.of(classifier, table).with_positive(positive)
    if model.suffix == ".onnx":
        save_onnx(rule, model)
    else:
        rule.save(model)
    notes = (*table.notes, *table.coding_notes)
    sentences = list(_sentences(classifier))
    if as_json:
        record = json.loads(rule.to_json()) | {"messages": sentences}
        record |= {
            "training_accuracy": right,
            "model": str(model),
            "notes": list(notes),
        }
        say(strict_json(record))
        return
    for sentence in sentences:
        say(sentence)
    say(f"Training accuracy {right:.4f}. Model saved: {model}")
    for note in notes:
        say(f"Note: {note}.")


def _training_accuracy(classifier: OptimisticPerceptron, table: Table, y: Any) -> float:
    """Return the share of the rows whose label the classifier predicts."""
    import numpy as np

    if y is not None:
        return float((classifier.predict(table.X) == y).mean())
    rows: Any = table.X.rows  # type: ignore[union-attr]  # a problem, read in batches
    w = classifier.coef_[0]
    w = np.append(w, classifier.intercept_) if rows.fit_intercept else w
    margins, _ = rows.margins(w)
    # On the hyperplane the first class is predicted.
    return float(((margins > 0) | ((margins == 0) & (rows.signs < 0))).mean())


def _sentences(classifier: OptimisticPerceptron) -> Iterator[str]:
    """Say what was found for each problem, and the share judged."""
    from linsep.cli.model_file import problems

    found = problems(classifier)
    heads = [f"{label} against the rest: " for label in classifier.classes_]
    for (answer, nu), head in zip(
        found, heads if len(found) > 1 else [""], strict=True
    ):
        soft = "" if nu is None else f" The worst share nu={nu:.4g} is judged."
        yield f"{head}{answer.message}{soft}"
