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
row of each class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.solvers.active_set import BATCH, Outcome
from linsep.solvers.bounds import norm

# Rounding a computed margin can suffer, relative to the size of what is summed.
NOISE = 16 * float(np.finfo(np.float64).eps)
# Multipliers below this share of the largest are rounding.
NEGLIGIBLE = 1e-12

# From so many rows on a factor is made by LAPACK, if every row's part that is new is
# more than this share of it.
MANY_ROWS = 48
INDEPENDENT = 1e-8
# Columns that LAPACK works on at once.
BLOCKED = 64


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
    u : ndarray of shape (r,)
    offset : float
        The present hyperplane: ``rows @ u + signs * offset >= 1`` is sought.
    n_steps : int
        Steps taken so far.
    """

    rows: NDArray[np.float64]
    signs: NDArray[np.float64]
    free: bool
    u: NDArray[np.float64] = field(init=False)
    offset: float = 0.0
    n_steps: int = 0

    def __post_init__(self) -> None:
        """Make room for as many active rows as can be independent."""
        d = self.rows.shape[1]
        self.u = np.zeros(d)
        self._k = 0
        self._active = np.zeros(d + 1, dtype=np.intp)
        self._multipliers = np.zeros(d + 1)
        self._factor = np.zeros((d + 1, d + 1))
        self._direction = np.zeros(d + 1)
        self._longest = 0.0
        self._pending = np.empty(0, dtype=np.intp)
        self._conflict: tuple[NDArray[np.intp], NDArray[np.float64]] | None = None
        self._measure()

    def _measure(self) -> None:
        lengths = np.einsum("ij,ij->i", self.rows, self.rows)
        self._longest = float(np.sqrt(lengths.max(initial=0.0)))

    def extend(self, rows: NDArray[np.float64], signs: NDArray[np.float64]) -> None:
        """Put rows under the rows; the active set stays as it is."""
        self.rows = np.concatenate([self.rows, rows])
        self.signs = np.concatenate([self.signs, signs])
        self._measure()

    def start(self, index: NDArray[np.intp]) -> bool:
        """Make the rows named active, as far as their multipliers are positive.

        Returns whether a start was made. Both classes must be among them if the offset
        is free.
        """
        wanted = np.asarray(index, dtype=np.intp)
        while True:
            self._k = self._factor_rows(wanted)
            active = self._active[: self._k].copy()
            if self._k == 0 or (self.free and np.unique(self.signs[active]).size < 2):
                self._k = 0
                return False
            self._settle()
            multipliers = self._multipliers[: self._k]
            if multipliers.min() >= 0:
                return True
            wanted = np.delete(active, int(multipliers.argmin()))

    def _factor_rows(self, wanted: NDArray[np.intp]) -> int:
        """Factor the independent ones of the rows named; return how many there are."""
        from scipy.linalg import lapack

        from linsep.solvers.hard_margin import kernels

        k = wanted.size
        if MANY_ROWS <= k <= self.rows.shape[1]:
            # All at once by Householder's QR, unless some depend on others.
            packed, _, _, _ = lapack.dgeqrf(self.rows[wanted].T, lwork=BLOCKED * k)
            triangle = np.triu(packed[:k])
            lengths = np.linalg.norm(triangle, axis=0)
            if (np.abs(triangle.diagonal()) > INDEPENDENT * lengths).all():
                self._factor[:k, :k] = triangle
                self._active[:k] = wanted
                return k
        return int(kernels.factor_rows(self.rows, wanted, self._active, self._factor))

    def _settle(self) -> None:
        from linsep.solvers.hard_margin import kernels

        self.offset = kernels.settle_equalities(
            self.rows,
            self.signs,
            self.free,
            self._active,
            self._k,
            self._factor,
            self._multipliers,
            self.u,
        )

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
        return self._active[: self._k].copy()

    @property
    def multipliers(self) -> NDArray[np.float64]:
        """Their multipliers, not negative."""
        if self._conflict is not None:
            return self._conflict[1]
        return np.maximum(self._multipliers[: self._k], 0.0)

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
        from linsep.solvers.hard_margin import kernels

        if self._k == 0 and not self.start(self._first_rows()):
            yield self._oppose()
            return
        left = max_steps if max_steps is not None else 500 + 40 * self.rows.shape[1]
        batch = np.empty(0, dtype=np.intp)
        n_settled = 0
        while True:
            status, self._k, entering, self.offset, steps = kernels.offset_steps(
                self.rows,
                self.signs,
                self.free,
                batch,
                self._active,
                self._k,
                self._multipliers,
                self._factor,
                self.u,
                self.offset,
                self._direction,
                max(tolerance, self.noise()),
                left,
            )
            self.n_steps += steps
            left -= steps
            if status == kernels.CONFLICT:
                rows = np.append(self._active[: self._k], entering)
                weights = np.append(np.maximum(-self._direction[: self._k], 0.0), 1.0)
                self._conflict = rows, weights
                yield Outcome.CONFLICT
                return
            if status == kernels.STEPS_EXHAUSTED:
                yield Outcome.STALLED
                return
            batch = self._violated(tolerance)
            if batch.size == 0 and n_settled < 3:
                # Drift of many steps is taken out; what it hid may be violated now.
                self.start(self._active[: self._k].copy())
                n_settled += 1
                batch = self._violated(tolerance)
            if batch.size == 0:
                yield Outcome.OPTIMAL
                return
            yield Outcome.RUNNING

    def _violated(self, tolerance: float) -> NDArray[np.intp]:
        """Return the rows furthest below 1, worst first, active ones left out."""
        margins = self.margins()
        margins[self._active[: self._k]] = np.inf
        below = np.flatnonzero(margins < 1.0 - max(tolerance, self.noise()))
        size = max(BATCH, self.rows.shape[1] // 8)
        if below.size > size:
            below = below[np.argpartition(margins[below], size)[:size]]
        return below[np.lexsort((below, margins[below]))]

    def _first_rows(self) -> NDArray[np.intp]:
        """Return a row of each class, near each other; one row without an offset."""
        if not self.free:
            lengths = np.einsum("ij,ij->i", self.rows, self.rows)
            lengths[lengths == 0] = np.inf
            return np.array([int(lengths.argmin())])
        positive = np.flatnonzero(self.signs > 0)
        negative = np.flatnonzero(self.signs < 0)
        # The negative row nearest to the positive mean, then the positive one nearest
        # to that, and back: rows are signed, hence the sums in place of differences.
        target = -self.rows[positive].mean(axis=0)
        first, second = -1, -1
        for _ in range(3):
            second = int(negative[_nearest(self.rows[negative], target)])
            first = int(positive[_nearest(self.rows[positive], -self.rows[second])])
            target = -self.rows[first]
        return np.array([first, second])

    def _oppose(self) -> Outcome:
        """Word the start that could not be made: a zero row, or opposite rows."""
        rows = self._first_rows()
        self._conflict = rows, np.ones(rows.size)
        return Outcome.CONFLICT


def _nearest(rows: NDArray[np.float64], target: Any) -> int:
    """Return which row is nearest to a point, the first of several."""
    differences = rows - target
    return int(np.einsum("ij,ij->i", differences, differences).argmin())
