"""What comparisons of two say by who beat whom: groups, the unbeaten, the winless."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linsep.diagnosis.inputs.paired import components, who_beat_whom
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.phrases import listed

# Groups that are described.
MOST_GROUPS = 4


def league_sentences(study: Study) -> Iterator[str]:
    """Describe who never lost to whom; facts of the comparisons alone."""
    sides = study.sides
    assert sides is not None
    names, n = study.players, len(study.players)
    wins = who_beat_whom(study)
    winners, losers = wins.T
    n_leagues = np.unique(components(sides, n)).size
    if n_leagues > 1:
        yield (
            f"The {n:,} players are of {n_leagues:,} groups that never met: strengths "
            "are compared within each of them only."
        )
    group = components(wins, n, by_wins=True)
    n_groups = int(group.max()) + 1
    if n_groups > n_leagues:
        yield (
            f"Who beat whom divides the players into {n_groups:,} groups, between "
            "which one never lost to the other."
        )
    beaten = np.isin(np.arange(n), losers)
    winning = np.isin(np.arange(n), winners)
    for chosen, what in ((~beaten, "never lost"), (~winning, "never won")):
        some = np.flatnonzero(chosen)
        if some.size:
            yield f"{listed([names[j] for j in some.tolist()])} {what}."
    sizes = np.bincount(group)
    across = group[winners] != group[losers]
    lost_out = np.unique(group[losers[across]])
    shown = [
        k
        for k in range(n_groups)
        if 1 < sizes[k] < n and k not in set(lost_out.tolist())
    ]
    for k in shown[:MOST_GROUPS] if n_groups > n_leagues else ():
        members = np.flatnonzero(group == k)
        yield (
            f"{listed([names[j] for j in members.tolist()])} ({members.size:,} "
            "players) never lost to anyone else."
        )
