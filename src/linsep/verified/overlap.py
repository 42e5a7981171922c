r"""Positive weights under which all rows of a part vanish: the proof that they exist.

Let ``p, v > 0`` be any doubles, ``r = sum p_i a_i`` and ``M = sum v_i a_i a_i'``,
positive definite. With ``q* = M^-1 r`` the weights ``p_i - v_i a_i . q*`` make the rows
vanish exactly, because their sum is ``r - M q*``. They are positive iff

    v_i a_i . q* < p_i    for every row,

and then all rows of the part overlap: no direction is positive on any of them and
negative on none. Nothing is solved exactly: for any ``q`` near ``q*``, with what is
left, ``e = r - M q = sum (p_i - v_i a_i . q) a_i``,

    a_i . q*  <=  a_i . q + |T^-1 a_i| |T^-1 e| / mu,

mu a lower bound on the eigenvalues of ``T^-1 M T^-1`` (`linsep.verified.moments`).

The weights are those at a point z under the loss ``(sqrt(1 + t^2) - t) / 2`` of ``t =
a_i . z``: ``p_i = (1 - t / sqrt(1 + t^2)) / 2`` is its slope and ``v_i = (1 + t^2)^(-3
/ 2) / 2`` its curvature, so that q is the step of Newton's method from z. Near a
minimum the step is small, and the inequality holds. So a point near a minimum proves
that there is one; how the point was found does not matter.

Where some rows have run off a thousand times as far as others, their v of about ``t^-3
/ 2`` leaves M too ill-conditioned for the bound. Then ``v_i = p_i (1 - p_i) = (1 +
t^2)^-1 / 4`` is tried: it falls as the weights do.

There is one iff all rows overlap, as for the logistic loss, whose tail is exponential:
along a direction its steps add one to the products of the rows that run off, and where
some are a thousand times as far as others it does not get there. With an algebraic tail
a step makes these products half as large again, all at once.

A row on which directions must be zero stands twice, as ``a_i`` and as ``-a_i``. Equal
rows are taken together: ``n_i`` of them along ``a_i``, ``m_i`` against it, with the net
weight ``n_i p_i - m_i (1 - p_i)``. Then ``v_i a_i . q*`` is to lie between ``-(1 -
p_i)``, if there is one against, and ``p_i``, if there is one along.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt

import numpy as np

from linsep.arrays import Floats, Index, Mask
from linsep.rows.rounding import gamma
from linsep.verified._moments import loss_and_slope, weights_at
from linsep.verified.moments import Factor, Layout, Moments, NotPositive, factored
from linsep.verified.parts import Part

# Weights are no smaller, so that no product underflows.
SMALLEST_WEIGHT = 2.0**-100
LEAST_SHIFT = 1e-13
# Times a solution is improved at most.
MOST_REFINEMENTS = 6
# The bound on what is left of r is good enough at this share of what it is added to,
# and no more is gained once it stays above this share of what it was.
GOOD, SLOW = 0.05, 0.5


@dataclass(frozen=True)
class Counts:
    """How often each row stands in the data, as it is and with the other sign."""

    along: Floats
    against: Floats

    def of(self, index: Index) -> Counts:
        """Return those of some rows."""
        return Counts(self.along[index], self.against[index])

    @property
    def both(self) -> Mask:
        """Which rows stand with both signs: directions must be zero there."""
        return np.asarray((self.along > 0) & (self.against > 0))

    def loss_and_slope(
        self, products: Floats, moves: Floats, length: float
    ) -> tuple[float, float]:
        """Return the loss at ``products + length * moves``, and how fast it falls."""
        return loss_and_slope(products, moves, length, self.along, self.against)


@dataclass(frozen=True)
class Weights:
    """The weights at a point.

    Attributes
    ----------
    along, against : ndarray of shape (n,)
        Of a row, and of the row with the other sign; their sum is one, or about.
    v : ndarray of shape (n,)
        What they change by.
    net, size, moment : ndarray of shape (n,)
        The sum of the weights of all that stand along, less those against, the sum of
        them all, and the sum of their v.
    counts : Counts
    """

    along: Floats
    against: Floats
    v: Floats
    counts: Counts

    @classmethod
    def at(cls, products: Floats, counts: Counts) -> Weights:
        """Take those at a point with these ``a_i . z``."""
        along, against, v = np.empty((3, products.size))
        weights_at(products, SMALLEST_WEIGHT, along, against, v)
        return cls(along, against, v, counts)

    @cached_property
    def net(self) -> Floats:
        """The weights along, less those against."""
        return self.counts.along * self.along - self.counts.against * self.against

    @cached_property
    def size(self) -> Floats:
        """The weights of all that stand for a row."""
        return self.counts.along * self.along + self.counts.against * self.against

    @cached_property
    def moment(self) -> Floats:
        """What all weights that stand for a row change by."""
        return (self.counts.along + self.counts.against) * self.v

    def flatter(self) -> Weights:
        """Return the same weights with a v that falls more slowly."""
        return replace(self, v=np.maximum(self.along * self.against, SMALLEST_WEIGHT))

    def allow(self, least: Floats, most: Floats) -> Mask:
        """Tell on which rows the weights stay positive if ``a_i . q*`` lies between."""
        up = self.v * most * (1 + 1e-12) < self.along
        down = -self.v * least * (1 + 1e-12) < self.against
        up |= self.counts.along == 0
        return np.asarray(up & (down | (self.counts.against == 0)))

    def shares(self, products: Floats) -> Floats:
        """Return the share of its weight that a step takes of each row, at most."""
        up = np.where(self.counts.along > 0, self.v * products / self.along, -np.inf)
        down = np.where(
            self.counts.against > 0, -self.v * products / self.against, -np.inf
        )
        return np.maximum(up, down)


@dataclass(frozen=True)
class Step:
    """Newton's step from a point.

    Attributes
    ----------
    part : Part
    weights : Weights
    factor : Factor
    q : ndarray of shape (k,)
        In the coordinates of the part.
    """

    part: Part
    weights: Weights
    factor: Factor
    q: Floats

    @classmethod
    def at(cls, part: Part, products: Floats, counts: Counts, layout: Layout) -> Step:
        """Make the step from a point with these ``a_i . z``.

        Raises
        ------
        NotPositive
        """
        return cls._with(part, Weights.at(products, counts), layout)

    @classmethod
    def sure(cls, part: Part, products: Floats, counts: Counts, layout: Layout) -> Step:
        """Make the step by the factor that is of most use for a proof.

        Raises
        ------
        NotPositive
        """
        weights = Weights.at(products, counts)
        factor = factored(Moments.of(part, weights.moment, layout))
        step = cls(part, weights, factor, factor.solve(part.combined(weights.net)))
        return replace(step, q=step._improved(factor))

    @classmethod
    def _with(cls, part: Part, weights: Weights, layout: Layout) -> Step:
        """Solve with these weights."""
        moments = Moments.of(part, weights.moment, layout)
        # No more is taken away than must be: near an eigenvalue the step would be long.
        factor = moments.factored(max(LEAST_SHIFT, 2.0 * moments.error))
        return cls(part, weights, factor, factor.solve(part.combined(weights.net)))

    @cached_property
    def products(self) -> Floats:
        """The computed ``a_i . q``."""
        return self.part.products(self.q)

    @cached_property
    def shares(self) -> Floats:
        """The share of each weight taken away: all below one promise a proof."""
        return self.weights.shares(self.products)

    def is_proof(self) -> bool:
        """Tell whether all rows of the part overlap, beyond doubt."""
        if self._proves():
            return True
        try:
            other = self._with(
                self.part, self.weights.flatter(), self.factor.moments.layout
            )
        except NotPositive:
            return False
        return other._proves()

    def _proves(self) -> bool:
        """Tell whether it does with these v: by the factor at hand, or a better one."""
        if self._proves_by(self.factor):
            return True
        try:
            return self._proves_by(factored(self.factor.moments))
        except NotPositive:
            return False

    def _proves_by(self, factor: Factor) -> bool:
        """Tell whether a factor's bound on the eigenvalues is enough."""
        mu = factor.least_eigenvalue
        if not mu > 0:
            return False
        q = self._improved(factor)
        before = np.inf
        for _ in range(MOST_REFINEMENTS):
            residual = _Residual.of(self.part, self.weights, q)
            reach = self._lengths * (residual.norm(self.factor.moments) / mu)
            # What the product may be off by, and what q is off by.
            doubt = residual.errors + reach
            least, most = residual.products - doubt, residual.products + doubt
            if self.weights.allow(least, most).all():
                return True
            largest = float(reach.max(initial=0.0))
            if largest < GOOD or largest > SLOW * before:
                return False
            before, q = largest, q + factor.solve(residual.e)
        return False

    def _improved(self, factor: Factor) -> Floats:
        """Return q without most of what was taken away of the eigenvalues for it."""
        left = self.weights.net - self.weights.moment * self.products
        return self.q + factor.solve(self.part.combined(left))

    @cached_property
    def _lengths(self) -> Floats:
        """Upper bounds on ``|T^-1 a_i|``."""
        moments = self.factor.moments
        scale = moments.scaled(np.ones(self.q.size))

        squared = self.part.squares(scale**2)
        slack = 1 + gamma(self.part.longest + 8)
        return np.asarray(np.sqrt(squared) * slack + 1e-150)


