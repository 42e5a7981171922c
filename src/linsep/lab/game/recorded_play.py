"""The record of a play, round by round, and everything derived from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats
from linsep.lab.game.protocols import DataPlayer, Learner

First = Literal["learner", "data"]


@dataclass(frozen=True, repr=False, eq=False)
class RecordedPlay:
    r"""A play of T rounds. Round ``t`` is at index ``t - 1`` of every array.

    Attributes
    ----------
    A : ndarray of shape (n, d)
        Signed rows.
    learner, data : Learner, DataPlayer
        The players.
    first : {"learner", "data"}
        Who moved first in a round.
    p_start : ndarray of shape (n,)
        ``p_0``.
    w, p : ndarray of shape (T, d) and (T, n)
        The moves of the learner and of the data player.
    weights, steps : ndarray of shape (T,)
        Of the rounds, and of the data player; nan if it has no steps.
    divergences, reaches : ndarray of shape (T,)
        ``D(p_t, p_{t-1})`` and ``max_p D(p, p_{t-1})``; nan without a regulariser.
    n_trials : int
        Rounds tried, those played again counted.
    """

    A: Floats
    learner: Learner
    data: DataPlayer
    first: First
    p_start: Floats
    w: Floats
    p: Floats
    weights: Floats
    steps: Floats
    divergences: Floats
    reaches: Floats
    n_trials: int

    @property
    def n_rounds(self) -> int:
        """How many rounds were played, ``T``."""
        return len(self.w)

    @cached_property
    def rounds(self) -> NDArray[np.int64]:
        """The numbers of the rounds, ``1, ..., T``."""
        return np.arange(1, self.n_rounds + 1)

    @cached_property
    def radius(self) -> float:
        """The largest row norm, ``r``."""
        return float(np.linalg.norm(self.A, axis=1).max())

    @cached_property
    def distributions(self) -> Floats:
        """All distributions ``p_0, ..., p_T``, shape (T + 1, n)."""
        return np.vstack([self.p_start, self.p])

    @cached_property
    def pseudoexamples(self) -> Floats:
        """The ``x_t = A^T p_t`` of ``t = 0, ..., T``, shape (T + 1, d)."""
        return self.distributions @ self.A

    @cached_property
    def margins(self) -> Floats:
        """Every row's ``a_i . w_t``, shape (T, n)."""
        return self.w @ self.A.T

    @cached_property
    def payoffs(self) -> Floats:
        """What the learner gets and the data player pays, ``p_t . A w_t``, (T,)."""
        payoffs: Floats = np.einsum("ti,ti->t", self.p, self.margins)
        return payoffs

    @cached_property
    def total_weight(self) -> Floats:
        """The sum of weights so far, ``S_t``, (T,)."""
        return np.cumsum(self.weights)

    @cached_property
    def weighted_pseudoexamples(self) -> Floats:
        """The sums ``G_t = sum_{s<=t} weight_s x_s``, shape (T, d)."""
        return self._sums(self.pseudoexamples[1:])

    @cached_property
    def weighted_margins(self) -> Floats:
        """The ``A v_t`` with ``v_t = sum_{s<=t} weight_s w_s``, shape (T, n)."""
        return self._sums(self.margins)

    @cached_property
    def average_w(self) -> Floats:
        """The weighted average of the learner's moves so far, shape (T, d)."""
        return self._averages(self.w)

    @cached_property
    def average_p(self) -> Floats:
        """The weighted average of the data player's moves so far, shape (T, n)."""
        return self._averages(self.p)

    @cached_property
    def learner_regret(self) -> Floats:
        """Regret to the best unit vector, ``|G_t| - sum_s weight_s payoff_s``, (T,)."""
        earned = np.cumsum(self.weights * self.payoffs)
        regret: Floats = np.linalg.norm(self.weighted_pseudoexamples, axis=1) - earned
        return regret

    @cached_property
    def data_regret(self) -> Floats:
        """Regret to the best row, ``sum_s weight_s payoff_s - min a_i . v_t``, (T,)."""
        paid = np.cumsum(self.weights * self.payoffs)
        regret: Floats = paid - self.weighted_margins.min(axis=1)
        return regret

    @cached_property
    def pseudoexample_norm(self) -> Floats:
        """The ``|A^T p|`` of the average ``p`` so far, (T,): no margin is larger."""
        length = np.linalg.norm(self.weighted_pseudoexamples, axis=1)
        norm: Floats = length / self.total_weight
        return norm

    @cached_property
    def duality_gap(self) -> Floats:
        """The gap ``|A^T p| - min_i a_i . w`` at the averages, (T,).

        Both regrets over ``S``: the left side of Theorem 3, for the comparator in the
        unit ball that maximises it.
        """
        return (self.learner_regret + self.data_regret) / self.total_weight

    @cached_property
    def margin_last(self) -> Floats:
        """The margin ``min_i a_i . w_t / |w_t|``, (T,); nan where ``w_t = 0``."""
        return _normalised(self.margins.min(axis=1), self.w)

    @cached_property
    def margin_average(self) -> Floats:
        """The margin of the average ``w`` so far, (T,)."""
        lowest = self.weighted_margins.min(axis=1) / self.total_weight
        return _normalised(lowest, self.average_w)

    @cached_property
    def margin_lower(self) -> Floats:
        """The best margin of a last move or average so far, (T,); -inf before one."""
        both = np.fmax(self.margin_last, self.margin_average)
        return np.maximum.accumulate(np.where(np.isnan(both), -np.inf, both))

    @cached_property
    def margin_upper(self) -> Floats:
        """The least ``|A^T p|`` of a last move or average so far, (T,)."""
        last = np.linalg.norm(self.pseudoexamples[1:], axis=1)
        return np.minimum.accumulate(np.minimum(last, self.pseudoexample_norm))

    @cached_property
    def separated_at(self) -> int | None:
        """The first round whose average separates, or None."""
        return _first_positive(self.weighted_margins.min(axis=1))

    @cached_property
    def last_separated_at(self) -> int | None:
        """The first round whose move separates by itself, or None."""
        return _first_positive(self.margins.min(axis=1))

    def per_round(self) -> dict[str, NDArray[Any]]:
        """Return what is measured every round, by name: columns of a data frame."""
        names = (
            "rounds", "weights", "steps", "payoffs", "learner_regret", "data_regret",
            "duality_gap", "margin_last", "margin_average", "pseudoexample_norm",
            "margin_lower", "margin_upper",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def _sums(self, moves: Floats) -> Floats:
        """Return the weighted sums so far of a vector a round."""
        return np.cumsum(self.weights[:, None] * moves, axis=0)

    def _averages(self, moves: Floats) -> Floats:
        """Return the weighted averages so far of a vector a round."""
        return self._sums(moves) / self.total_weight[:, None]

    def __repr__(self) -> str:
        n, d = self.A.shape
        return (
            f"{type(self).__name__}({self.n_rounds} rounds on {n} rows of {d}: "
            f"margin in [{self.margin_lower[-1]:.3g}, {self.margin_upper[-1]:.3g}], "
            f"average separates: {self.separated_at or 'not yet'})"
        )


def _normalised(margins: Floats, w: Floats) -> Floats:
    """Return margins over norms, nan where the norm is zero."""
    length = np.linalg.norm(w, axis=1)
    undefined = np.full(len(w), np.nan)
    margin: Floats = np.divide(margins, length, out=undefined, where=length > 0)
    return margin


def _first_positive(margins: Floats) -> int | None:
    """Return the first round (counted from 1) with a positive margin."""
    found = np.flatnonzero(margins > 0)
    return int(found[0]) + 1 if found.size else None
