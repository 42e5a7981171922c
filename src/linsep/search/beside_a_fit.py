"""The search that starts from a fit: it is swept first, then one factorisation.

The minimiser of a loss separates often where any hyperplane does, and is near the point
whose weights prove that rows overlap where none does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linsep.arrays import Floats, no_index
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
    """A search that must have a start, the fit's weights.

    Parameters
    ----------
    may_separate : bool, default=True
        Whether the start may be a separator.
    """

    may_separate: bool = True

    def decide(self, engine: Engine) -> Verdict:
        """Try the fit, then what a factorisation says, then search."""
        assert isinstance(engine, SeparatorEngine)
        assert self.start is not None
        if is_small(self.rows):
            scan, verdict = self._tried(engine, Hyperplane(self.start))
            engine.support = scan.index  # the active set's first rows
        else:
            verdict = self._of_many(engine, Hyperplane(self.start))
        return super().decide(engine) if verdict is None else verdict

    def _of_many(self, engine: SeparatorEngine, start: Hyperplane) -> Verdict | None:
        """Try the start, if it may separate, then what a factorisation says."""
        verdict = self._tried(engine, start)[1] if self.may_separate else None
        if verdict is not None:
            return verdict
        found = self.factored
        return self._tried(engine, found)[1] if isinstance(found, Hyperplane) else found

    def _tried(
        self, engine: SeparatorEngine, hyperplane: Hyperplane
    ) -> tuple[Scan, Verdict | None]:
        """Sweep all rows with a hyperplane; return what it named, and what it proves.

        As many rows as an active set holds are named.
        """
        self.monitor.stop_if_due()
        scan = self.sweep(hyperplane, self.rows.shape[1])
        none = WorkingSet(self.rows, self.rng, start=no_index())
        return scan, engine.accept(none, hyperplane, scan)


def decide_from(
    rows: Rows,
    monitor: Monitor,
    rng: np.random.Generator,
    start: Floats,
    *,
    may_separate: bool = True,
) -> Verdict:
    """Find a hyperplane that separates, or prove that there is none, from a fit."""
    search = StartedSearch(rows, monitor, rng, start=start, may_separate=may_separate)
    return search.run(SeparatorEngine)
