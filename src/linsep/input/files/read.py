"""Tell what kind of file it is, and hand it to its reader."""

from __future__ import annotations

import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import NDArray

from linsep.input.errors import InputError, did_you_mean
from linsep.input.files.arrow_files import arrow_columns, read_arrow
from linsep.input.files.numpy_files import read_npy, read_npz
from linsep.input.files.svmlight import SUFFIXES, read_svmlight
from linsep.input.files.table import Request, Table
from linsep.input.files.tabular import (
    TabularReader,
    read_delimited,
    read_json_lines,
    read_parquet,
)
from linsep.input.files.texts import open_bytes

Reader: TypeAlias = Callable[[Path, Request], Table]

# Each binary format begins with bytes of its own; a text never begins with them.
_BINARY: tuple[tuple[bytes, str, Reader], ...] = (
    (b"PAR1", "Parquet", read_parquet),
    (b"\x93NUMPY", "NumPy .npy", read_npy),
    (b"PK\x03\x04", "NumPy .npz", read_npz),
    (b"PK\x05\x06", "NumPy .npz", read_npz),  # an archive of nothing
    (b"ARROW1", "Arrow", read_arrow),
    (b"FEA1", "Feather", read_arrow),
)
_BINARY_SUFFIXES = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".feather": "Feather",
    ".arrow": "Arrow",
    ".npy": "NumPy .npy",
    ".npz": "NumPy .npz",
}
DELIMITED_SUFFIXES = {".csv", ".tsv", ".tab"}
_JSON_SUFFIXES = {".jsonl", ".ndjson"}
COMPRESSION_SUFFIXES = {".gz", ".bz2", ".xz"}
_SVMLIGHT_LINE = re.compile(rb"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?")


