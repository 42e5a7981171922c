"""Delimited texts in batches: folders of them, and one that is too large to hold.

They are read by the engine that reads single files, so a cell means the same in both. A
first reading of all files tells numbers from texts: what is a word in one file makes a
column of text of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from linsep.input.errors import InputError
from linsep.input.files.sources import (
    DelimitedSource,
    column_name,
    number_in,
    quoted,
    text_in,
)
from linsep.input.files.table import Request
from linsep.input.files.tabular import from_delimited, opened_delimited, surveyed
from linsep.input.streams.sources import Source


@dataclass(frozen=True)
class _Text:
    """A file: its columns, those that hold words, and what its folders say."""

    path: Path
    names: tuple[str, ...]
    words: frozenset[str]
    folders: dict[str, str]
    plain_newlines: bool
    notes: Sequence[str]


def delimited_texts(
    name: str, paths: Sequence[Path], root: Path | None, request: Request
) -> Source:
    """Return delimited texts as a source, after a first reading.

    Parameters
    ----------
    name : str
        What they are called in messages.
    paths : sequence of Path
        Their columns must have the same names.
    root : Path or None
        Folders below it called ``year=2024`` are columns.
    request : Request
        Says how they are laid out, where they do not; the target helps to find headers.
    """
    import pyarrow as pa

    texts = [_looked_at(path, root, request) for path in paths]
    first = texts[0]
    columns = (*first.names, *first.folders)
    for text in texts[1:]:
        here = {*text.names, *text.folders}
        if here != set(columns):
            raise InputError(
                f"{text.path} must have the columns of {first.path}, got "
                f"{sorted(set(columns) - here)[:8]} missing and "
                f"{sorted(here - set(columns))[:8]} unexpected; correct one of them"
            )
    known = frozenset(request.levels).intersection(columns)
    words = known.union(*(text.words for text in texts)) | {
        key
        for key in first.folders
        if not all(text.folders[key].isdecimal() for text in texts)
    }
    schema = pa.schema(
        [(name, pa.string() if name in words else pa.float64()) for name in columns]
    )

    def read(columns: Sequence[str], size: int) -> Iterator[Any]:
        for text in texts:
            options = request, text.plain_newlines
            with opened_delimited(text.path, *options) as source:
                chosen = ", ".join(_cell(source, text, name, words) for name in columns)
                query = f"SELECT {chosen} FROM {source.scan}"
                with closing(source.engine.sql(query).to_arrow_reader(size)) as reader:
                    for batch in reader:
                        yield batch.cast(pa.schema([schema.field(c) for c in columns]))

    notes = tuple(dict.fromkeys(note for text in texts for note in text.notes))
    files = tuple(map(str, paths))
    return Source(name, schema, read, files, are_texts=True, notes=notes)


def _looked_at(path: Path, root: Path | None, request: Request) -> _Text:
    """Find the columns of a file, and which of them hold words."""
    folders = {}
    if root is not None:
        for part in path.relative_to(root).parts[:-1]:
            key, is_column, value = part.partition("=")
            if is_column:
                folders[key] = unquote(value)

    def look(source: DelimitedSource, request: Request) -> _Text:
        columns = {j: source.column(j) for j in range(len(source.names))}
        _, text = surveyed(source, columns)
        words = frozenset(source.names[j] for j in text)
        given = folders, source.plain_newlines, source.notes
        return _Text(path, source.names, words, *given)

    found: _Text = from_delimited(path, request, look)
    return found


def _cell(
    source: DelimitedSource, text: _Text, name: str, words: frozenset[str]
) -> str:
    """Write a column in the engine's SQL: missing values are nothing."""
    if name in text.names:
        column = source.column(text.names.index(name))
        cell = text_in(column.cell) if name in words else number_in(column.as_number)
    else:
        cell = quoted(text.folders[name])
        cell = cell if name in words else f"{cell}::DOUBLE"
    return f"{cell} AS {column_name(name)}"
