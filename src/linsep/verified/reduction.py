"""Which rows overlap and which are separated: presolve, null space, Newton, in turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from math import lcm

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask, no_index
from linsep.rows import Rows
from linsep.verified.moments import Layout, NotPositive, TooLarge
from linsep.verified.null_space import NullSpace, null_space, restricted_space
from linsep.verified.overlap import Counts, Step
from linsep.verified.parts import Check, Part, TooWide, no_check
from linsep.verified.presolve import Presolve
from linsep.verified.vectors import SparseVector, combination, unit_vector

# Newton's steps at most before the rows left are given up.
MOST_STEPS = 80
# A step ends where the slope of the loss is at most this share of what it was: a trial
# costs far less than another step.
FLAT = 0.1
# How much further is tried next while the loss still falls, and how often in all.
FURTHER, MOST_TRIALS = 4.0, 24
# Columns are rare that are zero on all rows but one in so many.
RARE = 20
# Steps along these alone after each along all: they cost little, and it is there that
# rows run off furthest. None is made once a step takes no more than this of a weight;
# one that takes far more is no step to go, but an all but singular matrix.
RARE_STEPS, SETTLED, WILD = 3, 0.5, 1e3
# Steps before directions are looked for: by then rows that overlap have settled.
FIRST_STEPS = 3
# A step that moves no row further than this against its weight promises a proof.
PROMISING = 0.95
# Where a step takes less there is no more to come.
CONVERGED = 1e-6
# Shares of its weight up to which a row counts as standing still.
STILL = (0.3, 0.1, 0.5, 0.03, 0.01, 1e-3)
# The step at which a set of rows counts as seen that was tried.
TRIED = -1
# Bits of the coordinates of a direction that are tried.
BITS = (1, 3, 6, 12, 24, 52)


@dataclass(frozen=True)
class Reduced:
    """The rows parted, by proofs in the order in which they were found.

    Attributes
    ----------
    directions : list of SparseVector
        Each is >= 0 on the rows that those before it leave at zero, and positive on
        some, which are separated.
    stage : ndarray of shape (m,), int
        The direction that separates a row; on rows that all directions leave at zero,
        their number. If `is_proved` these overlap.
    point : ndarray of shape (d,) or None
        Where the weights are taken that prove it; None if no column is left.
    columns : ndarray of int
        Columns that are not zero on all overlapped rows.
    eliminated : ndarray of int
        Those that were eliminated first.
    space : NullSpace or None
        Of these rows and columns.
    is_proved : bool
    """

    directions: list[SparseVector]
    stage: Index
    point: Floats | None = None
    columns: Index = field(default_factory=no_index)
    eliminated: Index = field(default_factory=no_index)
    space: NullSpace | None = None
    is_proved: bool = field(kw_only=True)

    @property
    def overlapped(self) -> Mask:
        """Rows that all directions leave at zero."""
        return np.asarray(self.stage == len(self.directions))


@dataclass
class Reduction:
    """The search for the partition.

    Parameters
    ----------
    rows : Rows of shape (m, d)
        Signed: ``a_i . w >= 0`` is demanded of a direction.
    counts : Counts
        How often each stands in the data; where it stands with both signs,
        ``a_i . w = 0`` is demanded.
    start : ndarray of shape (d,), optional
        Where Newton's method begins, such as an estimate.
    known : dict of int to SparseVector, optional
        Vectors that vanish on all rows, each by a column that no other of them holds;
        where these are all there are, no null space need be looked for.
    hint : SparseVector, optional
        What may be a direction: the first to be tried.
    check : callable
        Called between steps; ends the work by an exception.
    """

    rows: Rows
    counts: Counts
    start: Floats | None = None
    known: Mapping[int, SparseVector] | None = None
    hint: SparseVector | None = None
    check: Check = no_check
    directions: list[SparseVector] = field(default_factory=list)

    # What is not finite proves nothing.
    @np.errstate(all="ignore")
    def run(self) -> Reduced:
        """Part the rows, as far as it goes."""
        d = self.rows.shape[1]
        presolve = Presolve(self.rows, self.counts.both, self.check)
        self.stage = np.full(self.rows.shape[0], -1)
        z = np.zeros(d) if self.start is None else self.start.copy()
        if self.hint is not None:
            every = np.arange(self.rows.shape[0])
            whole = Part.of(self.rows, every, np.arange(d), self.check)
            gone = whole.separated(self.hint, self.counts.both)
            if gone is not None and gone.size:
                presolve.drop(gone)
                self._take(self.hint, gone)
        while True:
            for direction, gone in presolve.run():
                self._take(direction, gone)
            if presolve.columns.size == 0:
                return self._ended(presolve, is_proved=True)
            try:
                part = presolve.part()
                found = self._among_rare(part)
                if found is None or found.direction is None:
                    space, found = self._searched(part, self.counts.of(part.index), z)
                    z = found.placed(d)
            except (TooLarge, TooWide):
                return self._ended(presolve)
            if found.direction is None:
                eliminated = found.columns[found.first]
                return self._ended(
                    presolve, z, eliminated, space, is_proved=found.is_proved
                )
            presolve.drop(found.gone)
            self._take(found.direction, found.gone)

    def _among_rare(self, part: Part) -> _Found | None:
        """Look for a direction, or a point, among the columns that few rows hold.

        What vanishes on almost all rows is most often of such columns alone, and there
        a step costs little. None if they are not few.
        """
        rare = _rare(part)
        if rare is None:
            return None
        some = part.restricted(*rare)
        space = null_space(some, prove=False)
        newton = _Newton(some, space, self.counts.of(some.index), self.check)
        return newton.run(np.zeros(self.rows.shape[1]))

    def _searched(
        self, part: Part, counts: Counts, z: Floats
    ) -> tuple[NullSpace, _Found]:
        """Run Newton's method, at first with the null vectors that are known."""
        if self.known is not None:
            space = restricted_space(part, self.known)
            found = _Newton(part, space, counts, self.check).run(z)
            if not found.is_singular:
                return space, found
        space = null_space(part, prove=False)
        return space, _Newton(part, space, counts, self.check).run(z)

    def _take(self, direction: SparseVector, gone: Index) -> None:
        """Keep a direction, and which rows it separates."""
        self.stage[gone] = len(self.directions)
        self.directions.append(direction)

    def _ended(
        self,
        presolve: Presolve,
        point: Floats | None = None,
        eliminated: Index | None = None,
        space: NullSpace | None = None,
        is_proved: bool = False,
    ) -> Reduced:
        self.stage[presolve.left] = len(self.directions)
        eliminated = no_index() if eliminated is None else eliminated
        given = point, presolve.columns, eliminated, space
        return Reduced(self.directions, self.stage, *given, is_proved=is_proved)


