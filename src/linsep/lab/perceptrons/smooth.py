"""The smooth perceptron (Soheili & Pena 2012)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from numpy.typing import ArrayLike

from linsep.lab.perceptrons.play_in_rounds import (
    Round,
    fit_in_rounds,
    largest_norm,
    softmin,
)
from linsep.lab.perceptrons.result import FloatArray, LinearResult
from linsep.lab.perceptrons.settings import optimistic_count


@dataclass(frozen=True)
class SmoothPerceptron:
    r"""Nesterov's excessive-gap smoothing of the Perceptron.

    On rows divided by ``r = max_i |a_i|``, with ``q_mu(w)_i ~ exp(-a_i . w / mu)``,
    ``w = sum_i a_i / n``, ``mu = 2`` and ``p = q_mu(w)`` at first, round
    ``k = 0, 1, ...`` takes ``theta = 2 / (k + 3)`` and ::

        w  <- (1 - theta) (w + theta A^T p) + theta^2 A^T q_mu(w)
        mu <- (1 - theta) mu
        p  <- (1 - theta) p + theta q_mu(w)          (the new w and mu)

    Parameters
    ----------
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    max_rounds : int, default=100_000
        Rounds at most.

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
    >>> SmoothPerceptron().fit([[10.0], [11.0]], [0, 1]).separated
    True
    """

    fit_intercept: bool = True
    max_rounds: int = 100_000

    def fit(self, X: ArrayLike, y: ArrayLike) -> LinearResult:
        """Run on ``X`` (n_samples, n_features) with two-class labels ``y``."""
        return fit_in_rounds(
            "SmoothPerceptron",
            X,
            y,
            self.rounds,
            fit_intercept=self.fit_intercept,
            max_rounds=self.max_rounds,
        )

    def rounds(self, A: FloatArray) -> Iterator[Round]:
        """Yield the state after each round on signed rows ``A`` (n, d), for ever."""
        n = len(A)
        A = A / largest_norm(A)
        w = A.mean(axis=0)
        mu = 2.0
        margins = A @ w
        p = q = softmin(margins / mu)
        x = x_q = q @ A
        n_passes, operations, k = 1, 3 * n, 0
        while True:
            yield Round(w, p, float(margins.min()), n_passes, operations)
            theta = 2.0 / (k + 3.0)
            w = (1.0 - theta) * (w + theta * x) + theta**2 * x_q
            mu *= 1.0 - theta
            margins = A @ w
            q = softmin(margins / mu)
            x_q = q @ A
            p = (1.0 - theta) * p + theta * q
            x = (1.0 - theta) * x + theta * x_q
            n_passes, operations, k = n_passes + 1, operations + 2 * n + 6, k + 1

    @staticmethod
    def round_bound(n: int, radius: float, margin: float) -> float:
        """Return ``2 sqrt(2 ln n) radius / margin``: enough rounds to separate."""
        return 2.0 * optimistic_count(n, radius, margin)