def product_errors(sizes: Floats, longest: int) -> Floats:
    """Bound the error of products of rows whose terms have these sums of magnitudes."""
    return gamma(longest + 4) * sizes + 1e-300


def left_of(
    weights: Weights, products: Floats, errors: Floats, sum_error: float, n_rows: int
) -> tuple[Floats, Floats]:
    """Return ``p_i - v_i a_i . q`` of some rows, and what their sum may be off by.

    Parameters
    ----------
    weights : Weights
    products, errors : ndarray of shape (n,)
        The computed ``a_i . q``, and how far they may be off.
    sum_error : float
        What a sum over all rows is off by, as a share of its magnitudes.
    n_rows : int
        How many rows there are in all.

    Returns
    -------
    u, bound : ndarray of shape (n,)
        The sum of ``u_i a_i`` is off by that of ``bound_i |a_i|`` at most.
    """
    u = weights.net - weights.moment * products
    # u is off by the errors of the products and a few roundings of its own; the sum
    # over rows by one product and its additions.
    bound = (1 + gamma(6)) * weights.moment * errors
    bound += gamma(6) * (weights.size + weights.moment * np.abs(products))
    # The checker, which adds up in blocks, is to see it as well.
    blocks = gamma(2 * isqrt(n_rows) + 16)
    return u, bound + max(sum_error, blocks) * np.abs(u)


