"""Arrow IPC and Feather files, read by pyarrow where it is installed."""

from __future__ import annotations

from pathlib import Path

from linsep.input.errors import InputError, refusing_damage
from linsep.input.files.table import Request, Table


def read_arrow(path: Path, request: Request) -> Table:
    """Read an Arrow file; see `linsep.input.files.read_table`, which calls this."""
    try:
        from pyarrow import feather
    except ImportError as error:
        raise InputError(
            f"{path} is an Arrow (Feather) file, which pyarrow reads, and that is not "
            'installed; pip install "linsep[arrow]", or write it as Parquet'
        ) from error
    from linsep.input.frame_tables import table_of_frame

    with refusing_damage(path, "a whole Arrow file", "copy or write it again"):
        frame = feather.read_table(path)
    return table_of_frame(frame, request, path)
