r"""Each family's likelihood as signed rows: the directions in which it never falls.

A direction ``w`` of the coefficients never lowers the log-likelihood iff

- binomial (logit, probit, complementary log-log): ``y_i (x_i, 1) . w >= 0``, one row an
  observation;
- log link (Poisson and the like): ``-(x_i, 1) . w >= 0`` where ``y_i = 0``, and
  ``(x_i, 1) . w = 0`` where ``y_i > 0``;
- multinomial: ``(x_i, 1) . (w_c - w_k) >= 0`` for the observed class c and every other
  class k, with ``w = 0`` for the first class, the reference;
- ordinal (cumulative link, ``P(y <= k) = F(threshold_k - x . w)``):
  ``threshold_c - x_i . w >= 0`` and ``x_i . w - threshold_{c-1} >= 0``, for all but
  the last and the first class.

Distinct rows of X stand once, with all the levels observed there: two levels on the two
sides of one demand make it an equality.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.exact.merging import Groups
from linsep.diagnosis.exact.sweeps import AnyRows
from linsep.diagnosis.inputs.outcomes import Outcome
from linsep.diagnosis.inputs.study import INTERCEPT
from linsep.input import InputError
from linsep.rows import SparseRows, rows_from


@dataclass(frozen=True)
class Demands:
    """A regression as signed rows.

    Attributes
    ----------
    rows : Rows of shape (m, d)
        ``a_i . w >= 0`` is demanded of a direction.
    equal : ndarray of shape (m,), bool
        Where ``a_i . w = 0`` is.
    order : ndarray of shape (d,), int
        The columns in the order in which they are reported, intercept first.
    names : tuple of d str
        The coefficients' names in that order.
    of_group : ndarray of shape (n_groups, k), int
        The rows that a group of equal observations makes; -1 for none. An observation
        is separated iff all of its rows are.
    of_level : ndarray of shape (n_levels, k), bool or None
        Which of these rows speak of an observation of a level; None: all of them.
    """

    rows: AnyRows
    equal: NDArray[np.bool_]
    order: NDArray[np.intp]
    names: tuple[str, ...]
    of_group: NDArray[np.intp]
    of_level: NDArray[np.bool_] | None = field(default=None)

    def separated_observations(
        self,
        overlapped: NDArray[np.bool_],
        group: NDArray[np.intp],
        has: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Return which observations have only separated rows."""
        separated = np.append(~overlapped, [True])[self.of_group]
        if self.of_level is None:
            return np.asarray(separated.all(axis=1))[group]
        by_level = np.array([separated[:, used].all(axis=1) for used in self.of_level])
        return np.asarray((by_level.T[group] | ~has).all(axis=1))


def demands_of(
    family: str,
    groups: Groups,
    outcome: Outcome,
    names: tuple[str, ...],
    fit_intercept: bool,
) -> Demands:
    """Write a regression as signed rows over the distinct rows of X.

    Parameters
    ----------
    family : str
        One of "binomial", "poisson", "multinomial", "ordinal".
    groups : Groups
    outcome : Outcome
        With a row for each observation that `groups` was made from.
    names : tuple of str
        The features' names.
    fit_intercept : bool
    """
    has = np.zeros((groups.first.size, outcome.levels.size), dtype=bool)
    for level in range(outcome.levels.size):
        has[groups.group[outcome.has[:, level]], level] = True
    if family == "multinomial" and outcome.levels.size > 1:
        return _multinomial(groups.X, has, outcome, names, fit_intercept)
    if family == "ordinal" and outcome.levels.size > 1:
        return _ordinal(groups.X, has, outcome, names)
    if family == "poisson":
        signs, equal = np.where(has[:, 1], 1, -1), np.asarray(has[:, 1])
    elif outcome.levels.size == 1:
        signs = np.full(has.shape[0], 1 if _is_event(outcome.levels[0]) else -1)
        equal = np.zeros(has.shape[0], dtype=bool)
    else:
        signs, equal = np.where(has[:, -1], 1, -1), np.asarray(has.all(axis=1))
    return _one_block(groups.X, signs.astype(np.int8), equal, names, fit_intercept)


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Return the coefficients' names, which are made of features' and classes'."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(
            "features and classes must give coefficients names that differ from each "
            f"other, got {repeated[0]!r} twice; rename the feature or the class"
        )
    return tuple(names)


def _is_event(label: object) -> bool:
    """Tell whether the only label of one-class data reads as an event."""
    text = str(label).strip().casefold()
    if text in ("0", "false", "no", "n", "failure", "none", "negative"):
        return False
    try:
        return float(text) > 0
    except ValueError:
        return True