def read_table(
    path: str | os.PathLike[str],
    target: str | int | None = None,
    *,
    drop: Sequence[str | int] = (),
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
    missing: str = "refuse",
    fit_intercept: bool = True,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Table:
    r"""Read a data file into an array of features and an array of labels.

    The kind of file is told by its first bytes; for texts without any by its
    extension, then by its first line. Nothing is ever unpickled, and nothing is left
    out or changed without a note.

    Parameters
    ----------
    path : str or path-like
        A regular file:

        - delimited text (CSV): comma, semicolon, tab, bar or blanks, quoted fields,
          with or without a header. Numbers are read to the nearest double; in a text
          of semicolons they may have decimal commas.
        - Parquet; Arrow IPC and Feather, which need pyarrow.
        - JSON lines (``.jsonl``, ``.ndjson``), an object a row.
        - svmlight / libsvm text, ``label index:value ...``, labels included.
        - ``.npy``, one matrix with the labels in a column; it is memory-mapped.
        - ``.npz``, arrays X and y, or one matrix with the labels in a column.

        Texts may be compressed by gzip, bzip2 or xz; one that unpacks to more than a
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
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have a missing value in a column that is read.
    fit_intercept : bool, default=True
        Whether the model has a constant. Without one the levels of the first column of
        text all have columns, which stand for it.
    sep, decimal, encoding : str, optional
        Of delimited text: the character between fields, "." or "," in numbers, and the
        encoding, such as "latin-1". Told from the file by default, and UTF-8.

    Returns
    -------
    Table
        Columns of text become 0/1 columns, one for each level but the commonest, the
        reference, named ``column[T.level]`` as in formulas. Dates, and texts that are
        another in every row, are left out, with a note.

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
    ...     _ = path.write_text("weight,colour,kind\n150,green,apple\n8,red,cherry\n")
    ...     table = read_table(path, "kind")
    >>> table.feature_names
    ('weight', 'colour[T.red]')
    >>> table.X
    array([[150.,   0.],
           [  8.,   1.]])
    >>> table.y
    array(['apple', 'cherry'], dtype='<U6')
    """
    options: Any = {"missing": missing, "fit_intercept": fit_intercept}
    options |= {"sep": sep, "decimal": decimal, "encoding": encoding}
    options["in_memory"] = True
    return read_request(path, Request(target, drop, columns, header, **options))


def read_labelled(
    path: str | os.PathLike[str], target: str | int | None = None, **options: Any
) -> tuple[Table, NDArray[Any]]:
    """Read a data file as `read_table` does, and its labels; refuse one without any.

    The options are those of a `Request`.
    """
    table = read_request(path, Request(target, labelled=True, **options))
    assert table.y is not None
    return table, table.y


def read_columns(
    path: str | os.PathLike[str], request: Request | None = None
) -> dict[str, NDArray[Any]]:
    """Read the columns of a tabular file as they are, missing values and all."""
    source = Path(path)
    request = request or Request()
    with _being_read(source):
        reader = reader_for(source, request)
        if isinstance(reader, TabularReader):
            return reader.columns(source, request)
        if reader is read_arrow:
            return arrow_columns(source)
    raise InputError(
        f"{source} must have named columns, as CSV and Parquet files do, got "
        "another kind of file; convert it"
    )


def read_request(path: str | os.PathLike[str], request: Request) -> Table:
    """Read what is asked of a file by the reader of its kind."""
    source = Path(path)
    with _being_read(source):
        return reader_for(source, request)(source, request)


@contextmanager
def _being_read(source: Path) -> Iterator[None]:
    """Run a block that reads a file; what fails underneath is one readable error."""
    _require_regular_file(source)
    try:
        yield
    except MemoryError as error:
        raise InputError(
            f"{source} must fit into memory as numbers, and does not; convert it to "
            ".npy with the labels in the last column, which is read in place"
        ) from error
    except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.strerror:  # the system's own complaint
            raise InputError(
                f"{source} must be readable, got: {error.strerror}; check the file and "
                "its permissions"
            ) from error
        raise InputError(
            f"{source} must be a whole file, got one that ends too early or is "
            f"damaged ({error}); copy or download it again"
        ) from error


def _without_data(folder: Path) -> str:
    """Say that a folder holds no data, if it holds none."""
    known = (*DELIMITED_SUFFIXES, ".parquet", ".pq", ".feather", ".arrow")
    has_data = any(path.suffix.lower() in known for path in folder.rglob("*"))
    return "" if has_data else " of none"


def _require_regular_file(source: Path) -> None:
    """Raise unless there is a file with something in it."""
    if re.match(r"\w{2,}:/", str(source)):
        raise InputError(
            f"{source} must be a file on this machine, got an address; fetch it first, "
            "or on the command line: curl -s ADDRESS | linsep separate - --target COL"
        )
    if os.path.isdir(source):  # no error where the name is too long for one
        raise InputError(
            f"{source} must be a file, or where data are read in batches a folder of "
            f"Parquet, Feather or CSV files, got a folder{_without_data(source)}; name "
            "a file in it"
        )
    if not os.path.exists(source):
        nearby = ""
        if os.path.isdir(source.parent):
            found = sorted(p.name for p in source.parent.iterdir() if p.is_file())
            nearby = f"; the folder holds {', '.join(found[:8])}" if found else ""
            meant = did_you_mean(source.name, found)
            nearby += f": {meant}" if meant else ""
        raise InputError(
            f"{source} must be an existing file, got a path with nothing there"
            f"{nearby}; check the path"
        )
    if not source.is_file():
        raise InputError(
            f"{source} must be a regular file, since it is read more than once, got a "
            "device or pipe; write the data to a file first (the command line reads "
            "standard input where the file is called -)"
        )
    if source.stat().st_size == 0:
        raise InputError(f"{source} must hold data, got an empty file")


def reader_for(source: Path, request: Request) -> Reader:
    """Return the reader of a file, which is one of text if the request says so."""
    reader = _reader_told(source)
    given = [n for n in ("sep", "decimal", "encoding") if getattr(request, n)]
    if reader is not read_delimited and given == ["encoding"]:
        given = []
    if given and reader is read_svmlight:
        return read_delimited
    if given and reader is not read_delimited:
        raise InputError(
            f"{given[0]} goes with delimited text (CSV), got {source}, which is "
            f"another kind of file; leave {given[0]} out"
        )
    return reader


def _reader_told(source: Path) -> Reader:
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
    if suffix in _JSON_SUFFIXES:
        return read_json_lines
    first_line = next((s for s in head.splitlines() if s.strip()), b"")
    if suffix not in DELIMITED_SUFFIXES and first_line.lstrip().startswith(b"{"):
        return read_json_lines
    if suffix in SUFFIXES:
        return read_svmlight
    if suffix not in DELIMITED_SUFFIXES and _SVMLIGHT_LINE.fullmatch(first_line):
        return read_svmlight
    return read_delimited


def _suffix(source: Path) -> str:
    """Return the extension in lower case, not that of the compression."""
    suffixes = [suffix.lower() for suffix in source.suffixes]
    if suffixes and suffixes[-1] in COMPRESSION_SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
