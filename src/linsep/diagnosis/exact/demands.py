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
  the last and the first class; where columns have effects of their own at each
  threshold, with the ``w`` of the threshold;
- conditional (the cases of a group against its controls, without a constant): ``(x_i -
  x_j) . w >= 0`` for every case i and control j of a group. That is so iff some
  constant of the group has ``x_i . w >= constant >= x_j . w``, which takes no
  difference of doubles, so these are the rows.

- conditional Poisson (counts given the total of their group): where ``y_i > 0``, no row
  of the group is above ``x_i . w``, so that all these are equal;
- Cox (partial likelihood): at each time of an event a group of all who are at risk, as
  in a conditional model. Where several have the event at one time, Breslow's and
  Efron's likelihoods compare them with each other too: ``x_i . w = constant`` for each;
  the exact ones do not.
- Davidson's ties (won, a tie and lost have the weights ``exp(s_i)``, ``exp(t + (s_i +
  s_j) / 2)`` and ``exp(s_j)``): won asks for ``s_i - s_j >= 0`` and ``>= 2 t``, a tie
  for ``2 t >= |s_i - s_j|``. Where ``t`` is known, no direction changes it, so that a
  tie asks for ``s_i = s_j``, as two half wins do.

Distinct rows of X stand once, with all the levels observed there: two levels on the two
sides of one demand make it an equality.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from linsep.arrays import Index, Mask, no_index
from linsep.diagnosis.inputs.families import OF_TIMES
from linsep.diagnosis.inputs.outcomes import Outcome, reads_as_event
from linsep.diagnosis.inputs.study import INTERCEPT, Study
from linsep.input import InputError
from linsep.rows import Rows, rows_from
from linsep.rows.equal_rows import Groups, merge_equal_rows

# The coefficient of ties in Davidson's model, the logarithm of their factor.
TIES = "ties"
# Comparisons of a Cox regression that are written down at most.
MOST_STACKED = 300_000


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
    names : tuple of str
        The coefficients' names in that order; the first columns may have none, which
        are then no coefficients: the constants of groups.
    constants : ndarray of int
        The columns of the intercepts, the thresholds, or the constants of groups.
    of_group : ndarray of shape (n_groups, k), int
        The rows that a group of equal observations makes; -1 for none. An observation
        is separated iff all of its rows are.
    of_level : ndarray of shape (n_levels, k), bool or None
        Which of these rows speak of an observation of a level; None: all of them.
    is_written : bool
        Whether these are the demands; else they are too many, and `rows` are those of
        `strata_beside`.
    n_held : int
        How many rows, the last ones, are of a penalty and of no observation.
    """

    rows: Rows
    equal: Mask
    order: Index
    names: tuple[str, ...]
    constants: Index
    of_group: Index
    of_level: Mask | None = None
    is_written: bool = True
    n_held: int = 0

    @property
    def named_columns(self) -> list[tuple[str, int]]:
        """The coefficients' names with their columns, in the order reported."""
        columns = self.order[self.n_nameless :].tolist()
        return list(zip(self.names, columns, strict=True))

    @property
    def n_nameless(self) -> int:
        """How many columns are no coefficients."""
        return self.order.size - len(self.names)

    def separated_observations(self, overlapped: Mask, group: Index, has: Mask) -> Mask:
        """Return which observations have only separated rows."""
        separated = np.append(~overlapped, [True])[self.of_group]
        if self.of_level is None:
            return np.asarray(separated.all(axis=1))[group]
        by_level = np.array([separated[:, used].all(axis=1) for used in self.of_level])
        return np.asarray((by_level.T[group] | ~has).all(axis=1))


def demands_of(study: Study, groups: Groups) -> Demands:
    """Write a regression as signed rows over the distinct rows of X.

    A penalty that grows without end along every ``w`` with ``M w != 0`` demands
    ``M w = 0`` beside.
    """
    demands = _of_likelihood(study, groups)
    return demands if study.held is None else _with_held(demands, study)


