"""The Voted Perceptron and its averaged variant (Freund & Schapire 1999)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linsep.lab.perceptrons.perceptron import additive_result
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
    PerceptronResult,
    new_rows,
    reason,
)
from linsep.lab.perceptrons.settings import check_number, generator, novikoff


@dataclass(frozen=True, repr=False)
class VotedResult(PerceptronResult):
    """A fit whose predictor is a vote of hyperplanes, hence not a hyperplane itself.

    Attributes
    ----------
    vectors : ndarray of shape (k, n_features)
        The weight vectors the run went through.
    intercepts : ndarray of shape (k,)
        Their intercepts.
    votes : ndarray of shape (k,)
        How many rows each survived, its own creation counted.
    """

    vectors: FloatArray
    intercepts: FloatArray
    votes: FloatArray

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return ``sum_k votes_k sign(vectors_k . x + intercepts_k)``, (n_samples,)."""
        rows = new_rows(X, self.vectors.shape[1])
        signs = np.sign(rows @ self.vectors.T + self.intercepts)
        values: FloatArray = signs @ self.votes
        return values


@dataclass(frozen=True)
class VotedPerceptron:
    r"""Run Perceptron; let every vector it went through vote by how long it survived.

    Perceptron's vectors ``w_1, w_2, ...`` survive ``c_k`` rows each: ``c_k`` counts the
    mistake that made ``w_k`` and every row after it on the right side. The prediction
    is ::

        sign( sum_k c_k sign(w_k . x) ).

    Parameters
    ----------
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    order : {"cyclic", "shuffled"}, default="cyclic"
        Row order on each pass: as given, or a fresh permutation.
    max_updates : int or None, default=None
        Updates at most.
    max_passes : int or None, default=10
        Passes at most (the "epochs" T of the source). A pass without mistakes ends the
        run too.
    random_state : int or None, default=None
        Seed of the shuffles.

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
    >>> voted = VotedPerceptron().fit([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> voted.predict([[0.0], [6.0]])
    array([0, 1])
    """

    fit_intercept: bool = True
    order: Order = "cyclic"
    max_updates: int | None = None
    max_passes: int | None = 10
    random_state: int | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> VotedResult:
        """Run on ``X`` (n_samples, n_features) with two-class labels ``y``."""
        data = signed_rows(X, y, fit_intercept=self.fit_intercept)
        shown = Presentation(self.order, self.max_updates, self.max_passes)
        rng = generator(self.random_state)
        vectors, votes, counts, tally = vectors_and_votes(data, shown, rng)
        agreement = np.sign(data.A @ vectors.T) @ votes
        separated = bool((agreement > 0).all())
        return VotedResult(
            method="VotedPerceptron",
            classes=data.classes,
            separated=separated,
            stopped=reason(tally.stopped, separated=separated),
            n_updates=tally.n_updates,
            n_passes=tally.n_passes,
            n_operations=tally.n_operations,
            row_weights=counts,
            vectors=vectors[:, :-1] if self.fit_intercept else vectors,
            intercepts=vectors[:, -1] if self.fit_intercept else np.zeros(len(votes)),
            votes=votes,
        )

    @staticmethod
    def mistake_bound(radius: float, margin: float, deviation: float = 0.0) -> float:
        """Return ``((radius + deviation) / margin)^2``.

        With ``deviation = 0`` it holds over all passes, else over the first one.
        """
        radius = check_number("radius", radius, above=0)
        deviation = check_number("deviation", deviation, least=0)
        return novikoff(radius + deviation, margin)


@dataclass(frozen=True)
class AveragedPerceptron:
    r"""Run Perceptron; answer with the average of its vectors over the rows shown.

    With ``w_k`` and ``c_k`` as in `VotedPerceptron` the answer is the hyperplane ::

        sum_k c_k w_k / sum_k c_k.

    Parameters, bound and source are those of `VotedPerceptron` (the source's "average,
    unnormalized" prediction). ``row_weights`` count the mistakes, as in `Perceptron`.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    order : {"cyclic", "shuffled"}, default="cyclic"
        Row order on each pass: as given, or a fresh permutation.
    max_updates : int or None, default=None
        Updates at most.
    max_passes : int or None, default=10
        Passes at most. A pass without mistakes ends the run too.
    random_state : int or None, default=None
        Seed of the shuffles.

    Examples
    --------
    >>> from linsep.perceptrons import AveragedPerceptron
    >>> X, y = [[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1]
    >>> AveragedPerceptron().fit(X, y).predict([[6.0]])
    array([1])
    """

    fit_intercept: bool = True
    order: Order = "cyclic"
    max_updates: int | None = None
    max_passes: int | None = 10
    random_state: int | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> LinearResult:
        """Run on ``X`` (n_samples, n_features) with two-class labels ``y``."""
        data = signed_rows(X, y, fit_intercept=self.fit_intercept)
        shown = Presentation(self.order, self.max_updates, self.max_passes)
        rng = generator(self.random_state)
        vectors, votes, counts, tally = vectors_and_votes(data, shown, rng)
        average = votes @ vectors / votes.sum()
        return additive_result("AveragedPerceptron", data, average, counts, tally)

    mistake_bound = staticmethod(VotedPerceptron.mistake_bound)


def vectors_and_votes(
    data: SignedRows, shown: Presentation, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray, Tally]:
    """Run Perceptron; return its vectors (k, d), votes (k,), row counts and tally.

    The vector ``w = 0`` it starts from predicts nothing and has no vote.
    """
    A = data.A
    w = np.zeros(A.shape[1])
    counts = np.zeros(len(A))
    vectors: list[FloatArray] = []
    born: list[int] = []
    tally = Tally()
    for i in shown.mistakes(A, w, rng, tally):
        w += A[i]
        counts[i] += 1
        tally.n_additions += 1
        vectors.append(w.copy())
        born.append(tally.n_inner_products)
    # The row that convicts the next vector is counted by it, not by its predecessor.
    end = tally.n_inner_products + (0 if tally.stopped == "max_updates" else 1)
    votes = np.diff(np.array([*born, end], dtype=np.float64))
    return np.array(vectors).reshape(-1, A.shape[1]), votes, counts, tally
