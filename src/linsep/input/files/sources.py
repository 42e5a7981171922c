"""How DuckDB is asked for a file: one table function, and a column's SQL for each.

Nothing is left for the engine to guess; `docs/decisions` says why this engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linsep.input.errors import InputError, drop_option
from linsep.input.files.layout import Layout, find_layout, not_utf8, quote_error
from linsep.input.files.table import Request
from linsep.input.files.texts import (
    LONGEST_LINE,
    line_too_long,
    unpacked,
    with_single_blanks,
)
from linsep.input.text_column import MISSING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# One thread tokenises while another converts; each holds buffers of its own.
_THREADS = 2

# The longest line that is thought of, unless the first lines are longer.
_USUAL_LINE = 2**20

# More lines than this that do not fit are not listed before the first is named.
_MOST_REJECTS = 10_000

# What a Parquet file must be, and what to do where it is not.
WHOLE_PARQUET = "a whole Parquet file", "copy or write it again"
# What Python takes for blanks around a number; the engine knows some of them.
_SPACES = "".join(chr(k) for k in range(0x3001) if chr(k).isspace())


@dataclass(frozen=True)
class Column:
    """A column of a file in the engine's SQL.

    Attributes
    ----------
    cell : str
        A double, or a text.
    number : str or None
        The text of the cell as a number, where that is another.
    is_text : bool or None
        None for a text that may be a number.
    rounded : str, or None
        The cell's text if the double is not the number that stands there.
    is_single : bool
        Whether the double is a float32.
    is_truth : bool
        Whether it stands for true and false.
    is_date : bool
        Whether it holds dates or times, which are no measurement as they stand.
    """

    cell: str
    is_text: bool | None = None
    rounded: str | None = None
    is_single: bool = False
    is_truth: bool = False
    is_date: bool = False
    number: str | None = None

    @property
    def as_number(self) -> str:
        """The cell where a number is looked for."""
        return self.cell if self.number is None else self.number


@dataclass(frozen=True)
class Source:
    """A file as the engine sees it.

    Attributes
    ----------
    scan : str
        The table function that reads it.
    column : callable, int -> Column
        Says how a column is read, or refuses it.
    place : callable, int -> str
        Says where in the file a row (counted from 0) is.
    """

    engine: DuckDBPyConnection
    path: Path
    scan: str
    names: tuple[str, ...]
    column: Callable[[int], Column]
    place: Callable[[int], str]
    notes: Sequence[str] = ()

    def run(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query that reads the whole file."""
        return self.engine.execute(query).fetchall()


@dataclass(frozen=True)
class DelimitedSource(Source):
    """A delimited text, every line of which must fit.

    With `plain_newlines` it is read from a copy whose lines end alike.
    """

    layout: Layout | None = None
    plain_newlines: bool = False

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
            raise Misfit(misfit)
        return found


class Misfit(Exception):
    """The engine found a text not to be the table it was said to be."""

    def __init__(self, error: InputError) -> None:
        super().__init__(str(error))
        self.error = error


def _connect(stack: ExitStack) -> DuckDBPyConnection:
    """Open an engine of its own, which fetches no extensions and leaves no files."""
    import duckdb

    options: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "temp_directory": "",
        "threads": _THREADS,
    }
    engine = stack.enter_context(closing(duckdb.connect(config=options)))
    engine.execute("SET enable_progress_bar = false")
    # Of IN and a list it would make a join, which does not keep the rows in order.
    engine.execute("SET disabled_optimizers = 'in_clause'")
    # The engine reads ahead of what is fetched, a megabyte unless it is told otherwise.
    engine.execute("SET streaming_buffer_size = '64KB'")
    # Half a gigabyte of what it has let go of is kept by its allocator otherwise.
    engine.execute("SET allocator_bulk_deallocation_flush_threshold = '1MB'")
    return engine


def quoted(text: object) -> str:
    """Write a text as the engine's literal."""
    return "'" + str(text).replace("'", "''") + "'"


def _file_name(path: Path) -> str:
    """Write a path as the engine's literal, none of it a pattern."""
    return quoted(re.sub(r"([\[*?])", r"[\1]", str(path.absolute())))


def column_name(name: str) -> str:
    """Write the name of a column."""
    return '"' + name.replace('"', '""') + '"'


def _number(cell: str) -> str:
    """Write a text as a number: the nearest double, as Python reads it."""
    trimmed = f"trim({cell}, {quoted(_SPACES)})"
    return f"coalesce(try_cast({cell} AS DOUBLE), try_cast({trimmed} AS DOUBLE))"


def number_in(cell: str) -> str:
    """Write a text as a number, NULL where there is none."""
    return f"nullif({_number(cell)}, 'nan'::DOUBLE)"


