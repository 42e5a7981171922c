"""Tables of named columns, read by DuckDB: delimited text, Parquet, JSON lines.

The engine splits and converts; what a cell means is said here. A file is read twice and
streamed both times: the first reading counts the rows, tells numbers from texts, and
finds lines that do not fit; the second fills the matrix. `docs/decisions` says why this
engine, and what it was measured by.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.input.errors import InputError, refusing_damage
from linsep.input.exact_numbers import exact_floats
from linsep.input.files.categories import MISSING, TableBuilder
from linsep.input.files.layout import Layout, find_layout, not_utf8, quote_error
from linsep.input.files.table import Request, Table, select_columns
from linsep.input.files.texts import LONGEST_LINE, holds, line_too_long, unpacked

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Cells handed from the engine to Python at a time: some 8 MB as Python floats.
_CELLS = 2**17

# One thread tokenises while another converts; each holds buffers of its own.
_THREADS = 2

# The longest line that is thought of, unless the first lines are longer.
_USUAL_LINE = 2**20

# More lines than this that do not fit are not listed before the first is named.
_MOST_REJECTS = 10_000

# What Python takes for blanks around a number; the engine knows some of them.
_SPACES = "".join(chr(k) for k in range(0x3001) if chr(k).isspace())


@dataclass(frozen=True)
class _Column:
    """A column of a file in the engine's SQL.

    Attributes
    ----------
    cell : str
        A double, or a text.
    is_text : bool or None
        None for a text that may be a number.
    rounded : str, or None
        The cell's text if the double is not the number that stands there.
    is_single : bool
        Whether the double is a float32.
    """

    cell: str
    is_text: bool | None = None
    rounded: str | None = None
    is_single: bool = False


@dataclass(frozen=True)
class _Source:
    """A file as the engine sees it.

    Attributes
    ----------
    engine : DuckDBPyConnection
    path : Path
    scan : str
        The table function that reads it.
    names : tuple of str
    column : callable, int -> _Column
        Says how a column is read, or refuses it.
    place : callable, int -> str
        Says where in the file a row (counted from 0) is.
    notes : sequence of str
    """

    engine: DuckDBPyConnection
    path: Path
    scan: str
    names: tuple[str, ...]
    column: Callable[[int], _Column]
    place: Callable[[int], str]
    notes: Sequence[str] = ()

    def run(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query that reads the whole file."""
        return self.engine.execute(query).fetchall()