def _with_held(demands: Demands, study: Study) -> Demands:
    """Add the rows of a penalty, for each class that has coefficients."""
    from scipy import sparse

    if not demands.is_written:
        raise InputError(
            f"a penalty matrix goes with at most {MOST_STACKED:,} comparisons of a "
            "Cox regression, got more; leave the penalised columns out"
        )
    m, width = demands.rows.shape
    held = sparse.coo_array(np.asarray(study.held))
    constants = set(demands.constants.tolist())
    columns = [j for _, j in demands.named_columns if j not in constants]
    whole = [sparse.csr_array(demands.rows.take(np.arange(m)))]
    d = len(study.names)
    for start in range(0, len(columns), d):
        at = np.array(columns[start : start + d])[held.coords[1]]
        shape = (held.shape[0], width)
        whole.append(sparse.csr_array((held.data, (held.coords[0], at)), shape=shape))
    stacked = sparse.csr_array(sparse.vstack(whole, format="csr"))
    n_held = stacked.shape[0] - m
    return replace(
        demands,
        rows=rows_from(stacked),
        equal=np.append(demands.equal, np.ones(n_held, dtype=bool)),
        n_held=n_held,
    )


def _of_likelihood(study: Study, groups: Groups) -> Demands:
    outcome, names = study.outcome, study.names
    has = levels_of_groups(groups, outcome.has)
    if study.family == "multinomial" and outcome.levels.size > 1:
        return _multinomial(groups.X, has, study)
    if study.family == "ordinal" and outcome.levels.size > 1:
        return _ordinal(groups.X, has, study)
    if study.family in OF_TIMES:
        return _cox(study)
    if study.family == "davidson":
        return _davidson(groups.X, has, study)
    if study.family == "conditional poisson":
        assert study.strata is not None
        is_positive = np.asarray(has[:, 1])
        stratum = study.strata[groups.first]
        of_positive = study.strata[outcome.has[:, 1]]
        n_positive = np.bincount(of_positive, minlength=int(study.strata.max()) + 1)
        signs = np.where(is_positive, 1, -1)
        equal = is_positive & ((n_positive[stratum] > 1) | has[:, 0])
    elif study.family == "poisson":
        signs, equal = np.where(has[:, 1], 1, -1), np.asarray(has[:, 1])
    elif outcome.levels.size == 1:
        signs = np.full(has.shape[0], 1 if _is_event(outcome) else -1)
        equal = np.zeros(has.shape[0], dtype=bool)
    else:
        signs, equal = np.where(has[:, -1], 1, -1), np.asarray(has.all(axis=1))
    n, d = groups.X.shape[0], len(names)
    # Where all rows are different, each is the first of its group.
    every = groups.first if n == groups.group.size else np.arange(n)
    constants = np.arange(d, groups.X.shape[1] + study.fit_intercept)
    if study.fit_intercept:
        names = (INTERCEPT, *names)
    return Demands(
        rows_from(groups.X, signs.astype(np.int8), study.fit_intercept),
        equal,
        np.append(constants, np.arange(d)),
        names,
        constants,
        every[:, np.newaxis],
    )


def equal_rows_of(study: Study) -> Groups:
    """Gather the equal rows of a regression; of a conditional one, within its groups.

    A column of 0 and 1 for each of these stands beside the features.
    """
    if study.family in OF_TIMES:  # rows of different times are different
        every = np.arange(study.X.shape[0])
        return Groups(study.X, every, every)
    if study.strata is None:
        return merge_equal_rows(study.X)
    return merge_equal_rows(_with_indicators(study.X, study.strata))


def _with_indicators(X: Any, codes: Index) -> Any:
    """Return sparse rows with a column of 0 and 1 for each of the codes beside."""
    from scipy import sparse

    n = codes.size
    shape = (n, int(codes.max(initial=-1)) + 1)
    indicators = sparse.csr_array((np.ones(n), (np.arange(n), codes)), shape=shape)
    beside = [sparse.csr_array(X, dtype=np.float64), indicators]
    return sparse.csr_array(sparse.hstack(beside, format="csr"))


