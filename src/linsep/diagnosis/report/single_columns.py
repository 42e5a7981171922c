"""Single columns that predict an outcome: the sentences people look for first.

A column predicts if, along it, the rows of one outcome all lie on one side of a value
and all other rows on the other side or at it: "NV = 1 in 13 rows, all HG = 1".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.claims import Claim, Reason, claim_of
from linsep.diagnosis.report.phrases import (
    cut_text,
    is_short,
    threshold_text,
    value_text,
)
from linsep.diagnosis.watch import ShouldStop
from linsep.rows import as_dense, is_sparse, split

# Rows of an outcome, and all other rows.
Sides = tuple[Mask, Mask]


def reasons_of(
    study: Study, has_constant: bool, should_stop: ShouldStop, seen: Sequence[int] = ()
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
            claims = _ordinal_claims(study, column, x)
        else:
            every = (_claims(study, column, x, s, has_constant) for s in sides)
            # Sides may share a cut: the same rows are spoken of once.
            said = {claim.where: claim for claims in every for claim in claims}
            claims = list(said.values())
        if claims:
            coding = study.codings[column]
            is_level = bool(coding.levels)
            found.append(Reason(tuple(claims), column, coding.factor, is_level))
    return found, is_whole


def _columns(X: Any, chosen: Index) -> Iterator[tuple[int, NDArray[Any]]]:
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


def _candidates(study: Study, sides: list[Sides]) -> Index:
    """Return the columns on which outcomes do not mix, told by their extremes."""
    if study.family == "ordinal":
        has = study.outcome.has
        ends = [_extremes(study.X, has[:, k]) for k in range(has.shape[1])]
        steps = list(pairwise(ends))
        rises = np.all([low[1] <= high[0] for low, high in steps], axis=0)
        falls = np.all([high[1] <= low[0] for low, high in steps], axis=0)
        return np.flatnonzero(rises | falls)
    is_parted = np.zeros(study.X.shape[1], dtype=bool)
    for group, rest in sides:
        if group.any() and rest.any():
            (low, high), (least, most) = (_extremes(study.X, g) for g in (group, rest))
            is_parted |= (most <= low) | (high <= least)
    return np.flatnonzero(is_parted)


def _extremes(X: Any, mask: Mask) -> tuple[Floats, Floats]:
    """Return the least and the largest value of every column on some rows."""
    if not is_sparse(X):
        blocks = (X[i:j][mask[i:j]] for i, j in split(*X.shape))
        ends = [(some.min(axis=0), some.max(axis=0)) for some in blocks if len(some)]
        lows, highs = zip(*ends, strict=True)
        return np.min(lows, axis=0), np.max(highs, axis=0)
    by_column = X[mask].tocsc()
    low, high = by_column.min(axis=0), by_column.max(axis=0)
    return as_dense(low).ravel(), as_dense(high).ravel()


def _sides(study: Study) -> Iterator[Sides]:
    """Yield the outcomes that may be predicted; grouped counts may be of both."""
    levels, has = study.outcome.levels, study.outcome.has
    if study.family == "poisson":
        yield has[:, 0], has[:, 1]
    elif levels.size == 2:
        yield has[:, 1], has[:, 0]
    else:
        for k in range(levels.size):
            yield has[:, k], ~has[:, k]


def _claims(
    study: Study, column: int, x: NDArray[Any], sides: Sides, has_constant: bool
) -> list[Claim]:
    """Look along one column for one outcome against the rest."""
    group, rest = sides
    if not group.any() or not rest.any():
        return []
    for up in (True, False):
        z = x if up else -x
        low, high = float(z[rest].max()), float(z[group].min())
        if study.family == "poisson" and low <= high:
            # Where y > 0 nothing may change along the column.
            if z[rest].min() < low:
                return []
            high = low
        if not has_constant:
            # Without an intercept only the value zero can part them.
            if not low <= 0 <= high:
                continue
            low = high = 0.0
        if low <= high:
            break
    else:
        return []
    # Rows at a value that both share may be of either side.
    is_closed = low < high
    masks = (z >= high, z <= low) if is_closed else (z > low, z < low)
    return [
        claim_of(
            _condition(study, column, x, mask, side, is_closed),
            np.flatnonzero(mask),
            study.outcome,
        )
        for mask, side in zip(masks, (up, not up), strict=True)
        if mask.any()
    ]


def _condition(
    study: Study,
    column: int,
    x: NDArray[Any],
    mask: Mask,
    above: bool,
    closed: bool,
) -> str:
    """Say which rows of a column lie beyond a cut: "NV = 1", "x2 = b", "age > 40"."""
    own, others = x[mask], x[~mask]
    inner = float(own.min() if above else own.max())
    if (own == inner).all() and (
        others.size == 0 or is_short(inner) or study.codings[column].levels
    ):
        return value_text(study, column, inner)
    outer = float(others.max() if above else others.min())
    return threshold_text(study.names[column], inner, outer, above, closed)


def _range(study: Study, column: int, x: NDArray[Any], mask: Mask) -> str:
    """Say in which range these values lie, and no other; open where none lie beyond."""
    name = study.names[column]
    low, high = float(x[mask].min()), float(x[mask].max())
    if low == high and is_short(low):
        return value_text(study, column, low)
    below, beyond = x[x < low], x[x > high]
    if below.size == 0:
        return threshold_text(name, high, float(beyond.min()), above=False)
    if beyond.size == 0:
        return threshold_text(name, low, float(below.max()), above=True)
    least, most = cut_text(low, float(below.max())), cut_text(high, float(beyond.min()))
    return f"{least} <= {name} <= {most}"


def _ordinal_claims(study: Study, column: int, x: NDArray[Any]) -> list[Claim]:
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
        claims = []
        for k in range(n_levels):
            strict = has[:, k].copy()
            if k > 0 and highs[k - 1] == lows[k]:
                strict &= z > lows[k]
            if k + 1 < n_levels and highs[k] == lows[k + 1]:
                strict &= z < highs[k]
            if strict.any():
                where = _range(study, column, x, strict)
                claims.append(claim_of(where, np.flatnonzero(strict), study.outcome))
        if claims:
            return claims
    return []
