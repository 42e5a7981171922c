r"""The largest margin of rows held in memory, by a dual active set that starts warm.

Solves

    minimise |u|^2 / 2   subject to   a_i . u + s_i b >= 1 for every row,

over ``u`` and, where the offset is free, ``b``; else ``b = 0``. The margin ``1 / |u|``
is the largest there is, and the multipliers obey ``u = sum_i lambda_i a_i`` and, for a
free offset, ``sum_i lambda_i s_i = 0``: normalised they are the weights of the point of
the rows' convex hull nearest to the origin, or of the two nearest points of the
classes' hulls.

The method is the dual one of Goldfarb & Idnani ("A numerically stable dual method for
solving strictly convex quadratic programs", 1983): start with no active row; while a
row is violated, move along the part of it orthogonal to the active rows until it holds
with equality, dropping active rows whose multiplier reaches zero. ``|u|`` grows with
every full step, so no active set comes back: the method is finite, whatever the margin.
If a violated row is a non-positive combination of active rows, no ``u`` exists, and the
combination is the conflict.

A free offset makes the Hessian singular, which costs one more triangular solve a step:
rows carry ``s_i`` as a further column, which changes nothing while the multipliers
balance (its coefficient is then ``sum_i lambda_i s_i = 0``) but makes the Gram matrix
``G`` of independent rows positive definite; the direction of a step solves the bordered
system ``[G s; s^T 0]``, so the balance holds throughout. It must start from rows of
both classes.

All rows are priced only when a batch of violated ones has been worked off, by the
compiled steps of `linsep.solvers._active_set`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import numpy as np

from linsep.arrays import Floats, Index, no_index
from linsep.solvers._active_set import (
    CONFLICT,
    OPTIMAL,
    RUNNING,
    ActiveRows,
    longest_of,
)
from linsep.solvers.scaling import row_squares

# A row counts as satisfied when a.u >= 1 - TOLERANCE: relative to the margin itself.
TOLERANCE = 1e-9
# Times the drift of many steps is taken out at the end, as far as it hid violations.
MOST_SETTLINGS = 3
NO_ROWS = no_index()


class Outcome(Enum):
    """What the vectors of a state prove, up to rounding."""

    RUNNING = "running"
    OPTIMAL = "u separates every row, with the largest margin"
    CONFLICT = "weights are a convex combination of rows equal to zero"
    STALLED = "the step limit was reached"


class ActiveSet:
    """The rows of a problem, and the state of its active set.

    Parameters
    ----------
    rows : ndarray of shape (m, d), C order
        Signed rows; with a free offset the last column is ``signs``.
    signs : ndarray of shape (m,) or None, default=None
        The class of each row, +1.0 or -1.0, needed for a free offset only.
    free_offset : bool, default=False
        Whether there is an offset.
    squares : ndarray of shape (m,) or None, default=None
        The squared lengths of the rows, where they are known.

    Attributes
    ----------
    longest : float
        The length of the longest row.
    """

    def __init__(
        self,
        rows: Floats,
        signs: Floats | None = None,
        *,
        free_offset: bool = False,
        squares: Floats | None = None,
    ) -> None:
        self.rows = rows
        self.signs = np.zeros(len(rows)) if signs is None else signs
        self.free_offset = free_offset
        self._held = ActiveRows(rows, self.signs, free_offset)
        self._conflict: tuple[Index, Floats] | None = None
        self._squares = row_squares(rows) if squares is None else squares
        self.longest = longest_of(self._squares)

    @property
    def u(self) -> Floats:
        """The vector: the shortest that holds the rows seen so far at 1."""
        return self._held.u.copy()

    @property
    def offset(self) -> float:
        """The offset that goes with it."""
        return self._held.offset

    @property
    def n_steps(self) -> int:
        """Steps taken so far."""
        return self._held.n_steps

    @property
    def beyond(self) -> float:
        """Once the state is OPTIMAL, the least margin of a row not active."""
        return self._held.beyond

    @property
    def most_steps(self) -> int:
        """Steps allowed if no limit is given: several times what is seen."""
        d: int = self.rows.shape[1]
        return 500 + 40 * d

    @property
    def support(self) -> Index:
        """The active rows, or those of the conflict."""
        if self._conflict is not None:
            return self._conflict[0]
        return self._held.active[: self._held.k].copy()

    @property
    def multipliers(self) -> Floats:
        """Their multipliers, not negative; or the combination that vanishes."""
        if self._conflict is not None:
            return self._conflict[1]
        return np.maximum(self._held.multipliers[: self._held.k], 0.0)

    @property
    def carriers(self) -> tuple[Index, Floats]:
        """The rows of positive multipliers, the largest first, and these."""
        if self._conflict is None:
            return self._held.carriers()
        support, weights = self._conflict
        order = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)]
        return support[order], weights[order]

    @property
    def n_active(self) -> int:
        """How many rows are active."""
        return self._held.k

    def start(self, index: Index) -> bool:
        """Make the rows named active, as far as their multipliers are positive.

        Returns whether a start was made. Both classes must be among them if the offset
        is free.
        """
        return self._held.start(index)

    def solve(
        self,
        first: Index = NO_ROWS,
        *,
        tolerance: float = TOLERANCE,
        max_steps: int | None = None,
    ) -> Iterator[Outcome]:
        """Yield after each batch of steps; the last outcome is not RUNNING.

        Parameters
        ----------
        first : ndarray of int
            Rows tried first, such as the active rows of an earlier, smaller problem.
        tolerance : float, default=1e-9
            Rows with margin ``>= 1 - tolerance``, or within rounding of 1, are
            satisfied.
        max_steps : int or None, default=None
            Steps at most; None is ``500 + 40 d``.
        """
        last = self.n_steps + (self.most_steps if max_steps is None else max_steps)
        if self.free_offset and not self._held.k:
            nearest = self._held.nearest_rows(self._squares)
            if not self.start(nearest):  # opposite rows
                self._conflict = nearest, np.ones(2)
                yield Outcome.CONFLICT
                return
        batch, ending = np.asarray(first, dtype=np.intp), RUNNING
        while ending == RUNNING:
            left = last - self.n_steps
            settings = tolerance, self.longest, left, MOST_SETTLINGS
            ending = self._held.run(batch, *settings)
            batch = NO_ROWS
            if ending == RUNNING:
                yield Outcome.RUNNING
        if ending == CONFLICT:
            support = np.append(self.support, self._held.entering)
            falling = -self._held.direction[: self._held.k]
            self._conflict = support, np.append(np.maximum(falling, 0.0), 1.0)
            yield Outcome.CONFLICT
            return
        yield Outcome.OPTIMAL if ending == OPTIMAL else Outcome.STALLED
