"""Single columns that predict an outcome: the sentences people look for first.

A column predicts if, along it, the rows of one outcome all lie on one side of a value
and all other rows on the other side or at it: "NV = 1 in 13 rows, all HG = 1".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
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
    study: Study,
    has_constant: bool,
    should_stop: Callable[[], bool],
    seen: Sequence[int] = (),
) -> tuple[list[Reason], bool]:
    """Find the single columns, but for those seen to, that predict some rows.

    Returns
    -------
    found : list of Reason
        In the order of the columns.
    is_whole : bool
        Whether all columns were looked at before `should_stop` said to stop.
    """
    if study.outcome.levels.size < 2:
        return [], True
    found: list[Reason] = []
    sides = list(_sides(study))
    is_whole = True
    chosen = np.setdiff1d(_candidates(study, sides), np.array(seen, dtype=np.intp))
    for column, x in _columns(study.X, chosen):
        if should_stop():
            is_whole = False
            break
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
    return found, is_whole


def without_repeats(reasons: Iterable[Reason]) -> Iterator[Reason]:
    """Leave out what was said of the same column already."""
    said: set[str] = set()
    for reason in reasons:
        new = tuple(text for text in reason.sentences if text not in said)
        said.update(new)
        if new:
            yield replace(reason, sentences=new)


def _columns(X: Any, chosen: NDArray[np.intp]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the numbers and the values of some columns."""
    if not is_sparse(X):
        for j in chosen.tolist():
            yield j, X[:, j]
        return
    by_column = X.tocsc()
    for j in chosen.tolist():
        column = np.zeros(X.shape[0], dtype=X.dtype)
        part = slice(by_column.indptr[j], by_column.indptr[j + 1])
        column[by_column.indices[part]] = by_column.data[part]
        yield j, column


def _candidates(study: Study, sides: list[Sides]) -> NDArray[np.intp]:
    """Return the columns on which outcomes do not mix, told by their extremes."""
    if study.family == "ordinal":
        has = study.outcome.has
        ends = [_extremes(study.X, has[:, k]) for k in range(has.shape[1])]
        steps = list(pairwise(ends))
        rises = np.all([low[1] <= high[0] for low, high in steps], axis=0)
        falls = np.all([high[1] <= low[0] for low, high in steps], axis=0)
        return np.flatnonzero(rises | falls)
    is_parted = np.zeros(study.X.shape[1], dtype=bool)
    for group, rest, *_ in sides:
        if group.any() and rest.any():
            (low, high), (least, most) = (_extremes(study.X, g) for g in (group, rest))
            is_parted |= (most <= low) | (high <= least)
    return np.flatnonzero(is_parted)


def _extremes(
    X: Any, mask: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest value of every column on some rows."""
    some = X[mask]
    if not is_sparse(X):
        return some.min(axis=0), some.max(axis=0)
    by_column = some.tocsc()
    return by_column.min(axis=0).toarray().ravel(), by_column.max(
        axis=0
    ).toarray().ravel()


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
