"""The search: solve a working set, sweep all rows, grow, until a verdict is proved.

`Search` is the loop, with what every search needs: sweeps, exact proofs, bounds on the
margin. An engine says how a working set is solved, what is accepted after a sweep, and
how the working set grows. `SeparatorEngine` looks for any hyperplane that separates;
`linsep.search.margin_search` has the one that looks for the largest margin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from linsep.arrays import Floats, Index, no_index
from linsep.proof.answers import Conflict
from linsep.proof.canonical import canonicalise
from linsep.proof.gordan import conflict_from_candidate
from linsep.rows import Rows, Scan
from linsep.rows.working_set import WorkingSet
from linsep.search.answers import Verdict
from linsep.search.factorisation import by_factorisation
from linsep.search.hyperplane import Hyperplane, exact_scan
from linsep.search.limits import Monitor, Stopped
from linsep.search.opening_first import by_opening
from linsep.search.reasons import Reason
from linsep.solvers.bounds import margin_lower, margin_upper
from linsep.solvers.engines import Candidate, Kind, solve
from linsep.solvers.metric import MOST_COORDINATES

# Conflicts of more rows, and working sets of more columns, are proved inseparable by a
# factorisation: exact arithmetic takes minutes.
MOST_SETTLED = 500
# Their working sets are factored before the active set is tried; up to so many columns
# unless the loop leaves at most so many rows on the wrong side. Nor are working sets of
# very many columns, which a factorisation seldom takes.
MOST_PLAYED, MOST_FACTORED = 1_500, 10_000
ALMOST_NONE = 0.02


class Engine(Protocol):
    """How a search decides; `by_margin` ranks a sweep's rows by ``a_i . w`` itself."""

    by_margin: bool

    def solve(self, working: WorkingSet) -> Hyperplane | Verdict:
        """Return a hyperplane to sweep all rows with, or a verdict that ends it all."""

    def wanted(self, working: WorkingSet) -> int:
        """Return how many of the nearest rows a sweep should name."""

    def accept(
        self, working: WorkingSet, hyperplane: Hyperplane, scan: Scan
    ) -> Verdict | None:
        """Return the verdict that the sweep proves, if it does."""

    def grow(self, working: WorkingSet, scan: Scan) -> None:
        """Take rows that the sweep found into the working set."""


