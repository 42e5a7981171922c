"""``linsep fit``: a linear classifier of a data file, saved as plain JSON or ONNX."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linsep.cli.options import shared_options

if TYPE_CHECKING:
    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron


@click.command("fit")
@shared_options("FILE")
@click.option(
    "--model",
    metavar="OUT",
    required=True,
    type=click.Path(path_type=Path),
    help="Where to save the model: .json, or .onnx if onnx is installed.",
)
@shared_options("--target", "--drop", "--header")
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
    show_default=True,
    help="Predict new rows as well as possible; or, where classes are separable, ask "
    "for the largest margin or for any hyperplane that separates.",
)
@click.option(
    "--multi-class",
    type=click.Choice(["joint", "ovr"]),
    default="joint",
    show_default=True,
    help="More than two classes: all at once, or each one versus the rest.",
)
@shared_options("--no-intercept", "--max-passes", "--time-limit", "--seed")
def command(
    file: Path,
    model: Path,
    target: str | None,
    drop: tuple[str, ...],
    header: bool | None,
    nu: float | None,
    **settings: Any,  # the classifier's own, under its names
) -> None:
    """Fit a linear classifier to FILE, and prove whether a hyperplane separates.

    FILE is as for `linsep separate`, and may hold more than two classes. The exit code
    is 0 whether or not they are separable: the status is printed, and saved with the
    model. `linsep predict` uses the model.
    """
    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron
    from linsep.cli.model_file import LinearModel
    from linsep.cli.onnx_file import save_onnx
    from linsep.cli.output import require_writable, say
    from linsep.cli.progress import progress_line
    from linsep.input.files import read_labelled

    require_writable(model, file)
    with progress_line(f"reading {file}") as progress:
        table, y = read_labelled(file, target, drop=drop, header=header)
        progress.say("fitting")
        classifier = OptimisticPerceptron(nu="auto" if nu is None else nu, **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the status is printed below
            classifier.fit(table.X, y)
    rule = LinearModel.of(classifier, table)
    if model.suffix == ".onnx":
        save_onnx(rule, model)
    else:
        rule.save(model)
    for sentence in _sentences(classifier):
        say(sentence)
    right = float((classifier.predict(table.X) == y).mean())
    say(f"Training accuracy {right:.4f}. Model saved: {model}")


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
