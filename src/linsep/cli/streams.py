"""Folders, patterns of paths and queries: data that the command reads in batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from linsep.cli.options import LAYOUT_NAMES
from linsep.input import InputError
from linsep.input.files.svmlight import SvmlightText
from linsep.input.files.table import Request, Table
from linsep.input.streams import Source, problem_of_stream, sql_source, stream_of

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def source_of(
    file: Path, kept: Mapping[str, Any], max_memory: int | None = None
) -> Source | SvmlightText | None:
    """Return what is read in batches: a query, a folder, a large file; else None.

    The `levels` kept are those of columns that hold texts, whatever these look like.
    """
    source: Source | SvmlightText | None
    layout: dict[str, Any] = {name: kept.get(name) for name in LAYOUT_NAMES}
    levels = kept.get("levels", {})
    request = Request(target=kept.get("target"), levels=levels, **layout)
    if kept.get("sql") is not None:
        source = sql_source(file, kept["sql"])
    else:
        source = stream_of(str(file), max_memory, request)
    given = [name for name, value in layout.items() if value is not None]
    is_text = isinstance(source, Source) and source.are_texts
    if source is not None and given and not is_text:
        raise InputError(
            f"--{given[0]} goes with a file of text, got {source.name}, which is read "
            "in batches; leave it out"
        )
    return source


def streamed_table(
    source: Source | SvmlightText,
    kept: Mapping[str, Any],
    fit_intercept: bool,
    max_memory: int | None,
    is_count: bool = False,
) -> tuple[Table, dict[Any, str]]:
    """Return a table whose X is the problem of a source, and what classes are called.

    `linsep.separate` takes such an X, which knows what numbers its rows were given.
    """
    target = kept.get("target")
    request = Request(
        target=target,
        drop=kept.get("drop", ()),
        missing=kept.get("missing", "refuse"),
        fit_intercept=fit_intercept,
        is_count=is_count,
    )
    problem = problem_of_stream(
        source, request, positive=kept.get("positive"), max_memory=max_memory
    )
    assert problem.columns is not None
    X: Any = replace(problem, notes=())
    table = Table(
        X=X,
        y=None,
        feature_names=problem.feature_names or (),
        target=target,
        levels=problem.columns.levels,
        columns=problem.columns.names,
    )
    coded = table.coding_notes
    notes = tuple(note for note in problem.notes if note not in coded)
    table = replace(table, notes=notes)
    return table, {label: str(label) for label in problem.classes.tolist()}


def bytes_of(text: str | None) -> int | None:
    """Read a number of bytes such as 500M, or refuse it.

    Examples
    --------
    >>> bytes_of("500M"), bytes_of("1.5GB"), bytes_of(None)
    (500000000, 1500000000, None)
    """
    if text is None:
        return None
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = number[-1:] if number[-1:] in _UNITS else ""
    try:
        size = float(number.removesuffix(unit)) * _UNITS[unit]
        if not 0 < size < 2**62:
            raise ValueError
    except ValueError:
        raise InputError(
            f"--max-memory must be a number of bytes such as 500M or 2G, got {text!r}"
        ) from None
    return int(size)
