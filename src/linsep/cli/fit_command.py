"""``linsep fit``: a linear classifier of a data file, saved as plain JSON or ONNX."""

import warnings
from pathlib import Path
from typing import Any

import click
import numpy as np

from linsep.cli.output import require_writable
from linsep.cli.progress import progress_line

__all__ = ["command"]


@click.command("fit")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--target", metavar="COL", help="The column of the labels.")
@click.option(
    "--model",
    metavar="OUT",
    required=True,
    type=click.Path(path_type=Path),
    help="Where to save the model: .json, or .onnx if onnx is installed.",
)
@click.option("--drop", metavar="COL", multiple=True, help="A column to leave out.")
@click.option(
    "--nu",
    metavar="SHARE",
    type=click.FloatRange(0, 1, min_open=True),
    help="The share of margins judged; chosen if not given.",
)
@click.option(
    "--objective",
    type=click.Choice(["max_margin", "separate"]),
    default="max_margin",
    show_default=True,
    help="What to ask of separable classes.",
)
@click.option(
    "--multi-class",
    type=click.Choice(["joint", "ovr"]),
    default="joint",
    show_default=True,
    help="Many classes at once, or each against the rest.",
)
@click.option("--no-intercept", is_flag=True, help="Hyperplanes through the origin.")
@click.option(
    "--time-limit",
    metavar="S",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds at most for the search for a separator.",
)
def command(
    file: Path,
    target: str | None,
    model: Path,
    drop: tuple[str, ...],
    nu: float | None,
    objective: str,
    multi_class: str,
    no_intercept: bool,
    time_limit: float | None,
) -> None:
    """Fit a linear classifier to FILE: separate if possible, else a soft margin.

    The exit code is 0 whether or not the classes are separable; the status is printed
    and saved with the model.
    """
    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron
    from linsep.cli.model_file import LinearModel
    from linsep.cli.onnx_file import save_onnx
    from linsep.input.files import read_table

    require_writable(model, file)
    with progress_line(f"reading {file}") as progress:
        table = read_table(file, target, drop=drop)
        progress.say("fitting")
        classifier = OptimisticPerceptron(
            objective=objective,
            nu="auto" if nu is None else nu,
            multi_class=multi_class,
            fit_intercept=not no_intercept,
            time_limit=time_limit,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the status is printed below
            classifier.fit(table.X, table.y)
    rule = LinearModel.of(classifier, table)
    if model.suffix == ".onnx":
        save_onnx(rule, model)
    else:
        rule.save(model)
    for sentence in _sentences(classifier):
        click.echo(sentence)
    right = float(np.mean(classifier.predict(table.X) == table.y))
    click.echo(f"Training accuracy {right:.4f}. Model saved: {model}")


def _sentences(classifier: Any) -> list[str]:
    """Say what was found for each problem, and the share judged."""
    answers, shares = classifier.separation_, classifier.nu_
    if not isinstance(answers, tuple):
        answers, shares = (answers,), (shares,)
    lines = []
    for answer, nu, label in zip(
        answers,
        shares,
        classifier.classes_ if len(answers) > 1 else [None],
        strict=True,
    ):
        head = "" if label is None else f"{label} against the rest: "
        soft = "" if nu is None else f" The worst share nu={nu:.4g} is judged."
        lines.append(f"{head}{answer.message}{soft}")
    return lines
