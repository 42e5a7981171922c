"""Search a data file for a hyperplane, and tell the answer in words or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from linsep.cli.data_options import Labelled
from linsep.cli.output import require_writable, strict_json
from linsep.cli.progress import progress_line
from linsep.input import InputError
from linsep.input.files import Table
from linsep.result import Separation


def search_file(
    search: Callable[..., Separation],
    read: Callable[[], Labelled],
    file: Path,
    certificate: Path | None,
    **options: Any,
) -> tuple[Separation, Table]:
    """Read a file, search it, and save the proof.

    Parameters
    ----------
    search : callable
        `linsep.separate` or `linsep.max_margin`.
    read : callable
        Reads the file.
    file : Path
    certificate : Path or None
        Where to save the proof.
    **options
        Of the search.

    Returns
    -------
    answer : Separation
        Its columns and classes are called by their names in the file.
    table : Table
    """
    require_writable(certificate, file)
    with progress_line(f"reading {file}") as progress:
        data = read()
        progress.say("searching (the first run ever compiles its loops: some seconds)")
        answer = search(data.table.X, data.y, callback=progress, **options)
    answer = _named(answer, data)
    if certificate is not None:
        _save_certificate(answer, certificate)
    return answer, data.table


def tell(
    answer: Separation,
    table: Table,
    certificate: Path | None,
    as_json: bool,
    lines: Sequence[str] = (),
    **entries: object,
) -> None:
    """Print an answer, and end with the exit code it stands for.

    Parameters
    ----------
    answer : Separation
    table : Table
        What was read.
    certificate : Path or None
        Where the proof was saved.
    as_json : bool
    lines : sequence of str, default=()
        What else to print for people, after the summary.
    **entries
        What else the JSON object holds.
    """
    if as_json:
        click.echo(strict_json(_record(answer, table) | entries))
    else:
        notes = [f"Note: {sentence}." for sentence in _reading_notes(table)]
        told = [answer.summary(), *lines, _sides(answer), _proof(answer, certificate)]
        click.echo("\n".join([*told, *notes]))
    raise SystemExit(0 if answer.separable is not None else 1)


def _named(answer: Separation, data: Labelled) -> Separation:
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
