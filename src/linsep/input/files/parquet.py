"""Parquet files, by pyarrow, some rows at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linsep.input import InputError
from linsep.input.exact_numbers import exact_floats
from linsep.input.files.columns import TableBuilder
from linsep.input.files.damage import refusing_damage
from linsep.input.files.table import Table, select_columns

__all__ = ["read_parquet"]

# Cells decoded at a time.
_CELLS = 2**20


def read_parquet(
    path: Path, target: str | int | None, drop: Sequence[str | int] = ()
) -> Table:
    """Read a Parquet file; see `linsep.input.files.read_table`, which calls this."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            f'{path} needs pyarrow to be read: pip install "linsep[data]" (or convert '
            "it to CSV)"
        ) from None
    with (
        refusing_damage(path, "a whole Parquet file", "copy or write it again"),
        parquet.ParquetFile(path) as file,
    ):
        return _read(path, file, target, drop)


def _read(
    path: Path, file: Any, target: str | int | None, drop: Sequence[str | int]
) -> Table:
    """Read an open Parquet file."""
    schema = file.schema_arrow
    names = schema.names
    # pandas stores a row index without a name as a column; it is no measurement.
    index = [name for name in names if name.startswith("__index_level_")]
    selection = select_columns(path, names, target, (*drop, *index))
    positions = (*selection.features, selection.target)
    types = {j: _plain_type(schema.types[j]) for j in positions}
    for j in positions:
        _require_values(path, names[j], types[j])
    builder = TableBuilder(
        path,
        selection,
        text=frozenset(j for j in positions if _is_text(types[j])),
        place=lambda row: f"row {row} (counted from 0)",
        dtype=_common_float([types[j] for j in selection.features]),
    )
    for batch in file.iter_batches(batch_size=max(1, _CELLS // len(names))):
        builder.add({j: _values(batch.column(j), names[j]) for j in positions})
    return builder.finish()


def _plain_type(kind: Any) -> Any:
    """Return the type of the values: a dictionary's, else the column's."""
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def _is_text(kind: Any) -> bool:
    """Tell whether values of this type are texts (or nothing at all)."""
    from pyarrow import types

    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_null(kind)
    )


def _require_values(path: Path, name: str, kind: Any) -> None:
    """Raise unless values of this type are numbers, truths or texts."""
    from pyarrow import types

    number = (
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )
    if not (number or _is_text(kind)):
        raise InputError(
            f"{path}: column {name!r} must hold numbers, true and false, or texts, got "
            f"the type {kind}; turn it into numbers, or leave it out with "
            f"drop=[{name!r}] (--drop {name})"
        )


def _common_float(kinds: Sequence[Any]) -> type[np.floating[Any]]:
    """Return float32 if every column is float32, else float64."""
    single = bool(kinds) and all(str(kind) == "float" for kind in kinds)
    return np.float32 if single else np.float64


def _values(column: Any, name: str) -> Any:
    """Return numbers as floats, missing ones NaN, or texts, missing ones empty."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if _is_text(kind):
        return ["" if cell is None else cell for cell in column.to_pylist()]
    if types.is_decimal(kind):
        cells = column.to_pylist()
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    if types.is_boolean(kind):
        column = column.cast("int8")
    values = column.to_numpy(zero_copy_only=False)
    return exact_floats(values, f"column {name!r}")
