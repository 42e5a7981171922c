r"""Overlap of all rows proved by sums over them, for rows beyond memory.

As `linsep.verified.overlap`, of which it says the same in two readings of the rows, and
nothing of the length of the data is kept. The first reading sums up, at a point z, the
moments ``M = sum v_i a_i a_i'`` and ``r = sum p_i a_i``; the second what a solution q
of ``M q = r`` leaves, ``e``, and how much every row could bear: with ``|T^-1 e| <
room`` for the room of the row that bears least,

    room_i = mu (p_i / v_i - a_i . q) / |T^-1 a_i|,

all weights ``p_i - v_i a_i . q*`` are positive, and all rows overlap. Where some row
bears less the step from z to z + q is taken, and the two readings made again. A row
that stands with both signs has a weight for each, and bears the less of the two.

The weights are those of the second reading. Those of the first may be other doubles,
since products may be summed in another order: t is off by D at most between the two,
and v, whose logarithm has a slope of at most 3/2, no smaller than ``1 - 3/2 D`` of what
it was. So are the eigenvalues of M.

The point to start from is near the minimum for a sample of the rows, if these overlap
by themselves. Then so do all rows, which is no news; but the certificate is to hold a
point that shows it of all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask
from linsep.rows import as_dense, rows_from
from linsep.rows.blocks import BlockRows
from linsep.rows.matrix_rows import MatrixRows
from linsep.rows.rounding import gamma
from linsep.rows.threads import map_in_threads
from linsep.solvers.blas import calm_blas
from linsep.verified.moments import (
    Layout,
    Moments,
    NotPositive,
    OfSum,
    factored,
)
from linsep.verified.overlap import (
    LEAST_SHIFT,
    Counts,
    Weights,
    left_of,
    product_errors,
    residual_norm,
)
from linsep.verified.parts import LONGEST_BLOCK, WIDEST, Check, no_check, shifted
from linsep.verified.reduction import Reduced, Reduction

# Columns at most: their moments are summed as one dense matrix.
MOST_COLUMNS = 4_000
# Rows of the sample, for each column and at least, whose minimum is the start.
SAMPLE_A_COLUMN, LEAST_SAMPLE = 200, 50_000
# Entries of the sample at most: 160 MB of doubles.
MOST_ENTRIES = 20_000_000
# Steps before it is given up: from the minimum of a sample one or two are the rule.
MOST_STEPS = 8
# Entries larger than a sample's by more are not looked at.
LARGEST_POWER = 100


@dataclass(frozen=True)
class Chosen:
    """Some rows, as bits that travel to where the rows are, and some columns."""

    bits: NDArray[np.uint8]
    columns: Index

    @classmethod
    def of(cls, is_chosen: Mask, columns: Index) -> Chosen:
        """Choose rows by a mask."""
        return cls(np.packbits(is_chosen), columns)

    def rows(self, start: int, stop: int) -> Index:
        """Return the places of those chosen from a range."""
        bits = np.unpackbits(self.bits[start // 8 : -(-stop // 8)])
        return np.flatnonzero(bits[start % 8 :][: stop - start])


def overlapping(
    rows: BlockRows,
    rng: np.random.Generator,
    check: Check = no_check,
    chosen: Chosen | None = None,
    are_counts: bool = False,
) -> Floats | None:
    """Return a point that proves that all rows overlap; None where none was found.

    Parameters
    ----------
    rows : BlockRows of shape (m, d)
    rng : numpy.random.Generator
        Draws the sample.
    check : callable
        Called between steps; ends the work by an exception.
    chosen : Chosen, optional
        Rows and columns that it is to be proved of; all others count as absent.
    are_counts : bool
        Whether rows of positive sign stand with the other sign too, as they do where
        these are counts above zero: directions must be zero on them.

    Returns
    -------
    point : ndarray of shape (k,), or None
        Of the columns chosen.
    """
    m, d = rows.shape
    if chosen is None:
        chosen = Chosen.of(np.ones(m, dtype=bool), np.arange(d))
    index, d = chosen.rows(0, m), chosen.columns.size
    n_rows = index.size
    if not 0 < d <= MOST_COLUMNS:
        return None
    size = max(SAMPLE_A_COLUMN * d, LEAST_SAMPLE)
    size = min(n_rows, size, max(MOST_ENTRIES // rows.entries_a_row, 2 * d))
    drawn = np.sort(rng.choice(index, size, replace=False))
    del index  # of the length of the data
    sample = rows.take(drawn)[:, chosen.columns]
    against = (rows.signs[drawn] > 0) & are_counts
    point = _overlap_of_sample(sample, _counts(against), check)
    if point is None:
        return None
    largest = np.ravel(as_dense(abs(sample).max(axis=0)))
    mantissa, exponent = np.frexp(largest)
    exponents = exponent.astype(np.int64) - (mantissa == 0.5)
    del sample
    z = np.ldexp(point, exponents)
    visiting = _Visiting(chosen, exponents, are_counts)
    found = _proved_at(rows, n_rows, z, visiting, check)
    return None if found is None else np.ldexp(found, -exponents)


def overlap_of_all(
    rows: BlockRows, rng: np.random.Generator, check: Check = no_check
) -> Reduced | None:
    """Prove that all rows overlap, in all columns; None where that cannot be shown."""
    point = overlapping(rows, rng, check)
    if point is None:
        return None
    none, stage = np.empty(0, dtype=np.intp), np.zeros(rows.shape[0], dtype=np.intp)
    return Reduced([], stage, point, np.arange(point.size), none, None, is_proved=True)


def _overlap_of_sample(sample: Any, counts: Counts, check: Check) -> Floats | None:
    """Return a point near the minimum of rows in memory, if all of them overlap."""
    n, d = sample.shape
    rows = rows_from(sample, np.ones(n, dtype=np.int8), False)
    reduced = Reduction(rows, counts, check=check).run()
    is_whole = reduced.is_proved and not reduced.directions
    if not is_whole or reduced.point is None or reduced.columns.size < d:
        return None
    if reduced.space is not None and reduced.space.free.size:
        return None
    return reduced.point


@np.errstate(all="ignore")
def _proved_at(
    rows: BlockRows, n_rows: int, z: Floats, visiting: _Visiting, check: Check
) -> Floats | None:
    """Go on from a point until one proves that so many rows overlap, and return it."""
    extent, layout = OfSum(z.size, check), Layout.dense(z.size)
    for _ in range(MOST_STEPS):
        check()
        sums = rows.fold(visiting.by(_Summing(z)), _Sums.merged)
        if not (sums.largest < LARGEST_POWER and sums.least > -WIDEST):
            return None
        n_terms = LONGEST_BLOCK + sums.n_parts
        try:
            moments = Moments.of_sum(extent, sums.C, layout, n_terms)
            # As in `linsep.verified.overlap`: a small shift for the step, a large one
            # for the bound.
            step = moments.factored(max(LEAST_SHIFT, 2.0 * moments.error))
            mu = factored(moments).least_eigenvalue
        except NotPositive:
            return None
        if not mu > 0:
            return None
        q = step.solve(sums.r)
        sum_error, scale = gamma(n_terms + 4), moments.scaled(np.ones(q.size))
        looking = _Looking(z, q, scale, sum_error, n_rows)
        left = rows.fold(visiting.by(looking), _Left.merged)
        doubt = left.doubt * (1 + gamma(n_rows + 4)) + 1e-300
        room = mu * (1 - 2.0 * left.drift - 1e-12) * left.room
        if residual_norm(moments, left.e, doubt) < room:
            return z
        z = z + q
    return None


@dataclass(frozen=True)
class _Visiting:
    """Looks at what is chosen, a few thousand rows at a time, scaled and signed."""

    chosen: Chosen
    exponents: NDArray[np.int64]
    are_counts: bool

    def by(
        self, look: Callable[[Floats, Counts], Any]
    ) -> Callable[[int, MatrixRows], Any]:
        """Return a visit to blocks."""
        return partial(self._visit, look)

    def _visit(
        self, look: Callable[[Floats, Counts], Any], start: int, block: MatrixRows
    ) -> Any:
        """Look at a block, and merge what was found."""
        found = None
        index = self.chosen.rows(start, start + block.shape[0])
        ranges = range(0, index.size, LONGEST_BLOCK)
        some = (index[first : first + LONGEST_BLOCK] for first in ranges)
        with calm_blas(0, n_entries=block.shape[0] * block.shape[1]):
            for part in map_in_threads(partial(self._part, look, block), some):
                found = part if found is None else found.merged(part)
        return found if found is not None else self._part(look, block, index)

    def _part(
        self, look: Callable[[Floats, Counts], Any], block: MatrixRows, index: Index
    ) -> Any:
        A = as_dense(block.take(index))
        if self.chosen.columns.size < A.shape[1]:
            A = A[:, self.chosen.columns]
        against = (block.signs[index] > 0) & self.are_counts
        return look(shifted(A, -self.exponents), _counts(against))


@dataclass(frozen=True)
class _Sums:
    """Sums over rows at a point, how many were added up, and the powers of entries."""

    C: Floats
    r: Floats
    n_parts: int
    largest: int
    least: int

    def merged(self, other: _Sums) -> _Sums:
        """Add the sums over other rows."""
        return _Sums(
            self.C + other.C,
            self.r + other.r,
            self.n_parts + other.n_parts,
            max(self.largest, other.largest),
            min(self.least, other.least),
        )


@dataclass(frozen=True)
class _Summing:
    """Sums up moments and weighted rows at the point z."""

    z: Floats

    def __call__(self, A: Floats, counts: Counts) -> _Sums:
        """Sum over rows of shape (n, k)."""
        weights = Weights.at(A @ self.z, counts)
        weighted = A * np.sqrt(weights.moment)[:, np.newaxis]
        sizes = np.abs(A)
        largest = float(sizes.max(initial=0.0))
        least = float(sizes.min(initial=np.inf, where=sizes > 0))
        return _Sums(
            np.asarray(weighted.T @ weighted),
            np.asarray(A.T @ weights.net),
            1,
            int(np.frexp(largest)[1]),
            int(np.frexp(least)[1]) if np.isfinite(least) else 0,
        )


@dataclass(frozen=True)
class _Left:
    """What a solution leaves of r, what that may be off by, and what rows bear.

    The room is over mu; the drift is what products at z may be off by.
    """

    e: Floats
    doubt: Floats
    room: float
    drift: float

    def merged(self, other: _Left) -> _Left:
        """Add what is left of other rows."""
        room, drift = min(self.room, other.room), max(self.drift, other.drift)
        return _Left(self.e + other.e, self.doubt + other.doubt, room, drift)


@dataclass(frozen=True)
class _Looking:
    """Looks at what the solution q at the point z leaves.

    Attributes
    ----------
    z, q : ndarray of shape (k,)
    scale : ndarray of shape (k,)
        ``T^-1``.
    sum_error : float
        What a sum over all rows is off by, as a share of its magnitudes.
    n_rows : int
        How many rows there are.
    """

    z: Floats
    q: Floats
    scale: Floats
    sum_error: float
    n_rows: int

    def __call__(self, A: Floats, counts: Counts) -> _Left:
        """Look at rows of shape (n, k)."""
        k = A.shape[1]
        weights, sizes = Weights.at(A @ self.z, counts), np.abs(A)
        products = A @ self.q
        errors = product_errors(sizes @ np.abs(self.q), k)
        u, bound = left_of(weights, products, errors, self.sum_error, self.n_rows)
        lengths = np.sqrt(np.square(A) @ self.scale**2) * (1 + gamma(k + 8)) + 1e-150
        most = weights.along / weights.v * (1 - 4e-12) - products
        down = weights.against / weights.v * (1 - 4e-12) + products
        most = np.where(counts.both, np.minimum(most, down), most) - errors
        room = float((most / lengths).min(initial=np.inf)) * (1 - 1e-12)
        drift = 2.0 * float(product_errors(sizes @ np.abs(self.z), k).max(initial=0.0))
        # What is not a number bears nothing.
        room = room if room > 0 and drift < 0.1 else -np.inf
        return _Left(
            np.asarray(A.T @ u), np.asarray(sizes.T @ bound), room, drift + 1e-14
        )


def _counts(against: Mask) -> Counts:
    """Say that each row stands once, and some with the other sign too."""
    return Counts(np.ones(against.size), against.astype(np.float64))
