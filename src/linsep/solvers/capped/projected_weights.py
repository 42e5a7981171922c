r"""The capped game by the paper's own loop: exponential weights on a capped simplex.

The data player's weights minimise ``sum_i p_i m_i + KL(p || p_0)`` over the capped
simplex, ``m_i = a_i . v``: exponential weights, of which those above their caps are cut
and the rest raised in proportion until the sum is right,

    p_i = min(cap_i, p0_i exp(-m_i - level)).

The value of that minimum, with its sign changed, is the oracle's ``f``; its gradient is
minus the pseudoexample ``x = sum_i p_i a_i``. So the loop of
`linsep.solvers.optimistic` runs on this oracle unchanged, and ``|G| / S`` bounds the
game's value from above at every round. It needs a sort of the rows a round and no
linear algebra. With the adaptive step both players settle in some ten rounds to a gap
of a few per cent, where the average's early plays weigh on; the estimators need 1e-4,
so they use the interior point.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linsep.solvers.capped.game import worst_mean
from linsep.solvers.oracle import Answer


class CappedOracle:
    """An oracle whose weights are capped; each group of rows holds a fixed mass.

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

    def __init__(
        self,
        A: NDArray[np.float64],
        caps: NDArray[np.float64],
        groups: list[NDArray[np.intp]],
    ) -> None:
        self.A = A
        self.caps = caps
        self.groups = groups
        self.share = 1.0 / len(groups)
        self._prior = np.empty(len(caps))
        for index in groups:
            self._prior[index] = caps[index] * (self.share / caps[index].sum())

    @property
    def radius(self) -> float:
        """The length of the longest row, by which the loop sets its first step."""
        return float(np.sqrt(np.einsum("ij,ij->i", self.A, self.A).max(initial=0.0)))

    def weights(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the data player's weights at ``v``."""
        margins = self.A @ v
        p = np.empty_like(margins)
        for index in self.groups:
            p[index] = capped_softmin(
                margins[index], self._prior[index], self.caps[index], self.share
            )
        return p

    def __call__(
        self, v: NDArray[np.float64], w: NDArray[np.float64] | None = None
    ) -> Answer:
        """Answer at ``v``; the margins are means of the worst share, not the least."""
        margins = self.A @ v
        p = self.weights(v)
        held = p > 0
        divergence = float(p[held] @ np.log(p[held] / self._prior[held]))
        f = -float(p @ margins) - divergence
        x = p @ self.A
        judged = self.judged(margins)
        play = judged if w is None else self.judged(self.A @ w)
        return Answer(f, x, judged, play)

    def judged(self, margins: NDArray[np.float64]) -> float:
        """Return the mean of the worst share of the margins."""
        return sum(
            worst_mean(margins[index], self.caps[index], self.share)[0]
            for index in self.groups
        )


def capped_softmin(
    margins: NDArray[np.float64],
    prior: NDArray[np.float64],
    caps: NDArray[np.float64],
    mass: float,
) -> NDArray[np.float64]:
    """Return ``p_i = min(cap_i, prior_i exp(-margin_i - level))`` of a given mass.

    The ratios ``prior_i / cap_i`` must all be equal: then the rows at their caps are
    those of the smallest margins.

    Examples
    --------
    >>> import numpy as np
    >>> third = np.full(3, 1 / 3)
    >>> p = capped_softmin(np.array([0.0, 9.0, 9.0]), third, np.full(3, 0.5), 1.0)
    >>> [round(float(v), 6) for v in p]
    [0.5, 0.25, 0.25]
    """
    order = np.argsort(margins, kind="stable")
    raw = prior[order] * np.exp(margins[order[0]] - margins[order])
    below = np.concatenate([[0.0], np.cumsum(caps[order])[:-1]])
    rest = np.cumsum(raw[::-1])[::-1]
    # With the first k at their caps the others are raised by this factor; the right k
    # is the first that leaves the next row at or under its cap.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        factor = np.maximum(mass - below, 0.0) / rest
        fits = factor * raw <= caps[order] * (1.0 + 1e-12)
    k = int(np.argmax(fits)) if fits.any() else len(order) - 1
    p = np.empty_like(margins)
    p[order[:k]] = caps[order[:k]]
    left = raw[k:] * (max(0.0, mass - below[k]) / rest[k]) if rest[k] > 0 else 0.0
    p[order[k:]] = np.minimum(left, caps[order[k:]])
    return p