@dataclass
class Search:
    """One search.

    Parameters
    ----------
    rows : Rows
        All the signed rows.
    monitor : Monitor
        Counts, tells, and knows when to give up.
    rng : numpy.random.Generator or int
        Draws the working set's sample, or seeds what does.
    most_settled : int, default=500
        Beyond this many rows no minimal conflict is looked for.
    start : ndarray of shape (d,) or None, default=None
        Weights of a fit, near which the factorisation begins.

    Attributes
    ----------
    is_opened : bool
        Whether the opening was tried on all the rows, in vain.
    """

    rows: Rows
    monitor: Monitor
    rng: np.random.Generator | int
    most_settled: int = MOST_SETTLED
    start: Floats | None = None
    is_opened: bool = field(default=False, init=False)

    def run(
        self, engine: Callable[[Search], Engine], *, with_opening: bool = False
    ) -> Verdict:
        """Decide by an engine that is made for it, or say why not."""
        try:
            verdict = by_opening(self) if with_opening else None
            return verdict or self.decide(engine(self))
        except Stopped as stop:
            return Verdict.undecided(str(stop))
        except KeyboardInterrupt:
            return Verdict.undecided(Reason.INTERRUPTED.text())

    def decide(self, engine: Engine) -> Verdict:
        """Solve the working set, sweep, grow, until a verdict is proved."""
        working = WorkingSet(self.rows, self.rng)
        while True:
            self.monitor.n_working = working.index.size
            self.monitor.stop_if_due()
            hyperplane = engine.solve(working)
            if isinstance(hyperplane, Verdict):
                return hyperplane
            n_named = engine.wanted(working)
            scan = self.sweep(hyperplane, n_named, by_margin=engine.by_margin)
            verdict = engine.accept(working, hyperplane, scan)
            if verdict is not None:
                return verdict
            engine.grow(working, scan)

    def sweep(
        self, hyperplane: Hyperplane, n_named: int, *, by_margin: bool = False
    ) -> Scan:
        """Sweep all rows once, and take in the margin the hyperplane has for certain.

        The scan names the `n_named` rows with the smallest margins.
        """
        self.monitor.begin_sweep()
        if hyperplane.is_faithful:
            scan = self.rows.scan(hyperplane.w, n_named, by_margin=by_margin)
        else:
            between = partial(self.monitor.stop_if_due, rounds=False)
            scan = exact_scan(self.rows, hyperplane.integers(), n_named, between)
        self.bound_below(scan.margin, hyperplane)
        self.monitor.end_sweep(scan.n_violations)
        return scan

    def bound_below(self, slack: float, hyperplane: Hyperplane) -> None:
        """Take in the margin of a hyperplane whose least ``a_i . w`` is `slack`."""
        bound = margin_lower(slack, self.features(hyperplane.w))
        self.monitor.at_least(bound)

    def bound_above(self, working: WorkingSet, support: Index, p: Floats) -> None:
        """Take in what weights on rows held say the margin is at most."""
        bound = margin_upper(working.rows, p, self.rows.fit_intercept, support)
        self.monitor.at_most(bound)

    def features(self, w: Floats) -> Floats:
        """Return the weights of the features, without the intercept's."""
        return w[: self.rows.shape[1] - int(self.rows.fit_intercept)]

    def prove_conflict(
        self, working: WorkingSet, support: Index, p: Floats
    ) -> Verdict | None:
        """Settle a conflict exactly; None if floating point was wrong about it.

        One point with both labels is the conflict a person sees at once, so that is
        looked for first.
        """
        conflict = canonicalise(working.rows).conflict
        held = p > 0
        is_long = conflict is None and np.count_nonzero(held) > self.most_settled
        if is_long and isinstance(self.factored, Verdict):
            return self.factored
        if conflict is None:
            self.monitor.stop_if_due(rounds=False)
            conflict = conflict_from_candidate(
                working.rows,
                support[held],
                p[held],
                partial(self.monitor.should_stop, rounds=False),
            )
        return None if conflict is None else self.inseparable(working.index, conflict)

    def settle(self, working: WorkingSet, order: Index) -> Hyperplane | Verdict:
        """Decide by a factorisation where columns are many, or by exact arithmetic.

        Exact arithmetic always ends, but not soon: sooner from rows in a good order.
        """
        from linsep.proof.ladder import settle

        size = min(working.shape)
        if size > self.most_settled and self.factored is not None:
            return self.factored
        if size > MOST_COORDINATES:
            raise Stopped(Reason.TOO_LARGE_TO_SETTLE.text(MOST_COORDINATES))
        settled = settle(working.rows, order, should_stop=self.monitor.should_stop)
        if isinstance(settled, Conflict):
            return self.inseparable(working.index, settled)
        if settled is None:
            reason = self.monitor.reason_to_stop()
            raise Stopped(reason or Reason.EXACTNESS_STOPPED.text())
        return Hyperplane.rounded(settled.w)

    @cached_property
    def factored(self) -> Hyperplane | Verdict | None:
        """What a factorisation says of all rows, which does not change."""
        return by_factorisation(self.rows, self.monitor, self.start)

    def inseparable(self, index: Index, conflict: Conflict) -> Verdict:
        """Return the verdict: a conflict of rows held is one of all the rows."""
        self.monitor.at_most(0.0)
        rows = index[np.asarray(conflict.rows)]
        return Verdict.inseparable(rows, conflict.weights)


