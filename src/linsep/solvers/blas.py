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
def _controller() -> Any:
    import scipy.linalg  # noqa: F401  # brings a BLAS of its own, to be held too
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _let_any_thread_set() -> None:
    """Lift the rule, new in threadpoolctl 3.8, that the first thread to set is alone.

    Who comes first and who goes last are different threads, and others' calls would do
    nothing in silence.
    """
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


class _Calm:
    """How many callers hold BLAS to one thread, and what the first of them found."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.lock = Lock()
        self.n_holding = 0
        self.limits: Any = None

    def hold(self) -> None:
        with self.lock:
            if self.n_holding == 0:
                _let_any_thread_set()
                self.limits = _controller().limit(limits=1, user_api="blas")
            self.n_holding += 1

    def release(self) -> None:
        with self.lock:
            self.n_holding -= 1
            if self.n_holding == 0:
                _let_any_thread_set()
                self.limits.restore_original_limits()
                _let_any_thread_set()


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
