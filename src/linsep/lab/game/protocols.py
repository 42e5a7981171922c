"""What a learner, a data player, a regulariser and a schedule must offer.

Players are frozen records of their settings; what they remember of a play is a state
that the play carries. ``act`` proposes a move and changes nothing, ``observe`` returns
the state after the round. A round can therefore be tried with one weight or step, and
played again with a smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from linsep.arrays import Floats
from linsep.input import InputError


class Learner(Protocol):
    """Chooses weight vectors ``w`` (d,) so as to maximise ``sum weight_t p_t . A w_t``.

    ``p`` is the latest distribution it has seen: the last round's when it moves first,
    this round's when it moves second.
    """

    def start(self, A: Floats) -> Any:
        """Return the state before the first round on signed rows ``A`` (n, d)."""

    def act(self, state: Any, weight: float, p: Floats) -> Floats:
        """Return the move ``w`` (d,) for a round of this weight."""

    def observe(
        self, state: Any, weight: float, seen: Floats, w: Floats, p: Floats
    ) -> Any:
        """Return the state after a round: it saw ``seen``, and ``p`` was played."""


@dataclass(frozen=True)
class Move:
    """A data player's move.

    Attributes
    ----------
    p : ndarray of shape (n,)
        The distribution over rows.
    divergence, reach : float
        ``D(p, last p)`` under the player's regulariser, and ``max_q D(q, last p)`` over
        the simplex; nan for players without one.
    memory : object
        What the player needs to go on from this move.
    """

    p: Floats
    divergence: float
    reach: float
    memory: Any


class Schedule(Protocol):
    """A sequence of positive numbers: steps, or weights of rounds."""

    def propose(self, t: int, last: float | None) -> float:
        """Return the number for round ``t >= 1``; ``last`` is the one before."""

    def shrink(self, value: float) -> float | None:
        """Return what to try after ``value`` was refused, or None: it must stand."""
        return None


class DataPlayer(Protocol):
    """Chooses distributions ``p`` (n,) so as to minimise ``sum weight_t p_t . A w_t``.

    ``margins`` are ``A w`` (n,) for the latest ``w`` it has seen.
    """

    @property
    def steps(self) -> Schedule | None:
        """Its step sizes, or None if it has none."""
        return None

    def start(self, n: int) -> Move:
        """Return the distribution before the first round: the uniform one."""
        # As if the row before row 0 had been played last.
        return Move(np.full(n, 1.0 / n), float("nan"), float("nan"), -1)

    def act(self, last: Move, weight: float, margins: Floats, step: float) -> Move:
        """Return the move of a round of this weight; ``step`` is nan without steps."""


class Regulariser(Protocol):
    """A strongly convex function ``R`` on the simplex, for mirror descent.

    A *point* is how it represents a distribution internally (negative entropy keeps
    logarithms, so that no weight is lost to underflow).
    """

    @property
    def name(self) -> str:
        """Short name for tables and legends."""

    def strong_convexity(self, n: int) -> float:
        """Return ``lambda``: ``D(p, q) >= lambda / 2 |p - q|_1^2`` on n rows."""

    def point(self, p: Floats) -> Floats:
        """Return the point of a distribution with positive weights."""

    def distribution(self, point: Floats) -> Floats:
        """Return the distribution (n,) of a point."""

    def step(self, point: Floats, loss: Floats) -> Floats:
        """Return the point of ``argmin_p loss . p + D(p, point)``."""

    def divergence(self, target: Floats, source: Floats) -> float:
        """Return the Bregman divergence ``D(target, source)`` of two points."""

    def vertex_divergences(self, point: Floats) -> Floats:
        """Return ``D(e_i, point)`` for every row i, shape (n,)."""


def require_parts(
    name: str, value: object, parts: tuple[str, ...], wanted: str
) -> None:
    """Refuse what is not an object with these parts, a class itself included."""
    if isinstance(value, type):
        raise InputError(
            f"{name} must be {wanted}, got the class {value.__name__} itself; call "
            f"it: {value.__name__}(...)"
        )
    missing = [part for part in parts if not hasattr(value, part)]
    if missing:
        raise InputError(
            f"{name} must be {wanted}, got {value!r}, which has no {', '.join(missing)}"
        )


def require_schedule(name: str, value: object) -> None:
    """Refuse what is not a schedule."""
    parts = "propose", "shrink"
    require_parts(name, value, parts, "a schedule such as Constant(0.5)")
