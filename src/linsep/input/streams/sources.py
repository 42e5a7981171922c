"""What can be read in record batches again and again, told from what is held whole.

Arrow does the reading: files by `pyarrow.dataset`, everything else by the C stream
protocol, which DuckDB, DataFusion and others speak.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linsep.input.errors import InputError
from linsep.input.files.read import COMPRESSION_SUFFIXES, DELIMITED_SUFFIXES
from linsep.input.files.sources import column_name
from linsep.input.files.svmlight import SUFFIXES, SvmlightText
from linsep.input.files.table import Request
from linsep.input.files.versions import FileVersions

# Formats of `pyarrow.dataset`, by the extension of the files; the others are texts.
_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
}
_PATTERN = re.compile(r"[*?\[]")

# A share of the memory that is free, and so many bytes at most, is what reading takes
# unless it is said: more would not make it faster.
FREE_SHARE = 0.1
MOST_BYTES = 1 << 29
# Parts of that for one batch: a batch is scanned while the next is compared and another
# is read, and the reader holds some undecoded.
BATCHES_HELD = 10
MOST_ROWS = 1 << 17
# Bytes of a column of Parquet that are fetched at a time.
BUFFER_BYTES = 1 << 16


@dataclass(frozen=True)
class Source:
    """Data as record batches.

    Attributes
    ----------
    name : str
        What the data are called in messages.
    schema : pyarrow.Schema
    read : callable
        Given names of columns and the rows of a batch at most, returns a fresh iterator
        over record batches that hold these columns, and perhaps others.
    files : tuple of str
        The files that are read, if they are files.
    are_texts : bool
        Whether these are delimited texts, of which can be said how they are laid out.
    notes : tuple of str
        What a reader of the answer should know of how they are read.
    is_kept : bool
        Whether `read` itself refuses files that were written to since the first look:
        then two readings need not be compared.
    """

    name: str
    schema: Any
    read: Callable[[Sequence[str], int], Iterator[Any]]
    files: tuple[str, ...] = ()
    are_texts: bool = False
    notes: tuple[str, ...] = ()
    is_kept: bool = False

    def batches(
        self, columns: Sequence[str], max_memory: int | None
    ) -> Generator[Any, None, None]:
        """Yield record batches of these columns in this order, in bounded memory."""
        width = sum(_width(self.schema.field(name).type) for name in columns)
        held = (max_memory or default_memory()) // BATCHES_HELD
        size = max(1024, min(MOST_ROWS, held // max(1, width)))
        try:
            with _refusing_failure(self.name):
                for batch in self.read(columns, size):
                    part = batch.select(list(columns))
                    for start in range(0, len(part), size):
                        yield part.slice(start, size)
        finally:
            # What Arrow keeps of it, some 400 MB, it does not give back by itself.
            _arrow(self.name).default_memory_pool().release_unused()


def stream_of(
    X: object, max_memory: int | None = None, request: Request | None = None
) -> Source | SvmlightText | None:
    """Return what X is as a source, or None if X is held in memory, or can be.

    A source is a folder of files, a pattern of paths, a file of Parquet, Feather or
    svmlight of more bytes than reading may take (`max_memory`, or a tenth of what is
    free), a file of CSV of more than `max_memory`, a `pyarrow.dataset.Dataset`, a
    relation of DuckDB, or a callable that returns a fresh stream each time: whatever
    has ``__arrow_c_stream__``, or an iterator of record batches. A `request` says how
    delimited texts are laid out.
    """
    if isinstance(X, Source | SvmlightText):
        return X
    if isinstance(X, str | os.PathLike):
        place = Path(X)
        if SUFFIXES.intersection(place.suffixes) and place.is_file():
            if place.stat().st_size <= (max_memory or _free_share()):
                return None
            return SvmlightText(place, max_memory or default_memory())
        return _files(os.fspath(X), max_memory, request or Request())
    kind = f"{type(X).__module__.partition('.')[0]}.{type(X).__name__}"
    arrow = sys.modules.get("pyarrow.dataset")
    if arrow is not None and isinstance(X, arrow.Dataset):
        return _dataset(X, "the data set")
    if kind in ("duckdb.DuckDBPyRelation", "_duckdb.DuckDBPyRelation"):
        return _relation(X)
    if callable(X) and not isinstance(X, type) and not hasattr(X, "shape"):
        return _repeated(X)
    return None


def default_memory() -> int:
    """Return how many bytes reading may take where it is not said."""
    return min(MOST_BYTES, _free_share())


def _free_share() -> int:
    """Return a tenth of the memory that is free."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not told on every system
        return MOST_BYTES
    return int(free * FREE_SHARE)


