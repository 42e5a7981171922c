"""Texts, compressed or not: opened, unpacked, and read by lines of bounded length."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
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
_BLANKS = re.compile(" {2,}")
# With what compressed files begin, and the module that reads them, loaded if need be.
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, through the decompressor its first bytes call for."""
    with open(path, "rb") as raw:
        magic = raw.read(6)
    for begins, module in _PACKED.items():
        if magic.startswith(begins):
            return cast(BinaryIO, import_module(module).open(path, "rb"))
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
def _refusing_other_encodings(path: Path, encoding: str | None) -> Iterator[None]:
    try:
        yield
    except UnicodeError as error:
        raise InputError(
            f"{path} must be text in the encoding {encoding}, got {error}; try another "
            "(--encoding utf-8, latin-1, cp1252, utf-16)"
        ) from None


@contextmanager
def with_single_blanks(text: Path) -> Iterator[Path]:
    """Yield a copy of a text in which blanks in a row are one, but for those quoted."""
    with (
        TemporaryDirectory(prefix="linsep-") as folder,
        open(text, encoding="utf-8-sig", newline="") as stream,
        open(Path(folder, "text"), "w", encoding="utf-8", newline="") as out,
    ):
        is_quoted = False
        for line in bounded_lines(stream, text):
            body = line.rstrip("\r\n")
            parts = body.split('"')  # every other one is quoted
            first = int(is_quoted)
            parts[first::2] = [_BLANKS.sub(" ", part) for part in parts[first::2]]
            is_quoted ^= len(parts) % 2 == 0
            if not first:
                parts[0] = parts[0].lstrip(" ")
            if not is_quoted:
                parts[-1] = parts[-1].rstrip(" ")
            out.write('"'.join(parts) + line[len(body) :])
        out.flush()
        yield Path(out.name)


def require_bounded(path: Path, size: int) -> None:
    """Raise if a file unpacks to more bytes than it may."""
    if size > max(_MOST_UNPACKED, _MOST_TIMES * path.stat().st_size):
        raise InputError(
            f"{path} must unpack to at most {_MOST_TIMES} times its size, or "
            f"{_MOST_UNPACKED} bytes, got more; if that is right, unpack it first"
        )


@contextmanager
def unpacked(
    path: Path, *, plain_newlines: bool = False, encoding: str | None = None
) -> Iterator[Path]:
    r"""Yield a path to the same text uncompressed: itself, or a temporary copy.

    With `plain_newlines` it is a copy in which every line ends in ``\n``, with an
    `encoding` one in UTF-8. InputError if a compressed text unpacks to more than it
    may.
    """
    with open_bytes(path) as stream, TemporaryDirectory(prefix="linsep-") as folder:
        is_packed = not isinstance(stream, io.BufferedReader)
        if not is_packed and not plain_newlines and encoding is None:
            yield path
            return
        size = 0
        copy = Path(folder, "text")
        # Latin-1 gives every byte a character of its own, and back.
        kept = "latin-1" if encoding is None else "utf-8"
        decoder = codecs.getincrementaldecoder(encoding or "latin-1")()
        translate = io.IncrementalNewlineDecoder(decoder, translate=plain_newlines)
        with (
            open(copy, "w", encoding=kept, newline="") as out,
            _refusing_other_encodings(path, encoding),
        ):
            while piece := stream.read(_PIECE):
                size += len(piece)
                if is_packed:
                    require_bounded(path, size)
                out.write(translate.decode(piece))
            out.write(translate.decode(b"", final=True))
        yield copy
