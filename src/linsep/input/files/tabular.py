"""Tables of named columns, read by DuckDB: delimited text, Parquet, JSON lines.

The engine splits and converts; what a cell means is said here. A file is read twice and
streamed both times: the first reading counts the rows, tells numbers from texts, and
finds lines that do not fit; the second fills the matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats
from linsep.input.errors import refusing_damage
from linsep.input.exact_numbers import exact_floats
from linsep.input.files.categories import TableBuilder
from linsep.input.files.sources import (
    IS_WORD,
    NUMBER,
    WHOLE_PARQUET,
    Column,
    DelimitedSource,
    Misfit,
    Source,
    open_delimited,
    open_json_lines,
    open_parquet,
)
from linsep.input.files.table import (
    Request,
    Table,
    select_columns,
    whole_labels,
    without_dates,
)
from linsep.input.files.texts import holds, open_bytes, unpacked
from linsep.input.levels import are_truths, is_false
from linsep.input.text_column import MISSING

Built = TypeVar("Built")

# Cells handed from the engine to Python at a time: some 2 MB as Python floats. More of
# them are no quicker.
_CELLS = 2**15


@dataclass(frozen=True)
class TabularReader:
    """Reads one kind of file with named columns: as a table, or as they are.

    `opened` opens a file, and returns what is built of it.
    """

    opened: Callable[[Path, Request, Callable[[Source, Request], Any]], Any]

    def __call__(self, path: Path, request: Request) -> Table:
        """Return the table of a file; see `linsep.read_table`, which calls this."""
        table: Table = self.opened(path, request, _table)
        return table

    def columns(self, path: Path, request: Request) -> dict[str, NDArray[Any]]:
        """Return every column of a file, missing values and all.

        They are NaN among numbers, None among texts. Numbers that are all whole are
        integers, and texts that are all true or false are booleans.
        """
        columns: dict[str, NDArray[Any]] = self.opened(path, request, _unchanged)
        return columns


@contextmanager
def opened_delimited(
    path: Path, request: Request, plain_newlines: bool = False
) -> Iterator[DelimitedSource]:
    """Open a delimited text, unpacked if it must be, while the block runs."""
    encoding = encoding_of(path, request)
    with (
        unpacked(path, plain_newlines=plain_newlines, encoding=encoding) as text,
        ExitStack() as stack,
    ):
        yield open_delimited(path, text, request, stack, plain_newlines)


def from_delimited(
    path: Path, request: Request, build: Callable[[DelimitedSource, Request], Built]
) -> Built:
    """Build something from a delimited text."""
    for plain_newlines in (False, True):
        with opened_delimited(path, request, plain_newlines) as source:
            assert source.layout is not None
            try:
                return build(source, request)
            except Misfit as misfit:
                # Lines may end in different ways, of which the engine takes one.
                if plain_newlines or not holds(source.layout.text, b"\r"):
                    raise misfit.error from None
    raise AssertionError("the second attempt returns or raises")


def encoding_of(path: Path, request: Request) -> str | None:
    """Return the encoding asked for, or UTF-16 where the first bytes say so."""
    if request.encoding is not None:
        return request.encoding
    with open_bytes(path) as stream:
        head = stream.read(2)
    return "utf-16" if head in (b"\xff\xfe", b"\xfe\xff") else None


def _typed_reader(
    open_it: Callable[[Path, ExitStack], Source], kind: str, remedy: str
) -> TabularReader:
    """Return the reader of a kind of file that the engine itself tells damage of."""

    def opened(
        path: Path, request: Request, build: Callable[[Source, Request], Built]
    ) -> Built:
        with refusing_damage(path, kind, remedy), ExitStack() as stack:
            return build(open_it(path, stack), request)

    return TabularReader(opened)


read_delimited = TabularReader(from_delimited)
read_parquet = _typed_reader(open_parquet, *WHOLE_PARQUET)
read_json_lines = _typed_reader(
    open_json_lines, "one JSON object a line", "correct the line"
)


def _table(source: Source, request: Request) -> Table:
    """Read a file in two passes."""
    # pandas stores a row index without a name as a column; it is no measurement.
    index = [name for name in source.names if name.startswith("__index_level_")]
    request = replace(request, drop=[*request.drop, *index])
    selection = select_columns(source.path, source.names, request)
    columns = {j: source.column(j) for j in selection.positions}
    dates = [j for j, column in columns.items() if column.is_date]
    selection = without_dates(source.path, selection, dates, request)
    columns = {j: columns[j] for j in selection.positions}
    n_rows, text = surveyed(source, columns)
    text |= {
        j
        for j, column in columns.items()
        if column.is_text is None and source.names[j] in request.levels
    }
    singles = [columns[j].is_single for j in selection.features]
    builder = TableBuilder(
        source.path,
        selection,
        text=text,
        n_rows=n_rows,
        place=source.place,
        request=request,
        dtype=np.float32 if singles and all(singles) else np.float64,
    )
    for numbers, texts in _pieces(source, columns, text):
        builder.add(numbers, texts)
    return builder.finish(source.notes)


def _unchanged(source: Source, request: Request) -> dict[str, NDArray[Any]]:
    """Read every column, missing values and all."""
    select_columns(source.path, source.names, request)  # for the names
    columns = {j: source.column(j) for j in range(len(source.names))}
    _, text = surveyed(source, columns)
    pieces = list(_pieces(source, columns, text))
    numeric = [j for j in columns if j not in text]
    out: dict[str, NDArray[Any]] = {}
    for j, name in enumerate(source.names):
        if j not in text:
            k = numeric.index(j)
            parts = [numbers[:, k] for numbers, _ in pieces]
            values = np.concatenate(parts) if parts else np.empty(0)
            out[name] = values == 1 if columns[j].is_truth else whole_labels(values)
            continue
        cells = [cell.strip() for _, texts in pieces for cell in texts[j]]
        if are_truths(cells):
            out[name] = np.array([not is_false(cell) for cell in cells])
        else:
            kept = [None if cell in MISSING else cell for cell in cells]
            out[name] = np.array(kept, dtype=object)
    return out


def surveyed(
    source: Source, columns: Mapping[int, Column]
) -> tuple[int, frozenset[int]]:
    """Count the rows, and find the columns that hold text.

    A column that may be either holds text if one cell is neither a number nor missing.
    """
    either = [j for j, column in columns.items() if column.is_text is None]
    cells = ", ".join(columns[j].as_number for j in either)
    words = f"list_transform([{cells}], lambda x, i: CASE WHEN {IS_WORD} THEN i END)"
    found = f"list_filter({words}, lambda i: i IS NOT NULL)" if either else "[]"
    checked = [j for j, column in columns.items() if column.rounded is not None]
    rounded = "".join(f", min({columns[j].rounded})" for j in checked)
    query = f"SELECT {found} AS found, count(*){rounded} FROM {source.scan} GROUP BY 1"
    patterns = source.run(query)
    for j, value in zip(checked, patterns[0][2:] if patterns else (), strict=False):
        if value is not None:
            exact_floats(np.array([int(value)], object), f"column {source.names[j]!r}")
    text = {j for j, column in columns.items() if column.is_text}
    text |= {either[i - 1] for pattern in patterns for i in pattern[0]}
    return sum(pattern[1] for pattern in patterns), frozenset(text)


def _pieces(
    source: Source, columns: Mapping[int, Column], text: frozenset[int]
) -> Iterator[tuple[Floats, dict[int, Sequence[str]]]]:
    """Yield some rows at a time: a matrix of numbers, and texts for each position."""
    numeric = [column for j, column in columns.items() if j not in text]
    listed = f"[{', '.join(column.as_number for column in numeric)}]"
    if any(column.is_text is None for column in numeric):
        listed = f"list_transform({listed}, lambda x: {NUMBER})"
    texts = [j for j in columns if j in text]
    chosen = [listed, *(f"coalesce({columns[j].cell}, '')" for j in texts)]
    result = source.engine.execute(f"SELECT {', '.join(chosen)} FROM {source.scan}")
    while rows := result.fetchmany(max(1, _CELLS // max(1, len(columns)))):
        lists, *cells = zip(*rows, strict=True)
        numbers = np.array(lists, dtype=np.float64)  # None becomes NaN
        yield numbers, dict(zip(texts, cells, strict=True))
