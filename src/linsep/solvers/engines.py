"""Solve a working set: the optimistic loop first, the active set when it costs less.

Both engines run in the whitened coordinates of `linsep.solvers.metric`. Which one is
quicker depends on the margin, which is not known before: an easy margin takes the loop
a few rounds, a hard one thousands, while the active set takes a few steps a coordinate
whatever the margin. So the loop is given a share of the work that the active set is
predicted to need, then the active set takes over: little is lost either way. Before
rows of many columns are factored the descent is tried, or on sparse ones a few rounds
in the diagonal metric, for a small share of that. Work is counted in multiply-adds
weighted by measured constants (``benchmarks/engines.py``), not in seconds, so that
results repeat from run to run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.rows import is_sparse
from linsep.solvers.active_set import NO_ROWS, ActiveSet, Outcome
from linsep.solvers.blas import calm_blas
from linsep.solvers.descent import GOAL, begun, gone_on, is_worth_it
from linsep.solvers.diagonal_metric import rounds_worth_a_try
from linsep.solvers.metric import MOST_COORDINATES, Coordinates, rewhiten, whiten
from linsep.solvers.optimistic import OptimisticLoop, Round
from linsep.solvers.oracle import Oracle, softmin
from linsep.solvers.pieces import Check, Halted, halting

# Steps of the active set per coordinate, as seen on planted, real and random data.
STEPS_A_COORDINATE = 6.0
# A multiply-add of the active set costs this many of the oracle's (measured).
ACTIVE_SET_COST = 2.5
# The loop gets this share of the active set's predicted work, and some rounds anyway.
LOOP_SHARE = 0.1
LEAST_ROUNDS = 24
# In the diagonal metric, where no active set follows, the loop gets these rounds.
DIAGONAL_ROUNDS = 20_000
# On a part of the rows the loop's separator must have this share of the best margin,
# or the next scan meets many violations and passes are wasted.
ENOUGH_MARGIN = 0.5
# Entries read between two looks at the limits and the keyboard: some milliseconds.
BATCH_ENTRIES = 1 << 22
# The active set does not start from rows with less than this share of the largest
# weight: made active by force, they may leave it where rounding alone decides.
SLIGHT = 1e-3
# The metric is formed anew with the data player's weights after this many rounds. If
# more than this share of the rows is on the wrong side then, more rounds are for
# nothing: of data that were not separated in the end it was twice as many, and of
# separable ones a tenth.
REWHITEN_AFTER, MOST_WRONG = 24, 0.05


class Kind(Enum):
    """What a candidate claims, always subject to an exact check."""

    SEPARATOR = "every row of the working set has a positive margin"
    CONFLICT = "a convex combination of rows of the working set is zero"
    STALLED = "neither was found in floating point"


@dataclass(frozen=True)
class Candidate:
    """What the engines made of a working set.

    Attributes
    ----------
    kind : Kind
        The claim.
    w : ndarray of shape (d,)
        The best weight vector met.
    support : ndarray of shape (k,)
        Rows that carry the weights.
    weights : ndarray of shape (k,)
        A distribution over ``support``, for the rows as they are (not normalised).
        On a separator it bounds the margin from above; on a conflict it is the claim.
    n_rounds : int
        Rounds of the loop, backtracks counted, plus steps of the active set.
    """

    kind: Kind
    w: Floats
    support: Index
    weights: Floats
    n_rounds: int


def solve(
    rows: Any,
    *,
    start: Index | None = None,
    complete: bool = True,
    constant: bool = False,
    max_rounds: int | None = None,
    should_stop: Callable[[int], bool] | None = None,
    patience: float = 1.0,
    tried: bool = False,
) -> Candidate:
    """Separate the rows of a working set, or find weights under which they vanish.

    Parameters
    ----------
    rows : ndarray or csr_matrix of shape (m, d)
        Signed rows.
    start : ndarray of int or None, default=None
        Rows the active set tries first. With a start the loop is skipped: the active
        set is warm and needs few steps.
    complete : bool, default=True
        Whether these are all the rows there are: then any separator will do, otherwise
        one of good margin is sought.
    constant : bool, default=False
        Whether the last column is the signed constant of an intercept.
    max_rounds : int or None, default=None
        Rounds and steps at most.
    should_stop : callable or None, default=None
        Asked with the rounds done so far; a true answer ends the search.
    patience : float, default=1.0
        Share of the rows that may be on the wrong side when the metric is formed anew;
        where it is more, the loop and the active set are given up. With no patience at
        all sparse rows stay as they are, in the diagonal metric.
    tried : bool, default=False
        Whether the descent was tried on these rows already.
    """
    limit = max_rounds if max_rounds is not None else np.iinfo(np.int64).max
    stop = should_stop if should_stop is not None else lambda n_rounds: False
    n_rounds = 0
    with calm_blas(min(rows.shape), n_entries=rows.size):
        too_many = min(rows.shape) > MOST_COORDINATES
        diagonal = too_many or (patience == 0.0 and is_sparse(rows))
        try:
            check = halting(lambda _: stop(n_rounds))
            known = complete, start is None, constant, limit, stop, check
            early = None if diagonal or tried else _without_a_factor(rows, *known)
            if early is not None:
                n_rounds = early.n_rounds
                is_found = early.kind is Kind.SEPARATOR
                if is_found or n_rounds >= limit or stop(n_rounds):
                    return early
            coordinates = whiten(
                rows, constant=constant, diagonal=diagonal, check=check
            )
        except Halted:
            w = np.zeros(rows.shape[1])
            return Candidate(Kind.STALLED, w, NO_ROWS, np.zeros(0), n_rounds)
        del rows  # which may be as large as the data
        if start is None or coordinates.is_diagonal:
            found, goes_on = _play(
                coordinates, complete, limit, stop, patience, n_rounds
            )
            n_rounds = found.n_rounds
            if not goes_on or coordinates.is_diagonal:
                return found
            heaviest = np.argsort(-found.weights)[: coordinates.rank]
            least = SLIGHT * found.weights.max(initial=0.0)
            start = found.support[heaviest[found.weights[heaviest] > least]]
        problem = ActiveSet(coordinates.rows)
        outcome = Outcome.STALLED
        max_steps = None if max_rounds is None else max(1, limit - n_rounds)
        for state in problem.solve(start, max_steps=max_steps):
            outcome = state
            if stop(n_rounds + problem.n_steps):
                break
        return _from_active_set(outcome, problem, coordinates, n_rounds)


def loop_budget(m: int, rank: int) -> int:
    """Return how many rounds of the loop are worth a try on m rows."""
    steps = STEPS_A_COORDINATE * rank
    a_step = 2.5 * rank**2 + m * rank / 16
    a_round = 2 * max(1, m * rank)
    return max(
        LEAST_ROUNDS, int(LOOP_SHARE * ACTIVE_SET_COST * steps * a_step / a_round)
    )


def _play(
    coordinates: Coordinates,
    complete: bool,
    limit: int,
    stop: Callable[[int], bool],
    patience: float = 1.0,
    n_tried: int = 0,
    budget: int = DIAGONAL_ROUNDS,
) -> tuple[Candidate, bool]:
    """Run the loop, forming the metric anew; tell whether to go on by other means."""
    m, rank = coordinates.rows.shape
    diagonal = coordinates.is_diagonal
    budget = min(limit, budget if diagonal else n_tried + loop_budget(m, rank))
    a_batch = max(1, BATCH_ENTRIES // max(1, coordinates.rows.size))
    n_before = n_tried
    enough = 0.0 if complete else ENOUGH_MARGIN
    while True:
        is_last = n_before > n_tried or (diagonal and patience >= 1.0)
        leave_at = budget if is_last else min(n_tried + REWHITEN_AFTER, budget)
        loop = OptimisticLoop(Oracle(coordinates.rows))
        n_rounds = n_before
        ended = False
        while not ended and n_rounds < leave_at:
            until = min(n_rounds + a_batch, leave_at) - n_before
            state = loop.play(until, enough=enough)
            n_rounds = n_before + state.n_rounds
            ended = state.found or stop(n_rounds)
        margins = coordinates.rows @ state.total
        n_wrong = 0 if ended else np.count_nonzero(margins <= 0)
        has_hope = bool(n_wrong <= patience * m)
        if ended or n_rounds >= budget or n_wrong > min(patience, MOST_WRONG) * m:
            goes_on = has_hope and not ended and n_rounds < limit
            return _from_loop(state, margins, coordinates, n_rounds), goes_on
        n_before = n_rounds
        p = softmin(margins)
        if not diagonal:
            coordinates = rewhiten(coordinates, p)


def _without_a_factor(
    rows: Any,
    complete: bool,
    is_cold: bool,
    constant: bool,
    limit: int,
    stop: Callable[[int], bool],
    check: Check,
) -> Candidate | None:
    """Try what needs no factor of the rows, if it costs little beside one: else None.

    Of sparse rows that is the loop in the diagonal metric, of dense ones the descent.
    """
    if is_sparse(rows):
        n_tries = rounds_worth_a_try(rows) if complete and is_cold else 0
        if not n_tries:
            return None
        scaled = whiten(rows, diagonal=True, check=check)
        return _play(scaled, complete, limit, stop, budget=n_tries)[0]
    if not is_worth_it(min(rows.shape)):
        return None
    scaled = whiten(rows, constant=constant, diagonal=True, check=check)
    descent, n_rounds = begun(scaled.rows, 0.0 if complete else GOAL), 1
    n_rounds += gone_on(descent, limit - 1, check)
    support = np.flatnonzero(descent.weights)
    p = descent.weights[support] / scaled.scale[support]
    kind = Kind.STALLED if descent.n_wrong else Kind.SEPARATOR
    w = scaled.to_weights(descent.w)
    return Candidate(kind, w, support, p / p.sum(), n_rounds)


def _from_loop(
    state: Round, margins: Floats, coordinates: Coordinates, n_rounds: int
) -> Candidate:
    """Return what the loop found as a candidate."""
    u = state.separator if state.separator is not None else state.total
    p = softmin(margins) / coordinates.scale
    kind, w = Kind.SEPARATOR if state.found else Kind.STALLED, coordinates.to_weights(u)
    return Candidate(kind, w, np.arange(len(p)), p / p.sum(), n_rounds)


def _from_active_set(
    outcome: Outcome, problem: ActiveSet, coordinates: Coordinates, n_before: int
) -> Candidate:
    """Return what the active set found as a candidate."""
    kinds = {Outcome.OPTIMAL: Kind.SEPARATOR, Outcome.CONFLICT: Kind.CONFLICT}
    weights = problem.multipliers / coordinates.scale[problem.support]
    total = weights.sum()
    return Candidate(
        kinds.get(outcome, Kind.STALLED),
        coordinates.to_weights(problem.u),
        problem.support,
        weights / total if total > 0 else weights,
        n_before + problem.n_steps,
    )
