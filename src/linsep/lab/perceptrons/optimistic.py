"""The Optimistic Perceptron (Hanashiro & Abernethy 2020), Algorithm 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from linsep.arrays import Floats
from linsep.input import InputError, checked_number
from linsep.lab.perceptrons.in_rounds import (
    PlayedInRounds,
    Round,
    largest_norm,
    optimistic_count,
)
from linsep.solvers.oracle import softmin

# Beyond this multiple of the safe rate the plays would overflow.
MOST = 1e60


@dataclass(frozen=True)
class Optimistic(PlayedInRounds):
    r"""Add pseudoexamples, the last one twice; answer with the average of the plays.

    With ``p_0`` uniform, ``x_t = sum_i p_{t,i} a_i``, ``x_{-1} = x_0``, ``w_0 = 0``::

        w_t      =  w_{t-1} + 2 x_{t-1} - x_{t-2}
        p_{t,i}  ~  p_{t-1,i} exp(-learning_rate a_i . w_t)

    The answer is ``(w_1 + ... + w_T) / T``, at the first T at which it separates. This
    is the textbook's loop; `linsep.solvers.optimistic` adapts the step, and
    `linsep.OptimisticPerceptron` is the scikit-learn classifier built on that.

    Parameters
    ----------
    learning_rate : float or None, default=None
        ``> 0``; ``None`` takes the paper's ``1 / r^2``, ``r = max_i |a_i|``, the
        largest rate the theorems cover. Larger ones are often faster and have no
        guarantee.
    fit_intercept, max_rounds
        As of `PlayedInRounds`.

    Notes
    -----
    If a unit vector has margin ``margin`` on all n rows, the average separates after
    more than ``r sqrt(2 ln n) / margin`` rounds (at ``learning_rate = 1 / r^2``); the
    paper's own count, ``(1 + 2 r^2 ln n) / (2 margin)``, is never smaller. The weights
    depend on ``v_t = learning_rate (w_1 + ... + w_t)`` alone, so that one pass a round
    gives them and the margin of the average. A round costs ``2 n + 2`` operations: n
    inner products, n additions, two for the play.

    References
    ----------
    R. Hanashiro, J. Abernethy, "Linear separation via optimism" (2020), Algorithm 1 and
    Theorem 3.

    Examples
    --------
    >>> from linsep.perceptrons import Optimistic
    >>> Optimistic().run([[10.0], [11.0]], [0, 1])
    Optimistic: separated, 70 updates, 70 passes, 420 operations
    """

    learning_rate: float | None = None

    def rounds(self, A: Floats) -> Iterator[Round]:
        """Yield the average after each round on signed rows ``A`` (n, d), for ever."""
        rate = self._rate(largest_norm(A))
        w, v = np.zeros(A.shape[1]), np.zeros(A.shape[1])
        x_before = x = A.mean(axis=0)
        for t in count(1):
            w = w + 2.0 * x - x_before
            v = v + rate * w
            margins = A @ v
            p = softmin(margins)
            yield Round(v / (rate * t), p, float(margins.min()))
            x_before, x = x, p @ A

    def _rate(self, r: float) -> float:
        """Return the learning rate given, or the default, or refuse it."""
        if self.learning_rate is None:
            return 1.0 / r**2
        rate = checked_number("learning_rate", self.learning_rate, above=0)
        # As a ratio of lengths: r^2 may be beyond double precision.
        if not MOST**-0.5 < r * rate**0.5 < MOST**0.5:
            raise InputError(
                f"learning_rate times r^2 must be between {1 / MOST:g} and {MOST:g}, "
                f"got {rate:g} with r = {r:g}; None takes 1 / r^2"
            )
        return rate

    @staticmethod
    def cost(n: int, n_rounds: int) -> tuple[int, int]:
        """Return the passes over n rows, and the operations, of some rounds."""
        return n_rounds, n_rounds * (2 * n + 2)

    @staticmethod
    def round_bound(n: int, radius: float, margin: float) -> float:
        """Return ``radius sqrt(2 ln n) / margin``: any later average separates."""
        return optimistic_count(n, radius, margin)