def levels_of_groups(groups: Groups, has: Mask) -> Mask:
    """Return which levels the rows of each group hold, given those of each row."""
    if groups.first.size == has.shape[0]:  # all rows are different
        return has
    held = np.zeros((groups.first.size, has.shape[1]), dtype=bool)
    for level in range(has.shape[1]):
        held[groups.group[has[:, level]], level] = True
    return held


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return the coefficients' names, which are made of features' and classes'."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(
            "features and classes must give coefficients names that differ from each "
            f"other, got {repeated[0]!r} twice; rename the feature or the class"
        )
    return tuple(names)


def _is_event(outcome: Outcome) -> bool:
    """Tell whether the only label of one-class data is, or reads as, an event."""
    if outcome.is_event is not None:
        return outcome.is_event
    return reads_as_event(outcome.levels[0])


def _multinomial(X: Any, has: Mask, study: Study) -> Demands:
    """One block of columns for each class but the first; a row for each pair."""
    from scipy import sparse

    extended = sparse.csr_array(X, dtype=np.float64)
    names, constant = list(study.names), no_index()
    if study.fit_intercept:
        ones = sparse.csr_array(np.ones((X.shape[0], 1)))
        extended = sparse.csr_array(sparse.hstack([extended, ones]))
        names, constant = [INTERCEPT, *names], np.array([X.shape[1]])
    order = np.append(constant, np.arange(X.shape[1]))
    levels = study.outcome.levels
    n_levels, width = levels.size, extended.shape[1]
    starts = width * np.arange(n_levels - 1)[:, np.newaxis]

    def block(chosen: Index, high: int, low: int) -> Any:
        weights = np.zeros((1, n_levels))
        weights[0, [high, low]] = 1.0, -1.0
        return sparse.kron(weights[:, 1:], extended[chosen], format="csr")

    return _stacked(
        has,
        [(high, low) for low, high in combinations(range(n_levels), 2)],
        block,
        (starts + order).ravel(),
        [f"{name} [{level}]" for level in levels[1:] for name in names],
        (starts + constant).ravel(),
    )


def _ordinal(X: Any, has: Mask, study: Study) -> Demands:
    """One column for each threshold, then the slopes; two rows an observation."""
    from scipy import sparse

    slopes = sparse.csr_array(X, dtype=np.float64)
    thresholds = [f"{low}|{high}" for low, high in pairwise(study.outcome.levels)]
    n_thresholds, names = len(thresholds), np.array(study.names, dtype=object)
    common, own = study.common_and_nominal

    def block(chosen: Index, below: int, above: int) -> Any:
        at = np.eye(n_thresholds)[[below]]
        constants = sparse.kron(at, np.ones((chosen.size, 1)))
        of_all, of_one = -slopes[chosen][:, common], -slopes[chosen][:, own]
        return sparse.hstack([constants, of_all, sparse.kron(at, of_one)], format="csr")

    of_own = [f"{name} [{k}]" for k in thresholds for name in names[own]]
    return _stacked(
        has,
        list(pairwise(range(has.shape[1]))),
        block,
        np.arange(n_thresholds + common.size + len(of_own)),
        [*thresholds, *names[common], *of_own],
        np.arange(n_thresholds),
    )


