"""Few rows of a Cox regression that prove by themselves that all overlap.

The comparisons of some rows are among those of all. If they overlap, every direction
that meets all comparisons is zero on them, and so on their span; if their rank is that
of all, that is every comparison there is. So a certificate of the few proves it of all,
and its rows are few enough to be written down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.exact import demands
from linsep.diagnosis.exact.partial_likelihood import Spans
from linsep.diagnosis.inputs.risk_sets import RiskSets
from linsep.diagnosis.inputs.study import Study
from linsep.rows import as_dense

# Rows at random to start with, those added in a round, and rounds.
FIRST, EACH, MOST_ROUNDS = 200, 60, 60

Rows = NDArray[np.intp]


def proving_part(
    study: Study, rank: int | None, overlaps: Callable[[Study], Any]
) -> Any:
    """Find such rows of a regression that overlaps, from some that do not on.

    What separates few rows is refuted by pairs of other rows, which are added.

    Parameters
    ----------
    study : Study
    rank : int
        Of all comparisons.
    overlaps : callable
        Diagnoses a part of the regression.

    Returns
    -------
    Diagnosis or None
        Of the part; None if none was found that is small enough.
    """
    assert study.observed is not None
    assert study.strata is not None
    X, rng = as_dense(study.X).astype(np.float64), np.random.default_rng(0)
    sets = RiskSets.of(study.observed, study.strata, study.family)
    spans = Spans.of(sets, exact=study.family == "cox exact")
    compared = np.flatnonzero(sets.is_compared)
    chosen = rng.choice(compared, min(FIRST, compared.size), replace=False)
    columns = np.arange(X.shape[1])
    for _ in range(MOST_ROUNDS):
        chosen = np.unique(chosen)
        times, strata = study.observed[chosen], study.strata[chosen]
        part = RiskSets.of(times, strata, study.family)
        if part.n_pairs > demands.MOST_STACKED:
            return None
        more = rng.choice(compared, min(EACH, compared.size), replace=False)
        if part.n_sets:
            answer = overlaps(study.part(chosen, columns))
            if not answer.proved:
                return None
            if answer.direction is not None:
                more = _against(X @ answer.direction, spans)
            elif answer.rank == rank:
                return answer
            else:  # rows in which what is the same in the part differs
                fewer = columns[
                    np.array([*map(str, answer.estimates.values())]) == "aliased"
                ]
                more = np.append(more, _extremes(X[:, fewer], compared))
        if np.isin(more, chosen).all():
            return None
        chosen = np.append(chosen, more)
    return None


def _against(z: NDArray[np.float64], spans: Spans) -> Rows:
    """Return the pairs of a case and a row at risk that a direction has the worst."""
    cases, others = spans.facing(z)
    worst = np.argsort(z[cases] - z[others], kind="stable")[: EACH // 2]
    return np.append(cases[worst], others[worst])


def _extremes(X: NDArray[np.float64], rows: Rows) -> Rows:
    """Return rows at both ends of every column."""
    order = rows[np.argsort(X[rows], axis=0, kind="stable")]
    return np.append(order[: EACH // 2].ravel(), order[-EACH // 2 :].ravel())