@dataclass(frozen=True)
class _DelimitedSource(_Source):
    """A delimited text, every line of which must fit."""

    layout: Layout | None = None

    def run(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query that reads the whole file, then look at the lines left out."""
        import duckdb

        assert self.layout is not None
        try:
            found = super().run(query)
            misfit = _misfit(self.engine, self.layout)
        except duckdb.Error as error:
            reason = str(error).strip().split("\n")[0]
            misfit = InputError(
                f"{self.path} must be delimited text, got trouble ({reason}); look for "
                "lines that are not like the others"
            )
        if misfit is not None:
            raise _Misfit(misfit)
        return found


class _Misfit(Exception):
    """The engine found a text not to be the table it was said to be."""

    def __init__(self, error: InputError) -> None:
        super().__init__(str(error))
        self.error = error


def read_delimited(path: Path, request: Request) -> Table:
    """Read a delimited text; see `linsep.input.files.read_table`, which calls this."""
    with ExitStack() as stack:
        text = stack.enter_context(unpacked(path))
        try:
            return _build(_open_delimited(path, text, request, stack), request)
        except _Misfit as misfit:
            if not holds(text, b"\r"):
                raise misfit.error from None
        # Lines may end in different ways, of which the engine takes one.
        text = stack.enter_context(unpacked(path, plain_newlines=True))
        try:
            return _build(_open_delimited(path, text, request, stack), request)
        except _Misfit as misfit:
            raise misfit.error from None


def read_parquet(path: Path, request: Request) -> Table:
    """Read a Parquet file; see `linsep.input.files.read_table`, which calls this."""
    with (
        refusing_damage(path, "a whole Parquet file", "copy or write it again"),
        ExitStack() as stack,
    ):
        return _build(_open_parquet(path, stack), request)


def read_json_lines(path: Path, request: Request) -> Table:
    """Read JSON lines; see `linsep.input.files.read_table`, which calls this."""
    with (
        refusing_damage(path, "one JSON object a line", "correct the line"),
        ExitStack() as stack,
    ):
        return _build(_open_json_lines(path, stack), request)


def _build(source: _Source, request: Request) -> Table:
    """Read a file in two passes."""
    # pandas stores a row index without a name as a column; it is no measurement.
    index = [name for name in source.names if name.startswith("__index_level_")]
    request = replace(request, drop=[*request.drop, *index])
    selection = select_columns(source.path, source.names, request)
    columns = {j: source.column(j) for j in selection.positions}
    n_rows, text = _survey(source, columns)
    singles = [columns[j].is_single for j in selection.features]
    builder = TableBuilder(
        source.path,
        selection,
        text=text,
        n_rows=n_rows,
        place=source.place,
        dtype=np.float32 if singles and all(singles) else np.float64,
    )
    for numbers, texts in _pieces(source, columns, text):
        builder.add(numbers, texts)
    return builder.finish(source.notes)


def _survey(
    source: _Source, columns: Mapping[int, _Column]
) -> tuple[int, frozenset[int]]:
    """Count the rows, and find the columns that hold text.

    A column that may be either holds text if one cell is neither a number nor missing.
    """
    either = [j for j, column in columns.items() if column.is_text is None]
    cells = ", ".join(columns[j].cell for j in either)
    words = f"list_transform([{cells}], lambda x, i: CASE WHEN {_IS_WORD} THEN i END)"
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
    source: _Source, columns: Mapping[int, _Column], text: frozenset[int]
) -> Iterator[tuple[NDArray[np.float64], dict[int, Sequence[str]]]]:
    """Yield some rows at a time: a matrix of numbers, and texts for each position."""
    numeric = [column for j, column in columns.items() if j not in text]
    listed = f"[{', '.join(column.cell for column in numeric)}]"
    if any(column.is_text is None for column in numeric):
        listed = f"list_transform({listed}, lambda x: {_NUMBER})"
    texts = [j for j in columns if j in text]
    chosen = [listed, *(f"coalesce({columns[j].cell}, '')" for j in texts)]
    result = source.engine.execute(f"SELECT {', '.join(chosen)} FROM {source.scan}")
    while rows := result.fetchmany(max(1, _CELLS // max(1, len(columns)))):
        lists, *cells = zip(*rows, strict=True)
        numbers = np.array(lists, dtype=np.float64)  # None becomes NaN
        yield numbers, dict(zip(texts, cells, strict=True))


def _connect(stack: ExitStack) -> DuckDBPyConnection:
    """Open an engine of its own, which fetches no extensions and leaves no files."""
    import duckdb

    options = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "temp_directory": "",
        "threads": _THREADS,
    }
    engine = stack.enter_context(closing(duckdb.connect(config=options)))
    engine.execute("SET enable_progress_bar = false")
    return engine


def _quoted(text: object) -> str:
    """Write a text as the engine's literal."""
    return "'" + str(text).replace("'", "''") + "'"


def _file_name(path: Path) -> str:
    """Write a path as the engine's literal, none of it a pattern."""
    return _quoted(re.sub(r"([\[*?])", r"[\1]", str(path.absolute())))


def _column_name(name: str) -> str:
    """Write the name of a column."""
    return '"' + name.replace('"', '""') + '"'


# A text x as a number: the nearest double, as Python reads it.
_NUMBER = (
    f"coalesce(try_cast(x AS DOUBLE), try_cast(trim(x, {_quoted(_SPACES)}) AS DOUBLE))"
)

# Some texts are numbers to the engine that no data file means: 1_000, +-1, nan(1).
_IS_WORD = (
    f"(({_NUMBER}) IS NULL OR contains(x, '_') OR contains(x, '+-') OR "
    f"contains(x, '(')) AND trim(x, {_quoted(_SPACES)}) NOT IN "
    f"({', '.join(map(_quoted, sorted(MISSING)))})"
)


def _open_parquet(path: Path, stack: ExitStack) -> _Source:
    """Open a Parquet file."""
    engine = _connect(stack)
    scan = f"read_parquet({_file_name(path)})"
    described = engine.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
    names = tuple(row[0] for row in described)
    return _Source(
        engine,
        path,
        scan,
        names,
        column=lambda j: _typed_column(path, names[j], described[j][1]),
        place=_row_place,
    )


def _row_place(row: int) -> str:
    """Say where a row is in a file that has no lines, or one a row."""
    return f"row {row} (counted from 0)"


def _typed_column(path: Path, name: str, kind: str) -> _Column:
    """Say how a column of a declared type is read, or refuse it."""
    cell = _column_name(name)
    if kind in ("FLOAT", "DOUBLE", "BOOLEAN"):
        return _Column(f"{cell}::DOUBLE", False, is_single=kind == "FLOAT")
    if kind.endswith("INT") or kind in ("INTEGER", "UINTEGER"):
        differs = f"try_cast({cell}::DOUBLE AS HUGEINT) IS DISTINCT FROM {cell}"
        rounded = f"CASE WHEN {differs} THEN {cell}::VARCHAR END"
        return _Column(f"{cell}::DOUBLE", False, rounded)
    if kind.startswith("DECIMAL"):  # through text: the nearest double
        return _Column(f"{cell}::VARCHAR::DOUBLE", False)
    if kind in ("VARCHAR", '"NULL"') or kind.startswith("ENUM"):
        return _Column(f"{cell}::VARCHAR", True)
    raise InputError(
        f"{path}: column {name!r} must hold numbers, true and false, or texts, got the "
        f"type {kind}; turn it into numbers, or leave it out with drop=[{name!r}] "
        f"(--drop {name})"
    )


def _open_json_lines(path: Path, stack: ExitStack) -> _Source:
    """Open a text of JSON objects, one a line."""
    engine = _connect(stack)
    place = _file_name(stack.enter_context(unpacked(path)))
    form = "format = 'newline_delimited'"
    described = engine.execute(
        f"DESCRIBE SELECT * FROM read_json({place}, {form}, sample_size = -1)"
    ).fetchall()
    names = tuple(row[0] for row in described)
    types = ", ".join(f"{_quoted(name)}: 'JSON'" for name in names)

    def column(j: int) -> _Column:
        kind = described[j][1]
        if "[" in kind or "(" in kind:
            return _typed_column(path, names[j], kind)  # which refuses it
        return _Column(f"({_column_name(names[j])} ->> '$')")

    scan = f"read_json({place}, {form}, columns = {{{types}}})"
    return _Source(engine, path, scan, names, column, _row_place)


def _open_delimited(
    path: Path, text: Path, request: Request, stack: ExitStack
) -> _Source:
    """Open a delimited text, uncompressed."""
    asked = {request.target, *(request.columns or ())} - {None}
    layout = find_layout(path, text, asked, request.header)
    engine = _connect(stack)

    return _DelimitedSource(
        engine,
        path,
        _delimited_scan(layout),
        layout.names,
        column=lambda j: _Column(f"c{j}"),
        place=layout.place,
        notes=layout.notes,
        layout=layout,
    )


def _delimited_scan(layout: Layout) -> str:
    """Write the table function that reads a delimited text, all cells as text.

    Nothing is left to be guessed, and lines that do not fit are kept in a table.
    """
    longest = max(_USUAL_LINE, min(4 * layout.longest_line, LONGEST_LINE))
    options = {
        "auto_detect": "false",
        "header": "false",
        "skip": layout.n_rows_above,
        "delim": _quoted(layout.delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "strict_mode": "true",
        "max_line_size": longest,
        "buffer_size": 2 * longest,
        "store_rejects": "true",
        "rejects_limit": _MOST_REJECTS,
        "columns": "{"
        + ", ".join(f"c{j}: 'VARCHAR'" for j in range(len(layout.names)))
        + "}",
    }
    listed = ", ".join(f"{name} = {value}" for name, value in options.items())
    return f"read_csv({_file_name(layout.text)}, {listed})"


def _misfit(engine: DuckDBPyConnection, layout: Layout) -> InputError | None:
    """Return the error for the first line that did not fit, if there is one."""
    rejects = engine.execute(
        "SELECT line, error_type, csv_line, error_message FROM reject_errors "
        "ORDER BY line"
    ).fetchall()
    for line, kind, found, reason in rejects:
        if kind == "INVALID ENCODING":
            return not_utf8(layout.path, layout.text)
        if kind == "LINE SIZE OVER MAXIMUM":
            return line_too_long(layout.path)
        if kind not in ("MISSING COLUMNS", "TOO MANY COLUMNS"):
            return quote_error(layout.path, line - 1, reason)
        if found.strip() or len(rejects) == _MOST_REJECTS:  # not blanks alone
            width = re.search(r"Found: (\d+)", reason)
            return layout.width_error(width[1] if width else "another", line)
    return None
