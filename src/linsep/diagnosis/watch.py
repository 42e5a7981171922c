"""The clock and the callback of one diagnosis: when it must end, and why."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# Asked between steps whether to stop.
ShouldStop = Callable[[], bool]

# Between steps the callback is told at most this often, in seconds.
TELL_EVERY = 0.2


class OutOfTime(Exception):
    """A limit was reached, or the callback asked to stop; what was proved stands."""


@dataclass(frozen=True)
class DiagnosisProgress:
    """Where a diagnosis stands; what a callback receives.

    Attributes
    ----------
    step : {"reading", "rank", "rows", "coefficients"}
        What is being done: reading the data, finding collinear columns, parting the
        rows into separated and overlapped, deciding the coefficients.
    seconds : float
        Since the call began.
    """

    step: str
    seconds: float


class Watch:
    """Looks after one diagnosis.

    Parameters
    ----------
    time_limit : float, default=inf
        Seconds at most, from now.
    callback : callable, optional
        Told of each step when it begins, and from time to time in between; a true
        return value ends the diagnosis.
    clock : callable, default=time.perf_counter
        What seconds are counted by.

    Attributes
    ----------
    reason : str or None
        Why the diagnosis had to end, once it had.
    is_interrupted : bool
        Whether Ctrl-C ended it.
    """

    def __init__(
        self,
        time_limit: float = np.inf,
        callback: Callable[[DiagnosisProgress], object] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.reason: str | None = None
        self.is_interrupted = False
        self._time_limit = time_limit
        self._callback = callback
        self._clock = clock
        self._started = clock()
        self._last_told = -np.inf
        self._step = "reading"

    @property
    def seconds(self) -> float:
        """Seconds since the diagnosis began."""
        return self._clock() - self._started

    @property
    def seconds_left(self) -> float:
        """Seconds that may still be used; infinite without a limit."""
        return max(0.0, self._time_limit - self.seconds)

    def begin(self, step: str) -> None:
        """Note which step begins, and tell the callback."""
        self._step = step
        self._tell()

    def is_over(self) -> bool:
        """Say whether to stop; the callback hears of it from time to time."""
        if self.reason is None and self.seconds > self._time_limit:
            self.reason = (
                f"the time limit of {self._time_limit:g} s passed; allow more to go on."
            )
        if self.reason is None and self.seconds - self._last_told > TELL_EVERY:
            self._tell()
        return self.reason is not None

    def give_up(self, reason: str) -> None:
        """Note why the diagnosis cannot go on."""
        self.reason = reason

    def interrupt(self) -> None:
        """Note that Ctrl-C ended the diagnosis."""
        self.reason, self.is_interrupted = "interrupted from the keyboard.", True

    def _tell(self) -> None:
        """Tell the callback, and note its wish to stop."""
        self._last_told = self.seconds
        if self._callback is None:
            return
        if self._callback(DiagnosisProgress(self._step, self._last_told)):
            self.reason = "the callback asked to stop."


def require_time(should_stop: Callable[[], bool]) -> None:
    """Raise `OutOfTime` if it is time to stop; for use between steps."""
    if should_stop():
        raise OutOfTime
