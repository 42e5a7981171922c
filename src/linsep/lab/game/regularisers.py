r"""Regularisers of the data player's mirror descent.

The Bregman divergence of ``R`` is ``D(p, q) = R(p) - R(q) - <grad R(q), p - q>``. It is
convex in ``p``, so over the simplex it is largest at a vertex: ``vertex_divergences``
gives ``max_p D(p, q)`` exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from linsep.arrays import Floats
from linsep.input import InputError, checked_array
from linsep.input.arguments import is_number

# The least exponent of `PNorm`.
SMALLEST = 1.001
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class NegativeEntropy:
    r"""``R(p) = sum_i p_i ln p_i``: mirror descent is exponential weights.

    ``D`` is the Kullback-Leibler divergence, 1-strongly convex in the 1-norm (Pinsker).
    Its largest value over the simplex is infinite; from the uniform distribution it is
    ``ln n``. A point holds ``ln p``.
    """

    name: ClassVar[str] = "entropy"

    def strong_convexity(self, n: int) -> float:
        """Return 1."""
        return 1.0

    def point(self, p: Floats) -> Floats:
        """Return ``ln p``."""
        return np.log(p)

    def distribution(self, point: Floats) -> Floats:
        """Return ``exp(point)``."""
        return np.exp(point)

    def step(self, point: Floats, loss: Floats) -> Floats:
        """Return ``ln`` of ``p_i exp(-loss_i)``, normalised."""
        logs = point - loss
        peak = logs.max()
        normalised: Floats = logs - (peak + math.log(np.exp(logs - peak).sum()))
        return normalised

    def divergence(self, target: Floats, source: Floats) -> float:
        """Return ``KL(target || source)``, as a sum of terms none of which is negative.

        ``p ln(p / q) - p + q = q h(p / q - 1)`` with ``h(s) = (1 + s) ln(1 + s) - s``:
        no cancellation between rows, and little within one.
        """
        ratio = target - source
        # e^d (d - 1) + 1 = sum_{k >= 2} (k - 1) d^k / k!, summed where it would cancel.
        small = np.abs(ratio) < 1e-2
        d = np.where(small, ratio, 0.0)
        series = np.zeros_like(d)
        for coefficient in (1 / 840, 1 / 144, 1 / 30, 1 / 8, 1 / 3, 1 / 2):
            series = d * series + coefficient
        series *= d**2
        q = np.exp(source)
        p = np.exp(target)
        terms = np.where(small, q * series, p * (ratio - 1.0) + q)
        return float(terms.sum())

    def vertex_divergences(self, point: Floats) -> Floats:
        """Return ``-ln p_i``."""
        return -point


@dataclass(frozen=True)
class PNorm:
    r"""``R(p) = |p|_q^2 / 2`` with ``1 < q <= 2``.

    ``(q - 1)``-strongly convex in the q-norm, hence with
    ``lambda = (q - 1) n^{-2 (1 - 1/q)}`` in the 1-norm. The largest divergence over the
    simplex is 1, between two vertices. A point holds ``grad R(p)``: near ``q = 1`` a
    weight too small for double precision still has a gradient that counts.

    The mirror step solves ``grad R(p) = grad R(p_last) - loss - shift`` where
    ``p > 0``; the one unknown, the shift, makes ``p`` sum to one and is found by
    Brent's method.

    Parameters
    ----------
    exponent : float, default=1.5
        ``q``, at least 1.001 and at most 2. Near 1 it behaves like the entropy, and
        weights, powers ``1 / (q - 1)`` of the gradients, magnify their rounding, hence
        the limit; 2 is `SquaredEuclidean`.
    """

    exponent: float = 1.5

    def __post_init__(self) -> None:
        if not (is_number(self.exponent) and SMALLEST <= self.exponent <= 2):
            raise InputError(
                f"exponent must be at least {SMALLEST} and at most 2, got "
                f"{self.exponent!r}: the squared norm is strongly convex only above 1, "
                "and nearer to 1 rounding is magnified too much; take NegativeEntropy"
            )

    @property
    def name(self) -> str:
        """Its name with the exponent, such as ``"p-norm 1.5"``."""
        return f"p-norm {self.exponent:g}"

    def strong_convexity(self, n: int) -> float:
        """Return ``(q - 1) n^{-2 (1 - 1/q)}``."""
        q = self.exponent
        return float((q - 1.0) * float(n) ** (-2.0 * (1.0 - 1.0 / q)))

    def point(self, p: Floats) -> Floats:
        """Return ``grad R(p) = |p|_q^{2 - q} p^{q - 1}``."""
        q = self.exponent
        length = float((p**q).sum()) ** (1.0 / q)
        values: Floats = length ** (2.0 - q) * p ** (q - 1.0)
        return values

    def step(self, point: Floats, loss: Floats) -> Floats:
        """Return the point of ``argmin_p loss . p + D(p, point)`` over the simplex."""
        g = point - loss
        g = g - g.max()

        def excess(shift: float) -> float:
            return float(self.distribution(g - shift).sum()) - 1.0

        # With max(g) = 0, the sum is 0 at shift 0 and at least 2 at shift -2.
        low = brentq(excess, -2.0, 0.0, xtol=1e-18, rtol=4 * EPS, maxiter=1000)
        g = np.maximum(g - low, 0.0)
        # The gradient of a multiple of p is that multiple of the gradient.
        scaled: Floats = g / self.distribution(g).sum()
        return scaled

    def distribution(self, point: Floats) -> Floats:
        """Return the ``p >= 0`` whose gradient is ``max(point, 0)``."""
        positive = np.maximum(point, 0.0)
        length = self._length(positive)
        if length == 0.0:
            return positive
        # Scaled by the norm before the power, so that nothing overflows.
        power = 1.0 / (self.exponent - 1.0)
        return length * (positive / length) ** power

    def divergence(self, target: Floats, source: Floats) -> float:
        """Return ``|p|^2 / 2 + |q|^2 / 2 - <grad R(q), p>``, at least 0."""
        value = 0.5 * self._length(target) ** 2 + 0.5 * self._length(source) ** 2
        return max(0.0, value - float(source @ self.distribution(target)))

    def vertex_divergences(self, point: Floats) -> Floats:
        """Return ``1/2 + |p|^2 / 2 - grad R(p)_i``."""
        return 0.5 + 0.5 * self._length(point) ** 2 - point

    def _length(self, point: Floats) -> float:
        """Return ``|p|_q``, which is the dual norm of the gradient."""
        peak = float(point.max())
        dual = self.exponent / (self.exponent - 1.0)
        if peak <= 0.0:
            return 0.0
        return float(peak * ((point / peak) ** dual).sum() ** (1.0 / dual))


@dataclass(frozen=True)
class SquaredEuclidean:
    r"""``R(p) = |p|_2^2 / 2``: mirror descent is projected gradient descent.

    ``D(p, q) = |p - q|^2 / 2``, with ``lambda = 1/n`` in the 1-norm (Cauchy-Schwarz)
    and largest value 1. A point holds ``p``.
    """

    name: ClassVar[str] = "Euclidean"

    def strong_convexity(self, n: int) -> float:
        """Return ``1 / n``."""
        return 1.0 / n

    def point(self, p: Floats) -> Floats:
        """Return ``p``."""
        return p

    def distribution(self, point: Floats) -> Floats:
        """Return the point, which is the distribution."""
        return point

    def step(self, point: Floats, loss: Floats) -> Floats:
        """Return the projection of ``p - loss`` on the simplex."""
        return project_simplex(point - loss)

    def divergence(self, target: Floats, source: Floats) -> float:
        """Return ``|p - q|^2 / 2``."""
        difference = target - source
        return 0.5 * float(difference @ difference)

    def vertex_divergences(self, point: Floats) -> Floats:
        """Return ``|e_i - p|^2 / 2``."""
        return 0.5 + 0.5 * float(point @ point) - point


def project_simplex(v: ArrayLike) -> Floats:
    """Return the point of the simplex nearest to ``v`` (n,): ``max(v - shift, 0)``.

    Sorts, and finds the shift from the partial sums of the largest entries (Held, Wolfe
    & Crowder 1974).

    Raises
    ------
    InputError
        If ``v`` is not a vector of finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> project_simplex(np.array([1.0, 0.5, -3.0]))
    array([0.75, 0.25, 0.  ])
    """
    given = checked_array("v", v, (None,))
    below = given - given.max()
    descending = np.sort(below)[::-1]
    shifts = (np.cumsum(descending) - 1.0) / np.arange(1, below.size + 1)
    last = int(np.flatnonzero(descending > shifts)[-1])
    p: Floats = np.maximum(below - shifts[last], 0.0)
    p /= p.sum()
    return p
