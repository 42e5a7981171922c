r"""A play against the theorems.

Every check compares, round by round, a measured quantity with its bound. Where the
paper assumes more than a play satisfies, the bound is the one its proof gives (see
`linsep.game.bounds`), and it is the paper's wherever the paper's assumptions hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from linsep.arrays import Floats
from linsep.input import InputError
from linsep.input.arguments import is_number
from linsep.lab.game import bounds
from linsep.lab.game.data_players import FirstViolatedRow, MirrorDescent
from linsep.lab.game.learners import OFTRL, OnlineGradientAscent
from linsep.lab.game.protocols import Regulariser
from linsep.lab.game.recorded_play import RecordedPlay
from linsep.lab.game.schedules import Constant

Claim = Literal[
    "learner", "data", "gap", "potential", "rounds", "sharper rounds", "perceptron"
]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Check:
    """What was measured in a play, beside the bound of a theorem.

    Attributes
    ----------
    claim : str
        Which theorem.
    measured, bound : ndarray of shape (k,)
        ``measured <= bound`` is the claim; one entry a round, or one in all for counts
        of rounds.
    rounding : ndarray of shape (k,)
        What floating point may add to ``measured - bound``.
    """

    claim: Claim
    measured: Floats
    bound: Floats
    rounding: Floats

    @property
    def slack(self) -> Floats:
        """The room left, ``bound - measured``."""
        return self.bound - self.measured

    @property
    def holds(self) -> bool:
        """Whether the claim holds in every entry, within rounding."""
        return bool((self.measured <= self.bound + self.rounding).all())

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        return (
            f"Check({self.claim}: {verdict}, measured {self.measured[-1]:.4g} <= "
            f"bound {self.bound[-1]:.4g} at the end)"
        )


def check(play: RecordedPlay, claim: Claim, *, margin: float | None = None) -> Check:
    """Compare a play with what a theorem promises of it.

    Parameters
    ----------
    play : RecordedPlay
        What `linsep.game.play` returned.
    claim : str
        ``"learner"`` (Theorem 1), ``"data"`` (Theorem 2), ``"gap"`` (Theorem 3),
        ``"potential"`` (the bound behind the sharper count), ``"rounds"`` (the paper's
        count), ``"sharper rounds"``, ``"perceptron"``.
    margin : float or None, default=None
        A margin the rows are known to have; the last three claims need it.

    Raises
    ------
    NotClaimed
        An InputError, if the theorem does not speak about these players; says why.
    """
    if claim not in get_args(Claim):
        raise InputError(f"claim must be one of {get_args(Claim)}, got {claim!r}")
    if claim == "perceptron":
        return _perceptron(play, _positive(claim, margin))
    if claim in ("rounds", "sharper rounds"):
        return _rounds(play, claim, _positive(claim, margin))
    checks = {"learner": _learner, "data": _data, "gap": _gap, "potential": _potential}
    return checks[claim](play)


def check_all(play: RecordedPlay, *, margin: float | None = None) -> dict[Claim, Check]:
    """Return the checks whose assumptions the play meets, by name; see `check`."""
    found: dict[Claim, Check] = {}
    for claim in get_args(Claim):
        try:
            found[claim] = check(play, claim, margin=margin)
        except NotClaimed:
            continue
    return found


class NotClaimed(InputError):
    """The theorem does not speak about this play."""


def _learner(t: RecordedPlay) -> Check:
    """Check Theorem 1: OFTRL's regret, for weighted rounds and the best unit vector."""
    _require_optimistic(t)
    bound = bounds.regret_bound_learner(t.distributions, t.radius, weights=t.weights)
    return Check("learner", t.learner_regret, bound, _rounding(t))


def _data(t: RecordedPlay) -> Check:
    """Check Theorem 2: mirror descent's regret, for non-increasing steps."""
    R = _require_mirror_descent(t)
    bound = bounds.regret_bound_data(
        t.distributions,
        t.steps,
        strong_convexity=R.strong_convexity(len(t.A)),
        divergence_bound=divergence_bounds(t),
    )
    return Check("data", t.data_regret, bound, _rounding(t))


def _gap(t: RecordedPlay) -> Check:
    """Check Theorem 3: the gap, ``(1/2 + H / step + unpaid) / S``.

    ``unpaid`` is what Theorem 1 adds and Theorem 2 does not take, zero when every round
    was paid for; with the constant step ``lambda / r^2`` and weights 1 this is the
    paper's ``(lambda + 2 H r^2) / (2 lambda T)``.
    """
    _require_optimistic(t)
    _require_mirror_descent(t)
    total = 0.5 + divergence_bounds(t) / t.steps + unpaid(t)
    return Check(
        "gap", t.duality_gap, total / t.total_weight, _rounding(t) / t.total_weight
    )


def _potential(t: RecordedPlay) -> Check:
    """Check ``|G|^2 / 2 - H / step - unpaid <= min_i a_i . v``.

    The sum of both regrets for a comparator of length ``|G|`` in the direction of G.
    """
    _require_optimistic(t)
    _require_mirror_descent(t)
    length = np.linalg.norm(t.weighted_pseudoexamples, axis=1)
    promised = 0.5 * length**2 - divergence_bounds(t) / t.steps - unpaid(t)
    lowest = t.weighted_margins.min(axis=1)
    return Check("potential", promised, lowest, _rounding(t) * (1.0 + length))


