"""The learner's strategies."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from linsep.arrays import Floats
from linsep.input import InputError, checked_number
from linsep.lab.game.protocols import Schedule, require_schedule
from linsep.lab.game.schedules import Constant

Form = Literal["argmax", "closed", "incremental"]

EPS = float(np.finfo(np.float64).eps)
# Steps of the ascent: one reaches the maximum of this objective, others mend rounding.
ASCENTS = 4


@dataclass(frozen=True)
class History:
    """What a learner remembers: the rows, and sums over the rounds played.

    With ``x_s = A^T p_s``: `p_sum` and `x_sum` add up ``weight_s p_s`` and
    ``weight_s x_s``, `w` is the last move, and `correction` is what optimism got wrong
    in the last round, ``weight (x played - x seen)``.
    """

    A: Floats
    p_sum: Floats
    x_sum: Floats
    w: Floats
    correction: Floats


class Remembering:
    """A learner whose memory is a `History`."""

    def start(self, A: Floats) -> Any:
        """Return the empty history."""
        zero = np.zeros(A.shape[1])
        return History(A, np.zeros(len(A)), zero, zero, zero)

    def observe(
        self, state: Any, weight: float, seen: Floats, w: Floats, p: Floats
    ) -> Any:
        """Return the history with the round added."""
        x = p @ state.A
        return History(
            A=state.A,
            p_sum=state.p_sum + weight * p,
            x_sum=state.x_sum + weight * x,
            w=w,
            correction=weight * (x - seen @ state.A),
        )


@dataclass(frozen=True)
class OFTRL(Remembering):
    r"""Optimistic follow-the-regularised-leader (Theorem 1).

    ::

        w_t = argmax_w  (sum_{s<t} weight_s p_s + weight_t p_{t-1}) . A w - |w|^2 / 2

    It plays the best answer to the past, betting that the last distribution will be
    played again. Three forms of the same move:

    - ``"argmax"``: the objective above, maximised by gradient ascent from the last move
      with exact line searches;
    - ``"closed"``: appendix A, the product of ``A^T`` and the weighted sum of the past
      distributions, the last one counted again;
    - ``"incremental"``: Algorithm 1, from the last move and vectors of length d,
      ``w_t = w_{t-1} + 2 x_{t-1} - x_{t-2}`` when all weights are 1.

    Parameters
    ----------
    form : {"argmax", "closed", "incremental"}, default="incremental"
        Which form to compute.
    """

    form: Form = "incremental"

    def __post_init__(self) -> None:
        if self.form not in ("argmax", "closed", "incremental"):
            raise InputError(
                f'form must be "argmax", "closed" or "incremental", got {self.form!r}'
            )

    def act(self, state: History, weight: float, p: Floats) -> Floats:
        """Return ``w_t`` (d,)."""
        if self.form == "incremental":
            return state.w + state.correction + weight * (p @ state.A)
        q = state.p_sum + weight * p
        if self.form == "closed":
            return q @ state.A
        return _maximise(state.A, q, state.w)


def _maximise(A: Floats, q: Floats, w: Floats) -> Floats:
    """Return ``argmax_w q . A w - |w|^2 / 2`` by steepest ascent from ``w``.

    It knows the slope of the objective and nothing of its solution. How far to go along
    the slope is measured: on a quadratic the slope at a second point of the line tells
    where along it the maximum lies. Ends when the slope is rounding.
    """

    def slope(w: Floats) -> Floats:
        return q @ A - w

    for _ in range(ASCENTS):
        uphill = slope(w)
        length = float(np.linalg.norm(uphill))
        if length <= EPS * float(np.linalg.norm(w)):
            break
        direction = uphill / length
        # As long as the vectors at hand: the difference of slopes is then no rounding.
        probe = length + float(np.linalg.norm(w))
        bend = float(direction @ (uphill - slope(w + probe * direction))) / probe
        w = w + length / bend * direction
    return w


@dataclass(frozen=True)
class FTRL(Remembering):
    r"""Follow-the-regularised-leader, without optimism.

    ::

        w_t = argmax_w  sum_{s<t} weight_s p_s . A w - |w|^2 / 2
            = sum_{s<t} weight_s x_s

    Its regret against ``u`` is at most ``|u|^2 / 2 + sum weight_t^2 |x_t|^2 / 2``.
    """

    def act(self, state: History, weight: float, p: Floats) -> Floats:
        """Return ``w_t`` (d,)."""
        return state.x_sum


@dataclass(frozen=True)
class OnlineGradientAscent:
    r"""Online gradient ascent (Zinkevich 2003), projected on a ball.

    ::

        w_t = B( w_{t-1} + step_{t-1} weight_{t-1} x_{t-1} ),        w_1 = 0

    Without a ball and with steps 1 it is `FTRL`, and against `FirstViolatedRow` the
    Perceptron.

    Parameters
    ----------
    steps : Schedule, default=Constant(1.0)
    radius : float, default=inf
        Of the ball, > 0.
    """

    steps: Schedule = field(default_factory=Constant)
    radius: float = math.inf

    def __post_init__(self) -> None:
        checked_number("radius", self.radius, above=0, infinite=True)
        require_schedule("steps", self.steps)
        if self.steps.shrink(1.0) is not None:
            raise InputError(
                "steps must not be adaptive here: a gradient step follows the round, "
                "so there is no round to play again; use Constant, Power or Listed"
            )

    def start(self, A: Floats) -> Any:
        """Return (rows, next move, rounds played)."""
        return A, np.zeros(A.shape[1]), 0

    def act(self, state: Any, weight: float, p: Floats) -> Floats:
        """Return ``w_t`` (d,)."""
        w: Floats = state[1]
        return w

    def observe(
        self, state: Any, weight: float, seen: Floats, w: Floats, p: Floats
    ) -> Any:
        """Take the gradient step on the round's payoff."""
        A, _, t = state
        step = self.steps.propose(t + 1, None)
        return A, into_ball(w + step * weight * (p @ A), self.radius), t + 1


@dataclass(frozen=True)
class BestResponse:
    r"""The best move on a ball against the latest distribution seen.

    ::

        w_t = radius x / |x|,   x = A^T p

    Moving second it has no regret on the ball, and against exponential weights is
    boosting's weak learner; moving first it answers the round before.

    Parameters
    ----------
    radius : float, default=1.0
        Of the ball, > 0.
    """

    radius: float = 1.0

    def __post_init__(self) -> None:
        checked_number("radius", self.radius, above=0)

    def start(self, A: Floats) -> Any:
        """Return the rows: it has no memory."""
        return A

    def act(self, state: Any, weight: float, p: Floats) -> Floats:
        """Return ``w_t`` (d,); zero if ``x`` is."""
        x: Floats = p @ state
        length = float(np.linalg.norm(x))
        return self.radius / length * x if length > 0 else x

    def observe(
        self, state: Any, weight: float, seen: Floats, w: Floats, p: Floats
    ) -> Any:
        """Return the rows: a best response to the latest needs no past."""
        return state


def into_ball(w: Floats, radius: float) -> Floats:
    """Return the nearest point of the Euclidean ball of this radius."""
    length = float(np.linalg.norm(w))
    return w if length <= radius else radius / length * w
