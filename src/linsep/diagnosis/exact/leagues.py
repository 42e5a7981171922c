"""Who beat whom, directly or by others: the order of the groups of a league."""

from __future__ import annotations

import numpy as np

from linsep.diagnosis.inputs.paired import components, reference_players
from linsep.diagnosis.inputs.study import Study
from linsep.rows.arrays import Index
from linsep.verified.vectors import SparseVector


def who_beat_whom(study: Study) -> Index:
    """Return winners and losers, one pair a win, of shape (k, 2); a tie is two."""
    sides = study.sides
    assert sides is not None
    lost, *ties, won = study.outcome.has.T
    for tied in ties:
        lost, won = lost | tied, won | tied
    return np.concatenate([sides[won], sides[lost][:, ::-1]])


def league_order(study: Study) -> SparseVector | None:
    """Return strengths that rise with the group, if groups come in such an order.

    Whoever beat someone of another group is in a higher one. A guess: it is for others
    to check, as where there are covariates.
    """
    assert study.sides is not None
    n = len(study.players)
    wins = who_beat_whom(study)
    rank = components(wins, n, by_wins=True)
    winners, losers = wins.T
    across = rank[winners] != rank[losers]
    if not across.any():
        return None
    if (rank[winners] <= rank[losers])[across].all():  # numbered from the top
        rank = -rank
    references = reference_players(study.sides, n)
    zero = np.zeros(n, dtype=np.intp)
    league = components(study.sides, n)
    zero[league[references]] = rank[references]
    strengths = np.delete(rank - zero[league], references)
    first = 1 if study.family == "davidson" else 0
    values = enumerate(strengths.tolist(), first)
    return SparseVector.from_items({j: value for j, value in values if value})
