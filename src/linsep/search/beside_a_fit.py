"""The search that starts from a fit: it is swept first, then one factorisation.

The minimiser of a loss separates often where any hyperplane does, and is near the point
whose weights prove that rows overlap where none does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linsep.rows import Rows, Scan
from linsep.rows.working_set import WorkingSet
from linsep.search.answers import Verdict
from linsep.search.hyperplane import Hyperplane
from linsep.search.limits import Monitor
from linsep.search.separator_search import Engine, Search, SeparatorEngine

# Rows of no more entries are searched for a conflict at once, which takes milliseconds.
FEW_ENTRIES = 5_000


def is_small(rows: Rows) -> bool:
    """Tell whether a conflict is looked for before a factorisation is tried."""
    n, d = rows.shape
    return n * d <= FEW_ENTRIES


@dataclass
class StartedSearch(Search):
    """A search that must have a start, the fit's weights."""

    def decide(self, engine: Engine) -> Verdict:
        """Try the fit, then what a factorisation says, then search."""
        assert isinstance(engine, SeparatorEngine)
        assert self.start is not None
        scan, verdict = self._tried(engine, Hyperplane(self.start))
        if verdict is not None:
            return verdict
        if is_small(self.rows):
            engine.support = scan.index  # the active set's first rows
        elif isinstance(self.factored, Hyperplane):
            _, verdict = self._tried(engine, self.factored)
        else:
            verdict = self.factored
        return super().decide(engine) if verdict is None else verdict

    def _tried(
        self, engine: SeparatorEngine, hyperplane: Hyperplane
    ) -> tuple[Scan, Verdict | None]:
        """Sweep all rows with a hyperplane; return what it named, and what it proves.

        As many rows as an active set holds are named.
        """
        self.monitor.stop_if_due()
        scan = self.sweep(hyperplane, self.rows.shape[1])
        none = WorkingSet(self.rows, self.rng, start=np.empty(0, dtype=np.intp))
        return scan, engine.accept(none, hyperplane, scan)


def decide_from(
    rows: Rows, monitor: Monitor, rng: np.random.Generator, start: NDArray[np.float64]
) -> Verdict:
    """Find a hyperplane that separates, or prove that there is none, from a fit."""
    search = StartedSearch(rows, monitor, rng, start=start)
    return search.run(SeparatorEngine(search))
