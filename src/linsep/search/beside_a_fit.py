"""The search that starts from a fit: it is swept first, then one factorisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linsep.rows import Rows
from linsep.rows.working_set import WorkingSet
from linsep.search.answers import Verdict
from linsep.search.hyperplane import Hyperplane
from linsep.search.limits import Monitor
from linsep.search.separator_search import Search, SeparatorEngine

# Rows of no more entries are searched for a conflict at once, which takes milliseconds.
FEW_ENTRIES = 5_000


def is_small(rows: Rows) -> bool:
    """Tell whether a conflict is looked for before a factorisation is tried."""
    n, d = rows.shape
    return n * d <= FEW_ENTRIES


@dataclass
class StartedEngine(SeparatorEngine):
    """Finds some hyperplane that separates, or a proof that none does, from a fit.

    The minimiser of a loss separates often where any hyperplane does, and is near
    the point whose weights prove that rows overlap where none does. The search must
    have a start, the fit's weights.
    """

    _n_solved: int = 0

    def solve(self, working: WorkingSet) -> Hyperplane | Verdict:
        """Return the fit, then what a factorisation says, then search."""
        search = self.search
        self._n_solved += 1
        if self._n_solved == 1 and search.start is not None:
            return Hyperplane(search.start)
        is_due = self._n_solved == 2 and not is_small(search.rows)
        if is_due and search.factored is not None:
            return search.factored
        return super().solve(working)


def decide_from(
    rows: Rows, monitor: Monitor, rng: np.random.Generator, start: NDArray[np.float64]
) -> Verdict:
    """Find a hyperplane that separates, or prove that there is none, from a fit."""
    search = Search(rows, monitor, rng, start=start)
    return search.run(StartedEngine(search))
