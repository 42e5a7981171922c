"""Which columns say something new: the exact rank of a design, and collinearity.

A column is *kept* if it is no linear combination of the columns before it (the
intercept counts as first). Independence is proved by a minor that is not zero modulo a
prime; dependence by exact combinations that hold on every row.

A coefficient is *identified* iff its unit vector lies in the row space of the design;
otherwise some other column can stand in for its column, and it is *aliased*. A column
that was left out is always aliased; a kept one is where a column left out uses it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from linsep.arrays import Index, Mask, no_index
from linsep.diagnosis.watch import ShouldStop, require_time
from linsep.proof import linear
from linsep.proof.answers import never
from linsep.proof.exact import IntegerArray, IntegerRows
from linsep.proof.signs import vanishing
from linsep.rows import Rows, as_dense
from linsep.verified.vectors import SparseVector

# Beyond this many columns left out, combinations are not written down one by one.
MOST_COMBINATIONS = 300
# Data with more entries are not looked at for columns nearly collinear.
MOST_ENTRIES = 5_000_000
# A unit in the last place: as numerical ranks are usually told.
ROUNDING = 2.0**-52
# Squared ratios of singular values below this are looked at again.
GRAM_DOUBT = 1e-10


@dataclass(frozen=True)
class Columns:
    """The columns of a design, told apart by what they add.

    Attributes
    ----------
    kept : ndarray of shape (rank,), int
        Columns that are independent of those before them, in the order of the data.
    aliased : ndarray of shape (d,), bool
        Whether rank deficiency leaves the coefficient unidentified.
    combinations : dict of int to dict of int to Fraction
        For a column left out: the kept columns it is a combination of. Empty for
        designs with very many columns left out, and not there for combinations of
        very many columns.
    null_vectors : dict of int to SparseVector
        For a column left out of a design of very many columns: what vanishes on all
        rows, of it and kept columns.
    is_well_conditioned : bool
        Whether the columns kept are known to be independent by more than rounding.
    is_open : bool
        Whether it is not known which columns are to be kept; then `kept` is empty.
    independent_rows : ndarray of int, or None
        As many rows as the rank is, where it is known all the same.
    """

    kept: Index
    aliased: Mask
    combinations: dict[int, dict[int, Fraction]] = field(default_factory=dict)
    null_vectors: dict[int, SparseVector] = field(default_factory=dict)
    is_well_conditioned: bool = False
    is_open: bool = False
    independent_rows: Index | None = None

    @classmethod
    def open(cls, d: int) -> Columns:
        """Return what is known of d columns before they are looked at."""
        return cls(no_index(), np.zeros(d, dtype=bool), is_open=True)

    @property
    def vanishing(self) -> list[SparseVector] | None:
        """A basis of what vanishes on all rows; None where that is not written down."""
        n_left_out = self.aliased.size - self.kept.size
        if self.is_open:
            return None
        if len(self.null_vectors) == n_left_out:
            return list(self.null_vectors.values())
        if len(self.combinations) < n_left_out:
            return None
        found = []
        for j, terms in self.combinations.items():
            unit = lcm(*(factor.denominator for factor in terms.values()))
            entries = {k: int(factor * unit) for k, factor in terms.items()}
            found.append(SparseVector.from_items(entries | {j: -unit}))
        return found

    @property
    def rank(self) -> int | None:
        """Number of independent columns; None where it is not known."""
        proof = self.independent_rows if self.is_open else self.kept
        return None if proof is None else int(proof.size)


def columns_of(
    rows: Rows,
    rng: np.random.Generator,
    priority: Index,
    should_stop: ShouldStop = never,
    *,
    combinations: bool = True,
) -> Columns:
    """Find the independent columns of all rows, exactly.

    Parameters
    ----------
    rows : Rows of shape (m, d)
    rng : numpy.random.Generator
        Draws the rows to begin with.
    priority : ndarray of shape (d,), int
        The columns in the order in which they are to be kept.
    should_stop : callable, optional
        Asked between steps.
    combinations : bool, default=True
        Whether columns left out are to be written as combinations of those kept; where
        there are fewer rows than columns their numbers are very long.

    Raises
    ------
    OutOfTime
        If `should_stop` said so.
    """
    m, d = rows.shape
    chosen = np.sort(rng.choice(m, min(m, 2 * d + 50), replace=False))
    attempt = 0
    while True:
        require_time(should_stop)
        dense = as_dense(rows.take(chosen))
        values = IntegerRows.from_floats(dense[:, priority]).values
        pivots = linear.independent_columns(values, attempt)
        if len(pivots) == d:
            return Columns(np.arange(d), np.zeros(d, dtype=bool))
        require_time(should_stop)
        if not combinations or d - len(pivots) > MOST_COMBINATIONS:
            found, missed = _wide(
                rows, values, chosen, pivots, priority, attempt, should_stop
            )
        else:
            found, missed = _narrow(rows, values, priority, rng)
        if found is not None:
            return found
        # Rows outside the span of those chosen, or an unlucky prime.
        attempt += int(missed.size == 0)
        chosen = np.union1d(chosen, missed)


def _narrow(
    rows: Rows, values: IntegerArray, priority: Index, rng: np.random.Generator
) -> tuple[Columns | None, Index]:
    """Write every column left out as a combination, and hold it against all rows."""
    m, d = rows.shape
    null = linear.null_basis(values)
    basis = np.zeros_like(null)
    basis[priority] = null
    outside = np.flatnonzero(~vanishing(rows, basis, np.arange(m)))
    if outside.size:
        return None, some_of(rows, outside, basis, rng)
    position = {int(column): k for k, column in enumerate(priority)}
    combinations = {}
    for column in basis.T:
        used = sorted(np.flatnonzero(column), key=lambda j: position[int(j)])
        last = int(used[-1])
        combinations[last] = {
            int(j): Fraction(-int(column[j]), int(column[last])) for j in used[:-1]
        }
    left_out = np.array(sorted(combinations), dtype=np.intp)
    kept = np.setdiff1d(np.arange(d), left_out)
    return Columns(kept, np.array([any(row) for row in basis], bool), combinations), (
        no_index()
    )


def is_nearly_collinear(rows: Rows, kept: Index) -> bool | None:
    """Tell whether columns that are independent are so by rounding alone.

    True if, scaled to the same length, their smallest singular value is lost in the
    rounding of doubles; None where the data are too large to look.
    """
    m = rows.shape[0]
    if kept.size < 2:
        return False
    if m * kept.size > MOST_ENTRIES or kept.size > m:
        return None
    dense = as_dense(rows.take(np.arange(m))[:, kept])
    with np.errstate(all="ignore"):
        dense = dense / np.abs(dense).max(axis=0)
        dense = dense / np.linalg.norm(dense, axis=0)
    if not np.isfinite(dense).all():
        return None
    # The Gram matrix is quick; it sees only half the digits, so doubts go to a QR.
    quick = np.linalg.eigvalsh(dense.T @ dense)
    if quick[0] > GRAM_DOUBT * quick[-1]:
        return False
    values = np.linalg.svd(np.linalg.qr(dense, mode="r"), compute_uv=False)
    return bool(values[-1] < ROUNDING * max(m, kept.size) * values[0])


def some_of(
    rows: Rows, outside: Index, basis: IntegerArray, rng: np.random.Generator
) -> Index:
    """Choose from rows with ``a_i N != 0`` a few that together see much of ``N``."""
    drawn = rng.choice(outside, min(outside.size, basis.shape[1] + 20), replace=False)
    if basis.shape[1] > 1 and drawn.size < outside.size:
        # Rare levels: a row for each direction that the rows drawn do not see.
        blind = [
            k
            for k in range(basis.shape[1])
            if vanishing(rows, basis[:, [k]], drawn).all()
        ]
        more = []
        for k in blind:
            seen = ~vanishing(rows, basis[:, [k]], outside)
            more.extend(outside[seen][:1].tolist())
        drawn = np.union1d(drawn, np.array(more, dtype=np.intp))
    return np.sort(drawn)


def _wide(
    rows: Rows,
    values: IntegerArray,
    chosen: Index,
    pivots: list[int],
    priority: Index,
    attempt: int,
    should_stop: ShouldStop,
) -> tuple[Columns | None, Index]:
    """Prove the rank from the side of the rows, where the columns are too many."""
    from flint import nmod_mat

    m, d = rows.shape
    independent = linear.independent_columns(values.T, attempt)
    if len(independent) != len(pivots):
        return None, no_index()
    basis = values[independent]
    square = linear.integer_matrix(basis[:, pivots])
    others = np.setdiff1d(np.arange(m), chosen[independent])
    step = max(1, (1 << 22) // max(1, d))
    for start in range(0, others.size, step):
        require_time(should_stop)
        part = others[start : start + step]
        dense = as_dense(rows.take(part))
        more = IntegerRows.from_floats(dense[:, priority]).values
        outside = part[~_in_row_space(more, basis, square, pivots)]
        if outside.size:
            return None, outside[:200]
    reduced, _ = nmod_mat(linear.integer_matrix(basis), linear.prime(attempt)).rref()
    entries = np.array([int(entry) for entry in reduced.entries()], dtype=object)
    free = np.setdiff1d(np.arange(d), pivots)
    used = (entries.reshape(len(pivots), d)[:, free] != 0).any(axis=1)
    aliased = np.ones(d, dtype=bool)
    for k in np.flatnonzero(~used):
        # Not used modulo the prime: settled by an exact combination of the rows.
        unit = np.zeros((1, d), dtype=np.int64)
        unit[0, pivots[k]] = 1
        if _in_row_space(unit, basis, square, pivots)[0]:
            aliased[priority[pivots[k]]] = False
    return Columns(np.sort(priority[pivots]), aliased), no_index()


def _in_row_space(
    values: IntegerArray, basis: IntegerArray, square: Any, pivots: list[int]
) -> Mask:
    """Return which rows are exact combinations of the basis."""
    if not pivots:
        return np.array([not any(row) for row in values], dtype=bool)
    numerators, denominator = linear.solve(
        square.transpose(), linear.integer_matrix(values[:, pivots].T)
    )
    combined = numerators.transpose() * linear.integer_matrix(basis)
    aims = linear.integer_matrix(values) * denominator
    difference = linear.as_array(combined - aims)
    return np.array([not any(row) for row in difference], dtype=bool)
