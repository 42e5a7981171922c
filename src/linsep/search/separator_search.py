"""The search of one call: working set, engines, exact checks, bounds and limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from linsep.input import checked_count, checked_time_limit
from linsep.proof.answers import Conflict
from linsep.proof.canonical import canonicalise
from linsep.proof.gordan import conflict_from_candidate
from linsep.proof.ladder import settle
from linsep.result import Pass, Status
from linsep.rows import Rows, Scan
from linsep.rows.working_set import WorkingSet
from linsep.search.hyperplane import Hyperplane, exact_scan
from linsep.solvers.bounds import EPS, margin_lower, margin_upper
from linsep.solvers.engines import Candidate, Kind, solve
from linsep.solvers.metric import MOST_COORDINATES

Callback = Callable[[Pass], object]

TOO_LARGE_TO_SETTLE = (
    "Undecided: floating point found neither a separator nor a conflict, and more than "
    f"{MOST_COORDINATES} rows and columns are too many for exact arithmetic; drop "
    "columns, or give a part of the rows."
)
NO_TIME_LEFT = "Undecided: stopped before the exact arithmetic was done."
# Between sweeps the callback is told at most this often, in seconds.
TELL_EVERY = 0.2


@dataclass(frozen=True)
class Limits:
    """When to give up: counts, and the clock.

    Attributes
    ----------
    max_passes : int
        Sweeps over all rows at most.
    max_rounds : int or None
        Rounds and steps of the engines at most.
    time_limit : float
        Seconds at most, inf for no limit. It is looked at between steps: one exact
        solve or one sweep is not cut short.
    started : float
        The reading of ``time.perf_counter`` at the start.
    """

    max_passes: int
    max_rounds: int | None
    time_limit: float
    started: float

    @classmethod
    def checked(
        cls,
        max_passes: int,
        max_rounds: int | None,
        time_limit: float | None,
        started: float,
    ) -> Limits:
        """Refuse limits that are not positive numbers."""
        checked_count("max_passes", max_passes)
        if max_rounds is not None:
            checked_count("max_rounds", max_rounds)
        return cls(max_passes, max_rounds, checked_time_limit(time_limit), started)


@dataclass(frozen=True)
class Verdict:
    """How a search ended; exactly what the status says is proved."""

    status: Status
    message: str
    hyperplane: Hyperplane | None = None
    conflict: NDArray[np.intp] | None = None
    conflict_weights: tuple[int, ...] | None = None


class Stopped(Exception):
    """A limit was reached or the callback asked to stop; carries the sentence."""


@dataclass
class Search:
    """One search: its bounds, counts and trace.

    Parameters
    ----------
    rows : Rows
        All the signed rows.
    limits : Limits
        When to give up.
    rng : numpy.random.Generator
        Draws the working set's sample.
    callback : callable or None
        Told of each sweep; a true return value stops.
    """

    rows: Rows
    limits: Limits
    rng: np.random.Generator
    callback: Callback | None = None
    n_passes: int = 0
    n_rounds: int = 0
    n_working: int = 0
    n_violations: int | None = None
    margin_lower: float = -np.inf
    margin_upper: float = np.inf
    trace: list[Pass] = field(default_factory=list)
    _last_told: float = 0.0
    _asked_to_stop: bool = False

    def run(self) -> Verdict:
        """Decide, or say why not."""
        try:
            return self._decide()
        except Stopped as stop:
            return Verdict(Status.UNDECIDED, str(stop))
        except KeyboardInterrupt:
            return Verdict(
                Status.UNDECIDED,
                "Undecided: interrupted from the keyboard; the margin interval is what "
                "had been found by then.",
            )

    def elapsed(self) -> float:
        """Return the seconds since the call began."""
        return time.perf_counter() - self.limits.started

    def _decide(self) -> Verdict:
        """Solve the working set, sweep, grow, until a verdict is proved."""
        working = WorkingSet(self.rows, self.rng)
        support = np.empty(0, dtype=np.intp)
        stuck = False
        while True:
            self.n_working = working.index.size
            candidate = self._solve(working, support)
            if candidate.kind is Kind.CONFLICT:
                verdict = self._prove_conflict(working, candidate)
                if verdict is not None:
                    return verdict
            if stuck or candidate.kind is not Kind.SEPARATOR:
                settled = self._settle(working)
                if isinstance(settled, Verdict):
                    return settled
                hyperplane = settled
            else:
                hyperplane = Hyperplane(candidate.w)
            scan = self._sweep(hyperplane, working)
            verdict = self._prove_separator(hyperplane, scan)
            if verdict is not None:
                return verdict
            support = working.index[candidate.support[candidate.weights > 0]]
            stuck = working.grow(scan, support, self.n_passes) == 0

    def _solve(self, working: WorkingSet, support: NDArray[np.intp]) -> Candidate:
        """Run the engines on the working set and take in their bound."""
        self._stop_if_due()
        limit = self.limits.max_rounds
        before = self.n_rounds

        def should_stop(n_rounds: int) -> bool:
            self.n_rounds = before + n_rounds
            return self._reason_to_stop() is not None

        candidate = solve(
            working.rows,
            start=working.positions(support) if support.size else None,
            complete=working.is_complete,
            constant=self.rows.fit_intercept,
            max_rounds=None if limit is None else limit - before,
            should_stop=should_stop,
        )
        self.n_rounds = before + candidate.n_rounds
        held = candidate.weights > 0
        if held.any():
            rows = working.rows[candidate.support[held]]
            bound = margin_upper(rows, candidate.weights[held], self.rows.fit_intercept)
            self.margin_upper = min(self.margin_upper, bound)
        if candidate.kind is Kind.STALLED:
            self._stop_if_due()
        return candidate

    def _sweep(self, hyperplane: Hyperplane, working: WorkingSet) -> Scan:
        """Sweep all rows once; count it, record it, tell the callback."""
        if self.n_passes >= self.limits.max_passes:
            raise Stopped(
                f"Undecided: max_passes={self.limits.max_passes} sweeps were made; "
                "allow more to go on."
            )
        self._stop_if_due(rounds=False)  # the last round allowed may have found it
        wanted = working.wanted(self.n_passes)
        if hyperplane.is_faithful:
            scan = self.rows.scan(hyperplane.w, wanted)
        else:
            scan = exact_scan(self.rows, hyperplane.integers(), wanted)
        self.n_passes += 1
        self.n_violations = scan.n_violations
        self._bound_below(scan.margin, hyperplane)
        record = self._record()
        self.trace.append(record)
        self._tell(record)
        return scan

    def _prove_separator(self, hyperplane: Hyperplane, scan: Scan) -> Verdict | None:
        """Return the verdict if every row is exactly on its side, else None."""
        if scan.n_violations:
            return None
        least = scan.margin_settled
        if scan.n_unsettled:
            doubtful = self.rows.take(self._doubtful(hyperplane, scan))
            # Plain doubles are the better answer, where they pass.
            doubles = Hyperplane(hyperplane.w)
            slack = doubles.least_slack(doubtful)
            if slack is not None:
                hyperplane = doubles
            elif hyperplane.exact is not None:
                slack = hyperplane.least_slack(doubtful)
            if slack is None:
                return None
            least = min(least, slack)
        else:
            hyperplane, least = self._centred(Hyperplane(hyperplane.w), scan)
        self._bound_below(least, hyperplane)
        return Verdict(
            Status.SEPARABLE,
            "Separable: the hyperplane has every row strictly on its side.",
            hyperplane.scaled(least),
        )

    def _centred(self, hyperplane: Hyperplane, scan: Scan) -> tuple[Hyperplane, float]:
        """Move the intercept to where both classes are equally near, if there is one.

        Rows signed +1 gain exactly what the intercept gains, the others lose it, so the
        scan's bounds move along and prove the moved hyperplane too.
        """
        down, up = scan.margin_negative, scan.margin_positive
        if not self.rows.fit_intercept or not np.isfinite(down - up):
            return hyperplane, scan.margin
        w = hyperplane.w.copy()
        w[-1] += 0.5 * (down - up)
        moved = Fraction(float(w[-1])) - Fraction(float(hyperplane.w[-1]))
        least = min(Fraction(down) - moved, Fraction(up) + moved)
        if least <= Fraction(scan.margin):
            return hyperplane, scan.margin
        return Hyperplane(w), float(least) * (1.0 - EPS)

    def _doubtful(self, hyperplane: Hyperplane, scan: Scan) -> NDArray[np.intp]:
        """Return all rows within rounding of the hyperplane."""
        if scan.n_unsettled > scan.index.size:
            scan = self.rows.scan(hyperplane.w, scan.n_unsettled)
            self.n_passes += 1
        return scan.index[: scan.n_unsettled]

    def _prove_conflict(
        self, working: WorkingSet, candidate: Candidate
    ) -> Verdict | None:
        """Settle a conflict exactly; None if floating point was wrong about it.

        One point with both labels is the conflict a person sees at once, so that is
        looked for first.
        """
        at_sight = canonicalise(working.rows).conflict
        if at_sight is not None:
            return self._inseparable(working, at_sight)
        held = candidate.support[candidate.weights > 0]
        weights = candidate.weights[candidate.weights > 0]
        conflict = conflict_from_candidate(
            working.rows, held, weights, lambda: self._reason_to_stop() is not None
        )
        return None if conflict is None else self._inseparable(working, conflict)

    def _settle(self, working: WorkingSet) -> Hyperplane | Verdict:
        """Decide the working set by exact arithmetic, which always ends."""
        if min(working.rows.shape) > MOST_COORDINATES:
            raise Stopped(TOO_LARGE_TO_SETTLE)
        settled = settle(
            working.rows,
            should_stop=lambda: self._reason_to_stop() is not None,
        )
        if isinstance(settled, Conflict):
            return self._inseparable(working, settled)
        if settled is None:
            raise Stopped(self._reason_to_stop() or NO_TIME_LEFT)
        return Hyperplane.rounded(settled.w)

    def _inseparable(self, working: WorkingSet, conflict: Conflict) -> Verdict:
        """Word a proved conflict of the working set: it is one of all the rows."""
        rows = working.index[np.asarray(conflict.rows)]
        order = np.argsort(rows)
        self.margin_upper = 0.0
        return Verdict(
            Status.INSEPARABLE,
            "Inseparable: no hyperplane separates even "
            + ("this one row." if rows.size == 1 else f"these {rows.size} rows."),
            conflict=rows[order],
            conflict_weights=tuple(int(conflict.weights[at]) for at in order),
        )

    def _bound_below(self, slack: float, hyperplane: Hyperplane) -> None:
        """Take in the margin a hyperplane has for certain."""
        coef = hyperplane.w[: self.rows.shape[1] - int(self.rows.fit_intercept)]
        self.margin_lower = max(self.margin_lower, margin_lower(slack, coef))

    def _record(self) -> Pass:
        """Return the state of the search as a callback sees it."""
        return Pass(
            self.n_passes,
            self.n_rounds,
            self.n_working,
            self.n_violations,
            self.margin_lower,
            self.margin_upper,
            self.elapsed(),
        )

    def _reason_to_stop(self, *, rounds: bool = True) -> str | None:
        """Return why the search must end now, if it must; tell the callback.

        Without `rounds` the limit on them does not count.
        """
        limits = self.limits
        if self.elapsed() > limits.time_limit:
            return (
                f"Undecided: the time limit of {limits.time_limit:g} s passed; allow "
                "more to go on."
            )
        most = limits.max_rounds if rounds else None
        if most is not None and self.n_rounds >= most:
            return (
                f"Undecided: max_rounds={limits.max_rounds} were played; allow more to "
                "go on."
            )
        if self.elapsed() - self._last_told > TELL_EVERY:
            self._tell(self._record())
        if self._asked_to_stop:
            return "Undecided: the callback asked to stop."
        return None

    def _tell(self, record: Pass) -> None:
        """Tell the callback, and note its wish to stop."""
        self._last_told = record.seconds
        if self.callback is not None and self.callback(record):
            self._asked_to_stop = True

    def _stop_if_due(self, *, rounds: bool = True) -> None:
        reason = self._reason_to_stop(rounds=rounds)
        if reason is not None:
            raise Stopped(reason)