def _width(kind: Any) -> int:
    """Return the bytes that a value of a type takes, about."""
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:
        return 16


def _arrow(what: str) -> Any:
    try:
        import pyarrow
        import pyarrow.dataset
    except ImportError as error:
        raise InputError(
            f"{what} is read by pyarrow, which is not installed; pip install "
            '"linsep[arrow]"'
        ) from error
    return pyarrow


@contextmanager
def _refusing_failure(name: str) -> Iterator[None]:
    """Refuse what fails in the reader."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyarrow", "duckdb", "_duckdb")):
            raise
        reason = str(error).strip().split("\n")[0]
        raise InputError(
            f"{name} must be readable from the first row to the last, got: {reason}; "
            "correct or remove what cannot be read"
        ) from error


def _kind(path: Path) -> str:
    """Return the format of a file, told by its extension; "" if that says none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSION_SUFFIXES:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    if last in DELIMITED_SUFFIXES:
        return "csv"
    return _FORMATS.get(path.suffix.lower(), "")


def _files(path: str, max_memory: int | None, request: Request) -> Source | None:
    """Return the files of a folder, those that a pattern names, or a large one."""
    place = Path(path)
    if place.is_dir():
        found = sorted(p for p in place.rglob("*") if _is_data(p, place))
        if not found:
            return None
    elif _PATTERN.search(path) and not place.exists():
        from glob import glob

        found = sorted(Path(name) for name in glob(path, recursive=True))
        found = [p for p in found if p.is_file()]
        if not found:
            raise InputError(
                f"{path} must match at least one file, got none; check the pattern"
            )
    elif place.is_file() and _kind(place):
        # The numbers of a text may lie in a file, with all that memory allows.
        is_held = max_memory is None and _kind(place) == "csv"
        if is_held or place.stat().st_size <= (max_memory or _free_share()):
            return None
        found = [place]
    else:
        return None
    kinds = {_kind(p) or p.suffix for p in found}
    kind = next(iter(kinds))
    if len(kinds) > 1 or kind not in ("csv", *_FORMATS.values()):
        raise InputError(
            f"{path} must hold files of one kind, Parquet, Feather or CSV, got "
            f"{', '.join(sorted(kinds))}; name them by a pattern such as '*.parquet'"
        )
    pyarrow = _arrow(path)
    if kind == "csv":
        from linsep.input.streams.delimited import delimited_texts

        return delimited_texts(path, found, place if place.is_dir() else None, request)
    with _refusing_failure(path):
        root = str(place) if place.is_dir() else None
        dataset = pyarrow.dataset.dataset(
            [str(p) for p in found],
            format=kind,
            partitioning="hive" if root else None,
            partition_base_dir=root,
        )
    return _dataset(dataset, path, is_own=True)


def _is_data(path: Path, root: Path) -> bool:
    """Tell whether a file is data, not a note of whoever wrote the folder."""
    parts = path.relative_to(root).parts
    return path.is_file() and not any(part.startswith(("_", ".")) for part in parts)


