"""Accelerated methods: Nesterov's and Nemirovski's, on the game of rows and weights.

The smooth perceptron (Soheili & Pena 2012), mirror-prox for linear separation (Yu,
Kilinc-Karzan & Carbonell 2014), and margin maximisation by dual acceleration (Ji,
Srebro & Telgarsky 2021).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from linsep.arrays import Floats
from linsep.input import checked_count
from linsep.lab.game.bounds import perceptron_bound
from linsep.lab.game.learners import into_ball
from linsep.lab.perceptrons.in_rounds import (
    PlayedInRounds,
    Round,
    largest_norm,
    optimistic_count,
)
from linsep.solvers.oracle import softmin


@dataclass(frozen=True, kw_only=True)
class SmoothPerceptron(PlayedInRounds):
    r"""Nesterov's excessive-gap smoothing of the Perceptron.

    On rows divided by ``r = max_i |a_i|``, with ``q_mu(w)_i ~ exp(-a_i . w / mu)``,
    ``w = sum_i a_i / n``, ``mu = 2`` and ``p = q_mu(w)`` at first, round
    ``k = 0, 1, ...`` takes ``theta = 2 / (k + 3)`` and ::

        w  <- (1 - theta) (w + theta A^T p) + theta^2 A^T q_mu(w)
        mu <- (1 - theta) mu
        p  <- (1 - theta) p + theta q_mu(w)          (the new w and mu)

    Parameters
    ----------
    fit_intercept, max_rounds
        As of `PlayedInRounds`.

    Notes
    -----
    Every round keeps
    ``|A^T p|^2 / 2 <= min_p { p . A w + mu KL(p | uniform) } - |w|^2 / 2`` with
    ``mu_k = 4 / ((k + 1)(k + 2))``, so ``w`` separates once
    ``k + 1 > 2 sqrt(2 ln n) r / margin``; when no hyperplane separates,
    ``|A^T p_k| <= 2 r sqrt(2 ln n) / (k + 1)``. A round is one pass: n inner products,
    n additions for ``A^T q`` and six for the vectors (``A^T p`` is carried along).

    References
    ----------
    N. Soheili, J. Pena, "A smooth perceptron algorithm", SIAM Journal on Optimization
    22 (2012), doi:10.1137/110842740.

    Examples
    --------
    >>> from linsep.perceptrons import SmoothPerceptron
    >>> SmoothPerceptron().run([[10.0], [11.0]], [0, 1]).separated
    True
    """

    def rounds(self, A: Floats) -> Iterator[Round]:
        """Yield the state after each round on signed rows ``A`` (n, d), for ever."""
        A = A / largest_norm(A)
        w = A.mean(axis=0)
        mu = 2.0
        margins = A @ w
        p = q = softmin(margins / mu)
        x = x_q = q @ A
        for k in count():
            yield Round(w, p, float(margins.min()))
            theta = 2.0 / (k + 3.0)
            w = (1.0 - theta) * (w + theta * x) + theta**2 * x_q
            mu *= 1.0 - theta
            margins = A @ w
            q = softmin(margins / mu)
            x_q = q @ A
            p = (1.0 - theta) * p + theta * q
            x = (1.0 - theta) * x + theta * x_q

    @staticmethod
    def cost(n: int, n_rounds: int) -> tuple[int, int]:
        """Return the passes over n rows, and the operations, of some rounds."""
        return n_rounds, 3 * n + (n_rounds - 1) * (2 * n + 6)

    @staticmethod
    def round_bound(n: int, radius: float, margin: float) -> float:
        """Return ``2 sqrt(2 ln n) radius / margin``: enough rounds to separate."""
        return 2.0 * optimistic_count(n, radius, margin)


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

    def rounds(self, A: Floats) -> Iterator[Round]:
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


@dataclass(frozen=True, kw_only=True)
class NesterovMomentum(PlayedInRounds):
    r"""Gradient descent on the exponential loss with momentum: Nesterov in the dual.

    On rows divided by ``r = max_i |a_i|``, from ``w = g = 0``, for ``t = 0, 1, ...``::

        q  ~  exp(-A w)
        g  <- (t / (t + 1)) (g + A^T q)
        w  <- w + g + A^T q

    Parameters
    ----------
    fit_intercept, max_rounds
        As of `PlayedInRounds`.

    Notes
    -----
    With margin ``m = margin / r`` on the scaled rows,
    ``m - min_i a_i . w / |w|`` falls like ``(ln n)(ln t) / (m t^2)``: at most
    ``4 (1 + ln n)(1 + 2 ln(t + 1)) / (m (t + 1)^2)`` by the source's Theorem 1, so
    ``w`` separates once that is below ``m``. No bound is claimed where no hyperplane
    separates. A round is one pass: n inner products, n additions for ``A^T q`` and
    three for the vectors.

    References
    ----------
    Z. Ji, N. Srebro, M. Telgarsky, "Fast margin maximization via dual acceleration",
    ICML (2021), arXiv:2107.00595.

    Examples
    --------
    >>> from linsep.perceptrons import NesterovMomentum
    >>> NesterovMomentum().run([[10.0], [11.0]], [0, 1]).separated
    True
    """

    def rounds(self, A: Floats) -> Iterator[Round]:
        """Yield the state after each round on signed rows ``A`` (n, d), for ever."""
        n, d = A.shape
        A = A / largest_norm(A)
        w, g = np.zeros(d), np.zeros(d)
        margins = np.zeros(n)
        for t in count():
            q = softmin(margins)
            x = q @ A
            g = (t / (t + 1.0)) * (g + x)
            w = w + g + x
            margins = A @ w
            yield Round(w, q, float(margins.min()))

    @staticmethod
    def cost(n: int, n_rounds: int) -> tuple[int, int]:
        """Return the passes over n rows, and the operations, of some rounds."""
        return n_rounds, n_rounds * (2 * n + 3)

    @staticmethod
    def round_bound(n: int, radius: float, margin: float) -> float:
        """Return the first round from which the bound of the notes is below ``m``."""
        m = 1.0 / math.sqrt(perceptron_bound(margin, radius))
        n = checked_count("n", n)
        t = 1.0
        # t + 1 = sqrt(4 (1 + ln n)(1 + 2 ln(t + 1))) / m, climbed to from below.
        while True:
            log = 1.0 + 2.0 * math.log(t + 1.0)
            needed = math.sqrt(4.0 * (1.0 + math.log(n)) * log) / m - 1.0
            if needed <= t * (1.0 + 1e-12):
                return t
            t = needed
