"""The Perceptron (Rosenblatt 1958)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linsep.lab.perceptrons import _mistakes
from linsep.lab.perceptrons.presentation import (
    Order,
    Presentation,
    SignedRows,
    Tally,
    signed_rows,
)
from linsep.lab.perceptrons.result import (
    FloatArray,
    LinearResult,
    margin_bounds,
    reason,
)
from linsep.lab.perceptrons.settings import generator, novikoff

# Cyclic passes handed to compiled code between two looks at the callback: about a
# second of work at fifteen rows of fifteen columns.
PASSES_A_CALL = 1 << 22


@dataclass(frozen=True)
class Perceptron:
    r"""Add every row that is on the wrong side, until none is.

    With signed rows ``a_i`` and ``w = 0`` at first, rows are shown one at a time::

        a_i . w <= 0:   w <- w + a_i

    A row on the hyperplane counts as a mistake.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    order : {"cyclic", "shuffled"}, default="cyclic"
        Row order on each pass: as given, or a fresh permutation.
    max_updates : int or None, default=None
        Updates at most.
    max_passes : int or None, default=1000
        Passes at most. On data no hyperplane separates the run ends only by a cap.
    random_state : int or None, default=None
        Seed of the shuffles.

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
    >>> Perceptron().fit([[10.0], [11.0]], [0, 1])
    Perceptron: separated, 445 updates, 234 passes, 913 operations
    """

    fit_intercept: bool = True
    order: Order = "cyclic"
    max_updates: int | None = None
    max_passes: int | None = 1000
    random_state: int | None = None

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        callback: Callable[[Tally], object] | None = None,
    ) -> LinearResult:
        """Run on ``X`` (n_samples, n_features) with two-class labels ``y``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        callback : callable or None, default=None
            Called with the running counts every few million passes.

        Returns
        -------
        LinearResult
            The last weight vector and the counts; ``row_weights`` are how often each
            row was added, so that ``w = sum_i row_weights_i a_i``.
        """
        data = signed_rows(X, y, fit_intercept=self.fit_intercept)
        w = np.zeros(data.A.shape[1])
        counts = np.zeros(len(data.A), dtype=np.int64)
        tally = self._run(data.A, w, counts, callback)
        return additive_result("Perceptron", data, w, counts.astype(np.float64), tally)

    def _run(
        self,
        A: FloatArray,
        w: FloatArray,
        counts: np.ndarray[tuple[int], np.dtype[np.int64]],
        callback: Callable[[Tally], object] | None,
    ) -> Tally:
        """Change ``w`` and ``counts`` in place until no row is violated, or a cap."""
        shown = Presentation(self.order, self.max_updates, self.max_passes)
        rng = generator(self.random_state)
        no_cap = int(np.iinfo(np.int64).max)
        max_passes = min(no_cap, self.max_passes or no_cap)
        max_updates = min(no_cap, self.max_updates or no_cap)
        a_call = PASSES_A_CALL if self.order == "cyclic" else 1
        tally = Tally()
        while tally.n_passes < max_passes:
            passes, updates, products, ending = _mistakes.perceptron_passes(
                A,
                shown.pass_order(len(A), rng),
                w,
                counts,
                min(a_call, max_passes - tally.n_passes),
                max_updates - tally.n_updates,
            )
            tally.n_passes += passes
            tally.n_updates += updates
            tally.n_inner_products += products
            tally.n_additions += updates
            if ending == _mistakes.SEPARATED:
                tally.stopped = "separated"
                break
            if ending == _mistakes.OUT_OF_UPDATES:
                tally.stopped = "max_updates"
                break
            if callback is not None:
                callback(tally)
        return tally

    @staticmethod
    def mistake_bound(radius: float, margin: float) -> float:
        """Return ``(radius / margin)^2``, the most updates there can be."""
        return novikoff(radius, margin)


def additive_result(
    method: str, data: SignedRows, w: FloatArray, counts: FloatArray, tally: Tally
) -> LinearResult:
    """Return the result of a method whose predictor is the hyperplane ``w``."""
    coef, intercept = data.split(w)
    lower, upper = margin_bounds(data.A, w, counts)
    return LinearResult(
        method=method,
        classes=data.classes,
        separated=lower > 0,
        stopped=reason(tally.stopped, separated=lower > 0),
        n_updates=tally.n_updates,
        n_passes=tally.n_passes,
        n_operations=tally.n_operations,
        row_weights=counts,
        coef=coef,
        intercept=intercept,
        margin_lower=lower,
        margin_upper=upper,
    )
