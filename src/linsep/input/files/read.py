"""Tell what kind of file it is, and hand it to its reader."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from numpy.typing import NDArray

from linsep.input.errors import InputError
from linsep.input.files.numpy_files import read_npy, read_npz
from linsep.input.files.svmlight import read_svmlight
from linsep.input.files.table import Request, Table
from linsep.input.files.tabular import (
    TabularReader,
    read_delimited,
    read_json_lines,
    read_parquet,
)
from linsep.input.files.texts import open_bytes

Result = TypeVar("Result")
Reader: TypeAlias = Callable[[Path, Request], Table]

# Each binary format begins with bytes of its own; a text never begins with them.
_BINARY: tuple[tuple[bytes, str, Reader], ...] = (
    (b"PAR1", "Parquet", read_parquet),
    (b"\x93NUMPY", "NumPy .npy", read_npy),
    (b"PK\x03\x04", "NumPy .npz", read_npz),
    (b"PK\x05\x06", "NumPy .npz", read_npz),  # an archive of nothing
)
_BINARY_SUFFIXES = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".npy": "NumPy .npy",
    ".npz": "NumPy .npz",
}
_SVMLIGHT_SUFFIXES = {".svm", ".svmlight", ".libsvm"}
_DELIMITED_SUFFIXES = {".csv", ".tsv", ".tab"}
_JSON_SUFFIXES = {".jsonl", ".ndjson"}
_COMPRESSION_SUFFIXES = {".gz", ".bz2"}
_SVMLIGHT_LINE = re.compile(rb"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?")


def read_table(
    path: str | os.PathLike[str],
    target: str | int | None = None,
    *,
    drop: Sequence[str | int] = (),
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
) -> Table:
    r"""Read a data file into an array of features and an array of labels.

    The kind of file is told by its first bytes; for texts without any by its
    extension, then by its first line. Nothing is ever unpickled, and nothing is left
    out or changed without a note.

    Parameters
    ----------
    path : str or path-like
        A regular file:

        - delimited text (CSV): comma, semicolon, tab or blank, quoted fields, UTF-8,
          with or without a header. Numbers are read to the nearest double.
        - Parquet; JSON lines (``.jsonl``, ``.ndjson``), an object a row.
        - svmlight / libsvm text, ``label index:value ...``, labels included.
        - ``.npy``, one matrix with the labels in a column; it is memory-mapped.
        - ``.npz``, arrays X and y, or one matrix with the labels in a column.

        Texts may be compressed by gzip or bzip2; one that unpacks to more than a
        gigabyte and 200 times its size is refused.
    target : str or int, optional
        The column of the labels: its name, or its number counted from 0 (negative
        from the end), also as text. In an ``.npz`` of several arrays: the name of
        the array of labels, by default "y". Not for svmlight text. By default the
        labels are those the file itself names, if any.
    drop : sequence of str or int, default=()
        Columns to leave out, named as `target` is.
    columns : sequence of str or int, optional
        The columns to read as features; all others by default. Columns not asked for
        may hold anything.
    header : bool, optional
        Whether the first line of a delimited text names the columns; told from
        the file by default.

    Returns
    -------
    Table
        Columns of text become 0/1 columns, one for each level, named
        ``column[level]``. No level is left out, so that each can be read in the
        answer; the redundancy with the intercept is the solver's to handle.

    Raises
    ------
    InputError
        If the file cannot be read, a value is missing or not finite, a column is not
        there or cannot be turned into numbers.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "fruit.csv")
    ...     _ = path.write_text("weight,colour,kind\n150,red,apple\n8,red,cherry\n")
    ...     table = read_table(path, "kind")
    >>> table.feature_names
    ('weight', 'colour[red]')
    >>> table.X
    array([[150.,   1.],
           [  8.,   1.]])
    >>> table.y
    array(['apple', 'cherry'], dtype='<U6')
    """
    return _read(Path(path), Request(target, drop, columns, header))


def read_labelled(
    path: str | os.PathLike[str],
    target: str | int | None = None,
    *,
    drop: Sequence[str | int] = (),
    header: bool | None = None,
) -> tuple[Table, NDArray[Any]]:
    """Read a data file as `read_table` does, and its labels; refuse one without any."""
    table = _read(Path(path), Request(target, drop, None, header, labelled=True))
    assert table.y is not None
    return table, table.y


def read_columns(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Read the columns of a tabular file as they are, missing values and all."""
    source = Path(path)

    def read() -> dict[str, NDArray[Any]]:
        reader = reader_of(source)
        if isinstance(reader, TabularReader):
            return reader.columns(source)
        raise InputError(
            f"{source} must have named columns, as CSV and Parquet files do, got "
            "another kind of file; convert it"
        )

    return _guarded(source, read)


