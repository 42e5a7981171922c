"""One thread of BLAS while the matrices are many and small.

On a busy machine the threads of a BLAS wait for one another at every small product,
and a factorisation of a few hundred rows takes a hundred times as long.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

# Below this width the threads of a BLAS wait for each other longer than they work.
NARROW = 600


@cache
def _controller() -> Any:
    import scipy.linalg  # noqa: F401  # brings a BLAS of its own, to be held too
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def calm_blas(width: int) -> AbstractContextManager[Any]:
    """Hold every BLAS to one thread while matrices are this narrow."""
    if width > NARROW:
        return nullcontext()
    limited: AbstractContextManager[Any] = _controller().limit(
        limits=1, user_api="blas"
    )
    return limited
