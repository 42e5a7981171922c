"""Turn whatever a library raises for a damaged file into one readable error."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linsep.input import InputError

__all__ = ["refusing_damage"]


@contextmanager
def refusing_damage(path: Path, kind: str, remedy: str) -> Iterator[None]:
    """Run a block that reads a file by another library.

    A damaged header fails in many ways there: ValueError, KeyError, TokenError, errors
    of the library's own. Trouble with the system and with memory passes through.

    Parameters
    ----------
    path : Path
    kind : str
        What the file should be.
    remedy : str
        What to do if it is not.

    Raises
    ------
    InputError
        For any other exception.
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