def _read(source: Path, request: Request) -> Table:
    """Read a file by the reader of its kind."""
    return _guarded(source, lambda: reader_of(source)(source, request))


def _guarded(source: Path, read: Callable[[], Result]) -> Result:
    """Read a file that is one; what fails underneath is one readable error."""
    _require_regular_file(source)
    try:
        return read()
    except MemoryError as error:
        raise InputError(
            f"{source} must fit into memory as numbers, and does not; convert it to "
            ".npy with the labels in the last column, which is read in place"
        ) from error
    except (EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.strerror:  # the system's own complaint
            raise InputError(
                f"{source} must be readable, got: {error.strerror}; check the file and "
                "its permissions"
            ) from error
        raise InputError(
            f"{source} must be a whole file, got one that ends too early or is "
            f"damaged ({error}); copy or download it again"
        ) from error


def _require_regular_file(source: Path) -> None:
    """Raise unless there is a file with something in it."""
    if source.is_dir():
        raise InputError(f"{source} must be a file, got a folder; name a file in it")
    if not source.exists():
        nearby = ""
        if source.parent.is_dir():
            found = sorted(p.name for p in source.parent.iterdir() if p.is_file())
            nearby = f"; the folder holds {', '.join(found[:8])}" if found else ""
        raise InputError(
            f"{source} must be an existing file, got a path with nothing there"
            f"{nearby}; check the path"
        )
    if not source.is_file():
        raise InputError(
            f"{source} must be a regular file, since it is read more than once, got a "
            "device or pipe; write the data to a file first"
        )
    if source.stat().st_size == 0:
        raise InputError(f"{source} must hold data, got an empty file")


def reader_of(source: Path) -> Reader:
    """Tell the kind of file by its first bytes, its extension, its first line."""
    with open_bytes(source) as stream:
        head = stream.read(65536)
    with open(source, "rb") as raw:
        compressed = raw.read(6) != head[:6]
    suffix = _suffix(source)
    for magic, name, reader in _BINARY:
        if head.startswith(magic):
            if compressed:
                raise InputError(
                    f"{source} must be uncompressed to be read as {name}; "
                    "uncompress it first"
                )
            return reader
    if suffix in _BINARY_SUFFIXES:
        raise InputError(
            f"{source} must be a {_BINARY_SUFFIXES[suffix]} file, as its name says, "
            f"got one that begins with {head[:12]!r}; give it the extension of what "
            "it is (.csv, .tsv, .jsonl, .svm, .parquet, .npy, .npz)"
        )
    if head.startswith(b"ARROW1"):
        raise InputError(
            f"{source} must be Parquet to be read as a binary table, got an Arrow "
            "(Feather) file; write it as Parquet, or pass the table that "
            "pyarrow.feather.read_table gives"
        )
    if suffix in _JSON_SUFFIXES:
        return read_json_lines
    first_line = next((s for s in head.splitlines() if s.strip()), b"")
    if suffix in _SVMLIGHT_SUFFIXES:
        return read_svmlight
    if suffix not in _DELIMITED_SUFFIXES and _SVMLIGHT_LINE.fullmatch(first_line):
        return read_svmlight
    return read_delimited


def _suffix(source: Path) -> str:
    """Return the extension in lower case, not that of the compression."""
    suffixes = [suffix.lower() for suffix in source.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSION_SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