def _one_block(
    X: Any,
    signs: NDArray[np.int8],
    equal: NDArray[np.bool_],
    names: tuple[str, ...],
    fit_intercept: bool,
) -> Demands:
    rows = rows_from(X, signs, fit_intercept)
    n, d = X.shape
    order = np.arange(d)
    if fit_intercept:
        order, names = np.concatenate([[d], order]), (INTERCEPT, *names)
    return Demands(
        rows, equal, order.astype(np.intp), names, np.arange(n)[:, np.newaxis]
    )


def _multinomial(
    X: Any,
    has: NDArray[np.bool_],
    outcome: Outcome,
    names: tuple[str, ...],
    fit_intercept: bool,
) -> Demands:
    """One block of columns for each class but the first; a row for each pair."""
    from scipy import sparse

    extended = sparse.csr_array(X, dtype=np.float64)
    if fit_intercept:
        ones = sparse.csr_array(np.ones((X.shape[0], 1)))
        extended = sparse.csr_array(sparse.hstack([extended, ones]))
    n_levels, width = outcome.levels.size, extended.shape[1]
    blocks, equal, of_group = [], [], []
    of_level = []
    n_rows = 0
    for low in range(n_levels):
        for high in range(low + 1, n_levels):
            chosen = np.flatnonzero(has[:, low] | has[:, high])
            both = has[chosen, low] & has[chosen, high]
            sign = np.where(has[chosen, high], 1.0, -1.0)
            part = sparse.csr_array(sparse.diags_array(sign) @ extended[chosen])
            blocks.append(_placed(part, low - 1, high - 1, width, n_levels - 1))
            equal.append(both)
            at = np.full(X.shape[0], -1)
            at[chosen] = n_rows + np.arange(chosen.size)
            n_rows += chosen.size
            of_group.append(at)
            of_level.append(np.isin(np.arange(n_levels), [low, high]))
    stacked = sparse.csr_array(sparse.vstack(blocks, format="csr"))
    stacked.sort_indices()
    order, labels = [], []
    for level in range(n_levels - 1):
        columns = list(range(width))
        own = list(names)
        if fit_intercept:
            columns, own = [width - 1, *columns[:-1]], [INTERCEPT, *own]
        order += [level * width + column for column in columns]
        labels += [f"{name} [{outcome.levels[level + 1]}]" for name in own]
    return Demands(
        SparseRows(stacked, np.ones(n_rows, dtype=np.int8), False),
        np.concatenate(equal),
        np.array(order, dtype=np.intp),
        _distinct(labels),
        np.stack(of_group, axis=1),
        np.stack(of_level, axis=1),
    )


def _placed(part: Any, low: int, high: int, width: int, n_blocks: int) -> Any:
    """Put rows into the block `high`, and their negatives into the block `low`."""
    from scipy import sparse

    shape = (part.shape[0], width * n_blocks)
    up = sparse.csr_array((part.data, part.indices + high * width, part.indptr), shape)
    if low < 0:
        return up
    down = sparse.csr_array(
        (-part.data, part.indices + low * width, part.indptr), shape
    )
    return sparse.csr_array(down + up)


def _ordinal(
    X: Any, has: NDArray[np.bool_], outcome: Outcome, names: tuple[str, ...]
) -> Demands:
    """One column for each threshold, then the slopes; two rows an observation."""
    from scipy import sparse

    slopes = sparse.csr_array(X, dtype=np.float64)
    levels, n = outcome.levels, X.shape[0]
    n_thresholds = levels.size - 1
    blocks, equal, of_group, of_level, n_rows = [], [], [], [], 0
    for k in range(n_thresholds):
        below, above = has[:, k], has[:, k + 1]
        chosen = np.flatnonzero(below | above)
        sign = np.where(below[chosen], 1.0, -1.0)
        threshold = sparse.csr_array(
            (sign, (np.arange(chosen.size), np.full(chosen.size, k))),
            shape=(chosen.size, n_thresholds),
        )
        part = sparse.diags_array(-sign) @ slopes[chosen]
        blocks.append(sparse.hstack([threshold, part], format="csr"))
        equal.append(below[chosen] & above[chosen])
        at = np.full(n, -1)
        at[chosen] = n_rows + np.arange(chosen.size)
        n_rows += chosen.size
        of_group.append(at)
        of_level.append(np.isin(np.arange(levels.size), [k, k + 1]))
    d = n_thresholds + X.shape[1]
    stacked = sparse.csr_array(sparse.vstack(blocks, format="csr"))
    stacked.sort_indices()
    pairs = pairwise(levels.tolist())
    return Demands(
        SparseRows(stacked, np.ones(n_rows, dtype=np.int8), False),
        np.concatenate(equal),
        np.arange(d, dtype=np.intp),
        _distinct([*(f"{low}|{high}" for low, high in pairs), *names]),
        np.stack(of_group, axis=1),
        np.stack(of_level, axis=1),
    )
