"""Frames with text, categories, dates or missing values, or that hold the outcome.

They become what the same table in a file becomes, by the same coding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.arrays import Index
from linsep.input.arguments import is_integer
from linsep.input.errors import InputError
from linsep.input.exact_numbers import exact_floats, is_missing
from linsep.input.features import features_from, matrix_from, no_rows_message
from linsep.input.frames import columns_together, frame_of
from linsep.input.labels import labels_from, require_one_label_a_row
from linsep.input.row_names import require_same_index
from linsep.rows import is_sparse

_TIMES = (date, time, timedelta)

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from linsep.input.files.table import Request, Selection, Table


def frame_table(X: object, y: object, request: Request) -> tuple[Table, Any] | None:
    """Return a frame as a table and its outcome, or None if it needs no coding.

    Parameters
    ----------
    X : object
        Anything; None is returned for what is no frame, and for a frame of numbers
        alone, which `features_from` reads in place, unless rows without values are to
        go.
    y : object
        The outcome, or the name of a column of the frame, or its number.
    request : Request
        What to do with missing values, and how to code text.
    """
    found = frame_of(X)
    if found is None:
        return _array_table(X, y) if request.missing == "drop" else None
    frame, names = found
    require_same_index(X, "y", y)
    if y is not None and len(frame) == 0:
        raise InputError(no_rows_message((0, len(names))))
    is_named = isinstance(y, str) or is_integer(y)
    if is_named:
        request = replace(request, target=_column_called(X, names, y))
    elif hasattr(y, "__len__"):
        require_one_label_a_row((len(frame), len(names)), len(y))
    has_others = _text_columns(frame) or _date_columns(frame)
    is_plain = not (has_others or is_named or request.columns is not None)
    if is_plain and request.missing == "refuse":
        return None
    return _tabled(frame, names, y, request, "X")


def _column_called(X: Any, names: Sequence[str], y: Any) -> str | int:
    """Return what is asked for: pandas lets numbers be names, and these come first."""
    if isinstance(y, str):
        return y
    own = list(X.columns) if hasattr(X, "iloc") else []
    return names[own.index(y)] if y in own else int(y)


def _array_table(X: object, y: Any) -> tuple[Table, Any] | None:
    """Return the rows of an array that lack no value, or None if none lacks one."""
    from linsep.input.files.table import Table

    if is_sparse(X):
        raise InputError(
            'missing="drop" goes with files, frames and dense arrays, got a sparse X; '
            "leave the rows out before"
        )
    values = exact_floats(matrix_from(X), "X")
    if np.shape(y)[:1] != values.shape[:1]:
        return None  # refused in words of its own
    is_gone = np.asarray(np.isnan(values).any(axis=1))
    is_gone[_absent(y, len(values))] = True
    if not is_gone.any():
        return None
    if is_gone.all():
        raise InputError(
            f"X must have a row without missing values, got none in {len(values):,} "
            "rows; leave columns out"
        )
    names = tuple(f"x{j}" for j in range(values.shape[1]))
    table = Table(values, None, names, None).without_rows(is_gone)
    return table, _rows_of(y, np.flatnonzero(~is_gone))


def table_of_frame(X: object, request: Request, source: Path) -> Table:
    """Return a frame that was read from a file as its table, with the labels."""
    found = frame_of(X)
    assert found is not None
    table, y = _tabled(*found, None, request, source)
    return replace(table, y=None if table.target is None else labels_from(y))


def _tabled(
    frame: nw.DataFrame[Any],
    names: tuple[str, ...],
    y: Any,
    request: Request,
    source: Path | str,
) -> tuple[Table, Any]:
    """Return a frame's table and outcome, the latter in the kind it has there."""
    from linsep.input.files.table import Table, select_columns, without_dates

    texts, dates = _text_columns(frame), _date_columns(frame)
    selection = select_columns(source, names, request)
    if selection.target is not None:
        y = frame[:, selection.target].to_native()
    known = {j for j in selection.features if names[j] in request.levels}
    coded = {*texts, *dates, *known}
    used = coded.intersection(selection.features)
    if not used and request.missing == "refuse":
        X, own = features_from(frame[:, list(selection.features)].to_native())
        title, features = selection.target_name, own or ()
        table = Table(X, None, features, title, columns=features, notes=selection.notes)
        return table, y
    selection = without_dates(source, selection, dates, request)
    table = _built(frame, y, selection, texts, request, source)
    return table, y if table.rows is None else _rows_of(y, table.rows)


