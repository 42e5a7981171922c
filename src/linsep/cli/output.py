"""Files that options name, and JSON to print."""

import io
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from linsep.cli.standard_input import named
from linsep.input import InputError
from linsep.printable import printable


def say(text: object, *, err: bool = False) -> None:
    """Print a line; whatever names and values it holds, the terminal acts on none."""
    click.echo(printable(named(str(text))), err=err)


def require_file(path: Path, kind: str, remedy: str) -> None:
    """Raise unless a regular file stands there: no pipe, no endless device."""
    if path.is_file():
        return
    found = (
        "a folder"
        if path.is_dir()
        else "a device or pipe"
        if path.exists()
        else "a path with nothing there"
    )
    raise InputError(f"{path} must be {kind}, got {found}; {remedy}")


def require_writable(path: Path | None, data: Path | None = None) -> None:
    """Raise if a file could not be written there; asked before long work.

    Nor may it be the file of `data`, which writing would replace.
    """
    if path is None:
        return
    if data is not None and path.exists() and data.exists() and path.samefile(data):
        raise InputError(
            f"{path} must not be the file of data itself, which would be replaced; "
            "name another"
        )
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(
            f"{path} must be a file in a folder that exists and can be written to; "
            "make the folder, or name another"
        )


def require_places(file: Path, **places: Path | None) -> None:
    """Raise if what is asked for could not be saved; asked before long work.

    Each place is given by the name of its option, and has a file of its own.
    """
    named = {option: path for option, path in places.items() if path is not None}
    for path in named.values():
        require_writable(path, file)
    if len({path.resolve() for path in named.values()}) < len(named):
        options = " and ".join(f"--{option.replace('_', '-')}" for option in named)
        raise InputError(
            f"{options} must name different files, got "
            f"{', '.join(map(str, named.values()))}; one would replace the other"
        )
    if "report" in named:
        from linsep.report.page import require_report

        require_report()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Run a block that writes a file; name the file where that fails."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} must be writable, got: {error.strerror}; name another place"
        ) from error


def strict_json(record: dict[str, Any]) -> str:
    """Return one JSON object; infinities and NaN, which JSON has not, become texts.

    They are "Infinity", "-Infinity" and "NaN", which most languages read as numbers.

    Examples
    --------
    >>> print(strict_json({"margin": 0.1, "bounds": [1, float("inf")]}))
    {
      "margin": 0.1,
      "bounds": [
        1,
        "Infinity"
      ]
    }
    """
    text = io.StringIO()  # dumps makes a list of a million pieces for as many rows
    json.dump(_finite(record), text, indent=2, ensure_ascii=False, allow_nan=False)
    return text.getvalue()


def _finite(value: Any) -> Any:
    """Replace the numbers that JSON has not by texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value
