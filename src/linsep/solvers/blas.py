"""One thread of BLAS while the matrices are many and small.

On a busy machine the threads of a BLAS wait for one another at every small product,
and a factorisation of a few hundred rows takes a hundred times as long.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

# Below this width the threads of a BLAS wait for each other longer than they work.
NARROW = 600


@cache
def _libraries() -> list[Any]:
    """Return every BLAS loaded; that of SciPy is, by our compiled modules."""
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().lib_controllers
    return [library for library in found if library.user_api == "blas"]


def _set_threads(library: Any, n_threads: int) -> None:
    """Set the threads of a library, whoever has set them before.

    threadpoolctl has a rule since 3.8 that the first thread to set is alone. But who
    comes first and who goes last are different threads, and others' calls would do
    nothing in silence: it is lifted before and after.
    """
    clear = getattr(library, "clear_controlling_thread", lambda force: None)
    clear(force=True)
    library.set_num_threads(n_threads)
    clear(force=True)


class _Calm:
    """How many callers hold BLAS to one thread, and what the first of them found."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.lock = Lock()
        self.n_holding = 0
        self.found: list[tuple[Any, int]] = []

    def hold(self) -> None:
        with self.lock:
            if self.n_holding == 0:
                found = [(library, library.num_threads) for library in _libraries()]
                # None is a library that does not say.
                self.found = [
                    (library, n) for library, n in found if n not in (None, 1)
                ]
                for library, _ in self.found:
                    _set_threads(library, 1)
            self.n_holding += 1

    def release(self) -> None:
        with self.lock:
            self.n_holding -= 1
            if self.n_holding == 0:
                for library, n_threads in self.found:
                    _set_threads(library, n_threads)


_calm = _Calm()
if hasattr(os, "register_at_fork"):
    # A forked child has none of its parent's threads, and none that hold.
    os.register_at_fork(after_in_child=_calm.reset)


@contextmanager
def calm_blas(width: int, narrow: int = NARROW) -> Iterator[None]:
    """Hold every BLAS to one thread while matrices are this narrow.

    The setting is the whole process's: of several threads that hold it at once, the
    first to come notes what it was, and the last to go restores it.
    """
    if width > narrow:
        yield
        return
    _calm.hold()
    try:
        yield
    finally:
        _calm.release()