@dataclass(frozen=True)
class _Found:
    """How Newton's method ended: at a point, of these columns, in the data's units."""

    point: Floats
    columns: Index
    first: Index
    is_proved: bool = False
    direction: SparseVector | None = None
    gone: Index = field(default_factory=no_index)
    is_singular: bool = False

    @property
    def is_decided(self) -> bool:
        """Whether the rows overlap, or a direction separates some."""
        return self.is_proved or self.direction is not None

    def placed(self, d: int) -> Floats:
        """Return the point with zeros in the other columns."""
        z = np.zeros(d)
        z[self.columns] = self.point
        return z


class _Newton:
    """Newton's method on the loss of a part, until it proves something."""

    def __init__(
        self, part: Part, space: NullSpace, counts: Counts, check: Check
    ) -> None:
        self.columns, self.space = part.columns, space
        self.exponents = part.exponents
        self.counts, self.check = counts, check
        self.equal = counts.both
        self.part = part.restricted(space.pivots) if space.free.size else part
        self.layout = Layout.of(self.part)
        rare = _rare(self.part)
        self.rare = None if rare is None else _Block(self.part, counts, *rare)

    def run(self, start: Floats) -> _Found:
        """Go on until all rows are proved to overlap, or a direction is found."""
        z = self._on_pivots(start)
        if z.any() and np.isfinite(z).all():
            found = self._run(z)
            if found.is_decided:
                return found
        return self._run(np.zeros(z.size))

    def _run(self, z: Floats) -> _Found:
        exponents, first = self.part.exponents, self.layout.first
        columns = self.part.columns
        products = self.part.products(z)
        seen: dict[bytes, int] = {}
        for n_steps in range(MOST_STEPS):
            self.check()
            point = np.ldexp(z, -exponents)
            if (products > 0).all() and not self.equal.any():
                found = self._snapped(z, np.zeros(products.size, dtype=bool))
                if found is not None:
                    return _Found(point, columns, first, False, *found)
            try:
                step = Step.at(self.part, products, self.counts, self.layout)
            except NotPositive:
                return _Found(point, columns, first, is_singular=n_steps == 0)
            if step.shares.max(initial=-np.inf) < PROMISING:
                if np.isfinite(point).all() and step.is_proof():
                    return _Found(point, columns, first, is_proved=True)
                if step.shares.max() < CONVERGED:
                    break
            elif n_steps >= FIRST_STEPS - 1:
                for candidate in (step.q, z):
                    found = self._direction(candidate, step.shares, n_steps, seen)
                    if found is not None:
                        return _Found(point, columns, first, False, *found)
            length = _length(products, step)
            if length == 0.0:
                break
            z = z + length * step.q
            products = self.part.products(z)
            if self.rare is not None:
                self.rare.settle(z, products)
        return _Found(np.ldexp(z, -exponents), columns, first)

    def _on_pivots(self, start: Floats) -> Floats:
        """Return the point on the pivots at which all products are the same."""
        exponents = self.exponents
        z = np.ldexp(start[self.columns], exponents)
        for vector, free in zip(
            self.space.basis, self.space.free.tolist(), strict=True
        ):
            if z[free] == 0:
                continue
            own = dict(vector.items())[free]
            for j, value in vector.items():
                shift = int(exponents[j] - exponents[free])
                z[j] -= _quotient(value, own, shift) * z[free] if j != free else 0.0
        return np.asarray(z[self.space.pivots])

    def _direction(
        self, q: Floats, shares: Floats, n_steps: int, seen: dict[bytes, int]
    ) -> tuple[SparseVector, Index] | None:
        """Look for a direction near q that is exact.

        Along it run the rows of whose weight a step takes a large share.
        """
        moves = self.part.products(q)
        for share in STILL:
            still = shares <= share
            if still.all() or (~still & ((moves <= 0) | self.equal)).any():
                continue
            key = np.packbits(still).tobytes()
            # Rows that stand still at two steps will go on to; each set is tried once.
            if seen.setdefault(key, n_steps) in (n_steps, TRIED):
                continue
            seen[key] = TRIED
            found = self._snapped(q, still)
            if found is not None:
                return found
        return None

    def _snapped(self, q: Floats, still: Mask) -> tuple[SparseVector, Index] | None:
        """Round a direction so that it vanishes on the rows that stand still."""
        raw = np.ldexp(q, -self.part.exponents)
        rest = self.part.restricted(rows=np.flatnonzero(still))
        some = np.flatnonzero(rest.n_filled)
        empty = np.setdiff1d(np.arange(self.part.columns.size), some)
        vectors, free = [], some[:0]
        if some.size:
            try:
                space = null_space(rest.restricted(some), prove=False)
            except (TooLarge, TooWide, NotPositive):
                return None
            vectors = [vector.placed(some) for vector in space.basis]
            free = some[space.free]
        units = [unit_vector(j) for j in empty.tolist()]
        basis, free = vectors + units, np.concatenate([free, empty])
        if not basis:
            return None
        # Rounded in the units in which all columns have the same length.
        for bits in BITS:
            u = _rounded(raw[free], self.part.exponents[free], bits)
            direction = _times(basis, free, u)
            gone = self.part.separated(direction, self.equal)
            if gone is not None and gone.size:
                return direction.placed(self.part.columns), gone
        return None