def text_in(cell: str) -> str:
    """Write a text without the blanks around it, NULL where it stands for no value."""
    trimmed = f"trim({cell}, {quoted(_SPACES)})"
    missing = ", ".join(map(quoted, sorted(MISSING)))
    return f"CASE WHEN {trimmed} NOT IN ({missing}) THEN {trimmed} END"


#: A text x as a number.
NUMBER = _number("x")

#: Some texts are numbers to the engine that no data file means: 1_000, +-1, nan(1).
# The blanks of all scripts are slow to look for: only where the rest has failed.
IS_WORD = (
    f"CASE WHEN {NUMBER} IS NULL OR contains(x, '_') OR contains(x, '+-') OR "
    f"contains(x, '(') THEN trim(x, {quoted(_SPACES)}) NOT IN "
    f"({', '.join(map(quoted, sorted(MISSING)))}) ELSE FALSE END"
)


def open_parquet(path: Path, stack: ExitStack) -> Source:
    """Open a Parquet file."""
    engine = _connect(stack)
    scan = f"read_parquet({_file_name(path)})"
    described = engine.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
    names = tuple(row[0] for row in described)
    return Source(
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


def _typed_column(path: Path, name: str, kind: str) -> Column:
    """Say how a column of a declared type is read, or refuse it."""
    cell = column_name(name)
    if kind in ("FLOAT", "DOUBLE", "BOOLEAN"):
        single, truth = kind == "FLOAT", kind == "BOOLEAN"
        return Column(f"{cell}::DOUBLE", False, is_single=single, is_truth=truth)
    if kind.endswith("INT") or kind in ("INTEGER", "UINTEGER"):
        differs = f"try_cast({cell}::DOUBLE AS HUGEINT) IS DISTINCT FROM {cell}"
        rounded = f"CASE WHEN {differs} THEN {cell}::VARCHAR END"
        return Column(f"{cell}::DOUBLE", False, rounded)
    if kind.startswith("DECIMAL"):  # through text: the nearest double
        return Column(f"{cell}::VARCHAR::DOUBLE", False)
    if kind in ("VARCHAR", '"NULL"') or kind.startswith("ENUM"):
        return Column(f"{cell}::VARCHAR", True)
    if kind.startswith(("DATE", "TIME", "INTERVAL")) and not kind.endswith("]"):
        return Column(f"{cell}::VARCHAR", True, is_date=True)
    raise InputError(
        f"{path}: column {name!r} must hold numbers, true and false, or texts, got the "
        f"type {kind}; turn it into numbers, or leave it out with drop=[{name!r}] "
        f"{drop_option(name)}"
    )


def open_json_lines(path: Path, stack: ExitStack) -> Source:
    """Open a text of JSON objects, one a line."""
    engine = _connect(stack)
    place = _file_name(stack.enter_context(unpacked(path)))
    form = "format = 'newline_delimited'"
    described = engine.execute(
        f"DESCRIBE SELECT * FROM read_json({place}, {form}, sample_size = -1)"
    ).fetchall()
    names = tuple(row[0] for row in described)
    types = ", ".join(f"{quoted(name)}: 'JSON'" for name in names)

    def column(j: int) -> Column:
        kind = described[j][1]
        if "[" in kind or "(" in kind:
            return _typed_column(path, names[j], kind)  # which refuses it
        return Column(f"({column_name(names[j])} ->> '$')")

    scan = f"read_json({place}, {form}, columns = {{{types}}})"
    return Source(engine, path, scan, names, column, _row_place)


def open_delimited(
    path: Path, text: Path, request: Request, stack: ExitStack, plain_newlines: bool
) -> DelimitedSource:
    """Open a delimited text, uncompressed."""
    asked = [*(request.columns or ())]
    if request.target is not None:
        asked.append(request.target)
    layout = find_layout(path, text, asked, request)
    if layout.delimiter == " ":
        layout = replace(layout, text=stack.enter_context(with_single_blanks(text)))
    engine = _connect(stack)
    decimal = layout.decimal

    return DelimitedSource(
        engine,
        path,
        _delimited_scan(layout),
        layout.names,
        column=lambda j: Column(f"c{j}", number=_with_point(f"c{j}", decimal)),
        place=layout.place,
        notes=layout.notes,
        layout=layout,
        plain_newlines=plain_newlines,
    )


def _with_point(cell: str, decimal: str) -> str | None:
    """Write a cell as a number with a decimal point; None if it has one.

    Among decimal commas a point separates thousands: such a cell is no number.
    """
    if decimal == ".":
        return None
    return (
        f"CASE WHEN contains({cell}, '.') AND trim({cell}) <> '.' THEN {cell} || '?' "
        f"ELSE replace({cell}, ',', '.') END"
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
        "delim": quoted(layout.delimiter),
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