def _davidson(X: Any, has: Mask, study: Study) -> Demands:
    """One column for ties, then the strengths; two rows an observation.

    Won, a tie and lost have the logits ``x . w``, ``2 t`` and ``-x . w`` up to a half.
    """
    from scipy import sparse

    strengths = sparse.csr_array(X, dtype=np.float64)
    lost, tie, won = range(3)

    def block(chosen: Index, first: int, second: int) -> Any:
        sign = 1.0 if first == won else -1.0
        ties = np.full((chosen.size, 1), -2.0 if second == tie else 0.0)
        return sparse.hstack(
            [sparse.csr_array(ties), sign * strengths[chosen]], format="csr"
        )

    return _stacked(
        has,
        [(won, tie), (lost, tie), (won, lost)],
        block,
        np.arange(1 + X.shape[1]),
        [TIES, *study.names],
        np.arange(1),
    )


def _cox(study: Study) -> Demands:
    """One row for each row at risk at each time of an event, and a constant a time."""
    sets = study.risk_sets()
    if sets.n_pairs > MOST_STACKED:
        return _unwritten(study)
    rows, numbers = sets.stacked()
    m, n, d = rows.size, study.X.shape[0], len(study.names)
    is_case = sets.case_of[rows] == numbers
    is_tied = is_case & (sets.n_cases[numbers] > 1) & (study.family == "cox")
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=n)
    of_group = np.full((n, int(counts.max())), -1)
    of_group[rows[order], np.arange(m) - (np.cumsum(counts) - counts)[rows[order]]] = (
        order
    )
    constants = np.arange(d, d + sets.n_sets)
    signs = np.where(is_case, 1, -1).astype(np.int8)
    return Demands(
        rows_from(_with_indicators(study.X[rows], numbers), signs, False),
        is_tied,
        np.append(constants, np.arange(d)),
        study.names,
        constants,
        of_group,
    )


def _unwritten(study: Study) -> Demands:
    """Stand for the demands of a Cox regression that are too many to be written."""
    assert study.strata is not None
    rows = strata_beside(study.X, study.strata)
    n, d = study.X.shape
    constants = np.arange(d, rows.shape[1])
    return Demands(
        rows,
        np.zeros(n + 1, dtype=bool),
        np.append(constants, np.arange(d)),
        study.names,
        constants,
        np.arange(n)[:, np.newaxis],
        is_written=False,
    )


def strata_beside(X: Any, strata: Index) -> Rows:
    """Return the rows with an indicator of each stratum beside, and a row of zeros.

    They have the rank of all comparisons within strata, and that of the strata. The
    last row stands for all pairs.
    """
    from scipy import sparse

    whole = _with_indicators(X, strata)
    nothing = sparse.csr_array((1, whole.shape[1]))
    stacked = sparse.csr_array(sparse.vstack([whole, nothing], format="csr"))
    stacked.sort_indices()
    return rows_from(stacked)


def _stacked(
    has: Mask,
    pairs: Sequence[tuple[int, int]],
    block: Callable[[Index, int, int], Any],
    order: Index,
    names: Sequence[str],
    constants: Index,
) -> Demands:
    """Stack the rows that tell two levels apart, for each pair of levels.

    `block` makes the rows of the groups chosen as the first level of a pair demands
    them; the second demands the opposite, and both together that they vanish.
    """
    from scipy import sparse

    blocks, equal, of_group, of_level, n_rows = [], [], [], [], 0
    for first, second in pairs:
        chosen = np.flatnonzero(has[:, first] | has[:, second])
        sign = np.where(has[chosen, first], 1.0, -1.0)
        blocks.append(sparse.diags_array(sign) @ block(chosen, first, second))
        equal.append(has[chosen, first] & has[chosen, second])
        at = np.full(has.shape[0], -1)
        at[chosen] = n_rows + np.arange(chosen.size)
        n_rows += chosen.size
        of_group.append(at)
        of_level.append(np.isin(np.arange(has.shape[1]), [first, second]))
    stacked = sparse.csr_array(sparse.vstack(blocks, format="csr"))
    stacked.sort_indices()
    return Demands(
        rows_from(stacked),
        np.concatenate(equal),
        order.astype(np.intp),
        _distinct(names),
        constants,
        np.stack(of_group, axis=1),
        np.stack(of_level, axis=1),
    )
