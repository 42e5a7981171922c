"""The active set of a hard margin, started by a guess where there are few rows.

No whitening: the metric is the one the margin is measured in.
"""

from __future__ import annotations

from collections.abc import Iterator

from linsep.arrays import Floats, Index
from linsep.solvers.active_set import (
    NO_ROWS,
    TOLERANCE,
    ActiveSet,
    Outcome,
)
from linsep.solvers.hard_margin.pivoting import rows_on_margin
from linsep.solvers.pieces import Check, no_check

# With more rows a column than this, few are on the margin, and no guess is made; nor of
# so few rows that the steps take less.
PIVOTED_A_COLUMN, LEAST_PIVOTED = 2, 32


def is_guessed(n_rows: int, n_columns: int) -> bool:
    """Tell whether the rows on the margin are guessed before the first step."""
    return LEAST_PIVOTED <= n_rows <= PIVOTED_A_COLUMN * n_columns


class HardMargin(ActiveSet):
    """An active set that guesses the rows on the margin before its first step.

    Parameters
    ----------
    rows, signs, free_offset, squares
        As of `ActiveSet`.
    check : callable, default=no_check
        Called between pieces of the guess; raises to end it.
    gram : ndarray of shape (m, m) or None, default=None
        The inner products of the rows, where they are known; let go of after the guess.
    """

    n_guesses = 0

    def __init__(
        self,
        rows: Floats,
        signs: Floats,
        *,
        free_offset: bool,
        squares: Floats | None = None,
        check: Check = no_check,
        gram: Floats | None = None,
    ) -> None:
        super().__init__(rows, signs, free_offset=free_offset, squares=squares)
        self._check = check
        self._gram = gram

    @property
    def n_steps(self) -> int:
        """Steps taken so far, the linear systems of a guess counted."""
        return self.n_guesses + super().n_steps

    def solve(
        self,
        first: Index = NO_ROWS,
        *,
        tolerance: float = TOLERANCE,
        max_steps: int | None = None,
    ) -> Iterator[Outcome]:
        """Yield after each linear system and each batch of steps; see `ActiveSet`."""
        m, d = self.rows.shape
        limit = max_steps if max_steps is not None else self.most_steps
        if not self.support.size and is_guessed(m, d):
            guess, told = NO_ROWS, (self.free_offset, tolerance, self._check)
            for better in rows_on_margin(self.rows, self.signs, *told, self._gram):
                guess = better
                self.n_guesses += 1
                yield Outcome.RUNNING
                if self.n_guesses >= limit:
                    break
            self._gram = None
            self.start(guess)
        left = max(0, limit - self.n_guesses)
        yield from super().solve(first, tolerance=tolerance, max_steps=left)