def _built(
    frame: nw.DataFrame[Any],
    y: Any,
    selection: Selection,
    texts: Sequence[int],
    request: Request,
    source: Path | str,
) -> Table:
    """Hand a frame's columns to the builder of tables."""
    from linsep.input.files.categories import TableBuilder

    # The outcome is no column here: it keeps its type, and its order if it has one.
    names = (*selection.names, "y")
    place = len(names) - 1 if selection.target is None else selection.target
    title = selection.target_name
    text = frozenset(j for j in selection.features if j in texts)
    builder = TableBuilder(
        source,
        replace(selection, names=names, target=None),
        text=text,
        n_rows=len(frame),
        place=lambda row: f"row {row} (counted from 0)",
        request=request,
        is_frame=True,
    )
    numeric = [j for j in selection.features if j not in text]
    numbers = columns_together(
        frame[:, list(numeric)],
        tuple(names[j] for j in numeric),
    )
    if not numeric:
        numbers = np.empty((len(frame), 0))
    if selection.target is not None or request.missing == "drop":
        builder.note_absent(place, _absent(y, len(frame)))
    builder.add(numbers, {j: _cells(frame[:, j]) for j in text})
    return replace(builder.finish(), target=title)


def _text_columns(frame: nw.DataFrame[Any]) -> list[int]:
    """Return the positions of the columns that hold text or categories."""
    import narwhals.stable.v2 as nw

    kinds = (nw.String, nw.Categorical, nw.Enum)
    return [
        j
        for j, (column, kind) in enumerate(frame.schema.items())
        if isinstance(kind, kinds) and frame[column].null_count() < len(frame)
    ]


def _date_columns(frame: nw.DataFrame[Any]) -> list[int]:
    """Return the positions of the columns that hold dates, times or durations."""
    import narwhals.stable.v2 as nw

    def holds_dates(column: str, kind: object) -> bool:
        if isinstance(kind, nw.Unknown):  # as periods of pandas are
            dtype = getattr(frame[column].to_native(), "dtype", None)
            return str(dtype).startswith("period")
        if not isinstance(kind, nw.Object):
            return isinstance(kind, nw.Date | nw.Datetime | nw.Time | nw.Duration)
        values = frame[column].drop_nulls().to_list()
        return bool(values) and all(isinstance(value, _TIMES) for value in values)

    columns = enumerate(frame.schema.items())
    return [j for j, (column, kind) in columns if holds_dates(column, kind)]


def _cells(column: Any) -> list[str | None]:
    """Return a column of text as texts, None for a missing one."""
    # As a list: Arrow makes a level of a missing category in an array.
    return [None if is_missing(value) else str(value) for value in column.to_list()]


def _absent(y: Any, n_rows: int) -> Index:
    """Return the rows in which an outcome is missing."""
    import narwhals.stable.v2 as nw

    held = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(held, nw.DataFrame):
        gone = [held[name].is_null().to_numpy() for name in held.columns]
        return np.flatnonzero(np.any(gone, axis=0))
    values = held.to_list() if isinstance(held, nw.Series) else y
    cells = np.asarray(values, dtype=object).reshape(n_rows, -1)
    return np.flatnonzero([any(map(is_missing, row)) for row in cells.tolist()])


def _rows_of(y: Any, rows: Index) -> Any:
    """Return some rows of an outcome, in the kind it came in."""
    import narwhals.stable.v2 as nw

    held = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(held, nw.DataFrame | nw.Series):
        return held[rows].to_native()
    return np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)[rows]
