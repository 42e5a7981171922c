"""One thread of BLAS while the matrices are many and small."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any


def calm(width: int) -> AbstractContextManager[Any]:
    """Hold every BLAS to one thread, where the matrices have few columns."""
    import scipy.linalg  # noqa: F401  # brings a BLAS of its own, to be held too

    from linsep.solvers.capped.blas import calm_blas

    return calm_blas(width)
