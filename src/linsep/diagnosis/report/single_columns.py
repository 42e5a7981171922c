"""Single columns that predict an outcome: the sentences people look for first.

A column predicts if, along it, the rows of one outcome all lie on one side of a value
and all other rows on the other side or at it: "NV = 1 in 13 rows, all HG = 1".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.phrases import (
    condition_text,
    only_outcome,
    outcome_text,
    prediction,
    range_text,
)
from linsep.rows import is_sparse

# Rows of an outcome, all other rows, and what the two are called.
Sides = tuple[NDArray[np.bool_], NDArray[np.bool_], str, str]


@dataclass(frozen=True)
class Reason:
    """One column, one value of it, and what lies beyond; or one level of a factor.

    Attributes
    ----------
    column : int or None
        The feature's number; None for a level.
    sentences : tuple of str
        One for each side beyond the value that holds rows.
    rows : ndarray of int
        The rows beyond the value: predicted perfectly by this column alone. (Of more
        than two classes, some may be predicted in part: one class is ruled out.)
    factor : str or None
        The factor that is spoken of.
    is_level : bool
        Whether the sentences name a level of it.
    """

    column: int | None
    sentences: tuple[str, ...]
    rows: NDArray[np.intp]
    factor: str | None = None
    is_level: bool = False


def reasons_of(
    study: Study, has_constant: bool, seen: Collection[int] = ()
) -> list[Reason]:
    """Find every single column, but for those seen to, that predicts some rows."""
    if study.outcome.levels.size < 2:
        return []
    found: list[Reason] = []
    sides = list(_sides(study))
    for column, x in _columns(study.X, seen):
        if not (x != x[0]).any() and has_constant:
            continue
        if study.family == "ordinal":
            candidates = [_ordinal_reason(study, column, x)]
        else:
            candidates = [_reason(study, column, x, s, has_constant) for s in sides]
        coding = study.codings[column]
        found += [
            replace(reason, factor=coding.factor, is_level=bool(coding.levels))
            for reason in without_repeats(filter(None, candidates))
        ]
    return found


def without_repeats(reasons: Iterable[Reason]) -> Iterator[Reason]:
    """Leave out what was said of the same column already."""
    said: set[str] = set()
    for reason in reasons:
        new = tuple(text for text in reason.sentences if text not in said)
        said.update(new)
        if new:
            yield replace(reason, sentences=new)


def _columns(X: Any, seen: Collection[int]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield number and values of each column not seen to."""
    by_column = X.tocsc() if is_sparse(X) else X
    for j in range(X.shape[1]):
        if j in seen:
            continue
        column = by_column[:, [j]].toarray().ravel() if is_sparse(X) else X[:, j]
        yield j, column


def _sides(study: Study) -> Iterator[Sides]:
    """Yield the outcomes that may be predicted; grouped counts may be of both."""
    levels, has = study.outcome.levels, study.outcome.has
    if study.family == "poisson":
        yield has[:, 0], has[:, 1], f"{study.outcome_name} = 0", ""
    elif levels.size == 2:
        first, second = (outcome_text(study, k) for k in (0, 1))
        yield has[:, 1], has[:, 0], second, first
    else:
        for k in range(levels.size):
            other = f"{study.outcome_name} other than {levels[k]}"
            yield has[:, k], ~has[:, k], outcome_text(study, k), other


def _reason(
    study: Study, column: int, x: NDArray[Any], sides: Sides, has_constant: bool
) -> Reason | None:
    """Look along one column for one outcome against the rest."""
    group, rest, *labels = sides
    if not group.any() or not rest.any():
        return None
    for up in (True, False):
        z = x if up else -x
        low, high = float(z[rest].max()), float(z[group].min())
        if study.family == "poisson" and low <= high:
            # Where y > 0 nothing may change along the column.
            if z[rest].min() < low:
                return None
            high = low
        if not has_constant:
            # Without an intercept only the value zero can part them.
            if not low <= 0 <= high:
                continue
            low = high = 0.0
        if low <= high:
            break
    else:
        return None
    is_open = low == high  # rows at the value itself may be of either side
    above, below = (z > low, z < low) if is_open else (z >= high, z <= low)
    sentences = []
    for mask, label, end, side in (
        (above, labels[0], high, up),
        (below, labels[1], low, not up),
    ):
        if mask.any():
            bound = end if up else -end
            where = condition_text(study, column, x[mask], bound, side, not is_open)
            outcome = only_outcome(study, mask) or label
            sentences.append(prediction(where, int(mask.sum()), outcome))
    if not sentences:
        return None
    return Reason(column, tuple(sentences), np.flatnonzero(above | below))


def _ordinal_reason(study: Study, column: int, x: NDArray[Any]) -> Reason | None:
    """Look for cuts of one column that put the levels in order.

    Cut k lies between the values of level k and of level k + 1. Rows that lie strictly
    between the cuts around their level are predicted perfectly; those at a cut that
    two levels share are not.
    """
    has = study.outcome.has
    n_levels = has.shape[1]
    for up in (True, False):
        z = x if up else -x
        highs = [float(z[has[:, k]].max()) for k in range(n_levels)]
        lows = [float(z[has[:, k]].min()) for k in range(n_levels)]
        if any(highs[k] > lows[k + 1] for k in range(n_levels - 1)):
            continue
        sentences, rows = [], np.zeros(x.size, dtype=bool)
        for k in range(n_levels):
            strict = has[:, k].copy()
            if k > 0 and highs[k - 1] == lows[k]:
                strict &= z > lows[k]
            if k + 1 < n_levels and highs[k] == lows[k + 1]:
                strict &= z < highs[k]
            if strict.any():
                ends = (k == 0, k == n_levels - 1)
                where = range_text(study, column, x[strict], ends if up else ends[::-1])
                outcome = outcome_text(study, k)
                sentences.append(prediction(where, int(strict.sum()), outcome))
                rows |= strict
        if sentences:
            return Reason(column, tuple(sentences), np.flatnonzero(rows))
    return None
