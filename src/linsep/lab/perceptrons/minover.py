"""Minover (Krauth & Mezard 1987) and Maxover (Wendemuth 1995)."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from linsep.arrays import Floats, Mask
from linsep.input import checked_count, checked_number
from linsep.lab.game.bounds import perceptron_bound
from linsep.lab.perceptrons.method import History, Method, linear_result
from linsep.lab.perceptrons.result import LinearResult
from linsep.lab.signed_rows import SignedRows


@dataclass(frozen=True, kw_only=True)
class AddsOneRow(Method[LinearResult]):
    """A method that reads all rows for each update, and adds one that is wrong."""

    max_updates: int = 100_000

    #: Whether the answer is the vector with the fewest wrong rows, or the last.
    keeps_best: ClassVar[bool] = False

    @abstractmethod
    def wanted(self, w: Floats) -> float:
        """Return the number that every ``a_i . w`` must exceed."""

    @staticmethod
    @abstractmethod
    def chosen(margins: Floats, wrong: Mask) -> int:
        """Return which of the wrong rows to add."""

    def _run(self, rows: SignedRows) -> LinearResult:
        """Add rows until none is wrong, or as often as allowed."""
        max_updates = checked_count("max_updates", self.max_updates)
        A, history = rows.A, History(np.zeros(len(rows.A)), stopped="separated")
        w = np.zeros(A.shape[1])
        fewest, best = len(A) + 1, (w, history.counts)
        while True:
            margins = A @ w
            wrong = margins <= self.wanted(w)
            n_wrong = int(np.count_nonzero(wrong))
            history.n_passes += 1
            history.n_shown += len(A)
            if n_wrong < fewest or not self.keeps_best:
                fewest, best = n_wrong, (w, history.counts.copy())
            if n_wrong == 0:
                break
            if history.n_updates == max_updates:
                history.stopped = "max_updates"
                break
            i = self.chosen(margins, wrong)
            w = w + A[i]
            history.counts[i] += 1
            history.n_updates += 1
        w, history.counts = best
        return linear_result(type(self).__name__, rows, w, history)


@dataclass(frozen=True)
class Minover(AddsOneRow):
    r"""Add the row of smallest margin, until all margins exceed a target.

    From ``w = 0``, each update reads all rows::

        i = argmin_i a_i . w;      a_i . w <= target:   w <- w + a_i

    Parameters
    ----------
    target : float, default=0.0
        ``>= 0``, in units of squared rows. At 0 it stops at the first separator; the
        larger it is, the nearer the margin found comes to the largest one.
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    max_updates : int, default=100_000
        Updates at most. On data no hyperplane separates the run ends only here.

    Notes
    -----
    If the largest margin is ``margin > 0`` there are at most
    ``(r^2 + 2 target) / margin^2`` updates, and after k of them
    ``k margin <= |w| <= k margin + r + r^2 (1 + ln k) / (2 margin)``, so the margin of
    ``w`` approaches the largest one as the target grows (the page on the family has the
    proof). An update costs n inner products and one addition.

    References
    ----------
    W. Krauth, M. Mezard, "Learning algorithms with optimal stability in neural
    networks", Journal of Physics A 20 (1987), doi:10.1088/0305-4470/20/11/013.

    Examples
    --------
    >>> from linsep.perceptrons import Minover
    >>> Minover(target=100.0).run([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1]).separated
    True
    """

    target: float = 0.0

    def wanted(self, w: Floats) -> float:
        """Return the target."""
        return checked_number("target", self.target, least=0)

    @staticmethod
    def chosen(margins: Floats, wrong: Mask) -> int:
        """Return the row of smallest margin."""
        return int(np.argmin(margins))

    def mistake_bound(self, radius: float, margin: float) -> float:
        """Return ``(radius^2 + 2 target) / margin^2``, the most updates."""
        target = checked_number("target", self.target, least=0)
        return perceptron_bound(margin, radius) + 2.0 * target / margin**2


@dataclass(frozen=True)
class Maxover(AddsOneRow):
    r"""Add the row nearest to being right among those that are not yet.

    The stability of a row is ``a_i . w / |w|``. From ``w = 0``, each update reads all
    rows, looks at those whose stability is at most ``stability``, and adds the
    *largest* of them::

        i = argmax { a_i . w : a_i . w <= stability |w| };      w <- w + a_i

    Where Minover serves the worst row for ever, Maxover first wins those that can be
    won. The answer is the vector met with the fewest rows at or below the stability.

    Parameters
    ----------
    stability : float, default=0.0
        ``>= 0``, the distance from the hyperplane wanted of every row. At 0 it is a
        Perceptron with its own order of presentation.
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    max_updates : int, default=10_000
        Updates at most. On data no hyperplane separates, and when ``stability`` is not
        below the largest margin, the run ends only here.

    Notes
    -----
    If the largest margin is ``margin > stability`` the run ends after k updates with ::

        (margin - stability) k <= r + r^2 (1 + ln k) / (2 margin),

    since ``|w|``, at least ``k margin``, grows by at most ``stability + r^2 / (2 |w|)``
    an update; at ``stability = 0`` also ``k <= (r / margin)^2``. Where no hyperplane
    separates no bound is known; the source claims a local optimum. The rule of choice
    is the source's, as its name says it; keeping the best vector met is Gallant's
    pocket (1990), in the place of the source's stopping rules for unlearnable data.
    An update costs n inner products and one addition.

    References
    ----------
    A. Wendemuth, "Learning the unlearnable", Journal of Physics A 28 (1995),
    doi:10.1088/0305-4470/28/18/030.
    S. Gallant, "Perceptron-based learning algorithms", IEEE Transactions on Neural
    Networks 1 (1990), doi:10.1109/72.80230.

    Examples
    --------
    Four labels of forty are wrong; Maxover gets the rest right:

    >>> import numpy as np
    >>> from linsep.perceptrons import Maxover
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 3))
    >>> y = X @ [1.0, 2.0, -1.0] + 0.3 > 0
    >>> y[:4] = ~y[:4]
    >>> result = Maxover(max_updates=3000).run(X, y)
    >>> result.separated, int((result.predict(X) != y).sum())
    (False, 4)
    """

    stability: float = 0.0
    max_updates: int = field(default=10_000, kw_only=True)

    keeps_best: ClassVar[bool] = True

    def wanted(self, w: Floats) -> float:
        """Return ``stability |w|``."""
        stability = checked_number("stability", self.stability, least=0)
        return stability * float(np.linalg.norm(w))

    @staticmethod
    def chosen(margins: Floats, wrong: Mask) -> int:
        """Return the wrong row of largest margin."""
        return int(np.argmax(np.where(wrong, margins, -np.inf)))

    def mistake_bound(self, radius: float, margin: float) -> float:
        """Return the most updates there can be on rows with that margin.

        The largest k of the notes, infinite when ``margin <= stability``.
        """
        bound = perceptron_bound(margin, radius)
        if margin <= self.stability:
            return math.inf
        if self.stability == 0:
            return bound
        gain = margin - self.stability
        k = 1.0
        # The right-hand side grows like ln k: iterating it climbs to the last crossing.
        while True:
            bound = radius + radius**2 * (1.0 + math.log(k)) / (2.0 * margin)
            if bound / gain <= k * (1.0 + 1e-12):
                return k
            k = bound / gain