def _dataset(dataset: Any, name: str, is_own: bool = False) -> Source:
    """Read a data set of pyarrow's, file after file; one of our own files as whole."""
    from pyarrow.fs import LocalFileSystem

    files = tuple(getattr(dataset, "files", ()))
    is_local = isinstance(getattr(dataset, "filesystem", None), LocalFileSystem)
    versions = FileVersions.of(files) if is_local else None

    def read(columns: Sequence[str], size: int) -> Iterator[Any]:
        for fragment in dataset.get_fragments():
            if is_own:
                # A fragment holds what it has read of its file's notes for good.
                place = fragment.path, fragment.filesystem
                expression = fragment.partition_expression
                fragment = fragment.format.make_fragment(*place, expression)
            for batch in _fragment(dataset, fragment, list(columns), size):
                if versions is not None and not versions.are_kept(fragment.path):
                    raise InputError(
                        f"{name} must yield the same rows in the same order each time "
                        f"it is read, but {fragment.path} was written to meanwhile; "
                        "wait until it is written"
                    )
                yield batch

    is_kept = versions is not None
    return Source(name, dataset.schema, read, files, is_kept=is_kept)


def _fragment(
    dataset: Any, fragment: Any, columns: list[str], size: int
) -> Iterator[Any]:
    """Read a file; a Parquet file page by page, where `to_batches` holds row groups."""
    import pyarrow.dataset
    from pyarrow import parquet

    fields = [dataset.schema.field(name) for name in columns]
    own = fragment.physical_schema
    is_whole = all(name in own.names for name in columns)
    if (
        isinstance(fragment, pyarrow.dataset.ParquetFileFragment)
        and is_whole
        and fragment.num_row_groups == fragment.metadata.num_row_groups
        and all(own.field(field.name).type == field.type for field in fields)
    ):
        with (
            fragment.filesystem.open_input_file(fragment.path) as file,
            parquet.ParquetFile(
                file, pre_buffer=False, buffer_size=BUFFER_BYTES
            ) as opened,
        ):
            yield from opened.iter_batches(size, columns=columns)
        return
    yield from fragment.to_batches(
        schema=dataset.schema,
        columns=columns,
        batch_size=size,
        batch_readahead=1,
        fragment_readahead=1,
    )


def _relation(relation: Any) -> Source:
    """Run a relation of DuckDB anew for every reading."""
    _arrow("a relation of DuckDB")

    def read(columns: Sequence[str], size: int) -> Iterator[Any]:
        chosen = relation.project(", ".join(map(column_name, columns)))
        with closing(chosen.to_arrow_reader(size)) as reader:
            yield from reader

    empty = relation.limit(0).to_arrow_table()
    return Source("the relation", empty.schema, read)


def sql_source(path: Path, query: str) -> Source:
    """Return the rows of a query on a DuckDB file, which is opened to be read only."""
    import duckdb

    try:
        connection = duckdb.connect(str(path), read_only=True)
        relation = connection.sql(query)
    except duckdb.Error as error:
        reason = str(error).strip().split("\n")[0]
        raise InputError(
            f"--sql must be a query that DuckDB answers on {path}, got: {reason}"
        ) from error
    if relation is None:
        raise InputError(
            f"--sql must be a query that returns rows, such as SELECT * FROM t, got "
            f"{query!r}"
        )
    source = _relation(relation)
    return Source(f"{path} ({query})", source.schema, source.read)


def _repeated(make: Callable[[], Any]) -> Source:
    """Read what a callable returns, anew each time."""
    pyarrow = _arrow("a stream")

    def batches() -> Iterator[Any]:
        made = make()
        if hasattr(made, "__arrow_c_stream__"):
            made = pyarrow.RecordBatchReader.from_stream(made)
        for batch in made:
            if not isinstance(batch, pyarrow.RecordBatch):
                raise InputError(
                    "the callable must return something with __arrow_c_stream__, or an "
                    f"iterator of record batches, got {type(batch).__name__} in it"
                )
            yield batch

    first = make()
    if hasattr(first, "__arrow_c_stream__"):
        schema = pyarrow.RecordBatchReader.from_stream(first).schema
    else:
        batch = next(iter(first), None)
        if not isinstance(batch, pyarrow.RecordBatch):
            raise InputError(
                "the callable must return something with __arrow_c_stream__, or an "
                f"iterator of record batches, got {type(first).__name__}"
            )
        schema = batch.schema
    return Source("the stream", schema, lambda columns, size: batches())