@dataclass
class SeparatorEngine:
    """Finds some hyperplane that separates, or rows that none can.

    Parameters
    ----------
    search : Search
        The search it serves.
    """

    search: Search
    by_margin: bool = False
    support: Index = field(default_factory=no_index)
    _w: Floats | None = None
    _is_stuck: bool = False
    _is_factored: bool = False

    def solve(self, working: WorkingSet) -> Hyperplane | Verdict:
        """Run the engines; where they get no further, exact arithmetic."""
        patience = self._patience(working)
        candidate = self._candidate(working, patience)
        if candidate.kind is Kind.STALLED and patience < 1.0:
            self._is_factored = True
            if self.search.factored is not None:
                return self.search.factored
            candidate = self._candidate(working)
        support, p = candidate.support, candidate.weights
        if candidate.kind is Kind.CONFLICT:
            verdict = self.search.prove_conflict(working, support, p)
            if verdict is not None:
                return verdict
        self.support = working.index[support[p > 0]]
        self._w = None
        if candidate.kind is Kind.SEPARATOR and not self._is_stuck:
            self._w = candidate.w
            return Hyperplane(candidate.w)
        self.search.monitor.stop_if_due()
        return self.search.settle(working, support[np.argsort(-p, kind="stable")])

    def _patience(self, working: WorkingSet) -> float:
        """Return with what share of rows on the wrong side the engines are given up.

        With many columns the active set is slow, and what it ends in slower to prove.
        """
        size = min(working.shape)
        if self._is_factored or size <= self.search.most_settled:
            return 1.0
        is_between = MOST_PLAYED < size <= MOST_FACTORED
        return 0.0 if is_between else ALMOST_NONE

    def _candidate(self, working: WorkingSet, patience: float = 1.0) -> Candidate:
        """Run the engines on the working set, and take in their bound."""
        monitor = self.search.monitor
        before = monitor.n_rounds
        warm = working.positions(self.support)
        candidate = solve(
            working.rows,
            start=warm if warm.size else None,
            complete=working.is_complete,
            constant=self.search.rows.fit_intercept,
            max_rounds=monitor.rounds_left,
            should_stop=monitor.counting(),
            patience=patience,
            tried=self.search.is_opened and working.is_complete,
        )
        monitor.n_rounds = before + candidate.n_rounds
        held = candidate.weights > 0
        if held.any():
            support, p = candidate.support[held], candidate.weights[held]
            self.search.bound_above(working, support, p)
        return candidate

    def wanted(self, working: WorkingSet) -> int:
        """Return how many of the nearest rows a sweep should name."""
        return working.wanted(self.search.monitor.n_passes)

    def accept(
        self, working: WorkingSet, hyperplane: Hyperplane, scan: Scan
    ) -> Verdict | None:
        """Return the verdict if every row is exactly on its side."""
        if scan.n_violations:
            return None
        if scan.n_unsettled:
            proved, least = self._proved(hyperplane, scan)
        else:
            proved, least = Hyperplane(hyperplane.w), scan.margin
            if self.search.rows.fit_intercept:
                proved, least = proved.centred(scan)
        if least is None:
            return None
        self.search.bound_below(least, proved)
        return Verdict.separable(proved.scaled(least))

    def grow(self, working: WorkingSet, scan: Scan) -> None:
        """Take the worst rows; where none of them is new, floats make no progress."""
        n_passes = self.search.monitor.n_passes
        if n_passes == 1 and self._w is not None:
            working.let_go(self._w, self.support)
        self._is_stuck = working.grow(scan, self.support, n_passes) == 0

    def _proved(
        self, hyperplane: Hyperplane, scan: Scan
    ) -> tuple[Hyperplane, float | None]:
        """Settle the rows within rounding of the hyperplane; None if one is not beyond.

        Plain doubles are the better answer, where they pass.
        """
        between = partial(self.search.monitor.stop_if_due, rounds=False)
        doubtful = self.search.rows.take(self._doubtful(hyperplane, scan))
        doubles = Hyperplane(hyperplane.w)
        slack = doubles.least_slack(doubtful, between)
        if slack is not None:
            hyperplane = doubles
        elif hyperplane.exact is not None:
            slack = hyperplane.least_slack(doubtful, between)
        if slack is None:
            return hyperplane, None
        return hyperplane, min(scan.margin_settled, slack)

    def _doubtful(self, hyperplane: Hyperplane, scan: Scan) -> Index:
        """Return all rows within rounding of the hyperplane."""
        if scan.n_unsettled > scan.index.size:
            self.search.monitor.n_passes += 1
            scan = self.search.rows.scan(hyperplane.w, scan.n_unsettled)
        return scan.index[: scan.n_unsettled]


def find_separator(
    rows: Rows,
    monitor: Monitor,
    rng: np.random.Generator | int,
    most_settled: int = MOST_SETTLED,
) -> Verdict:
    """Find a hyperplane that separates, or prove that there is none."""
    search = Search(rows, monitor, rng, most_settled)
    return search.run(SeparatorEngine, with_opening=True)
