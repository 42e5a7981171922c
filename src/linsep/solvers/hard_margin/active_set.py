r"""The largest margin in the user's own units, the intercept free.

Solves

    minimise |u|^2 / 2   subject to   y_i (u . x_i + b) >= 1 for every row,

over ``u`` and ``b``; the margin is ``1 / |u|``. The multipliers obey ``u = sum_i
lambda_i y_i x_i`` and ``sum_i lambda_i y_i = 0``, and normalised they are the weights
of the two nearest points of the classes' convex hulls.

The method is the dual active set of `linsep.solvers.active_set` (Goldfarb & Idnani,
1983), with two changes. No whitening: the metric is the one the margin is measured in.
And the Hessian is singular along ``b``, which costs one more triangular solve a step:
rows are extended by a constant ``sigma``, which changes nothing while the multipliers
balance (its coefficient is then ``sigma sum_i lambda_i y_i = 0``) but makes the Gram
matrix ``G`` of independent rows positive definite; the direction of a step solves the
bordered system ``[G s; s^T 0]``, so the balance holds throughout. It starts from one
row of each class, or, where the rows are few beside the columns, from a guess made by
exchanging many rows at once (`linsep.solvers.hard_margin.pivoting`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linsep.solvers._active_set import CONFLICT, STEPS_EXHAUSTED, ActiveRows
from linsep.solvers.active_set import BATCH, Outcome
from linsep.solvers.bounds import norm
from linsep.solvers.hard_margin.pivoting import rows_on_margin

# Rounding a computed margin can suffer, relative to the size of what is summed.
NOISE = 16 * float(np.finfo(np.float64).eps)
# Multipliers below this share of the largest are rounding.
NEGLIGIBLE = 1e-12

# From so many rows on a factor is made by LAPACK, if every row's part that is new is
# more than this share of it: the Gram matrix then holds its square to eight digits.
MANY_ROWS = 32
INDEPENDENT = 1e-4
# With more rows a column than this, few are on the margin, and the active set starts
# from two.
PIVOTED_A_COLUMN = 2


@dataclass
class HardMargin:
    """The problem's rows and the state of its active set.

    Attributes
    ----------
    rows : ndarray of shape (m, r), C order
        Signed rows in the coordinates of the solver; with a free offset the last
        column is ``signs``.
    signs : ndarray of shape (m,)
        The class of each row, +1.0 or -1.0.
    free : bool
        Whether there is an offset.
    n_steps : int
        Steps taken so far.
    """

    rows: NDArray[np.float64]
    signs: NDArray[np.float64]
    free: bool
    n_steps: int = 0

    def __post_init__(self) -> None:
        """Make room for as many active rows as can be independent."""
        self._held = ActiveRows(self.rows, self.signs, self.free)
        self._conflict: tuple[NDArray[np.intp], NDArray[np.float64]] | None = None
        self._squares = np.einsum("ij,ij->i", self.rows, self.rows)
        self._longest = float(np.sqrt(self._squares.max(initial=0.0)))

    @property
    def u(self) -> NDArray[np.float64]:
        """The weights of the present hyperplane."""
        return self._held.u

    @property
    def offset(self) -> float:
        """The offset of the present hyperplane."""
        return self._held.offset

    @property
    def _active(self) -> NDArray[np.intp]:
        return self._held.active[: self._held.k]

    def start(self, index: NDArray[np.intp]) -> bool:
        """Make the rows named active, as far as their multipliers are positive.

        Returns whether a start was made. Both classes must be among them if the offset
        is free.
        """
        wanted = np.asarray(index, dtype=np.intp)
        while True:
            self._factor_rows(wanted)
            active = self._active.copy()
            if not active.size or (self.free and np.ptp(self.signs[active]) == 0):
                self._held.clear()
                return False
            self._held.settle()
            multipliers = self._held.multipliers[: active.size]
            if multipliers.min() >= 0:
                return True
            wanted = active[multipliers >= 0]

    def _factor_rows(self, wanted: NDArray[np.intp]) -> None:
        """Make the independent ones of the rows named active."""
        from scipy.linalg import blas, lapack

        k = wanted.size
        if MANY_ROWS <= k <= self.rows.shape[1]:
            # All at once, by their Gram matrix, unless some depend on others.
            gram = blas.dsyrk(1.0, self.rows[wanted].T, trans=1)
            triangle, failed = lapack.dpotrf(gram)
            lengths = np.sqrt(gram.diagonal())
            if not failed and (triangle.diagonal() > INDEPENDENT * lengths).all():
                self._held.take(wanted, triangle)
                return
        self._held.clear()
        for row in wanted:
            self._held.append(row)

    def margins(self) -> NDArray[np.float64]:
        """Return ``rows @ u + signs * offset``."""
        values = self.rows @ self.u
        return np.asarray(values + self.signs * self.offset if self.free else values)

    def noise(self) -> float:
        """Return what rounding may take from a margin."""
        length = norm(self.u)
        return NOISE * (self._longest * length + abs(self.offset) + 1.0)

    @property
    def support(self) -> NDArray[np.intp]:
        """The active rows, or those of the conflict."""
        if self._conflict is not None:
            return self._conflict[0]
        return self._active.copy()

    @property
    def multipliers(self) -> NDArray[np.float64]:
        """Their multipliers, not negative."""
        if self._conflict is not None:
            return self._conflict[1]
        return np.maximum(self._held.multipliers[: self._held.k], 0.0)

    def solve(
        self, tolerance: float = 1e-10, max_steps: int | None = None
    ) -> Iterator[Outcome]:
        """Yield after each batch of steps; the last outcome is not RUNNING.

        Parameters
        ----------
        tolerance : float, default=1e-10
            Rows with margin ``>= 1 - tolerance``, or within rounding of 1, are
            satisfied.
        max_steps : int or None, default=None
            Steps at most; None is ``500 + 40 r``, several times what is seen.
        """
        m, d = self.rows.shape
        left = max_steps if max_steps is not None else 500 + 40 * d
        if not self._active.size and MANY_ROWS <= m <= PIVOTED_A_COLUMN * d:
            guess = self.support
            for better in rows_on_margin(self.rows, self.signs, self.free, tolerance):
                guess = better
                self.n_steps += 1
                left -= 1
                yield Outcome.RUNNING
                if left <= 0:
                    break
            self.start(guess)
        if not self._active.size and not self.start(self._first_rows()):
            yield self._oppose()
            return
        batch = np.empty(0, dtype=np.intp)
        n_settled, drifted = 0, False
        allowed = max(tolerance, self.noise())
        while True:
            before = self._held.n_steps
            status = self._held.steps(batch, allowed, left)
            steps = self._held.n_steps - before
            self.n_steps += steps
            left -= steps
            drifted = drifted or steps > 0
            if status == CONFLICT:
                rows = np.append(self._active, self._held.entering)
                falling = -self._held.direction[: rows.size - 1]
                self._conflict = rows, np.append(np.maximum(falling, 0.0), 1.0)
                yield Outcome.CONFLICT
                return
            if status == STEPS_EXHAUSTED:
                yield Outcome.STALLED
                return
            # What counts as violated grows with the weights, between batches only.
            allowed = max(tolerance, self.noise())
            batch = self._violated(allowed)
            if batch.size == 0 and drifted and n_settled < 3:
                # Drift of many steps is taken out; what it hid may be violated now.
                self.start(self._active.copy())
                n_settled, drifted = n_settled + 1, False
                batch = self._violated(allowed)
            if batch.size == 0:
                yield Outcome.OPTIMAL
                return
            yield Outcome.RUNNING

    def _violated(self, allowed: float) -> NDArray[np.intp]:
        """Return the rows furthest below 1, worst first, active ones left out."""
        margins = self.margins()
        margins[self._active] = np.inf
        below = np.flatnonzero(margins < 1.0 - allowed)
        size = max(BATCH, self.rows.shape[1] // 8)
        if below.size > size:
            below = below[np.argpartition(margins[below], size)[:size]]
        return below[np.lexsort((below, margins[below]))]

    def _first_rows(self) -> NDArray[np.intp]:
        """Return a row of each class, near each other; one row without an offset."""
        if not self.free:
            shortest = np.where(self._squares > 0, self._squares, np.inf).argmin()
            return np.array([int(shortest)])
        # The negative row nearest to the positive mean, then the positive one nearest
        # to that, and back: rows are signed, hence the sums in place of differences.
        positive = (self.signs > 0).astype(np.float64)
        target = positive @ self.rows / -positive.sum()
        first, second = -1, -1
        for _ in range(3):
            second = self._nearest(target, -1.0)
            first = self._nearest(-self.rows[second], 1.0)
            target = -self.rows[first]
        return np.array([first, second])

    def _nearest(self, target: NDArray[np.float64], sign: float) -> int:
        """Return which row of a class is nearest to a point, the first of several."""
        distances = self._squares - 2.0 * (self.rows @ target)
        distances[self.signs != sign] = np.inf
        return int(distances.argmin())

    def _oppose(self) -> Outcome:
        """Word the start that could not be made: a zero row, or opposite rows."""
        rows = self._first_rows()
        self._conflict = rows, np.ones(rows.size)
        return Outcome.CONFLICT
