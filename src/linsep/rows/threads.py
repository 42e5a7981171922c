"""Run chunk after chunk on as many threads as the process has cores.

Plain Python threads around kernels that release the interpreter lock: unlike the
threads of OpenMP they need no library, do not spin when idle, survive a fork, and may
be used by several callers at once.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")
Out = TypeVar("Out")


_is_single: ContextVar[bool] = ContextVar("linsep_is_single", default=False)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let what the block does run in its own thread alone, as a task among many."""
    token = _is_single.set(True)
    try:
        yield
    finally:
        _is_single.reset(token)


def count_threads() -> int:
    """Return the cores this process may use, or ``LINSEP_NUM_THREADS`` if set."""
    if _is_single.get():
        return 1
    wanted = os.environ.get("LINSEP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_threads(
    function: Callable[[Item], Out], items: Iterable[Item]
) -> Iterator[Out]:
    """Go through ``function(item)`` for each item, in order, a few items ahead.

    At most two results a thread wait to be consumed, so memory stays bounded. With
    one thread, or one item, everything runs in the caller.
    """
    items = list(items)
    n_threads = min(count_threads(), len(items)) if len(items) > 1 else 1
    if n_threads <= 1:
        return map(function, items)
    return _in_threads(function, items, n_threads)


def _in_threads(
    function: Callable[[Item], Out], items: list[Item], n_threads: int
) -> Iterator[Out]:
    """Yield ``function(item)`` for each item, in order, by several threads."""
    from concurrent.futures import wait

    pool = _pool(count_threads())
    waiting: deque[Future[Out]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # Nothing is worked at when this is over: a fork then might wait for ever.
        wait([future for future in waiting if not future.cancel()])


def one_ahead(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
    """Yield the items, each made by another thread while the one before is used.

    Where the reading is given up, what is being made is waited for, and the items are
    closed: a source may allow one reading at a time.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    end: Any = object()
    readers: set[int] = set()

    def following() -> Any:
        readers.add(threading.get_ident())
        return next(items, end)

    reader = ThreadPoolExecutor(1, thread_name_prefix="linsep-reader")
    waiting = reader.submit(following)
    try:
        while (item := waiting.result()) is not end:
            waiting = reader.submit(following)
            yield item
    finally:
        # The reader does not wait for itself, where it clears a reading given up.
        if threading.get_ident() not in readers:
            if not waiting.cancel():
                wait([waiting])
            items.close()
        reader.shutdown(wait=False, cancel_futures=True)


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Return the threads, made once: starting them costs as much as a short sweep."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(n_threads, thread_name_prefix="linsep")


if hasattr(os, "register_at_fork"):
    # A forked child has none of its parent's threads: it makes its own.
    os.register_at_fork(after_in_child=_pool.cache_clear)
