"""The smooth perceptron (Soheili & Pena 2012)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from linsep.lab.perceptrons.in_rounds import (
    PlayedInRounds,
    Round,
    largest_norm,
    optimistic_count,
    softmin,
)
from linsep.lab.perceptrons.result import FloatArray


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

    def rounds(self, A: FloatArray) -> Iterator[Round]:
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
