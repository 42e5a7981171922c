"""Which columns say something new, for designs of very many columns.

As `linsep.diagnosis.exact.columns`, by `linsep.verified.null_space` in place of exact
elimination: the rank is proved from below by one factorisation, and from above by
combinations that hold on every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Index
from linsep.diagnosis.exact.columns import Columns, columns_of
from linsep.diagnosis.watch import ShouldStop, require_time
from linsep.rows import Rows, is_sparse, rows_from
from linsep.verified.moments import NotPositive, TooLarge
from linsep.verified.null_space import null_space
from linsep.verified.parts import Check, Part, TooWide
from linsep.verified.row_space import are_outside
from linsep.verified.vectors import SparseVector, combination, unit_vector

# Designs of more columns are settled by factorisations (`linsep.verified`).
MOST_EXACT = 100
# Combinations of more columns are not written down.
MOST_TERMS = 300
# Elimination modulo a prime of more products takes longer than people wait.
MOST_ELIMINATION = 200_000_000
# So often are more of the first columns taken that may have the rank of all.
MOST_BLOCKS = 10
# Columns left out are written as combinations where that takes fewer products.
MOST_WRITTEN = 200_000


def is_large(rows: Rows) -> bool:
    """Tell whether there are more columns than exact elimination is quick for."""
    return rows.shape[1] > MOST_EXACT


def columns_of_any(
    rows: Rows, priority: Index, rng: np.random.Generator, should_stop: ShouldStop
) -> Columns:
    """Find the independent columns, by elimination where they are few.

    Raises
    ------
    OutOfTime
    """
    m, d = rows.shape
    if is_large(rows):
        if m < d:
            return columns_of_wide(rows, priority, should_stop)
        found = columns_of_many(rows, priority, partial(require_time, should_stop))
        if found is not None:
            return found
    return columns_of(rows, rng, priority, should_stop)


def columns_of_wide(rows: Rows, priority: Index, should_stop: ShouldStop) -> Columns:
    """Find the independent columns where there are fewer rows than columns.

    The rank is that of the rows, which one factorisation proves where rows are many.
    Which columns are kept, and which aliased, is then left to `closed`. Where that does
    not do either, all is left open.

    Raises
    ------
    OutOfTime
        If `should_stop` said so.
    """
    m, d = rows.shape
    if m * m * d <= MOST_ELIMINATION:
        rng = np.random.default_rng(0)
        is_small = m * m * d <= MOST_WRITTEN
        return columns_of(rows, rng, priority, should_stop, combinations=is_small)
    across = rows_from(_transposed(rows.take(np.arange(m))))
    found = columns_of_many(across, np.arange(m), partial(require_time, should_stop))
    independent = None if found is None else found.kept
    return replace(Columns.open(d), independent_rows=independent)


def closed(
    rows: Rows, columns: Columns, priority: Index, should_stop: ShouldStop
) -> Columns:
    """Find which columns are kept, and aliased, where only their number is known.

    Those kept are among the first columns, in the order of `priority`, that have the
    rank of all. Where they are not found, they are left open again; of a column that is
    not called aliased nothing is said.

    Raises
    ------
    OutOfTime
        If `should_stop` said so.
    """
    if not columns.is_open or columns.independent_rows is None:
        return columns
    d, rank = rows.shape[1], columns.independent_rows.size
    check = partial(require_time, should_stop)
    matrix, n_first = rows.take(np.arange(rows.shape[0])), rank
    across = rows_from(_transposed(matrix[columns.independent_rows]))
    aliased = are_outside(Part.of(across, np.arange(d), np.arange(rank), check))
    for _ in range(MOST_BLOCKS):
        first = priority[:n_first]
        found = columns_of_many(
            rows_from(matrix[:, first]), np.arange(first.size), check
        )
        if found is None:
            break
        if found.kept.size < rank:
            n_first += rank - found.kept.size
            continue
        kept = np.sort(first[found.kept])
        aliased[np.setdiff1d(np.arange(d), kept)] = True
        aliased[first[found.aliased]] = True
        combinations = {
            int(first[j]): {int(first[k]): factor for k, factor in terms.items()}
            for j, terms in found.combinations.items()
        }
        return Columns(kept, aliased, combinations)
    return replace(columns, aliased=aliased)


def _transposed(matrix: Any) -> Any:
    return matrix.T.tocsr() if is_sparse(matrix) else np.ascontiguousarray(matrix.T)


def columns_of_many(rows: Rows, priority: Index, check: Check) -> Columns | None:
    """Find the independent columns of all rows; None if that could not be proved.

    Parameters
    ----------
    rows : Rows of shape (m, d)
    priority : ndarray of shape (d,), int
        The columns in the order in which they are to be kept.
    check : callable
        Called between steps; ends the work by an exception.
    """
    m, d = rows.shape
    try:
        part = Part.of(rows, np.arange(m), np.arange(d), check)
        is_filled = part.n_filled > 0
        vectors = [unit_vector(j) for j in np.flatnonzero(~is_filled).tolist()]
        is_well_conditioned = True
        if is_filled.any():
            filled = np.flatnonzero(is_filled)
            space = null_space(part if is_filled.all() else part.restricted(filled))
            if not space.is_proved:
                return None
            vectors += [vector.placed(filled) for vector in space.basis]
            is_well_conditioned = space.is_well_conditioned
    except (NotPositive, TooLarge, TooWide):
        return None
    place = np.empty(d, dtype=np.int64)
    place[priority] = np.arange(d)
    left_out = echelon(vectors, place)
    aliased = np.zeros(d, dtype=bool)
    for vector in left_out.values():
        aliased[vector.columns] = True
    kept = np.setdiff1d(np.arange(d), np.array(sorted(left_out), dtype=np.intp))
    return Columns(
        kept,
        aliased,
        {
            column: _combination(vector, column, place)
            for column, vector in left_out.items()
            if vector.columns.size <= MOST_TERMS
        },
        left_out,
        is_well_conditioned=is_well_conditioned,
    )


def echelon(
    vectors: Sequence[SparseVector], place: NDArray[np.int64]
) -> dict[int, SparseVector]:
    """Return vectors of the same span, each the only one with its last column.

    Parameters
    ----------
    vectors : sequence of SparseVector
    place : ndarray of shape (d,), int
        The order of the columns.

    Returns
    -------
    dict of int to SparseVector
        By their last columns, which no other vector has. Dependent vectors are gone.
    """
    found: dict[int, SparseVector] = {}
    holding: dict[int, set[int]] = {}  # by column: the last columns of those that do

    def keep(last: int, vector: SparseVector) -> None:
        for column in found[last].columns.tolist() if last in found else ():
            holding[column].discard(last)
        found[last] = vector
        for column in vector.columns.tolist():
            holding.setdefault(column, set()).add(last)

    for vector in vectors:
        for column in vector.columns.tolist():
            if column in found:
                vector = without(vector, found[column], column)
        if vector.columns.size == 0:
            continue
        last = int(vector.columns[np.argmax(place[vector.columns])])
        for other in sorted(holding.get(last, ())):
            keep(other, without(found[other], vector, last))
        keep(last, vector)
    return found


def without(vector: SparseVector, other: SparseVector, column: int) -> SparseVector:
    """Take a multiple of another vector away, so that a column becomes zero."""
    entries, own = dict(vector.items()), dict(other.items())
    if column not in entries:
        return vector
    sign = 1 if own[column] > 0 else -1
    return combination([(sign * own[column], vector), (-sign * entries[column], other)])


def _combination(
    vector: SparseVector, column: int, place: NDArray[np.int64]
) -> dict[int, Fraction]:
    """Write a column as a combination of the others of a null vector, in order."""
    entries = dict(vector.items())
    own = entries.pop(column)
    return {
        j: Fraction(-entries[j], own) for j in sorted(entries, key=lambda j: place[j])
    }