@dataclass(frozen=True)
class _Residual:
    """What a solution leaves: ``e = r - M q``, a sum over rows.

    Attributes
    ----------
    products, errors : ndarray of shape (n,)
        The computed ``a_i . q``, and how far they may be off.
    e, doubt : ndarray of shape (k,)
        The computed e, and how far it may be off.
    """

    products: Floats
    errors: Floats
    e: Floats
    doubt: Floats

    @classmethod
    def of(cls, part: Part, weights: Weights, q: Floats) -> _Residual:
        products, sizes = part.products_and_sizes(q)
        errors = product_errors(sizes, part.longest)
        u, bound = left_of(weights, products, errors, part.sum_error, part.shape[0])
        doubt = part.combined_sizes(bound) * (1 + gamma(part.shape[0] + 4)) + 1e-300
        return cls(products, errors, part.combined(u), doubt)

    def norm(self, moments: Moments) -> float:
        """Return an upper bound on ``|T^-1 e|``."""
        return residual_norm(moments, self.e, self.doubt)


def residual_norm(moments: Moments, e: Floats, doubt: Floats) -> float:
    """Return an upper bound on ``|T^-1 e|``, of an e that may be off by so much."""
    whole = moments.scaled(np.abs(e) + doubt)
    return float(np.linalg.norm(whole)) * (1 + gamma(whole.size + 8))
