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

from linsep.solvers.bounds import longest_row
from linsep.solvers.oracle import Answer
from linsep.solvers.soft_margin.game import worst_mean
from linsep.solvers.soft_margin.kernels import capped_exponentials


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

    @property
    def radius(self) -> float:
        """The length of the longest row, by which the loop sets its first step."""
        return longest_row(self.A)

    def weights(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the data player's weights at ``v``."""
        return self._weigh(self.A @ v)[1]

    def _weigh(self, margins: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
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

    def __call__(
        self, v: NDArray[np.float64], w: NDArray[np.float64] | None = None
    ) -> Answer:
        """Answer at ``v``; the margins are means of the worst share, not the least."""
        margins = self.A @ v
        least, p = self._weigh(margins)
        x = p @ self.A
        judged = self.judged(margins)
        play = judged if w is None else self.judged(self.A @ w)
        return Answer(-least, x, judged, play)

    def judged(self, margins: NDArray[np.float64]) -> float:
        """Return the mean of the worst share of the margins."""
        return sum(
            worst_mean(margins[index], self.caps[index], self.share)[0]
            for index in self.groups
        )
