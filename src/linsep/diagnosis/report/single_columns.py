"""Single columns that predict an outcome: the sentences people look for first.

A column predicts if, along it, the rows of one outcome all lie on one side of a value
and all other rows on the other side or at it: "NV = 1 in 13 rows, all HG = 1".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.codings import Coding
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.texts import count_rows, number_text
from linsep.rows import is_sparse


@dataclass(frozen=True)
class Reason:
    """One column, one value of it, and what lies beyond; or one level of a factor.

    Attributes
    ----------
    column : int or None
        The feature's number; None for a level.
    sentences : tuple of str
        One for each side beyond the value that holds rows.
    rows : ndarray of shape (n,), bool
        The rows beyond the value: predicted perfectly by this column alone. (Of more
        than two classes, some may be predicted in part: one class is ruled out.)
    factor : str or None
        The factor, for a level.
    """

    column: int | None
    sentences: tuple[str, ...]
    rows: NDArray[np.bool_]
    factor: str | None = None


def reasons_of(study: Study, has_constant: bool) -> list[Reason]:
    """Find every single column that predicts some rows, most rows first."""
    if study.outcome.levels.size < 2:
        return []
    found: list[Reason] = []
    for column, x in _columns(study.X):
        if not (x != x[0]).any() and has_constant:
            continue
        if study.family == "ordinal":
            candidates = [_ordinal_reason(study, column, x)]
        else:
            candidates = [
                _reason(study, column, x, group, (label, rest), has_constant)
                for group, label, rest in _sides(study)
            ]
        found += _without_repeats(reason for reason in candidates if reason is not None)
    found.sort(key=lambda reason: -int(reason.rows.sum()))  # stable: by column
    return found


def _without_repeats(reasons: Iterable[Reason]) -> list[Reason]:
    """Leave out what was said of the same column already."""
    said: set[str] = set()
    kept = []
    for reason in reasons:
        new = tuple(text for text in reason.sentences if text not in said)
        said.update(new)
        if new:
            kept.append(replace(reason, sentences=new))
    return kept


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
                where = _between(study, column, x[strict], ends if up else ends[::-1])
                count = count_rows(int(strict.sum()))
                sentences.append(f"{where} in {count}, all {outcome_text(study, k)}.")
                rows |= strict
        if sentences:
            return Reason(column, tuple(sentences), rows)
    return None


def _between(
    study: Study, column: int, values: NDArray[Any], ends: tuple[bool, bool]
) -> str:
    """Say in which range the values lie; open below or above at the ends."""
    name = study.names[column]
    low, high = float(values.min()), float(values.max())
    if low == high:
        return value_text(name, study.codings[column], low)
    if ends[0]:
        return f"{name} <= {number_text(high)}"
    if ends[1]:
        return f"{name} >= {number_text(low)}"
    return f"{number_text(low)} <= {name} <= {number_text(high)}"


def _columns(X: Any) -> Any:
    """Yield each column's number and values."""
    if is_sparse(X):
        X = X.tocsc()
        for j in range(X.shape[1]):
            yield j, X[:, [j]].toarray().ravel()
        return
    for j in range(X.shape[1]):
        yield j, X[:, j]


def _sides(study: Study) -> Any:
    """Yield the rows of each outcome that may be predicted, its name, the other's."""
    levels, has = study.outcome.levels, study.outcome.has
    name = study.outcome_name
    if study.family == "poisson":
        yield has[:, 0] & ~has[:, 1], f"{name} = 0", ""
    elif levels.size == 2:
        first, second = (outcome_text(study, k) for k in (0, 1))
        yield has[:, 1], second, first
    else:
        for k in range(levels.size):
            yield has[:, k], outcome_text(study, k), f"{name} other than {levels[k]}"


def outcome_text(study: Study, level: int) -> str:
    """Name an outcome: "HG = 1", or for counts the column of the counts."""
    label = study.outcome.levels[level]
    if study.outcome.is_labels:
        return f"{study.outcome_name} = {label}"
    return str(label)


