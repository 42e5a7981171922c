"""The Voted Perceptron and its averaged variant (Freund & Schapire 1999)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linsep.arrays import Floats
from linsep.input import checked_number
from linsep.lab.game.bounds import perceptron_bound
from linsep.lab.perceptrons.by_mistakes import DrivenByMistakes, HyperplaneByMistakes
from linsep.lab.perceptrons.method import History, result_of
from linsep.lab.perceptrons.result import LinearResult, PerceptronResult, new_rows
from linsep.lab.signed_rows import SignedRows


@dataclass(frozen=True, repr=False)
class VotedResult(PerceptronResult):
    """The outcome of a run with a vote of hyperplanes, which is none itself.

    Attributes
    ----------
    vectors : ndarray of shape (k, n_features)
        The weight vectors the run went through.
    intercepts : ndarray of shape (k,)
        Their intercepts.
    votes : ndarray of shape (k,)
        How many rows each survived, its own creation counted.
    """

    vectors: Floats
    intercepts: Floats
    votes: Floats

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return ``sum_k votes_k sign(vectors_k . x + intercepts_k)``, (n_samples,)."""
        rows = new_rows(X, self.vectors.shape[1])
        signs = np.sign(rows @ self.vectors.T + self.intercepts)
        return signs @ self.votes


@dataclass(frozen=True, kw_only=True)
class VotedPerceptron(DrivenByMistakes[VotedResult]):
    r"""Run Perceptron; let every vector it went through vote by how long it survived.

    Perceptron's vectors ``w_1, w_2, ...`` survive ``c_k`` rows each: ``c_k`` counts the
    mistake that made ``w_k`` and every row after it on the right side. The prediction
    is ::

        sign( sum_k c_k sign(w_k . x) ).

    Parameters
    ----------
    fit_intercept, order, max_updates, random_state
        As of `DrivenByMistakes`.
    max_passes : int or None, default=10
        Passes at most (the "epochs" T of the source). A pass without mistakes ends the
        run too.

    Notes
    -----
    The mistakes are Perceptron's: at most ``(r / margin)^2`` on rows with that margin.
    On any rows whatever, one pass makes at most ``((r + D) / margin)^2`` mistakes, with
    ``D^2 = sum_i max(0, margin - a_i . u)^2`` for any unit vector ``u`` and any
    ``margin > 0`` (Theorem 2 of the source); hence a bound on the expected error of the
    vote on a new row (Theorem 3, by a leave-one-out argument). The vote need not
    separate the training rows although the last vector does: ``separated`` says.

    References
    ----------
    Y. Freund, R. Schapire, "Large margin classification using the perceptron
    algorithm", Machine Learning 37 (1999), doi:10.1023/A:1007662407062.

    Examples
    --------
    >>> from linsep.perceptrons import VotedPerceptron
    >>> voted = VotedPerceptron().run([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> voted.predict([[0.0], [6.0]])
    array([0, 1])
    """

    max_passes: int | None = 10

    def _run(self, rows: SignedRows) -> VotedResult:
        """Learn as Perceptron does, and let all its vectors vote."""
        _, history = self.learn(rows)
        vectors, votes = vectors_and_votes(rows, history)
        separated = bool((np.sign(rows.A @ vectors.T) @ votes > 0).all())
        coef, intercepts = rows.split(vectors)
        return result_of(
            VotedResult,
            "VotedPerceptron",
            rows,
            history,
            separated=separated,
            vectors=coef,
            intercepts=intercepts,
            votes=votes,
        )

    @staticmethod
    def mistake_bound(radius: float, margin: float, deviation: float = 0.0) -> float:
        """Return ``((radius + deviation) / margin)^2``.

        With ``deviation = 0`` it holds over all passes, else over the first one.
        """
        radius = checked_number("radius", radius, above=0)
        deviation = checked_number("deviation", deviation, least=0)
        return perceptron_bound(margin, radius + deviation)


@dataclass(frozen=True, kw_only=True)
class AveragedPerceptron(HyperplaneByMistakes):
    r"""Run Perceptron; answer with the average of its vectors over the rows shown.

    With ``w_k`` and ``c_k`` as in `VotedPerceptron` the answer is the hyperplane ::

        sum_k c_k w_k / sum_k c_k.

    Parameters, bound and source are those of `VotedPerceptron` (the source's "average,
    unnormalized" prediction). ``row_weights`` count the mistakes, as in `Perceptron`.

    Examples
    --------
    >>> from linsep.perceptrons import AveragedPerceptron
    >>> X, y = [[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1]
    >>> AveragedPerceptron().run(X, y).predict([[6.0]])
    array([1])
    """

    max_passes: int | None = 10

    def answer(self, rows: SignedRows, w: Floats, history: History) -> LinearResult:
        """Return the result of the average; the last ``w`` is one of many."""
        vectors, votes = vectors_and_votes(rows, history)
        return super().answer(rows, votes @ vectors / votes.sum(), history)

    mistake_bound = staticmethod(VotedPerceptron.mistake_bound)


def vectors_and_votes(rows: SignedRows, history: History) -> tuple[Floats, Floats]:
    """Return Perceptron's vectors (k, d) and the rows each survived (k,).

    The vector ``w = 0`` it starts from predicts nothing and has no vote.
    """
    erred = [i for i, _ in history.mistakes]
    born = [shown for _, shown in history.mistakes]
    # The row that convicts the next vector is counted by it, not by its predecessor.
    end = history.n_shown + (0 if history.stopped == "max_updates" else 1)
    votes = np.diff(np.array([*born, end], dtype=np.float64))
    return np.cumsum(rows.A[erred], axis=0), votes
