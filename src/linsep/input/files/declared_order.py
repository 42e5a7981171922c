"""The order of categories that a Parquet or Arrow file declares for a column of text.

DuckDB reads such a column as plain texts. The categories stand in the file's dictionary
pages, which pyarrow reads; that there are any in Parquet, in what pandas and polars say
beside the data.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from linsep.input.errors import InputError, refusing_damage
from linsep.input.files.arrow_files import arrow_table
from linsep.input.files.sources import WHOLE_PARQUET

_PARQUET, _ARROW = b"PAR1", (b"ARRO", b"FEA1")


def declared_order(
    path: str | os.PathLike[str], column: str
) -> tuple[tuple[str, ...], bool] | None:
    """Return a column's categories, and whether they are ordered; None without any.

    Raises
    ------
    InputError
        If there is an order, and pyarrow, which reads it, is not installed.
    """
    source = Path(path)
    with open(source, "rb") as stream:
        magic = stream.read(4)
    if magic in _ARROW:
        return _of_table(arrow_table(source, [column]))
    if magic != _PARQUET:
        return None
    if not find_spec("pyarrow"):
        if _is_declared(source, column):
            raise InputError(
                f"{source} declares categories in order for column {column!r}, which "
                "only pyarrow reads, and that is not installed; pip install pyarrow, "
                "or give the order yourself (order=[...], --order low,mid,high)"
            )
        return None
    import pyarrow.parquet as pq

    with refusing_damage(source, *WHOLE_PARQUET):
        table = pq.read_table(source, columns=[column])
    return _of_table(table)


def _of_table(table: Any) -> tuple[tuple[str, ...], bool] | None:
    """Return the categories of an Arrow table's only column, and whether in order."""
    pieces, said = table.column(0), table.schema.field(0).metadata or {}
    is_loose = any(key.startswith(b"_PL_CATEGORICAL") for key in said)
    if not hasattr(pieces.type, "ordered") or pieces.num_chunks == 0 or is_loose:
        return None  # the Categorical of polars has no order
    categories = pieces.unify_dictionaries().chunk(0).dictionary.to_pylist()
    return tuple(str(level).strip() for level in categories), bool(pieces.type.ordered)


def _is_declared(path: Path, column: str) -> bool:
    """Tell whether pandas or polars say that a column is of ordered categories."""
    import duckdb

    with duckdb.connect() as engine:
        pairs = dict(
            engine.execute(
                "SELECT key, value FROM parquet_kv_metadata(?)", [str(path)]
            ).fetchall()
        )
    for described in json.loads(pairs.get(b"pandas", b"{}")).get("columns", ()):
        if described["name"] == column and described["pandas_type"] == "categorical":
            return bool(described["metadata"]["ordered"])
    # polars keeps the categories of each Enum beside the name of its column.
    return b"_PL_ENUM_VALUES" in b64decode(pairs.get(b"ARROW:schema", b""))
