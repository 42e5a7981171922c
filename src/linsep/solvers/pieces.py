"""Products of large matrices, a few rows at a time, so that a search can be stopped.

What is called between two pieces raises if it is time to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from linsep.arrays import Floats
from linsep.rows import as_dense, is_sparse
from linsep.solvers._factors import inverted, multiply

# Multiply-adds of a piece: a tenth of a second or two. What takes fewer is not cut.
A_PIECE = 1 << 31

Check = Callable[[], None]


class Halted(Exception):
    """A step was ended by the one who asked for it; nothing came of it."""


def no_check() -> None:
    """Never end the work."""


def halting(should_stop: Callable[[int], bool]) -> Check:
    """Return what raises `Halted` where an engine is to stop before its first round."""

    def check() -> None:
        if should_stop(0):
            raise Halted

    return check


def pieces(m: int, cost: int, check: Check) -> Iterator[slice]:
    """Yield ranges of m rows, each row worth `cost`; ask between two of them."""
    size = max(1, A_PIECE // max(1, cost))
    for start in range(0, m, size):
        if start:
            check()
        yield slice(start, min(start + size, m))


def second_moment(rows: Floats, check: Check) -> Floats:
    """Return ``rows.T @ rows``."""
    m, d = rows.shape
    total = np.zeros((d, d))
    for part in pieces(m, d * d, check):
        total += rows[part].T @ rows[part]
    return total


def gram_of(rows: Any, check: Check = no_check) -> Floats:
    """Return the inner products of rows, dense or sparse."""
    m, d = rows.shape
    if is_sparse(rows) or m * m * d <= A_PIECE:
        return as_dense(rows @ rows.T)
    gram = np.empty((m, m))
    for part in pieces(m, m * d, check):
        gram[part, : part.stop] = rows[part] @ rows[: part.stop].T
        gram[: part.stop, part] = gram[part, : part.stop].T
    return gram


def divided_by(rows: Floats, triangle: Floats, check: Check) -> Floats:
    """Put ``rows @ inverse(triangle)`` in the place of rows in C order; return it.

    By the inverse, in a third of the time that solving takes: for triangles that are
    well conditioned, where the two differ by little.
    """
    inverse = inverted(triangle)
    for part in pieces(len(rows), len(triangle) ** 2, check):
        multiply(rows[part], inverse)
    return rows
