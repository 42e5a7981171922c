"""Margin maximisation by dual acceleration (Ji, Srebro & Telgarsky 2021)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from linsep.input import checked_count
from linsep.lab.game.bounds import perceptron_bound
from linsep.lab.perceptrons.in_rounds import (
    PlayedInRounds,
    Round,
    largest_norm,
    softmin,
)
from linsep.lab.perceptrons.result import FloatArray


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

    def rounds(self, A: FloatArray) -> Iterator[Round]:
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
