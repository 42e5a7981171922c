"""The one exception raised for input that cannot be used, and what becomes one."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from linsep.printable import printable


class InputError(ValueError):
    """Input that cannot be used: says what must hold, what came, what to do.

    Examples
    --------
    >>> from linsep.input import InputError, problem_from
    >>> try:
    ...     problem_from([[1.0], [2.0]], [0, 1, 1])
    ... except InputError as error:
    ...     print(error)
    X and y must have the same number of rows, got 2 rows in X (shape (2, 1)) and 3 \
labels in y; pass one label for every row of X
    """

    def __str__(self) -> str:
        """Return the message, control characters of names escaped."""
        return printable(super().__str__())


def did_you_mean(given: object, known: Iterable[object]) -> str:
    """Ask about the names most like one that is not known; "" if none is like it.

    Examples
    --------
    >>> did_you_mean("ag", ["age", "weight"]), did_you_mean("ag", ["x"])
    ("did you mean 'age'?", '')
    """
    names = list(map(str, known))
    folded = [name for name in names if name.casefold() == str(given).casefold()]
    close = folded or difflib.get_close_matches(str(given), names, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else ""


def drop_option(column: str) -> str:
    """Say how a column is left out on the command line."""
    return f"(--drop {shlex.quote(column)})"


@contextmanager
def refusing_damage(path: Path, kind: str, remedy: str) -> Iterator[None]:
    """Run a block that reads a file by another library; refuse what fails there.

    A damaged header fails in many ways: ValueError, KeyError, TokenError, errors of the
    library's own. Trouble with the system and with memory passes through. The error
    says what `kind` of file it should be, and the `remedy` if it is not.
    """
    try:
        yield
    except (InputError, OSError, EOFError, MemoryError):
        raise
    except Exception as error:
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        if "pickle" in reason or "Python objects" in reason:
            remedy = (
                "it holds Python objects, which are never loaded since they can run "
                "code: save plain numbers and texts"
            )
        raise InputError(f"{path} must be {kind}, got: {reason}; {remedy}") from error
