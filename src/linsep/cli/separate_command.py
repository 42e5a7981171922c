"""``linsep separate``: the hyperplane of a data file, or the rows that forbid one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np

from linsep.cli.data_options import Labelled, data_options
from linsep.cli.limit_options import json_option, max_passes_option, time_limit_option
from linsep.cli.output import require_writable, strict_json
from linsep.cli.progress import progress_line
from linsep.input import InputError
from linsep.input.files import Table
from linsep.result import Separation

__all__ = ["command"]

Answer = TypeVar("Answer", bound=Separation)


@click.command("separate")
@data_options
@click.option("--no-intercept", is_flag=True, help="The hyperplane through the origin.")
@max_passes_option
@time_limit_option
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the sample to start from."
)
@click.option(
    "--certificate",
    metavar="OUT.json",
    type=click.Path(path_type=Path),
    help="Save the proof, for `linsep verify` or a checker of your own.",
)
@json_option
def command(
    read: Callable[[], Labelled],
    file: Path,
    no_intercept: bool,
    max_passes: int,
    time_limit: float | None,
    seed: int | None,
    certificate: Path | None,
    as_json: bool,
) -> None:
    """Separate the two classes of FILE, or name the rows that no hyperplane can.

    FILE is CSV (.gz too), Parquet, svmlight text, .npy or .npz. Columns of text become
    0/1 columns, one for each level.
    """
    from linsep.separation import separate

    require_writable(certificate, file)
    with progress_line(f"reading {file}") as progress:
        data = read()
        progress.say("searching (the first run ever compiles its loops: some seconds)")
        answer = separate(
            data.table.X,
            data.y,
            fit_intercept=not no_intercept,
            max_passes=max_passes,
            time_limit=time_limit,
            random_state=seed,
            callback=progress,
        )
    answer = _named(answer, data)
    if certificate is not None:
        _save_certificate(answer, certificate)
    if as_json:
        click.echo(strict_json(_record(answer, data.table)))
    else:
        click.echo(answer.summary())
        click.echo(_sides(answer))
        click.echo(_proof(answer, certificate))
        for sentence in _reading_notes(data.table):
            click.echo(f"Note: {sentence}.")
    raise SystemExit(0 if answer.separable is not None else 1)


def _named(answer: Answer, data: Labelled) -> Answer:
    """Call columns and classes by the names they have in the file."""
    labels = answer.conflict_labels
    if labels is not None:
        labels = np.array([data.names[label] for label in labels.tolist()])
    return replace(
        answer,
        feature_names=data.table.feature_names,
        classes=np.array([data.names[label] for label in answer.classes.tolist()]),
        conflict_labels=labels,
    )


def _save_certificate(answer: Separation, path: Path) -> None:
    """Write the proof, or say that there is none."""
    if answer.certificate is None:
        click.echo(f"No proof to save to {path}: the data are undecided.", err=True)
        return
    try:
        answer.certificate.save(path)
    except OSError as error:
        raise InputError(
            f"{path} must be writable, got: {error.strerror}; name another place"
        ) from error


def _sides(answer: Separation) -> str:
    """Say which class is on which side."""
    names = answer.classes.tolist()
    if len(names) == 1:
        return f"Classes: {names[0]} alone."
    return f"Classes: {names[0]} (negative side), {names[1]} (positive side)."


def _proof(answer: Separation, path: Path | None) -> str:
    """Say whether the answer is proved, and where the proof is."""
    if not answer.proved:
        return "Proof: none, since the data are undecided."
    kept = f"saved to {path}" if path else "save it with --certificate OUT.json"
    return f"Proof: checked in exact arithmetic; {kept}."


def _reading_notes(table: Table) -> list[str]:
    """Say how the file was read, where that bears on the answer."""
    notes = list(table.notes)
    for column, levels in table.dummies.items():
        shown = ", ".join(levels[:8]) + (", ..." if len(levels) > 8 else "")
        notes.append(
            f"column {column!r} holds text, read as {len(levels)} columns of 0 and 1, "
            f"one for each level ({shown})"
        )
    return notes


def _record(answer: Separation, table: Table) -> dict[str, Any]:
    """Return the answer as what JSON can hold; exact numbers are texts."""
    return {
        "status": answer.status.value,
        "separable": answer.separable,
        "proved": answer.proved,
        "message": answer.message,
        "n_samples": answer.n_samples,
        "n_features": answer.n_features,
        "fit_intercept": answer.fit_intercept,
        "target": table.target,
        "classes": answer.classes.tolist(),
        "margin_lower": float(answer.margin_lower),
        "margin_upper": float(answer.margin_upper),
        "feature_names": list(table.feature_names),
        "coef": None if answer.coef is None else answer.coef.tolist(),
        "intercept": answer.intercept,
        "exact_weights": _texts(answer.exact_weights),
        "conflict": None if answer.conflict is None else answer.conflict.tolist(),
        "conflict_weights": _texts(answer.conflict_weights),
        "n_passes": answer.n_passes,
        "n_rounds": answer.n_rounds,
        "seconds": answer.seconds,
        "dummies": {column: list(levels) for column, levels in table.dummies.items()},
        "notes": list(table.notes),
    }


def _texts(numbers: tuple[Any, ...] | None) -> list[str] | None:
    """Write exact numbers, which a JSON number would round: "1/3"."""
    return None if numbers is None else [str(number) for number in numbers]
