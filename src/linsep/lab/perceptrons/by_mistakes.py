"""The loop of the methods that are shown one row at a time and learn from mistakes.

Such a method is what it starts from (`init`) and what it makes of a mistake (`step`).
The loop shows the rows in order, looks for those with ``a_i . w <= 0`` under the ``w``
of that moment, and ends after a pass without one, or at a limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from linsep.arrays import Floats, Index
from linsep.input import InputError, checked_count, checked_random_state
from linsep.lab.perceptrons.method import History, Method, Result, linear_result
from linsep.lab.perceptrons.result import LinearResult, products
from linsep.lab.signed_rows import SignedRows

Order = Literal["cyclic", "shuffled"]

# Rows looked at together, at first and at most, in search of the next mistake.
FEWEST, MOST = 32, 4096


@dataclass(frozen=True)
class State:
    """What a method has learnt: ``w``, which judges the next row, and its memory."""

    w: Floats
    memory: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, kw_only=True)
class DrivenByMistakes(Method[Result]):
    """A method that is shown rows one at a time and learns from its mistakes.

    The update is `Perceptron`'s, ``w <- w + a_i``, unless a method has its own.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    order : {"cyclic", "shuffled"}, default="cyclic"
        Row order on each pass: as given, or a fresh permutation.
    max_updates : int or None, default=None
        Updates at most; the run ends when one more is needed.
    max_passes : int or None, default=1000
        Passes at most. On data no hyperplane separates the run ends only by a limit.
    random_state : int, Generator or None, default=None
        Seed of the shuffles; None is 0.
    """

    order: Order = "cyclic"
    max_updates: int | None = None
    max_passes: int | None = 1000
    random_state: int | np.random.Generator | None = None

    def init(self, rows: SignedRows) -> State:
        """Return the state before the first row."""
        return State(np.zeros(rows.A.shape[1]))

    def step(self, rows: SignedRows, state: State, i: int) -> State:
        """Return the state after a mistake on row ``i``."""
        return State(state.w + rows.A[i])

    def margins(self, rows: SignedRows, state: State, which: Index) -> Floats:
        """Return ``a_i . w`` of some rows."""
        return products(rows.A[which], state.w)

    def learn(self, rows: SignedRows) -> tuple[State, History]:
        """Show the rows until a pass meets no mistake, or a limit is reached."""
        max_updates, max_passes, rng = self.limits()
        n = len(rows.A)
        history = History(np.zeros(n))
        # What overflows is refused by a message.
        with np.errstate(over="ignore", invalid="ignore"):
            state = self.init(rows)
            while max_passes is None or history.n_passes < max_passes:
                order = self.pass_order(n, rng)
                history.n_passes += 1
                before, position = history.n_updates, 0
                while position < n:
                    found = self._next_mistake(rows, state, order, position)
                    history.n_shown += min(found + 1, n) - position
                    if found == n:
                        break
                    if history.n_updates == max_updates:
                        history.stopped = "max_updates"
                        return state, history
                    i = int(order[found])
                    state = self.step(rows, state, i)
                    history.n_updates += 1
                    history.counts[i] += 1
                    history.mistakes.append((i, history.n_shown))
                    _require_finite(state.w, history.n_updates)
                    position = found + 1
                if history.n_updates == before:
                    history.stopped = "separated"
                    break
        return state, history

    def limits(self) -> tuple[int | None, int | None, np.random.Generator]:
        """Return the most updates and passes, and what shuffles, all checked."""
        if self.order not in ("cyclic", "shuffled"):
            raise InputError(
                f'order must be "cyclic" or "shuffled", got {self.order!r}'
            )
        return (
            _checked_cap("max_updates", self.max_updates),
            _checked_cap("max_passes", self.max_passes),
            checked_random_state(self.random_state),
        )

    def pass_order(self, n: int, rng: np.random.Generator) -> Index:
        """Return the row order of the next pass, shape (n,)."""
        order = np.arange(n) if self.order == "cyclic" else rng.permutation(n)
        return order.astype(np.intp)

    def _next_mistake(
        self, rows: SignedRows, state: State, order: Index, position: int
    ) -> int:
        """Return the first position from here on of a mistake, n if there is none."""
        size = FEWEST
        while position < len(order):
            # A margin that is not a number is no margin.
            which = order[position : position + size]
            wrong = ~(self.margins(rows, state, which) > 0)
            if wrong.any():
                return position + int(np.argmax(wrong))
            position, size = position + size, min(2 * size, MOST)
        return len(order)


class HyperplaneByMistakes(DrivenByMistakes[LinearResult]):
    """A method driven by mistakes that answers with a hyperplane, its last ``w``."""

    def _run(self, rows: SignedRows) -> LinearResult:
        """Learn, and answer with the last weights."""
        state, history = self.learn(rows)
        return self.answer(rows, state.w, history)

    def answer(self, rows: SignedRows, w: Floats, history: History) -> LinearResult:
        """Return the result of a hyperplane ``w``; ``row_weights`` count mistakes."""
        return linear_result(type(self).__name__, rows, w, history)


def _checked_cap(name: str, cap: object) -> int | None:
    """Return a count, or None for none, or refuse it."""
    if cap is None:
        return None
    try:
        return checked_count(name, cap)
    except InputError as error:
        raise InputError(f"{error}; None takes the cap away") from None


def _require_finite(w: Floats, n_updates: int) -> None:
    """Refuse an update that took a number beyond double precision."""
    if not np.isfinite(w).all():
        raise InputError(
            f"weights and margins must stay finite, but update {n_updates:,} "
            "left the range of double precision; scale X down, or choose a smaller "
            "step, promotion or degree"
        )
