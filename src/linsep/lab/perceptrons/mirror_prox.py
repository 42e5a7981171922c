"""Mirror-prox for linear separation (Yu, Kilinc-Karzan & Carbonell 2014)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from linsep.lab.game.learners import into_ball
from linsep.lab.perceptrons.in_rounds import (
    PlayedInRounds,
    Round,
    largest_norm,
    optimistic_count,
    softmin,
)
from linsep.lab.perceptrons.result import FloatArray


@dataclass(frozen=True, kw_only=True)
class MirrorProx(PlayedInRounds):
    r"""Extragradient steps on the saddle point of ``p . A w`` over ball and simplex.

    From ``w = 0`` and ``p`` uniform, with ``B`` the projection on the unit ball, a
    round looks ahead and then moves from where it stood with the payoffs seen there::

        w' = B(w + step_w A^T p)        p' ~ p exp(-step_p A w)
        w  = B(w + step_w A^T p')       p  ~ p exp(-step_p A w')

    The answer is the average of the ``w'``. The steps are ``step_w = 1 / (r s)``,
    ``step_p = s / r`` with ``s = sqrt(2 ln n)``, the best two with product ``1 / r^2``.

    Parameters
    ----------
    fit_intercept, max_rounds
        As of `PlayedInRounds`.

    Notes
    -----
    After T rounds ``|A^T p'| - min_i a_i . w' <= r sqrt(2 ln n) / T`` for
    the averages (Nemirovski 2004), so they separate once
    ``T > r sqrt(2 ln n) / margin``: the count of the Optimistic Perceptron, at two
    passes a round. A round costs ``4 n + 4`` operations.

    References
    ----------
    A. Yu, F. Kilinc-Karzan, J. Carbonell, "Saddle points and
    accelerated perceptron algorithms", ICML (2014). A. Nemirovski, "Prox-method with
    rate of convergence O(1/t) for variational inequalities", SIAM Journal on
    Optimization 15 (2004), doi:10.1137/S1052623403425629.

    Examples
    --------
    >>> from linsep.perceptrons import MirrorProx
    >>> MirrorProx().run([[10.0], [11.0]], [0, 1]).separated
    True
    """

    def rounds(self, A: FloatArray) -> Iterator[Round]:
        """Yield the averages after each round on signed rows ``A`` (n, d), for ever."""
        n, d = A.shape
        r = largest_norm(A)
        # A single row has nothing to weigh; any positive number will do for s.
        s = math.sqrt(2.0 * math.log(n)) if n > 1 else 1.0
        step_w, step_p = 1.0 / (r * s), s / r
        w = np.zeros(d)
        log_p = np.zeros(n)
        margins = np.zeros(n)
        x = A.mean(axis=0)
        w_sum, p_sum, margin_sum = np.zeros(d), np.zeros(n), np.zeros(n)
        for t in count(1):
            w_ahead = into_ball(w + step_w * x, 1.0)
            p_ahead = softmin(step_p * margins - log_p)
            w = into_ball(w + step_w * (p_ahead @ A), 1.0)
            margins_ahead = A @ w_ahead
            log_p = log_p - step_p * margins_ahead
            log_p -= log_p.max()
            x = softmin(-log_p) @ A
            margins = A @ w
            w_sum, p_sum = w_sum + w_ahead, p_sum + p_ahead
            margin_sum += margins_ahead
            yield Round(w_sum / t, p_sum / t, float(margin_sum.min()) / t)

    @staticmethod
    def cost(n: int, n_rounds: int) -> tuple[int, int]:
        """Return the passes over n rows, and the operations, of some rounds."""
        return 2 * n_rounds, n + n_rounds * (4 * n + 4)

    @staticmethod
    def round_bound(n: int, radius: float, margin: float) -> float:
        """Return ``radius sqrt(2 ln n) / margin``: enough rounds to separate."""
        return optimistic_count(n, radius, margin)
