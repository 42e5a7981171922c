"""What the opening finds on small data, proved as all else is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from linsep.arrays import Floats, Index
from linsep.proof.gordan import conflict_of
from linsep.rows.working_set import WorkingSet
from linsep.search.answers import Verdict
from linsep.search.hyperplane import Hyperplane
from linsep.solvers.opening import Opening, opened

if TYPE_CHECKING:
    from linsep.search.separator_search import Search


def by_opening(search: Search) -> Verdict | None:
    """Try the opening on all rows, if they are few: most small data need no more.

    None where it finds no hyperplane and no conflict, or they are not proved.
    """
    monitor = search.monitor
    found = opened(search.rows, monitor.rounds_left, monitor.stop_if_due)
    if found is None:
        return None
    search.is_opened = True
    monitor.n_rounds += found.n_rounds
    monitor.at_most(found.margin_upper)
    if found.conflict is not None:
        return _settled(search, found)
    if found.w is None:
        return None
    monitor.n_working = search.rows.shape[0]
    hyperplane = Hyperplane(found.w)
    scan = search.sweep(hyperplane, 0)
    return None if scan.margin <= 0.0 else Verdict.separable(hyperplane)


def _settled(search: Search, found: Opening) -> Verdict | None:
    """Settle what seems to be a conflict, a point with both labels first."""
    verdict = None
    if found.opposite is not None:
        verdict = _conflict_of(search, np.array(found.opposite), np.ones(2))
    if verdict is not None or found.conflict is None:
        return verdict
    if not found.may_be_opposite:
        return _conflict_of(search, *found.conflict)
    every = np.arange(search.rows.shape[0])
    working = WorkingSet(search.rows, search.rng, start=every)
    return search.prove_conflict(working, *found.conflict)


def _conflict_of(search: Search, index: Index, p: Floats) -> Verdict | None:
    """Settle a conflict of these rows, no others looked at; small data have few."""
    index, p = index[p > 0], p[p > 0]
    if index.size > search.most_settled:
        working = WorkingSet(search.rows, search.rng, start=index)
        return search.prove_conflict(working, np.arange(index.size), p)
    search.monitor.stop_if_due(rounds=False)
    should_stop = partial(search.monitor.should_stop, rounds=False)
    conflict = conflict_of(search.rows.take(index), p, should_stop)
    return None if conflict is None else search.inseparable(index, conflict)
