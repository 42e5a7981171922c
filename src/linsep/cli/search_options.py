"""Search a data file for a hyperplane, and tell the answer in words or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from linsep.cli.data_options import Labelled, data_options
from linsep.cli.options import shared_options
from linsep.cli.output import require_places, say, strict_json, writing
from linsep.cli.progress import progress_line
from linsep.cli.reports import call_that_reads, save_report
from linsep.cli.streams import bytes_of
from linsep.input.files import Table
from linsep.lazy import Lazy, LazyIfMade
from linsep.result import Separation
from linsep.wrapping import width_of_terminal, wrapped

if TYPE_CHECKING:
    from linsep.report.shown_rows import ShownRows

Answer = TypeVar("Answer", bound=Separation)

_LIMITS = ("--max-passes", "--time-limit", "--seed")
_ASKED = ("read", "file", "certificate", "report", "as_json", "sql", "max_memory")
_OPTIONS = ("fit_intercept", "max_passes", "time_limit", "random_state")


@dataclass(frozen=True)
class Asked:
    """What the commands that search a file were all asked.

    `read` reads the file, the proof goes to `certificate`, and `options` are those of
    `linsep.separate` and `linsep.max_margin`.
    """

    read: Callable[..., Labelled]
    file: Path
    certificate: Path | None
    report: Path | None
    as_json: bool
    options: dict[str, Any]
    sql: str | None
    max_memory: int | None

    def search(
        self, search: Callable[..., Answer], **more: Any
    ) -> tuple[Answer, Table]:
        """Read the file, search it, save the proof; return the answer and the table."""
        require_places(
            self.file,
            certificate=self.certificate,
            report=self.report,
            checkpoint=more.get("checkpoint"),
        )
        with progress_line(f"reading {self.file}") as progress:
            data = self.read(
                fit_intercept=self.options["fit_intercept"],
                sql=self.sql,
                max_memory=self.max_memory,
            )
            progress.say("searching")
            answer = search(
                data.table.X, data.y, callback=progress, **self.options, **more
            )
        answer = _named(answer, data)
        if self.certificate is not None:
            _save_certificate(answer, self.certificate, data)
        if self.report is not None:
            is_streamed = (
                data.table.y is None
            )  # which `linsep.read_table` does not read
            call = "" if is_streamed else call_that_reads(self.file, data.reading)
            save_report(answer, self.report, self.file, call)
        return answer, data.table

    def tell(self, answer: Separation, table: Table, lines: Sequence[str] = ()) -> None:
        """Print the answer, and end with the exit code it stands for.

        The `lines` come after the summary.
        """
        if self.as_json:
            record = answer.to_dict() | {
                "target": table.target,
                "dummies": {name: list(of) for name, of in table.dummies.items()},
                "references": {name: of.reference for name, of in table.levels.items()},
                "notes": list(table.notes),
            }
            say(strict_json(record))
        else:
            width = width_of_terminal()
            told = [answer.summary(width), *lines, _sides(answer)]
            told.append(_proof(answer, self.certificate))
            if self.report is not None:
                told.append(f"Report: {self.report}")
            notes = (*table.notes, *table.coding_notes)
            told += [wrapped(f"Note: {sentence}.", width) for sentence in notes]
            say("\n".join(told))
        raise SystemExit(0 if answer.separable is not None else 1)


def search_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command what it needs to search a file, as `asked`, an `Asked`."""

    @data_options
    @shared_options("--sql", "--no-intercept", *_LIMITS)
    @shared_options("--max-memory", "--certificate", "--report", "--json")
    @wraps(command)
    def wrapped(**given: Any) -> None:
        options = {name: given.pop(name) for name in _OPTIONS}
        shared = {name: given.pop(name) for name in _ASKED}
        shared["max_memory"] = bytes_of(shared["max_memory"])
        command(Asked(**shared, options=options), **given)

    return wrapped


def _named(answer: Answer, data: Labelled) -> Answer:
    """Call columns, classes and rows by the names they have in the file."""
    labels = answer.conflict_labels
    if labels is not None:
        labels = np.array([data.names[label] for label in labels.tolist()])
    placed: dict[str, Any] = {
        name: data.table.given(rows)
        for name in ("conflict", "support")
        if (rows := answer.__dict__.get(name)) is not None
    }
    conflict = placed.get("conflict", np.empty(0)).tolist()
    classes = np.array([data.names[label] for label in answer.classes.tolist()])

    def shown() -> ShownRows | None:
        found = answer.shown_rows()
        if found is None:
            return None
        numbers = data.table.given(np.array(found.numbers, dtype=np.intp))
        names = tuple(map(data.row_names.one, numbers.tolist()))
        return replace(found, names=names, classes=tuple(classes.tolist()))

    return replace(
        answer,
        **placed,
        feature_names=data.table.feature_names,
        classes=classes,
        conflict_labels=labels,
        _conflict_names=Lazy(lambda: tuple(map(data.row_names.one, conflict))),
        _shown=LazyIfMade(shown),
    )


def _save_certificate(answer: Separation, path: Path, data: Labelled) -> None:
    """Write the proof, or say that there is none."""
    if answer.certificate is None:
        say(f"No proof to save to {path}: the data are undecided.", err=True)
        return
    with writing(path):
        replace(answer.certificate, reading=data.reading).save(path)


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
