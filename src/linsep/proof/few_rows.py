"""Decide many exact rows through few of them.

A conflict among some of the rows is one of them all. A separator of some is tried on
all: the rows it fails join, with those nearest to failing, and the decision is taken
again. The rows grow at each turn, so it ends (cutting planes; the same idea as the
working set of `linsep.search`, here on rows that are exact integers in memory).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from linsep.proof.answers import Answer, Conflict, Separator
from linsep.proof.exact import IntegerRows, doubles_from, scaled_doubles
from linsep.proof.ladder import Engine, settle_rows
from linsep.proof.simplex import never

# Rows taken at first, and added at a turn, for each column.
_FIRST = 10
_MORE = 5


def settle_many(
    rows: IntegerRows,
    engine: Engine | None = None,
    should_stop: Callable[[], bool] = never,
    order: Sequence[int] | NDArray[np.intp] = (),
) -> Answer | None:
    """Decide exactly whether the rows are separable, however many they are.

    Parameters
    ----------
    rows : IntegerRows of shape (m, d)
    engine, should_stop
        See `linsep.proof.ladder.settle`.
    order : sequence of int, default=()
        Rows likely to matter; they are looked at first.

    Returns
    -------
    Separator, Conflict or None
        None only if `should_stop` said so.
    """
    m, d = rows.shape
    size = _FIRST * (d + 5)
    if m <= 2 * size:
        return settle_rows(rows, engine, should_stop, order)
    floats = scaled_doubles(rows.values)
    chosen = np.random.default_rng(0).choice(m, size, replace=False)
    held = np.unique(np.concatenate([np.asarray(order, dtype=np.intp), chosen]))
    while True:
        answer = settle_rows(rows.take(held), engine, should_stop)
        if isinstance(answer, Conflict):
            return answer.renumbered(held)
        if answer is None:
            return None
        failed = _failures(rows, floats, answer)
        if failed.size == 0:
            return answer
        margins = floats @ answer.to_floats()
        margins[held] = np.inf
        nearest = np.argpartition(margins, _MORE * (d + 5))[: _MORE * (d + 5)]
        held = np.unique(np.concatenate([held, failed[: len(nearest)], nearest]))


def _failures(
    rows: IntegerRows, floats: NDArray[np.float64], answer: Separator
) -> NDArray[np.intp]:
    """Return the rows with ``a_i . w <= 0``, exactly."""
    w = doubles_from(answer.w)
    products = floats @ w
    # Both factors were rounded once: two more terms than for exact ones.
    terms = (w.size + 12) * 2.0**-53
    error = terms / (1 - terms) * (np.abs(floats) @ np.abs(w)) + w.size * 2.0**-1070
    doubtful = np.flatnonzero(np.abs(products) <= error)
    failed = products < -error
    exact = rows.take(doubtful).products(answer.w)
    failed[doubtful] = np.asarray(exact <= 0, dtype=bool)
    return np.flatnonzero(failed)
