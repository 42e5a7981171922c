"""Sequences of steps and of round weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linsep.input import InputError, checked_number
from linsep.lab.game.protocols import Schedule


@dataclass(frozen=True)
class Constant(Schedule):
    """The same number every round.

    Parameters
    ----------
    value : float, default=1.0
        Positive.
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        checked_number("value", self.value, above=0)

    def propose(self, t: int, last: float | None) -> float:
        """Return ``value``."""
        return self.value


@dataclass(frozen=True)
class Power(Schedule):
    """``start * t ** exponent``: 1/sqrt(t) steps, or weights that grow like t.

    Parameters
    ----------
    start : float, default=1.0
        Positive, the number of round 1.
    exponent : float, default=-0.5
        Any finite number; non-increasing if it is not positive.
    """

    start: float = 1.0
    exponent: float = -0.5

    def __post_init__(self) -> None:
        checked_number("start", self.start, above=0)
        checked_number("exponent", self.exponent)

    def propose(self, t: int, last: float | None) -> float:
        """Return ``start * t ** exponent``, infinite beyond double precision."""
        try:
            return float(self.start * float(t) ** self.exponent)
        except OverflowError:
            return math.inf


@dataclass(frozen=True)
class Listed(Schedule):
    """Numbers given one by one; the last is repeated.

    Parameters
    ----------
    values : tuple of float
        Positive, at least one.
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.values, Sequence | np.ndarray) or not len(self.values):
            raise InputError(
                f"values must hold at least one number, got {self.values!r}"
            )
        object.__setattr__(self, "values", tuple(self.values))
        for value in self.values:
            checked_number("values", value, above=0)

    def propose(self, t: int, last: float | None) -> float:
        """Return ``values[t - 1]``, or the last."""
        return self.values[min(t, len(self.values)) - 1]


@dataclass(frozen=True)
class Backtracking:
    r"""Adaptive: as large as the two regret bounds allow, found by halving.

    A round with weight ``a`` and step ``s`` is accepted if what it adds to the
    learner's regret is paid by what it takes from the data player's, ::

        a^2 |A^T (p' - p)|^2 / 2  <=  D(p', p) / s,

    and played again with half the number otherwise. Every number at or below
    ``lambda / r^2`` for steps (weights 1), ``sqrt(lambda) / r`` for weights (step 1),
    is accepted, since ``D >= lambda / 2 |p' - p|_1^2`` and
    ``|A^T (p' - p)| <= r |p' - p|_1``.

    Parameters
    ----------
    start : float, default=1.0
        Positive, the first number tried.
    growth : float, default=1.0
        At least 1, the factor between an accepted number and the next one tried. At 1
        the sequence never increases, as Theorem 2 asks of steps; 1.3 on the weights is
        the adaptive loop of `linsep.solvers.optimistic`.
    """

    start: float = 1.0
    growth: float = 1.0

    def __post_init__(self) -> None:
        checked_number("start", self.start, above=0)
        checked_number("growth", self.growth, least=1)

    def propose(self, t: int, last: float | None) -> float:
        """Return ``growth`` times the last accepted number."""
        return self.start if last is None else self.growth * last

    def shrink(self, value: float) -> float:
        """Return half of it."""
        return 0.5 * value
