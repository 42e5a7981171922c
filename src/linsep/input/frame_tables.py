"""Frames with text, categories, dates or missing values, or that hold the outcome.

They become what the same table in a file becomes, by the same coding.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.input.errors import InputError
from linsep.input.exact_numbers import is_missing
from linsep.input.features import features_from
from linsep.input.frames import columns_together, frame_of

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
        alone, which `features_from` reads in place.
    y : object
        The outcome, or the name of a column of the frame.
    request : Request
        What to do with missing values, and how to code text.
    """
    found = frame_of(X)
    if found is None:
        if request.missing == "drop":
            raise InputError(
                'missing="drop" goes with files and frames, whose columns can be '
                f"named, got {type(X).__name__}; drop the rows before"
            )
        return None
    from linsep.input.files.table import Table, select_columns

    frame, names = found
    known = request.levels or {}
    _require_same_rows(X, y)
    texts, dates = _text_columns(frame, names), _date_columns(frame)
    is_named = isinstance(y, str)
    is_plain = not (texts or dates or is_named or request.columns is not None)
    if is_plain and request.missing == "refuse":
        return None
    if isinstance(y, str):
        request = _with_target(request, y)
    selection = select_columns("X", names, request)
    if selection.target is not None:
        y = frame[frame.columns[selection.target]].to_native()
    coded = {*texts, *dates, *(j for j in selection.features if names[j] in known)}
    used = coded.intersection(selection.features)
    if not used and request.missing == "refuse":
        kept = [frame.columns[j] for j in selection.features]
        X, own = features_from(frame.select(kept).to_native())
        features = own or ()
        table = Table(X, None, features, selection.target_name, columns=features)
        return table, y
    selection = _without_dates(selection, dates, request)
    table = _built(frame, y, selection, texts, request)
    return table, y if table.rows is None else _rows_of(y, table.rows)


def _with_target(request: Request, target: str) -> Request:
    from dataclasses import replace

    return replace(request, target=target)


def _without_dates(
    selection: Selection, dates: Sequence[int], request: Request
) -> Selection:
    """Leave out the columns of dates, as the readers of files do."""
    from linsep.input.files.table import without_dates

    found = [j for j in selection.features if j in dates]
    return without_dates("X", selection, found, request) if found else selection


def _built(
    frame: nw.DataFrame[Any],
    y: Any,
    selection: Selection,
    texts: Sequence[int],
    request: Request,
) -> Table:
    """Hand a frame's columns to the builder of tables."""
    from dataclasses import replace

    from linsep.input.files.categories import TableBuilder

    # The outcome is no column here: it keeps its type, and its order if it has one.
    names = (*selection.names, "y")
    place = len(names) - 1 if selection.target is None else selection.target
    title = selection.target_name
    text = frozenset(j for j in selection.features if j in texts)
    builder = TableBuilder(
        "X",
        replace(selection, names=names, target=None),
        text=text,
        n_rows=len(frame),
        place=lambda row: f"row {row} (counted from 0)",
        request=request,
        is_frame=True,
    )
    numeric = [j for j in selection.features if j not in text]
    numbers = columns_together(
        frame.select([frame.columns[j] for j in numeric]),
        tuple(names[j] for j in numeric),
    )
    if not numeric:
        numbers = np.empty((len(frame), 0))
    known = request.levels or {}
    for j in numeric:
        if names[j] in known:
            raise InputError(
                f"X must hold texts in the column {names[j]!r}, as when the model was "
                "fitted, got other values; correct them"
            )
    if selection.target is not None or request.missing == "drop":
        builder.note_absent(place, _absent(y, len(frame)))
    builder.add(numbers, {j: _cells(frame[frame.columns[j]]) for j in text})
    return replace(builder.finish(), target=title)


def _text_columns(frame: nw.DataFrame[Any], names: tuple[str, ...]) -> list[int]:
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
        if not isinstance(kind, nw.Object):
            return isinstance(kind, nw.Date | nw.Datetime | nw.Time | nw.Duration)
        values = frame[column].drop_nulls().to_list()
        return bool(values) and all(isinstance(value, _TIMES) for value in values)

    columns = enumerate(frame.schema.items())
    return [j for j, (column, kind) in columns if holds_dates(column, kind)]


def _cells(column: Any) -> list[str | None]:
    """Return a column of text as texts, None for a missing one."""
    return [
        None if is_missing(value) else str(value)
        for value in column.to_numpy().astype(object).tolist()
    ]


def _absent(y: Any, n_rows: int) -> NDArray[np.intp]:
    """Return the rows in which an outcome is missing."""
    import narwhals.stable.v2 as nw

    held = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(held, nw.DataFrame):
        gone = [held[name].is_null().to_numpy() for name in held.columns]
        return np.flatnonzero(np.any(gone, axis=0))
    values = held.to_list() if isinstance(held, nw.Series) else y
    cells = np.asarray(values, dtype=object).reshape(n_rows, -1)
    return np.flatnonzero([any(map(is_missing, row)) for row in cells.tolist()])


def _rows_of(y: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of an outcome, in the kind it came in."""
    import narwhals.stable.v2 as nw

    held = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(held, nw.DataFrame | nw.Series):
        return held[rows].to_native()
    return np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)[rows]


def _require_same_rows(X: Any, y: Any) -> None:
    """Raise if two objects of pandas have indices that are not the same.

    Rows are taken by position, and these say that they do not belong together so.
    """
    ours: Any = getattr(X, "index", None)
    theirs: Any = getattr(y, "index", None)
    if not (hasattr(ours, "equals") and hasattr(theirs, "equals")):
        return
    if len(ours) != len(theirs) or ours.equals(theirs):
        return  # other lengths have an error of their own
    is_shuffled = ours.is_unique and theirs.is_unique and ours.isin(theirs).all()
    got, advice = "other labels", "pass y.to_numpy() if the rows are in the same order"
    if is_shuffled:
        got, advice = "the same labels in another order", "pass y.loc[X.index]"
    first = int(np.argmax(np.asarray(ours != theirs)))
    raise InputError(
        f"y must have the index of X, row for row, got {got} (in row {first} "
        f"{theirs[first]!r} in place of {ours[first]!r}); {advice}"
    )