class _Block:
    """Columns that few rows hold, and steps along these alone, on these rows."""

    def __init__(self, part: Part, counts: Counts, columns: Index, rows: Index) -> None:
        self.columns, self.rows = columns, rows
        self.part, self.counts = part.restricted(columns, rows), counts.of(rows)
        self.layout = Layout.of(self.part)

    def settle(self, z: Floats, products: Floats) -> None:
        """Make a few steps from a point, which is changed, and its products too."""
        for _ in range(RARE_STEPS):
            here = products[self.rows]
            try:
                step = Step.at(self.part, here, self.counts, self.layout)
            except NotPositive:
                return
            if not SETTLED <= step.shares.max() <= WILD:
                return
            length = _length(here, step)
            z[self.columns] += length * step.q
            products[self.rows] += length * step.products


def _rare(part: Part) -> tuple[Index, Index] | None:
    """Return the columns that few rows hold, and these rows; None if many do."""
    (n, k), counts = part.shape, part.n_filled
    rare = np.flatnonzero(counts * RARE <= n)
    if rare.size == 0 or 2 * rare.size > k:
        return None
    rows = np.flatnonzero(part.filled(rare))
    return None if 2 * rows.size > n else (rare, rows)


def _length(products: Floats, step: Step) -> float:
    """Return how far to go: about to where the loss falls no more.

    Along a direction in which rows run off that is many times the step. Zero where the
    loss was not seen to fall.
    """
    at = partial(step.weights.counts.loss_and_slope, products, step.products)
    before, start = at(0.0)
    low, high, length, shorter = 0.0, np.inf, 1.0, 0.5
    above = start  # the slope at `low`
    for _ in range(MOST_TRIALS):
        loss, slope = at(length)
        # Where a step is far too long, its slopes say nothing: the loss must fall.
        is_lower = loss <= before
        if is_lower and abs(slope) <= FLAT * start:
            return length
        further = np.inf
        if is_lower and slope > 0:
            if slope < above:  # to where it is zero, if it goes on to fall like this
                further = length + (length - low) * slope / (above - slope)
            low, above = length, slope
        else:
            high = length
        if high == np.inf:
            length = min(further, FURTHER * low)
        elif low > 0:
            length = 0.5 * (low + high)
        else:  # too long by any power of two
            length, shorter = shorter * length, shorter * shorter
    return low


