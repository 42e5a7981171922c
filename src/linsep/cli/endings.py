"""How a command ends without an answer: one sentence, and an exit code for the kind."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO, Any

import click

from linsep.cli.standard_input import named
from linsep.printable import printable

# Libraries that are not always there, and the extra that brings each.
_EXTRAS = {
    "altair": "report",
    "formulaic": "data",
    "jinja2": "report",
    "matplotlib": "plot",
    "pandas": "data",
    "pyarrow": "arrow",
    "vl_convert": "report",
}

# Seconds, after which a callback has ended.
SOON = 0.01

_STOPPED = "stopped by Ctrl-C before there was an answer"


class _Ending(click.ClickException):
    """A sentence on standard error, and an exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(printable(named(message)))
        self.exit_code = exit_code  # type: ignore[misc]

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence, if standard error takes it."""
        with suppress(OSError):
            super().show(file)
        _leave_unwritable(sys.stderr)


@contextmanager
def worded_ending() -> Iterator[None]:
    """Turn whatever stops a command into one sentence and an exit code.

    1 for a certificate that fails, 2 for bad input and for files that cannot be read or
    written, 3 for an error inside linsep, 130 for Ctrl-C, 143 for SIGTERM.
    """
    signals: list[int] = []
    try:
        with _raising_on_sigterm(signals), _raising_again():
            yield
    except click.exceptions.Exit:
        raise
    except click.ClickException as error:
        error.message = printable(error.message)  # type: ignore[misc]
        raise
    except KeyboardInterrupt as error:
        raise _Ending(_STOPPED, 130) from error
    except BrokenPipeError:
        raise  # the reader of a pipe has enough; click ends quietly
    except Exception as error:
        if signals:  # which a library has made an error of its own of
            raise SystemExit(128 + signals[0]) from error
        raise _ending_of(error) from error


def _ending_of(error: Exception) -> _Ending:
    """Word an error; one that nobody foresaw is shown whole first."""
    # What the help of the command can do without is loaded here.
    from linsep.input import InputError
    from linsep.proof.checker import CertificateError

    if isinstance(error, InputError):
        return _Ending(str(error), 2)
    if isinstance(error, CertificateError):
        return _Ending(f"the certificate failed: {error}", 1)
    if isinstance(error, OSError):
        _leave_unwritable(sys.stdout)
        what = error.strerror or str(error)
        where = f"{error.filename}: " if error.filename else ""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "; make room, or name another place" if full else ""
        return _Ending(
            f"a file or the output could not be read or written, got: {where}{what}"
            f"{hint}",
            2,
        )
    if isinstance(error, RuntimeError) and str(error) == "Query interrupted":
        return _Ending(_STOPPED, 130)  # so DuckDB tells of Ctrl-C while it reads
    if isinstance(error, MemoryError):
        return _Ending(
            "the work must fit in memory, and did not; give fewer rows or columns", 2
        )
    extra = _EXTRAS.get((getattr(error, "name", None) or "").partition(".")[0])
    if isinstance(error, ImportError) and extra is not None:
        return _Ending(f'this needs {error.name}; pip install "linsep[{extra}]"', 2)
    click.echo(printable("".join(traceback.format_exception(error))), err=True)
    return _Ending(
        "linsep failed inside, which is a fault of its own and no answer "
        f"({type(error).__name__}); please report it with the lines above",
        3,
    )


@contextmanager
def _raising_on_sigterm(signals: list[int]) -> Iterator[None]:
    """Let SIGTERM unwind, so that unfinished files are cleared, and end with 143.

    It is added to the signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _raising_again() -> Iterator[None]:
    """Send a signal once more that came where Python drops what is raised.

    Such places are callbacks of the collector and of imports. It is sent by another
    thread, when they have ended.
    """
    before = sys.unraisablehook

    def again(dropped: sys.UnraisableHookArgs) -> None:
        for kind, number in (
            (KeyboardInterrupt, signal.SIGINT),
            (SystemExit, signal.SIGTERM),
        ):
            if issubclass(dropped.exc_type, kind):
                threading.Timer(SOON, interrupt_main, (number,)).start()
                return
        before(dropped)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = before


def _leave_unwritable(stream: IO[str]) -> None:
    """Let go of what a stream did not take, lest Python complain of it at its end."""
    try:
        stream.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
