"""Textbook versions of what runs compiled: one line of a paper, one line of NumPy."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linsep.solvers._optimistic import Loop
from linsep.solvers.optimistic import safe_step
from linsep.solvers.oracle import Oracle
from linsep.solvers.soft_margin._passes import capped_exponentials
from linsep.solvers.soft_margin.game import worst_mean


class Answer(NamedTuple):
    """The oracle's answer at v: f, x and the least product; and that with w."""

    f: float
    x: np.ndarray
    margin: float
    margin_play: float


def answer_of(A, v, w=None):
    """The compiled oracle's answer at v."""
    return Answer(*Oracle(A).sweep.answer(v, v if w is None else w))


@dataclass
class Played:
    """A round: the names of `linsep.solvers.optimistic`'s docstring, in words."""

    n_rounds: int
    play: np.ndarray
    total: np.ndarray
    pseudoexample: np.ndarray
    weighted_sum: np.ndarray
    step_sum: float
    step_size: float
    f: float
    margin: float
    margin_play: float

    @property
    def margin_upper(self):
        return np.linalg.norm(self.weighted_sum) / self.step_sum

    @property
    def separator(self):
        if self.margin > 0:
            return self.total
        return self.play if self.margin_play > 0 else None


def compiled_rounds(A, step_size=None, floor=None):
    """The rounds of the compiled loop one by one, from the safe step if not told."""
    oracle = Oracle(A)
    safe = safe_step(oracle)
    first = safe if step_size is None else step_size
    loop = Loop(oracle.sweep, first, 0.5 * safe if floor is None else floor)
    while True:
        loop.advance(0, 0.0)
        steps = loop.step_sum, loop.step_size
        bounds = loop.f, loop.margin, loop.margin_play
        yield Played(loop.n_rounds, *loop.vectors(), *steps, *bounds)


def softmin_oracle(A):
    """The oracle of `linsep.solvers.oracle` by its definition."""

    def answer(v, w):
        margins = A @ v
        p = np.exp(margins.min() - margins)
        f = np.log(p.mean()) - margins.min()
        return Answer(f, p / p.sum() @ A, margins.min(), (A @ w).min())

    return answer


def optimistic_rounds(oracle, d, step_size, floor):
    """The rounds of `linsep.solvers.optimistic`; a step <= floor is never halved."""
    v = G = np.zeros(d)
    x, f, S, eta = oracle(v, v).x, 0.0, 0.0, step_size
    n_rounds = 0
    while True:
        while True:
            w = G + eta * x
            answer = oracle(v + eta * w, w)
            n_rounds += 1
            gain = -eta * (w @ answer.x)
            kl = gain - (answer.f - f)
            rounding = 64 * 2.0**-52 * (abs(gain) + abs(f) + abs(answer.f))
            drift = answer.x - x
            if eta**2 * (drift @ drift) / 2 <= kl + rounding or eta <= floor:
                break
            eta /= 2
        v, f, x, G, S = v + eta * w, answer.f, answer.x, G + eta * answer.x, S + eta
        margins = answer.margin, answer.margin_play
        yield Played(n_rounds, w, v, x, G, S, eta, f, *margins)
        if np.isfinite(floor):
            eta *= 1.3


class CappedOracle:
    r"""The data player of the capped game: exponential weights on a capped simplex.

    They minimise ``sum_i p_i m_i + KL(p || p_0)``, ``m_i = a_i . v``: exponential
    weights, of which those above their caps are cut and the rest raised in proportion
    until the sum is right,

        p_i = min(cap_i, p0_i exp(-m_i - level)).

    The value of that minimum, with its sign changed, is the oracle's ``f``; its
    gradient is minus the pseudoexample ``x = sum_i p_i a_i``. So the optimistic loop
    runs on this oracle unchanged, and ``|G| / S`` bounds the game's value from above at
    every round.

    Parameters
    ----------
    A : ndarray of shape (n, d)
        Signed rows.
    caps : ndarray of shape (n,)
        The largest weight of each row.
    groups : list of ndarray of int
        A partition of the rows; each group's weights sum to ``1 / len(groups)``. Both
        classes as groups leave the intercept free.
    """

    def __init__(self, A, caps, groups):
        self.A = A
        self.caps = caps
        self.groups = groups
        self.share = 1.0 / len(groups)

    def _weigh(self, margins):
        """Return the least of ``p . m + KL(p || p_0)``, and the weights there."""
        p = np.empty_like(margins)
        least = 0.0
        for index in self.groups:
            part = np.empty(len(index))
            value, _ = capped_exponentials(
                margins[index],
                self.caps[index],
                1.0,
                self.share,
                float(np.median(margins[index])),
                part,
            )
            p[index] = part
            # The kernel measures from the caps, which are the prior times a constant.
            least += value - self.share * np.log(self.share / self.caps[index].sum())
        return least, p

    def __call__(self, v, w):
        """Answer at ``v``; the margins are means of the worst share, not the least."""
        margins = self.A @ v
        least, p = self._weigh(margins)
        x = p @ self.A
        judged = self.judged(margins)
        return Answer(-least, x, judged, self.judged(self.A @ w))

    def judged(self, margins):
        """Return the mean of the worst share of the margins."""
        return sum(
            worst_mean(margins[index], self.caps[index], self.share)[0]
            for index in self.groups
        )
