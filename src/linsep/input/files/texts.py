"""Texts, compressed or not: opened, unpacked, and read by lines of bounded length."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, AnyStr, BinaryIO, cast

from linsep.input.errors import InputError

#: A line of a million columns with 17 digits each is 24 MB. Longer ones are not tables,
#: and a small compressed file can hold a line that fills the memory.
LONGEST_LINE = 64 * 2**20

# A compressed text may unpack to a gigabyte, and beyond it to 200 times its size:
# tables of real numbers reach 3 to 10 times, repeated rows some hundred.
_MOST_UNPACKED = 2**30
_MOST_TIMES = 200

_PIECE = 2**20


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, through the decompressor its first bytes call for."""
    with open(path, "rb") as raw:
        magic = raw.read(6)
    if magic.startswith(b"\x1f\x8b"):
        import gzip

        return cast(BinaryIO, gzip.open(path, "rb"))
    if magic.startswith(b"BZh"):
        import bz2

        return cast(BinaryIO, bz2.open(path, "rb"))
    return open(path, "rb")


def bounded_lines(stream: IO[AnyStr], path: Path) -> Iterator[AnyStr]:
    """Yield the lines of a stream, and refuse one too long to be a row."""
    while line := stream.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise line_too_long(path)
        yield line


def line_too_long(path: Path) -> InputError:
    """Word the error for a line too long to be a row."""
    return InputError(
        f"{path} must be a text of lines, got one longer than {LONGEST_LINE} "
        "characters; write one row a line"
    )


def holds(path: Path, mark: bytes) -> bool:
    """Tell whether a file holds a byte."""
    with open(path, "rb") as stream:
        return any(mark in piece for piece in iter(lambda: stream.read(_PIECE), b""))


@contextmanager
def unpacked(path: Path, *, plain_newlines: bool = False) -> Iterator[Path]:
    r"""Yield a path to the same text uncompressed: itself, or a temporary copy.

    With `plain_newlines` it is a copy in which every line ends in ``\n``. InputError if
    a compressed text unpacks to more than it may.
    """
    with open_bytes(path) as stream, TemporaryDirectory(prefix="linsep-") as folder:
        is_packed = not isinstance(stream, io.BufferedReader)
        if not is_packed and not plain_newlines:
            yield path
            return
        most = max(_MOST_UNPACKED, _MOST_TIMES * path.stat().st_size)
        size = 0
        copy = Path(folder, "text")
        # Latin-1 gives every byte a character of its own, and back.
        translate = io.IncrementalNewlineDecoder(None, translate=plain_newlines)
        with open(copy, "w", encoding="latin-1", newline="") as out:
            while piece := stream.read(_PIECE):
                size += len(piece)
                if is_packed and size > most:
                    raise InputError(
                        f"{path} must unpack to at most {_MOST_TIMES} times its size, "
                        f"or {_MOST_UNPACKED} bytes, got more; if that is right, "
                        "unpack it first"
                    )
                out.write(translate.decode(piece.decode("latin-1")))
            out.write(translate.decode("", final=True))
        yield copy
