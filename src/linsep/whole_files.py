"""Write a file whole or not at all; read one from strangers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a place beside `path` to write to, and move it to `path` at the end.

    If anything goes wrong, or the writing is interrupted, the place is cleared and
    whatever stood at `path` stands; the bytes are on the disk before it gives way. Each
    call has a place of its own, so that several may write to one path, and the last
    stays. The ending of the name is kept, for writers that go by it. A device or pipe
    at `path` is written to as it is.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "answer.txt") as unfinished:
    ...         _ = unfinished.write_text("42")
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('answer.txt', '42')]
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        yield target
        return
    mark = f"{os.getpid()}.{os.urandom(6).hex()}"
    unfinished = target.with_name(f".{mark}.part.{target.name}")
    try:
        yield unfinished
        _synchronise(unfinished, os.O_RDWR)
        unfinished.replace(target)
        if os.name == "posix":
            _synchronise(target.parent, os.O_RDONLY)
    finally:
        unfinished.unlink(missing_ok=True)


def read_bounded(path: str | os.PathLike[str], most: int) -> bytes:
    """Return what a file holds, or raise ValueError: no pipe, device or huge file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "answer.txt")
    ...     _ = path.write_text("42")
    ...     read_bounded(path, 2)
    b'42'
    """
    place = Path(path)
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise ValueError("a device or pipe")
    with open(place, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"more than {most:,} bytes")
    return content


def _synchronise(path: Path, mode: int) -> None:
    """Have the system put a file, or the names in a folder, on the disk."""
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
