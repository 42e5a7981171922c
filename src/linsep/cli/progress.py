"""A line on the terminal that says how far the search is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linsep.cli.standard_input import named
from linsep.printable import printable

if TYPE_CHECKING:
    from rich.text import Text

    from linsep.diagnosis.watch import DiagnosisProgress
    from linsep.result import Progress as State


@dataclass
class Progress:
    """Shows what is being done: `say` replaces the text on the terminal."""

    say: Callable[[str], None]
    _begun: tuple[int, float] = (0, 0.0)  # rows read, and when, as a reading began

    def __call__(self, state: State) -> None:
        """Show where the search stands; returns None, so that it goes on."""
        if 0 < state.rows_read < state.n_rows:
            self.say(self._reading(state))
            return
        self._begun = 0, state.seconds
        wrong = "" if state.n_violations is None else f", {state.n_violations} wrong"
        self.say(
            f"pass {state.n_passes}, round {state.n_rounds}: {state.n_working} rows in "
            f"hand{wrong}, margin <= {state.margin_upper:.2g}, {state.seconds:.0f} s "
            "(Ctrl-C: stop)"
        )

    def _reading(self, state: State) -> str:
        """Say how far a reading of all rows is, how fast, and how long it will take."""
        if state.rows_read < self._begun[0]:  # another reading
            self._begun = 0, state.seconds
        n_read = state.rows_read - self._begun[0]
        passed = state.seconds - self._begun[1]
        rate = n_read / passed if passed > 0 else 0.0
        left = (state.n_rows - state.rows_read) / rate if rate > 0 else 0.0
        return (
            f"pass {state.n_passes + 1}: row {state.rows_read:,} of {state.n_rows:,}, "
            f"{rate:,.0f} rows a second, {left:.0f} s left in this pass "
            "(Ctrl-C: stop)"
        )


_STEPS = {
    "reading": "reading",
    "rank": "looking for collinear columns",
    "rows": "parting the rows into separated and overlapped",
    "coefficients": "deciding which estimates are finite",
}


@dataclass(frozen=True)
class DiagnosisSteps:
    """Shows what a diagnosis is doing."""

    say: Callable[[str], None]

    def __call__(self, state: DiagnosisProgress) -> None:
        """Show the step; returns None, so that it goes on."""
        self.say(f"{_STEPS[state.step]}, {state.seconds:.0f} s (Ctrl-C: stop)")


@contextmanager
def progress_line(start: str) -> Iterator[Progress]:
    """Show a line on the terminal while the block runs; nothing elsewhere.

    Yields a callback for `linsep.separate`.
    """
    if not sys.stderr.isatty():
        yield Progress(lambda text: None)
        return
    from rich.console import Console

    with Console(stderr=True).status(_one_line(start)) as status:
        yield Progress(lambda text: status.update(_one_line(text)))


def _one_line(text: str) -> Text:
    """Return a text that is cut, not wrapped, where the terminal is narrow."""
    from rich.text import Text

    return Text(printable(named(text)), no_wrap=True, overflow="ellipsis")
