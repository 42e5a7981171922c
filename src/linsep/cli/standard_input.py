"""``-`` in place of a file: standard input, held in a temporary file meanwhile."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp

import click

# Readers go over a file twice, so that it cannot be a stream; and one without an end
# would fill the disk.
MOST_BYTES = 2**34
_PIECE = 2**20
_PREFIX = "linsep-stdin-"
_NAME = "standard input"
_SPOOLED = re.compile(rf"'?[^\s']*{_PREFIX}\w+/{_NAME}'?")


def from_standard_input(
    ctx: click.Context, parameter: click.Parameter, path: Path
) -> Path:
    """Return the path of a file; for ``-`` that of a copy of standard input.

    The copy goes when the command ends.
    """
    if str(path) != "-" or ctx.resilient_parsing:
        return path
    folder = mkdtemp(prefix=_PREFIX)
    copy = Path(folder, _NAME)
    try:
        _keep(copy)
    except BaseException:  # Ctrl-C too: nothing closes the context yet
        shutil.rmtree(folder, ignore_errors=True)
        raise
    ctx.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
    return copy


def _keep(copy: Path) -> None:
    """Write standard input to a file."""
    size = 0
    with open(copy, "wb") as out:
        while piece := sys.stdin.buffer.read(_PIECE):
            size += len(piece)
            if size > MOST_BYTES:
                from linsep.input import InputError  # the help does without

                raise InputError(
                    f"standard input must end after at most {MOST_BYTES:,} bytes, got "
                    "more; write it to a file"
                )
            out.write(piece)


def named(text: str) -> str:
    """Call the copy of standard input what it is in a text."""
    return _SPOOLED.sub(_NAME, text)


def argument(path: Path) -> str:
    """Return how a command line names a file: ``-`` for standard input."""
    return "-" if _SPOOLED.fullmatch(str(path)) else str(path)