def _quotient(above: int, below: int, exponent: int) -> float:
    """Divide whole numbers of any size, times a power of two."""
    try:
        return (above << max(exponent, 0)) / (below << max(-exponent, 0))
    except OverflowError:
        return np.inf


def _rounded(
    values: Floats, exponents: NDArray[np.int64], bits: int
) -> list[tuple[int, int]]:
    """Round to multiples of the largest's 2^-bits; mantissas with exponents."""
    sizes = np.ldexp(values, exponents)
    largest = float(np.abs(sizes).max(initial=0.0))
    if not 0 < largest < np.inf:
        return [(0, 0)] * values.size
    unit = np.frexp(largest)[1] - bits
    mantissas = np.rint(np.ldexp(sizes, -unit))
    return [(int(m), int(unit - e)) for m, e in zip(mantissas, exponents, strict=True)]


def _times(
    basis: list[SparseVector], free: Index, u: list[tuple[int, int]]
) -> SparseVector:
    """Return ``N u`` in whole numbers."""
    # A null vector's entry in its free column stands for one.
    used = [
        (vector, dict(vector.items())[column], mantissa, exponent)
        for vector, column, (mantissa, exponent) in zip(
            basis, free.tolist(), u, strict=True
        )
        if mantissa
    ]
    least = min((exponent for *_, exponent in used), default=0)
    common = lcm(*(unit for _, unit, *_ in used))
    return combination(
        ((mantissa << (exponent - least)) * (common // unit), vector)
        for vector, unit, mantissa, exponent in used
    )