def _rounds(t: RecordedPlay, claim: Claim, margin: float) -> Check:
    """Count the rounds until the average separates (constant step, weights 1).

    The count ``T - 1`` of rounds before the first separating average is at most the
    bound; without a separation all rounds played were before it.
    """
    _require_optimistic(t)
    R = _require_mirror_descent(t)
    n = len(t.A)
    strength = R.strong_convexity(n)
    largest = strength / t.radius**2
    step = float(t.steps[0])
    constant = bool((t.steps == step).all() and (t.weights == 1).all())
    if not (constant and step <= largest * (1.0 + 1e-12)):
        raise NotClaimed(
            "the counts of rounds are for weights 1 and a constant step lambda / r^2, "
            f"at most {largest:.6g} on these rows; this play has steps from "
            f"{t.steps.min():.6g} to {t.steps.max():.6g}, weights from "
            f'{t.weights.min():.6g} to {t.weights.max():.6g}; the claim "potential" '
            "covers it"
        )
    count = bounds.rounds_bound if claim == "rounds" else bounds.sharper_rounds_bound
    # A smaller step is the paper's with a larger r, which it allows.
    radius = math.sqrt(strength / step)
    bound = count(margin, radius, float(t.reaches[0]), strong_convexity=strength)
    before = t.n_rounds if t.separated_at is None else t.separated_at - 1
    return _count_check(claim, before, bound)


def _perceptron(t: RecordedPlay, margin: float) -> Check:
    """Check Novikoff's ``(r / margin)^2`` on the number of violated rows played."""
    simple = (
        isinstance(t.learner, OnlineGradientAscent)
        and t.learner.steps == Constant(1.0)
        and math.isinf(t.learner.radius)
        and isinstance(t.data, FirstViolatedRow)
        and t.first == "learner"
        and bool((t.weights == 1).all())
    )
    if not simple:
        raise NotClaimed(
            "the Perceptron's bound is for OnlineGradientAscent with steps 1 and no "
            "ball against FirstViolatedRow, learner first, weights 1; this play has "
            f"{t.learner} against {t.data}"
        )
    mistakes = int(np.count_nonzero(t.payoffs <= 0))
    return _count_check(
        "perceptron", mistakes, bounds.perceptron_bound(margin, t.radius)
    )


def divergence_bounds(t: RecordedPlay) -> Floats:
    """Return ``H`` for the first t rounds, for every t (T,).

    Constant steps leave only ``max_p D(p, p_0)``. Otherwise it is the largest
    ``max_p D(p, p_s)`` over the distributions met, ``s < t``; for the entropy no number
    bounds it beforehand.
    """
    constant = t.steps == t.steps[0]
    measured = np.maximum.accumulate(t.reaches)
    still_constant = np.logical_and.accumulate(constant)
    return np.where(still_constant, t.reaches[0], measured)


def unpaid(t: RecordedPlay) -> Floats:
    """Return what Theorem 1 adds and Theorem 2 does not take, (T,), at least 0.

    ``sum_s (weight_s^2 |x_s - x_{s-1}|^2 / 2 - D(p_s, p_{s-1}) / step_s)``.
    """
    drift = np.diff(t.pseudoexamples, axis=0)
    cost = 0.5 * t.weights**2 * np.einsum("td,td->t", drift, drift)
    owed: Floats = np.maximum(0.0, np.cumsum(cost - t.divergences / t.steps))
    return owed


def _require_optimistic(t: RecordedPlay) -> None:
    """Raise NotClaimed unless the learner is OFTRL, moving first."""
    if not (isinstance(t.learner, OFTRL) and t.first == "learner"):
        raise NotClaimed(
            "Theorem 1 speaks about OFTRL moving first; this play has "
            f"{t.learner}, {t.first} first"
        )


def _require_mirror_descent(t: RecordedPlay) -> Regulariser:
    """Return the regulariser of a mirror-descent data player that Theorem 2 covers."""
    if not (isinstance(t.data, MirrorDescent) and t.first == "learner"):
        raise NotClaimed(
            "Theorem 2 speaks about MirrorDescent moving second; this play has "
            f"{t.data}, {t.first} first"
        )
    if np.any(np.diff(t.steps) > 0):
        raise NotClaimed(
            "Theorem 2 asks for non-increasing steps; these increase: put the growth "
            "into the weights of the rounds"
        )
    return t.data.regulariser


def _positive(claim: Claim, margin: float | None) -> float:
    """Return the margin, or raise NotClaimed if there is none."""
    if not (is_number(margin) and margin is not None and 0 < margin < math.inf):
        raise NotClaimed(
            f'the claim "{claim}" is about rows with a known positive margin, got '
            f"margin={margin!r}"
        )
    return margin


def _count_check(claim: Claim, count: int, bound: float) -> Check:
    """Return a check of one count; the margin given may be off by rounding."""
    return Check(
        claim, np.array([float(count)]), np.array([bound]), np.array([64 * EPS * bound])
    )


def _rounding(t: RecordedPlay) -> Floats:
    """Return what rounding can add to either regret after every round, shape (T,).

    A payoff is off by a few eps of its terms; a move of the data player is off by a few
    eps of ``1 + step weight |A w|``, and so is what it pays; a divergence is off by a
    few eps of 1.
    """
    n, d = t.A.shape
    size = t.weights * np.abs(t.margins).max(axis=1)
    terms = size + (1.0 + t.weights * t.radius) ** 2
    if not np.isnan(t.steps).any():
        terms = terms + t.steps * size**2 + (1.0 + t.divergences) / t.steps
    allowance: Floats = 8 * EPS * (n + d) * np.cumsum(terms)
    return allowance
