"""One thread of BLAS while the matrices are many and small.

On a busy machine the threads of a BLAS wait for one another at every small product,
and a factorisation of a few hundred rows takes a hundred times as long.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

# Below this width the threads of a BLAS wait for each other longer than they work.
NARROW = 600
# For matrices of so few entries no BLAS thinks of threads (OpenBLAS: twice as many).
FEW_ENTRIES = 1 << 12
_IDLE = nullcontext()


@cache
def _libraries() -> list[Any]:
    """Return every BLAS loaded; that of SciPy is, by our compiled modules."""
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().lib_controllers
    return [library for library in found if library.user_api == "blas"]


def _set_threads(n_threads: list[tuple[Any, int]]) -> None:
    """Set the threads of libraries, whoever has set them before.

    threadpoolctl has a rule since 3.8 that the first thread to set is alone. But who
    comes first and who goes last are different threads, and others' calls would do
    nothing in silence: it is lifted before and after.
    """
    kinds = {type(library) for library, _ in n_threads}
    lifts = [getattr(kind, "clear_controlling_thread", None) for kind in kinds]
    for lift in filter(None, lifts):
        lift(force=True)
    for library, n in n_threads:
        library.set_num_threads(n)
    for lift in filter(None, lifts):
        lift(force=True)


class _Calm:
    """How many callers hold BLAS to one thread, and what the first of them found."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.n_holding = 0
        self.found: list[tuple[Any, int]] = []

    def restore_in_child(self) -> None:
        """Give a forked child its threads: those that hold are its parent's."""
        if self.n_holding > 0:
            _set_threads(self.found)
        self.lock = Lock()
        self.n_holding = 0

    def hold(self) -> None:
        with self.lock:
            if self.n_holding == 0:
                found = [(library, library.num_threads) for library in _libraries()]
                # One thread, or None of a library that does not say, stays as it is.
                self.found = [pair for pair in found if pair[1] not in (None, 1)]
                _set_threads([(library, 1) for library, _ in self.found])
            self.n_holding += 1

    def release(self) -> None:
        with self.lock:
            # None hold where a child was forked by the one that does.
            self.n_holding = max(0, self.n_holding - 1)
            if self.n_holding == 0:
                _set_threads(self.found)


_calm = _Calm()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_calm.restore_in_child)


def calm_blas(
    width: int, narrow: int = NARROW, n_entries: int = FEW_ENTRIES + 1
) -> AbstractContextManager[None]:
    """Hold every BLAS to one thread while matrices are this narrow, but not tiny.

    The setting is the whole process's: of several threads that hold it at once, the
    first to come notes what it was, and the last to go restores it.
    """
    is_idle = width > narrow or n_entries <= FEW_ENTRIES
    return _IDLE if is_idle else _calmed()


@contextmanager
def _calmed() -> Iterator[None]:
    _calm.hold()
    try:
        yield
    finally:
        _calm.release()
