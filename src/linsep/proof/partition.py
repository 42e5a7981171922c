r"""Facial reduction: which rows can be separated, and which never.

The rows split in exactly one way into *separated* rows S and *overlapped* rows O, with

    one w:  A_S w > 0,  A_O w = 0      and      p > 0 on all of O:  A_O^T p = 0.

(A. Albert & J. A. Anderson, "On the existence of maximum likelihood estimates in
logistic regression models", Biometrika 71, 1984, doi:10.1093/biomet/71.1.1, give the
three cases S = all, S = none, both; A. J. Goldman & A. W. Tucker, "Theory of linear
programming", 1956, prove that the split exists and is unique.)

How it is found. While the rows left are not separable, they have a conflict, whose
rows every ``w`` with ``A w >= 0`` must put at zero. Restrict ``w`` to the subspace
where they are zero (J. M. Borwein & H. Wolkowicz, "Facial reduction for a cone-convex
programming problem", J. Austral. Math. Soc. A 30, 1981); rows that vanish on it are
overlapped too. Each turn lowers the dimension, so there are at most d of them. When the
rows left are separable, they are S.

Some rows may be *equalities*, ``e . w = 0`` for every admissible ``w``: they are where
the first subspace comes from, and their weights may have any sign.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.proof import linear
from linsep.proof.answers import Conflict, Separator
from linsep.proof.exact import IntegerArray, IntegerRows, primitive, unscaled
from linsep.proof.few_rows import settle_many
from linsep.proof.ladder import Engine
from linsep.proof.simplex import never


@dataclass(frozen=True)
class Partition:
    """The exact split of the rows, with the proof of both halves.

    Attributes
    ----------
    separated, overlapped : ndarray of int
        Row numbers, increasing; together all rows.
    w : tuple of d int
        ``a_i . w > 0`` on the separated rows, ``a_i . w = 0`` on the overlapped rows
        and on the equalities. Zeros where nothing is separated.
    weights : tuple of int
        Positive, one for each overlapped row.
    equality_weights : tuple of int
        Of any sign, one for each equality: with `weights` the rows sum to zero.
    directions : ndarray of shape (d, k), object
        Integer basis of all ``w`` that are zero on the overlapped rows and on the
        equalities, as columns.
    """

    separated: NDArray[np.intp]
    overlapped: NDArray[np.intp]
    w: tuple[int, ...]
    weights: tuple[int, ...]
    equality_weights: tuple[int, ...]
    directions: IntegerArray

    @property
    def status(self) -> str:
        """Return "complete", "quasi-complete" or "overlap" (Albert & Anderson)."""
        if len(self.overlapped) == 0:
            return "complete"
        return "quasi-complete" if len(self.separated) else "overlap"


def partition_rows(
    A: Any,
    equalities: Any = None,
    *,
    engine: Engine | None = None,
    should_stop: Callable[[], bool] = never,
) -> Partition | None:
    """Split rows into separated and overlapped ones, exactly.

    Parameters
    ----------
    A : ndarray or sparse matrix of shape (m, d), float64
        Signed rows: admissible ``w`` have ``A w >= 0``.
    equalities : ndarray or sparse matrix of shape (e, d), default=None
        Rows on which admissible ``w`` are zero.
    engine : callable, default=None
        See `linsep.proof.ladder.settle`.
    should_stop : callable, optional
        Asked between steps; a true answer gives up.

    Returns
    -------
    Partition or None
        None only if `should_stop` said so. With equalities and no overlapped row the
        equalities' weights are zero.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0], [-2.0, 0.0], [5.0, 1.0]])
    >>> split = partition_rows(A)
    >>> split.separated.tolist(), split.overlapped.tolist(), split.w, split.weights
    ([2], [0, 1], (0, 1), (2, 1))
    """
    rows = IntegerRows.from_floats(_dense(A))
    d = rows.shape[1]
    fixed = IntegerRows.from_floats(
        np.empty((0, d)) if equalities is None else _dense(equalities)
    )
    reduction = _Reduction(rows, fixed)
    v = reduction.run(engine, should_stop)
    if v is None:
        return None
    return reduction.result(v)


class _Reduction:
    """The state of facial reduction: the subspace, and the rows not yet at zero."""

    def __init__(self, rows: IntegerRows, fixed: IntegerRows) -> None:
        self.rows = rows
        self.fixed = fixed
        self.left = np.arange(rows.shape[0])
        # Whole space: the rows themselves are their values on it.
        self.directions: IntegerArray = np.eye(rows.shape[1], dtype=np.int64)
        self.values: IntegerArray = rows.values
        self.conflicts: list[Conflict] = []
        if fixed.shape[0]:
            self._restrict(fixed.values)
        self._drop_zero_rows()

    def run(
        self, engine: Engine | None, should_stop: Callable[[], bool]
    ) -> list[int] | None:
        """Reduce until the rows left are separated; return how, in the subspace."""
        while True:
            face = IntegerRows.from_integers(self.values)
            answer = settle_many(face, engine, should_stop)
            if answer is None:
                return None
            if isinstance(answer, Separator):
                return list(answer.w)
            self.conflicts.append(answer.renumbered(self.left))
            self._restrict(self.values[list(answer.rows)])
            self._drop_zero_rows()

    def _restrict(self, zero: IntegerArray) -> None:
        """Keep the directions on which these rows, given on the subspace, vanish."""
        basis = linear.null_basis(zero)
        self.directions = linear.product(self.directions, basis)
        self.values = linear.product(self.values, basis)

    def _drop_zero_rows(self) -> None:
        kept = np.flatnonzero((self.values != 0).any(axis=1))
        self.left, self.values = self.left[kept], self.values[kept]

    def result(self, v: list[int]) -> Partition:
        """Put the two proofs together, on the rows as they were given."""
        m, _ = self.rows.shape
        overlapped = np.setdiff1d(np.arange(m), self.left)
        column = np.array([[x] for x in v], dtype=object).reshape(len(v), 1)
        w = primitive(linear.product(self.directions, column)[:, 0].tolist())
        dependence = self._dependence(overlapped)
        k = len(overlapped)
        part = self.rows.take(overlapped)
        exponents = np.concatenate([part.exponents, self.fixed.exponents])
        scaled = unscaled(dependence, exponents)
        found = Partition(
            separated=self.left,
            overlapped=overlapped,
            w=tuple(w),
            weights=tuple(scaled[:k]),
            equality_weights=tuple(scaled[k:]),
            directions=self.directions,
        )
        self._check(found, dependence)
        return found

    def _dependence(self, overlapped: NDArray[np.intp]) -> list[int]:
        """Find weights, positive on overlapped rows, then any sign on equalities.

        The rows of a conflict sum, with its weights, to a combination of rows that
        were at zero before; so do the rows in no conflict, each with weight one. One
        exact solve finds these combinations. Taking each new sum together with a
        large enough multiple of the sums before makes every weight positive.
        """
        position = {int(row): k for k, row in enumerate(overlapped)}
        n_free = len(overlapped)
        stack = np.concatenate([self.rows.values[overlapped], self.fixed.values])
        groups = [
            {
                position[row]: weight
                for row, weight in zip(c.rows, c.weights, strict=True)
            }
            for c in self.conflicts
        ]
        used = [k for group in groups for k in group]
        groups.append(dict.fromkeys(set(range(n_free)) - set(used), 1))
        basis = [*range(n_free, len(stack)), *used]
        combinations, scale = self._combinations(stack, basis, groups)
        weights = [0] * len(stack)
        for group, combination in zip(groups, combinations, strict=True):
            fresh = [0] * len(stack)
            for k, weight in group.items():
                fresh[k] = scale * weight
            for k, weight in combination.items():
                fresh[k] += weight
            # The least multiple that leaves no weight at zero or below.
            multiple = max(
                (
                    -((new - 1) // old)
                    for new, old in zip(fresh[:n_free], weights[:n_free], strict=True)
                    if old > 0
                ),
                default=0,
            )
            weights = primitive(
                [
                    new + max(multiple, 0) * old
                    for new, old in zip(fresh, weights, strict=True)
                ]
            )
        return weights

    def _combinations(
        self, stack: IntegerArray, candidates: list[int], groups: list[dict[int, int]]
    ) -> tuple[list[dict[int, int]], int]:
        """Write minus the sum of each group in the first independent candidates."""
        rank = self.directions.shape[0] - self.directions.shape[1]
        sums = np.zeros((stack.shape[1], len(groups)), dtype=object)
        for k, group in enumerate(groups):
            if not group:
                continue
            members = stack[list(group)].astype(object)
            sums[:, k] = np.array(list(group.values()), dtype=object) @ members
        if rank == 0:
            return [{} for _ in groups], 1
        for attempt in count():
            first = linear.independent_columns(stack[candidates].T, attempt)
            basis = [candidates[k] for k in first]
            columns = linear.independent_columns(stack[basis], attempt)
            if len(columns) == rank:  # else a prime hid part of it
                break
        numerators, scale = linear.solve(
            linear.integer_matrix(stack[np.ix_(basis, columns)].T),
            linear.integer_matrix(-sums[columns]),
        )
        solved = linear.as_array(numerators)
        return [dict(zip(basis, column, strict=True)) for column in solved.T], scale

    def _check(self, found: Partition, dependence: list[int]) -> None:
        """Check both proofs once more, against the rows themselves."""
        on_rows = self.rows.products(found.w)
        part = self.rows.values[found.overlapped]
        stack = np.concatenate([part, self.fixed.values])
        column = np.array(dependence, dtype=object).reshape(-1, 1)
        holds = (
            (on_rows[found.separated] > 0).all()
            and not on_rows[found.overlapped].any()
            and not self.fixed.products(found.w).any()
            and min(found.weights, default=1) > 0
            and not linear.product(stack.T, column).any()
        )
        if not holds:
            raise AssertionError("a partition failed its own check: please report this")


def _dense(A: Any) -> NDArray[np.float64]:
    return np.asarray(A.toarray() if hasattr(A, "toarray") else A, dtype=np.float64)
