"""Von Neumann's algorithm (Dantzig 1992), which is Gilbert's (1966)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from linsep.arrays import Floats
from linsep.lab.game.bounds import perceptron_bound
from linsep.lab.perceptrons.in_rounds import PlayedInRounds, Round


@dataclass(frozen=True, kw_only=True)
class VonNeumann(PlayedInRounds):
    r"""Walk in the convex hull of the rows towards the origin.

    From the row of least norm, ``x = a_i``, move towards the row that ``x`` serves
    worst, as far as brings ``x`` nearest to the origin::

        i = argmin_i a_i . x;    x <- x + s (a_i - x),   0 <= s <= 1 the best for |x|

    ``x`` is both the weight vector and the pseudoexample ``A^T p``: it separates as
    soon as ``min_i a_i . x > 0``, and its norm bounds the largest margin from above.

    Parameters
    ----------
    fit_intercept, max_rounds
        As of `PlayedInRounds`.

    Notes
    -----
    While ``a_i . x <= 0`` a move gives ``1 / |x|^2`` at least ``1 / r^2``
    more, and ``|x|`` stays at or above the largest margin, so at most
    ``(r / margin)^2`` points are visited before one separates; when no hyperplane
    separates, ``|x| <= r / sqrt(k)`` after k points. A round costs n inner products for
    the margins, two for the step and two additions.

    References
    ----------
    E. Gilbert, "An iterative procedure for computing the minimum of a quadratic form on
    a convex set", SIAM Journal on Control 4 (1966), doi:10.1137/0304007.
    G. Dantzig, "An epsilon-precise feasible solution to a linear program with a
    convexity constraint in 1/epsilon^2 iterations", Stanford SOL 92-5 (1992).

    Examples
    --------
    >>> from linsep.perceptrons import VonNeumann
    >>> VonNeumann().run([[10.0], [11.0]], [0, 1]).separated
    True
    """

    def rounds(self, A: Floats) -> Iterator[Round]:
        """Yield each point visited on signed rows ``A`` (n, d), for ever."""
        i = int(np.argmin(np.einsum("ij,ij->i", A, A)))
        x = A[i].copy()
        p = np.zeros(len(A))
        p[i] = 1.0
        while True:
            margins = A @ x
            yield Round(x, p, float(margins.min()))
            i = int(np.argmin(margins))
            towards = A[i] - x
            length = float(towards @ towards)
            step = min(1.0, max(0.0, -float(x @ towards) / length)) if length else 0.0
            x = x + step * towards
            p = (1.0 - step) * p
            p[i] += step

    @staticmethod
    def cost(n: int, n_rounds: int) -> tuple[int, int]:
        """Return the passes over n rows, and the operations, of some rounds."""
        return n_rounds + 1, n + n_rounds * (n + 4)

    @staticmethod
    def round_bound(radius: float, margin: float) -> float:
        """Return ``(radius / margin)^2``: enough points to meet a separator."""
        return perceptron_bound(margin, radius)
