"""One thread for many small matrix products."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

# Below this width the threads of a BLAS wait for each other longer than they work.
NARROW = 256


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def calm_blas(width: int) -> AbstractContextManager[Any]:
    """Hold the BLAS to one thread while matrices are this narrow."""
    if width > NARROW:
        return nullcontext()
    limited: AbstractContextManager[Any] = _controller().limit(
        limits=1, user_api="blas"
    )
    return limited
