"""Write a file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a place beside `path` to write to, and move it to `path` at the end.

    If anything goes wrong, or the writing is interrupted, the place is cleared and
    whatever stood at `path` stands. The ending of the name is kept, for writers that
    go by it.

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
    unfinished = target.with_name(f".{os.getpid()}.part.{target.name}")
    try:
        yield unfinished
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
