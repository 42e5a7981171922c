"""The data player's strategies."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from linsep.arrays import Floats
from linsep.input import InputError, checked_array
from linsep.lab.game.protocols import (
    DataPlayer,
    Move,
    Regulariser,
    Schedule,
    require_parts,
    require_schedule,
)
from linsep.lab.game.regularisers import NegativeEntropy
from linsep.lab.game.schedules import Constant


@dataclass(frozen=True, eq=False)
class MirrorDescent:
    r"""Mirror descent on the simplex (Theorem 2).

    ::

        p_t = argmin_p  step_t weight_t p . A w_t + D(p, p_{t-1})

    Parameters
    ----------
    regulariser : Regulariser, default=NegativeEntropy()
        Whose Bregman divergence is ``D``. With the entropy it plays exponential
        weights.
    steps : Schedule, default=Constant(1.0)
        ``step_t``, in units of 1 / payoff. The paper's Theorem 3 takes the constant
        ``lambda / r^2``.
    start_from : ndarray of shape (n,) or None, default=None
        ``p_0``, positive with sum one; None takes the uniform distribution.
    """

    regulariser: Regulariser = field(default_factory=NegativeEntropy)
    steps: Schedule = field(default_factory=Constant)
    start_from: Floats | None = None

    def __post_init__(self) -> None:
        require_schedule("steps", self.steps)
        parts = ("step", "point", "distribution", "divergence", "vertex_divergences")
        wanted = "a regulariser such as NegativeEntropy()"
        require_parts("regulariser", self.regulariser, parts, wanted)

    def start(self, n: int) -> Move:
        """Return ``p_0``."""
        p = np.full(n, 1.0 / n)
        if self.start_from is not None:
            p = checked_array("start_from", self.start_from, (None,))
            if p.shape != (n,) or not (p > 0).all() or abs(p.sum() - 1.0) > 1e-9:
                raise InputError(
                    f"start_from must be {n} positive numbers with sum 1, got shape "
                    f"{p.shape}, minimum {p.min():g}, sum {p.sum():g}"
                )
        return Move(p, float("nan"), float("nan"), self.regulariser.point(p))

    def act(self, last: Move, weight: float, margins: Floats, step: float) -> Move:
        """Return the mirror step from ``last``."""
        R = self.regulariser
        point = R.step(last.memory, step * weight * margins)
        return Move(
            p=R.distribution(point),
            divergence=R.divergence(point, last.memory),
            reach=float(R.vertex_divergences(last.memory).max()),
            memory=point,
        )


@dataclass(frozen=True)
class BestResponseRow(DataPlayer):
    """All weight on a row of smallest margin (the first of them)."""

    def act(self, last: Move, weight: float, margins: Floats, step: float) -> Move:
        """Return the vertex of the smallest margin."""
        return _vertex(margins.size, int(np.argmin(margins)))


@dataclass(frozen=True)
class FirstViolatedRow(DataPlayer):
    """All weight on the first row with ``a_i . w <= 0``: Perceptron's data.

    Parameters
    ----------
    cyclic : bool, default=True
        Search on from the row after the last one played, as passes through the data do;
        False searches from the first row every time.

    Notes
    -----
    Against `OnlineGradientAscent` (steps 1, no ball) round t is Perceptron's t-th
    update, made after ``w_t``. When no row is violated Perceptron is done; the player
    then plays the row of smallest margin, its best move.
    """

    cyclic: bool = True

    def act(self, last: Move, weight: float, margins: Floats, step: float) -> Move:
        """Return the vertex of the first violated row."""
        n = margins.size
        begin = (int(last.memory) + 1) % n if self.cyclic else 0
        order = (begin + np.arange(n)) % n
        violated = order[margins[order] <= 0]
        i = int(violated[0]) if violated.size else int(np.argmin(margins))
        return _vertex(n, i)


def _vertex(n: int, i: int) -> Move:
    """Return all weight on row ``i``, which is remembered."""
    p = np.zeros(n)
    p[i] = 1.0
    return Move(p, float("nan"), float("nan"), i)
