"""Arrow IPC and Feather files, read by pyarrow where it is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.input.errors import InputError, refusing_damage
from linsep.input.files.table import Request, Table

if TYPE_CHECKING:
    import pyarrow


def read_arrow(path: Path, request: Request) -> Table:
    """Read an Arrow file; see `linsep.input.files.read_table`, which calls this."""
    from linsep.input.frame_tables import table_of_frame

    return table_of_frame(arrow_table(path), request, path)


def arrow_columns(path: Path) -> dict[str, NDArray[Any]]:
    """Return every column, NaN where a number is missing and None where a text is."""
    table = arrow_table(path)
    return dict(zip(table.column_names, map(_as_array, table.columns), strict=True))


def _as_array(column: pyarrow.ChunkedArray) -> NDArray[Any]:
    from pyarrow import types

    if types.is_primitive(column.type):
        return np.asarray(column.to_numpy())
    texts = np.empty(len(column), dtype=object)
    texts[:] = column.to_pylist()  # of dictionaries, the categories
    return texts


def arrow_table(path: Path, columns: list[str] | None = None) -> pyarrow.Table:
    """Read a file, or some of its columns.

    Raises
    ------
    InputError
        If pyarrow is not installed, or the file is damaged.
    """
    try:
        from pyarrow import feather
    except ImportError as error:
        raise InputError(
            f"{path} is an Arrow (Feather) file, which pyarrow reads, and that is not "
            'installed; pip install "linsep[arrow]", or write it as Parquet'
        ) from error
    with refusing_damage(path, "a whole Arrow file", "copy or write it again"):
        return feather.read_table(path, columns=columns)