def _reason(
    study: Study,
    column: int,
    x: NDArray[Any],
    group: NDArray[np.bool_],
    labels: tuple[str, str],
    has_constant: bool,
) -> Reason | None:
    """Look along one column for one outcome against the rest."""
    rest = _rest(study, group)
    if not group.any():
        return None
    if study.family == "poisson":
        return _poisson_reason(study, column, x, group, labels[0], has_constant)
    if not rest.any():
        return None
    for up in (True, False):
        z = x if up else -x
        low, high = float(z[rest].max()), float(z[group].min())
        if not has_constant:
            # Without an intercept only the value zero can part them.
            if not low <= 0 <= high:
                continue
            low = high = 0.0
        if low > high:
            continue
        return _worded(study, column, x, (z, low, high), up, labels)
    return None


def _rest(study: Study, group: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the rows of any other outcome; grouped counts may be of both."""
    if study.outcome.levels.size == 2:
        return study.outcome.has[:, 0]
    return ~group


def _worded(
    study: Study,
    column: int,
    x: NDArray[Any],
    cut: tuple[NDArray[Any], float, float],
    up: bool,
    labels: tuple[str, str],
) -> Reason | None:
    """Word what lies beyond the value on either side."""
    z, low, high = cut
    if low < high:
        above, below = z >= high, z <= low
    else:
        above, below = z > low, z < low
    rows = above | below
    if not rows.any():
        return None
    sentences = []
    for mask, label, side in ((above, labels[0], up), (below, labels[1], not up)):
        if mask.any():
            held = np.flatnonzero(study.outcome.has[mask].any(axis=0))
            if held.size == 1:
                label = outcome_text(study, int(held[0]))
            limit = (high if side == up else low) if low < high else low
            bound = limit if up else -limit
            closed = low < high
            where = condition_text(study, column, x[mask], bound, side, closed)
            sentences.append(f"{where} in {count_rows(int(mask.sum()))}, all {label}.")
    return Reason(column, tuple(sentences), rows)


def _poisson_reason(
    study: Study,
    column: int,
    x: NDArray[Any],
    zero: NDArray[np.bool_],
    label: str,
    has_constant: bool,
) -> Reason | None:
    """Look for a column that is constant where y > 0 and one-sided where y = 0."""
    positive = ~zero
    if not positive.any():
        return None
    value = float(x[positive][0])
    if (x[positive] != value).any() or (value != 0 and not has_constant):
        return None
    for up in (True, False):
        beyond = x > value if up else x < value
        other = x < value if up else x > value
        if beyond.any() and not other.any():
            where = condition_text(study, column, x[beyond], value, up, False)
            return Reason(
                column,
                (f"{where} in {count_rows(int(beyond.sum()))}, all {label}.",),
                beyond,
            )
    return None


def condition_text(
    study: Study,
    column: int,
    values: NDArray[Any],
    bound: float,
    above: bool,
    closed: bool,
) -> str:
    """Say which rows are meant: "NV = 1", "x2 = b", "age > 40"."""
    name = study.names[column]
    first = float(values[0])
    if (values == first).all():
        return value_text(name, study.codings[column], first)
    sign = (">=" if closed else ">") if above else ("<=" if closed else "<")
    return f"{name} {sign} {number_text(bound)}"


def value_text(name: str, coding: Coding, value: float) -> str:
    """Say that a column has a value, factor levels by their own names.

    Examples
    --------
    >>> value_text("C(region)[T.north]", Coding(levels=(("region", "north"),)), 1.0)
    'region = north'
    >>> value_text("colour=red", Coding(levels=(("colour", "red"),)), 0.0)
    'colour other than red'
    >>> value_text("NV", Coding(), 1.0)
    'NV = 1'
    """
    if value == 1.0 and coding.levels:
        return " and ".join(f"{factor} = {level}" for factor, level in coding.levels)
    if value == 0.0 and len(coding.levels) == 1:
        factor, level = coding.levels[0]
        return f"{factor} other than {level}"
    return f"{name} = {number_text(value)}"
