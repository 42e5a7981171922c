"""Open texts, compressed or not, and read them by lines of bounded length."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, AnyStr, BinaryIO, cast

from linsep.input import InputError

__all__ = ["bounded_lines", "open_bytes"]

# A line of a million columns with 17 digits each is 24 MB. Longer ones are not tables,
# and a small compressed file can hold a line that fills the memory.
_LONGEST_LINE = 64 * 2**20


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
    while line := stream.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise InputError(
                f"{path} must be a text of lines, got one longer than "
                f"{_LONGEST_LINE} characters; write one row a line"
            )
        yield line
