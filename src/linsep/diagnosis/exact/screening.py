"""Overlap seen at once, for a column added to shared covariates.

Take conflicts of the covariates' rows, ``p >= 0`` with ``sum p_i a_i = 0``, on rank + 1
rows each. If one has ``sum p_i s_i g_i > 0`` for the column g (``s_i`` the sign of the
outcome) and another has it negative, some mixture of the two makes it zero: then the
rows of the mixture overlap with the column added. They span everything, because the
rows of one conflict have no other dependence, so all rows overlap, and no estimate is
infinite.

A few conflicts serve all columns that vary in many rows. For a column that varies in
few, conflicts through those rows are made, and kept for the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask
from linsep.diagnosis.exact.columns import columns_of
from linsep.diagnosis.exact.quotient import Quotient
from linsep.diagnosis.inputs.outcomes import outcome_from
from linsep.input import InputError
from linsep.proof.answers import Conflict, never
from linsep.proof.doubles import doubles_from
from linsep.proof.gordan import conflict_among
from linsep.rows import as_dense, rows_from
from linsep.rows.rounding import certain_signs, rounding_error

# Conflicts that serve all columns, and tries to find them.
N_CONFLICTS = 64
# Rows of each class that conflicts are led through for one column.
ROWS_TRIED = 2
# Weights below this may have lost digits to underflow.
SMALLEST_WEIGHT = 1e-280


@dataclass
class Screen:
    """Conflicts of the covariates.

    Attributes
    ----------
    whole : Quotient
        Over the signed rows of the covariates.
    shared : ndarray of int
        All rows the conflicts that serve all columns use.
    weights : ndarray of shape (n_conflicts, k)
        ``p_i s_i`` on these rows, each rounded once.
    base : ndarray of int
        Rows that overlap and span everything, to lead conflicts through.
    through : dict of int to (ndarray, ndarray) or None
        Conflicts led through a row: rows and ``p_i s_i``.
    """

    whole: Quotient
    shared: Index
    weights: Floats
    base: Index
    through: dict[int, Any] = field(default_factory=dict)

    @classmethod
    def prepare(
        cls, features: Any, y: Any, fit_intercept: bool, seed: int
    ) -> Screen | None:
        """Collect conflicts on rank + 1 rows; None where there are none."""
        outcome = outcome_from(y, "binomial")
        if not outcome.is_labels or outcome.levels.size != 2:
            return None
        signs = np.where(outcome.has[:, 1], 1, -1).astype(np.int8)
        if signs.size != features.shape[0]:
            raise InputError(
                f"y must have one label for each of the {features.shape[0]} rows, got "
                f"{signs.size}"
            )
        rows = rows_from(features, signs, fit_intercept)
        rng = np.random.default_rng(seed)
        kept = columns_of(rows, rng, np.arange(rows.shape[1])).kept
        if kept.size == 0:
            return None
        whole = Quotient.whole(rows, kept)
        found = _circuits(whole, signs.size, rng)
        if len(found) < 2:
            return None
        shared = np.unique(np.concatenate([np.array(c.rows) for c in found]))
        weights = np.zeros((len(found), shared.size))
        for k, conflict in enumerate(found):
            at = np.searchsorted(shared, conflict.rows)
            weights[k, at] = _rounded(conflict.weights) * signs[shared[at]]
        base = np.unique(np.concatenate([np.array(c.rows) for c in found[:4]]))
        return cls(whole, shared, weights, base)

    def overlaps(self, block: Floats) -> Mask:
        """Return which columns are seen to overlap.

        Parameters
        ----------
        block : ndarray of shape (n, k)
            Columns to add, one at a time. One with a missing value is not seen.
        """
        usable = np.isfinite(block).all(axis=0)
        some = np.where(usable, block[self.shared], 0.0)
        signs = _certain_signs(self.weights, some)
        up = np.asarray((signs > 0).any(axis=0))
        down = np.asarray((signs < 0).any(axis=0))
        for column in np.flatnonzero(usable & ~(up & down)).tolist():
            self._look_closer(block[:, column], column, up, down)
        return np.asarray(up & down & usable)

    def _look_closer(self, g: Floats, column: int, up: Mask, down: Mask) -> None:
        """Lead conflicts through rows in which the column is not as usual."""
        carriers = np.flatnonzero(g != np.median(g))
        signs = self.whole.rows.signs
        for sign in (-1, 1):
            for row in carriers[signs[carriers] == sign][:ROWS_TRIED]:
                found = self._conflict_through(int(row))
                if found is None:
                    continue
                rows, weights = found
                seen = _certain_signs(weights[np.newaxis], g[rows][:, np.newaxis])
                up[column] |= seen[0, 0] > 0
                down[column] |= seen[0, 0] < 0

    def _conflict_through(self, row: int) -> Any:
        """Return a conflict on rank + 1 rows, this one among them, if one is found."""
        if row in self.through:
            return self.through[row]
        from scipy.optimize import nnls

        others = self.base[self.base != row]
        index = np.append(others, row)
        dense = as_dense(self.whole.engine_rows(index))
        lengths = np.abs(dense).max(axis=1)
        found = None
        if (lengths > 0).all():
            dense = dense / lengths[:, np.newaxis]
            try:
                p, _ = nnls(dense[:-1].T, -dense[-1])
            except RuntimeError:  # no convergence: the column is looked at in full
                p = np.zeros(others.size)
            chosen = np.append(np.flatnonzero(p > 1e-12), others.size)
            if chosen.size == self.whole.dimension + 1:
                exact = self.whole.coordinates(index[chosen])
                answer = conflict_among(exact, np.arange(chosen.size))
                if answer is not None and len(answer.rows) == chosen.size:
                    rows = index[chosen]
                    weights = _rounded(answer.weights)
                    found = (rows, weights * self.whole.rows.signs[rows])
        self.through[row] = found
        return found


def _rounded(weights: tuple[int, ...]) -> Floats:
    """Round weights to doubles; infinite, so of no use, where one is too small."""
    floats = doubles_from(weights)
    return floats if floats.min() > SMALLEST_WEIGHT else np.full(floats.size, np.inf)


def _certain_signs(weights: Floats, values: Floats) -> NDArray[np.int8]:
    """Return the signs of ``weights @ values``, 0 where rounding leaves a doubt."""
    with np.errstate(all="ignore"):
        sums = weights @ values
        sizes = np.abs(weights) @ np.abs(values)
    return certain_signs(sums, sizes, rounding_error(sizes, weights.shape[1]))


def _circuits(whole: Quotient, n: int, rng: np.random.Generator) -> list[Conflict]:
    """Find conflicts on rank + 1 rows in random parts of the data."""
    found = []
    size = min(n, 4 * whole.dimension + 20)
    for _ in range(N_CONFLICTS):
        part = np.sort(rng.choice(n, size, replace=False))
        answer = whole.decide(part, never)
        if not isinstance(answer, Conflict):
            size = min(n, 2 * size)  # too few rows to overlap
        elif len(answer.rows) == whole.dimension + 1:
            found.append(answer)
    return found
