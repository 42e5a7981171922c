r"""A warm-started active set for the largest margin of rows held in memory.

Solves

    minimise |u|^2 / 2   subject to   a_i . u >= 1 for every row,

whose solution has margin ``1 / |u|``, the largest there is, and whose multipliers
``lambda_i / sum lambda`` are the weights of the point of the rows' convex hull nearest
to the origin. The method is the dual one of Goldfarb & Idnani ("A numerically stable
dual method for solving strictly convex quadratic programs", 1983): start at ``u = 0``
with no active row; while a row is violated, move along the part of it orthogonal to the
active rows until it holds with equality, dropping active rows whose multiplier reaches
zero. ``|u|`` grows with every full step, so no active set comes back: the method is
finite, whatever the margin. If a violated row is a non-positive combination of active
rows, no ``u`` exists, and the combination is the conflict.

The triangular factor of the active rows' Gram matrix (its Cholesky factor) is updated
as rows come and go; a step costs O(k d + k^2) for k active rows. All rows are priced
only when a batch of violated ones has been worked off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from linsep.solvers._active_set import CONFLICT, STEPS_EXHAUSTED, ActiveRows

# A row counts as satisfied when a.u >= 1 - TOLERANCE: relative to the margin itself.
TOLERANCE = 1e-9
# Violated rows handed to the compiled steps between two pricings of all rows.
BATCH = 32


class Outcome(Enum):
    """What the vectors of a state prove, up to rounding."""

    RUNNING = "running"
    OPTIMAL = "u separates every row, with the largest margin"
    CONFLICT = "weights are a convex combination of rows equal to zero"
    STALLED = "the step limit was reached, or rounding allows no further step"


@dataclass(frozen=True)
class ActiveSet:
    """A state of the active-set method.

    Attributes
    ----------
    outcome : Outcome
        Whether the method has ended, and how.
    u : ndarray of shape (d,)
        The present vector: the shortest that holds the rows seen so far at 1.
    active : ndarray of shape (k,)
        The active rows.
    weights : ndarray of shape (k,)
        A distribution on the active rows: normalised multipliers, or on CONFLICT the
        combination that vanishes.
    n_steps : int
        Steps taken so far.
    """

    outcome: Outcome
    u: NDArray[np.float64]
    active: NDArray[np.intp]
    weights: NDArray[np.float64]
    n_steps: int


def active_set(
    rows: NDArray[np.float64],
    start: NDArray[np.intp],
    *,
    max_steps: int | None = None,
    tolerance: float = TOLERANCE,
) -> Iterator[ActiveSet]:
    """Yield a state after each batch of steps; the last has an outcome.

    Parameters
    ----------
    rows : ndarray of shape (m, d), C order
        Unit rows, in whitened coordinates for the best numerical behaviour.
    start : ndarray of int
        Rows tried first, such as the active rows of an earlier, smaller problem.
    max_steps : int or None, default=None
        Steps at most; ``None`` is ``200 + 40 d``, several times what is seen.
    tolerance : float, default=1e-9
        Rows with ``a_i . u >= 1 - tolerance`` count as satisfied.
    """
    held = ActiveRows(rows, np.zeros(len(rows)), False)
    limit = max_steps if max_steps is not None else 200 + 40 * rows.shape[1]
    batch = np.asarray(start, dtype=np.intp)
    while True:
        before = held.n_steps
        ending = held.steps(batch, tolerance, limit - before)
        if ending == CONFLICT:
            support = np.append(held.active[: held.k], held.entering)
            weights = np.append(np.maximum(-held.direction[: held.k], 0.0), 1.0)
            yield _state(Outcome.CONFLICT, held, support, weights)
            return
        # No step on a batch found violated: two roundings of a . u disagree, so u is
        # as good as doubles make it, and not good enough.
        if ending == STEPS_EXHAUSTED or (batch.size and held.n_steps == before):
            yield _state(Outcome.STALLED, held)
            return
        margins = rows @ held.u
        batch = _most_violated(margins, tolerance, max(BATCH, rows.shape[1] // 8))
        if batch.size == 0:
            held.settle()
            yield _state(Outcome.OPTIMAL, held)
            return
        yield _state(Outcome.RUNNING, held)


def _state(
    outcome: Outcome,
    held: ActiveRows,
    active: NDArray[np.intp] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> ActiveSet:
    """Copy the working arrays into a state; weights become a distribution."""
    if active is None:
        active = held.active[: held.k].copy()
    positive = np.maximum(
        held.multipliers[: held.k] if weights is None else weights, 0.0
    )
    total = positive.sum()
    share = positive / total if total > 0 else positive
    return ActiveSet(outcome, held.u.copy(), active, share, held.n_steps)


def _most_violated(
    margins: NDArray[np.float64], tolerance: float, size: int
) -> NDArray[np.intp]:
    """Return at most ``size`` rows below ``1 - tolerance``, those furthest below."""
    violated = np.flatnonzero(margins < 1.0 - tolerance)
    if violated.size > size:
        order = np.argpartition(margins[violated], size)[:size]
        violated = violated[order]
    return violated[np.lexsort((violated, margins[violated]))]
