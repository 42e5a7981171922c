"""When a search must end, how far it is, and who is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from linsep.input import checked_callback, checked_count, checked_time_limit
from linsep.result import Progress
from linsep.search.reasons import Reason

Callback = Callable[[Progress], object]

# Between sweeps the callback is told at most this often, in seconds.
TELL_EVERY = 0.2


@dataclass(frozen=True)
class Clock:
    """Measures the seconds since a call began."""

    started: float = field(default_factory=time.perf_counter)

    def elapsed(self) -> float:
        """Return the seconds since the call began."""
        return time.perf_counter() - self.started


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When to give up.

    Attributes
    ----------
    max_passes : int, default=100
        Sweeps over all rows at most.
    max_rounds : int or None, default=None
        Rounds and steps of the engines at most.
    time_limit : float, default=inf
        Seconds at most. It is looked at between steps: one factorisation, exact solve
        or sweep is not cut short.
    """

    max_passes: int = 100
    max_rounds: int | None = None
    time_limit: float = np.inf

    @classmethod
    def checked(
        cls,
        *,
        max_passes: object = 100,
        max_rounds: object = None,
        time_limit: object = None,
    ) -> Limits:
        """Refuse limits that are not positive numbers; None is no limit."""
        rounds = None
        if max_rounds is not None:
            rounds = checked_count("max_rounds", max_rounds)
        return cls(
            max_passes=checked_count("max_passes", max_passes),
            max_rounds=rounds,
            time_limit=checked_time_limit(time_limit),
        )


class Interval(NamedTuple):
    """What is proved of the largest margin: it lies between the two."""

    lower: float = -np.inf
    upper: float = np.inf

    def is_closed(self, tol: float) -> bool:
        """Tell whether the margin is positive and known to a relative width."""
        return self.lower > 0 and self.upper - self.lower <= tol * self.upper


UNKNOWN = Interval()


class Effort(NamedTuple):
    """What an answer cost; see `linsep.Separation` for the fields."""

    n_passes: int = 0
    n_rounds: int = 0
    trace: tuple[Progress, ...] = ()
    seconds: float = 0.0


class Stopped(Exception):
    """A limit was reached or the callback asked to stop; carries the reason."""


@dataclass
class Monitor:
    """Counts what a search does, tells the callback, and knows when it must end.

    Parameters
    ----------
    limits : Limits
        When to give up.
    callback : callable or None, default=None
        Told of each sweep, and from time to time in between; a true return value stops.
    clock : Clock
        Runs from here, unless one that runs already is given.

    Attributes
    ----------
    n_passes, n_rounds, n_working, n_violations
        As in `linsep.Progress`.
    interval : Interval
        What is proved of the largest margin so far.
    rows_read, n_rows : int
        As in `linsep.Progress`.
    trace : list of Progress
        One record a sweep.
    """

    limits: Limits
    callback: Callback | None = None
    clock: Clock = field(default_factory=Clock)
    n_passes: int = 0
    n_rounds: int = 0
    n_working: int = 0
    n_violations: int | None = None
    interval: Interval = UNKNOWN
    rows_read: int = 0
    n_rows: int = 0
    trace: list[Progress] = field(default_factory=list)
    _last_told: float = 0.0
    _asked_to_stop: bool = False

    @classmethod
    def checked(cls, callback: Callback | None, **limits: object) -> Monitor:
        """Start the clock, and refuse a callback or limits that are none."""
        checked_callback(callback)
        return cls(Limits.checked(**limits), callback)

    @property
    def effort(self) -> Effort:
        """What was done so far."""
        seconds = self.clock.elapsed()
        return Effort(self.n_passes, self.n_rounds, tuple(self.trace), seconds)

    @property
    def rounds_left(self) -> int | None:
        """Rounds and steps that may still be made; None without a limit."""
        limit = self.limits.max_rounds
        return None if limit is None else max(0, limit - self.n_rounds)

    def at_least(self, bound: float) -> None:
        """Take in a proved lower bound on the largest margin."""
        if bound > self.interval.lower:
            self.interval = Interval(bound, self.interval.upper)

    def at_most(self, bound: float) -> None:
        """Take in a proved upper bound on the largest margin."""
        if bound < self.interval.upper:
            self.interval = Interval(self.interval.lower, bound)

    def reason_to_stop(self, *, rounds: bool = True) -> str | None:
        """Return why the search must end now, if it must.

        Without `rounds` the limit on them does not count.
        """
        limits = self.limits
        if self.clock.elapsed() > limits.time_limit:
            return Reason.TIME_LIMIT.text(limits.time_limit)
        if rounds and self.rounds_left == 0:
            return Reason.MAX_ROUNDS.text(limits.max_rounds)
        return Reason.CALLBACK.text() if self._asked_to_stop else None

    def stop_if_due(self, *, rounds: bool = True) -> None:
        """Raise `Stopped` if the search must end; for use between steps."""
        self.tell_if_waiting()
        reason = self.reason_to_stop(rounds=rounds)
        if reason is not None:
            raise Stopped(reason)

    def should_stop(self, *, rounds: bool = True) -> bool:
        """Say whether to stop; for exact arithmetic to ask between its steps."""
        self.tell_if_waiting()
        return self.reason_to_stop(rounds=rounds) is not None

    def counting(self) -> Callable[[int], bool]:
        """Return the same question for an engine that counts its rounds from zero."""
        before = self.n_rounds

        def should_stop(n_rounds: int) -> bool:
            self.n_rounds = before + n_rounds
            return self.should_stop()

        return should_stop

    def read(self, rows_read: int) -> None:
        """Take in how many rows were read; raise `Stopped` if the search must end."""
        self.rows_read = rows_read
        self.stop_if_due(rounds=False)

    def begin_sweep(self) -> None:
        """Raise `Stopped` if no sweep over all rows may be made."""
        if self.n_passes >= self.limits.max_passes:
            raise Stopped(Reason.MAX_PASSES.text(self.limits.max_passes))
        self.stop_if_due(rounds=False)  # the last round allowed may have found it

    def end_sweep(self, n_violations: int) -> None:
        """Count and record a sweep, and tell the callback."""
        self.n_passes += 1
        self.n_violations = n_violations
        self.trace.append(self._progress())
        self._tell(self.trace[-1])

    def amend_last_sweep(self) -> None:
        """Put bounds that were proved after the last sweep into its record."""
        if self.trace:
            self.trace[-1] = self._progress()

    def tell_if_waiting(self) -> None:
        """Tell the callback how far the search is, if it has not heard for a while."""
        if self.callback and self.clock.elapsed() - self._last_told > TELL_EVERY:
            self._tell(self._progress())

    def _progress(self) -> Progress:
        """Return the state of the search as a callback sees it."""
        return Progress(
            self.n_passes,
            self.n_rounds,
            self.n_working,
            self.n_violations,
            self.interval.lower,
            self.interval.upper,
            self.clock.elapsed(),
            self.rows_read,
            self.n_rows,
        )

    def _tell(self, progress: Progress) -> None:
        """Tell the callback, and note its wish to stop."""
        self._last_told = progress.seconds
        if self.callback is not None and self.callback(progress):
            self._asked_to_stop = True
