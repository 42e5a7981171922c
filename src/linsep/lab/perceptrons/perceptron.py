"""The Perceptron (Rosenblatt 1958)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linsep.lab.game.bounds import perceptron_bound
from linsep.lab.perceptrons import _mistakes
from linsep.lab.perceptrons.by_mistakes import HyperplaneByMistakes, State
from linsep.lab.perceptrons.method import History
from linsep.lab.perceptrons.result import LinearResult
from linsep.lab.signed_rows import SignedRows, signed_rows

# Cyclic passes handed to compiled code between two looks at the callback: about a
# second of work at fifteen rows of fifteen columns.
PASSES_A_CALL = 1 << 22
NO_CAP = int(np.iinfo(np.int64).max)

Callback = Callable[[History], object]


@dataclass(frozen=True, kw_only=True)
class Perceptron(HyperplaneByMistakes):
    r"""Add every row that is on the wrong side, until none is.

    With signed rows ``a_i`` and ``w = 0`` at first, rows are shown one at a time::

        a_i . w <= 0:   w <- w + a_i

    A row on the hyperplane counts as a mistake.

    Parameters
    ----------
    fit_intercept, order, max_updates, max_passes, random_state
        As of `DrivenByMistakes`.

    Notes
    -----
    If ``a_i . u >= margin > 0`` for a unit vector ``u`` and all rows, and
    ``|a_i| <= r``, then there are at most ``(r / margin)^2`` updates (Novikoff 1962),
    in any order. Finding each may take up to n inner products: in the paper's unit a
    run costs one for each row shown, plus one for each update.

    References
    ----------
    F. Rosenblatt, "The perceptron: a probabilistic model for information storage and
    organization in the brain", Psychological Review 65 (1958), doi:10.1037/h0042519.
    A. Novikoff, "On convergence proofs on perceptrons", Symposium on the Mathematical
    Theory of Automata 12 (1962).

    Examples
    --------
    >>> from linsep.perceptrons import Perceptron
    >>> Perceptron().run([[10.0], [11.0]], [0, 1])
    Perceptron: separated, 445 updates, 234 passes, 913 operations
    """

    def run(
        self, X: ArrayLike, y: ArrayLike, *, callback: Callback | None = None
    ) -> LinearResult:
        """Run on rows and labels, as of `Method.run`.

        Parameters
        ----------
        X, y
            As of `Method.run`.
        callback : callable or None, default=None
            Called with the running counts every few million passes.

        Returns
        -------
        LinearResult
            Its ``row_weights`` are how often each row was added, so that
            ``w = sum_i row_weights_i a_i``.
        """
        rows = signed_rows(X, y, fit_intercept=self.fit_intercept)
        state, history = self.learn(rows, callback)
        return self.answer(rows, state.w, history)

    def learn(
        self, rows: SignedRows, callback: Callback | None = None
    ) -> tuple[State, History]:
        """Run the loop of `DrivenByMistakes`, compiled."""
        max_updates, max_passes, rng = self.limits()
        counts = np.zeros(len(rows.A), dtype=np.int64)
        state, history = self.init(rows), History(np.zeros(0))
        a_call = PASSES_A_CALL if self.order == "cyclic" else 1
        most_passes = min(NO_CAP, max_passes or NO_CAP)
        most_updates = min(NO_CAP, max_updates or NO_CAP)
        while history.n_passes < most_passes:
            passes, updates, products, ending = _mistakes.perceptron_passes(
                rows.A,
                self.pass_order(len(rows.A), rng),
                state.w,
                counts,
                min(a_call, most_passes - history.n_passes),
                most_updates - history.n_updates,
            )
            history.n_passes += passes
            history.n_updates += updates
            history.n_shown += products
            if ending == _mistakes.SEPARATED:
                history.stopped = "separated"
                break
            if ending == _mistakes.OUT_OF_UPDATES:
                history.stopped = "max_updates"
                break
            if callback is not None:
                callback(history)
        history.counts = counts.astype(np.float64)
        return state, history

    @staticmethod
    def mistake_bound(radius: float, margin: float) -> float:
        """Return ``(radius / margin)^2``, the most updates there can be."""
        return perceptron_bound(margin, radius)
