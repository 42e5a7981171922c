"""The loop of the methods that see all rows every round.

Such a method is a generator of its states, one a round, and the cost of a number of
rounds. The loop checks each state for separation and ends at the first separator, or
at the limit.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from linsep.arrays import Floats
from linsep.input import checked_count
from linsep.lab.game.bounds import sharper_rounds_bound
from linsep.lab.perceptrons.method import History, Method, linear_result
from linsep.lab.perceptrons.result import LinearResult, Stop, margin_bounds
from linsep.lab.signed_rows import SignedRows
from linsep.solvers.bounds import longest_row


@dataclass(frozen=True)
class Round:
    """A method's state after a round.

    The weights `w` it would answer with, its distribution `p` over the rows, and the
    margin ``min_i a_i . w``, from inner products the method computes anyway.
    """

    w: Floats
    p: Floats
    margin: float


@dataclass(frozen=True, kw_only=True)
class PlayedInRounds(Method[LinearResult]):
    """A method that sees all rows every round.

    Of its result, ``n_updates`` is the number of rounds and ``row_weights`` the last
    distribution over the rows.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    max_rounds : int, default=100_000
        Rounds at most.
    """

    max_rounds: int = 100_000

    @abstractmethod
    def rounds(self, A: Floats) -> Iterator[Round]:
        """Yield the state after each round on signed rows ``A`` (n, d), for ever."""

    @staticmethod
    @abstractmethod
    def cost(n: int, n_rounds: int) -> tuple[int, int]:
        """Return the passes over n rows, and the operations, of some rounds."""

    def _run(self, rows: SignedRows) -> LinearResult:
        """Play until a state separates, or as many rounds as allowed."""
        max_rounds = checked_count("max_rounds", self.max_rounds)
        stopped: Stop = "max_rounds"
        for n_rounds, played in enumerate(self.rounds(rows.A), start=1):
            if played.margin > 0 and margin_bounds(rows.A, played.w, played.p)[0] > 0:
                stopped = "separated"
                break
            if n_rounds == max_rounds:
                break
        n_passes, n_operations = self.cost(len(rows.A), n_rounds)
        history = History(
            played.p,
            n_passes=n_passes,
            n_updates=n_rounds,
            charged=n_operations,
            stopped=stopped,
        )
        return linear_result(type(self).__name__, rows, played.w, history)


def largest_norm(A: Floats) -> float:
    """Return ``r = max_i |a_i|``, or 1 if every row is zero."""
    return longest_row(A) or 1.0


def optimistic_count(n: int, radius: float, margin: float) -> float:
    """Return ``radius sqrt(2 ln n) / margin`` of n rows."""
    return sharper_rounds_bound(margin, radius, math.log(checked_count("n", n)))
