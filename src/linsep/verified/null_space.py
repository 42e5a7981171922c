r"""Which columns are independent on some rows, from both sides.

The moment matrix shows, in floating point, which columns depend on others, and by what
combination. A combination is rounded to small fractions, or, of few columns, solved
for exactly on a few rows. Then it is held against every row in whole numbers: what
passes is a *null vector* N with ``a_i N = 0``, exactly.
That the other columns are independent is proved by a Cholesky factor
(`linsep.verified.moments`), or by elimination modulo a prime where doubles do not show
it. So the rank is known from above and from below. Where no column depends on others a
few rows show it most often, and the others need not be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from linsep.arrays import Floats, Index, Mask, no_index
from linsep.proof import linear
from linsep.proof.exact import IntegerRows
from linsep.rows import as_dense
from linsep.solvers._factors import divided, pivoted_cholesky
from linsep.solvers.blas import calm_blas
from linsep.verified.moments import (
    NARROW,
    SHIFTS,
    Layout,
    Moments,
    NotPositive,
    factored,
)
from linsep.verified.parts import Part
from linsep.verified.vectors import WHOLE, SparseVector, columns_held

# What is left of a column, as a share of its square, where it counts as dependent.
DEPENDENT = 1e-9
# A share of a column's length that rounding can make.
NEGLIGIBLE = 1e-7
# Denominators of combinations that are tried.
DENOMINATORS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 60, 100, 1000)
# How far from a fraction a computed coefficient may be.
NEAR = 1e-5
# Combinations of more columns together are not solved for exactly.
MOST_EXACT = 300
# More columns are not eliminated to prove that they are independent.
MOST_ELIMINATED = 1_000
# Rows that exact combinations are sought on: more at first, added when one is wrong.
ROWS_EACH = 50
MOST_TRIES = 8


@dataclass(frozen=True)
class NullSpace:
    """The columns of a part, told apart.

    Attributes
    ----------
    pivots : ndarray of int
        Places of columns that are independent; proved if `is_proved`.
    free : ndarray of shape (q,), int
        Places of the others.
    basis : list of q SparseVector
        For each of `free` a null vector that is zero on the rest of `free`.
    is_proved : bool
        Whether the pivots are known to be independent.
    is_well_conditioned : bool
        Whether the factorisation proved it: then by more than rounding.
    """

    pivots: Index
    free: Index
    basis: list[SparseVector]
    is_proved: bool
    is_well_conditioned: bool = False


# What is not finite is no combination.
@np.errstate(all="ignore")
def null_space(part: Part, *, prove: bool = True) -> NullSpace:
    """Tell the independent columns of a part from the others.

    Without `prove` it is left to others to prove the pivots independent.

    A column that depends on others in floating point alone counts as independent.

    Raises
    ------
    NotPositive
        If a column is zero on all rows, as far as doubles show.
    TooLarge
    TooWide
    """
    n, k = part.shape
    few = part.few() if prove else None
    if few is not None and _are_independent(few):
        return NullSpace(np.arange(k), no_index(), [], True, True)
    moments = Moments.of(part, np.ones(n), Layout.of(part))
    free, combined = _dependent(moments)
    basis = _exact_vectors(part, moments, combined)
    found = np.array([vector is not None for vector in basis], dtype=bool)
    free, vectors = free[found], [vector for vector in basis if vector is not None]
    pivots = np.setdiff1d(np.arange(k), free)
    is_proved = is_well_conditioned = False
    if prove:
        kept = np.flatnonzero(~np.isin(moments.layout.rest, free))
        moments = moments.restricted(kept) if free.size else moments
        is_well_conditioned = _is_factored(moments)
        is_proved = is_well_conditioned or _is_eliminated(part.restricted(pivots))
    return NullSpace(pivots, free, vectors, is_proved, is_well_conditioned)


def restricted_space(part: Part, known: Mapping[int, SparseVector]) -> NullSpace:
    """Take vectors that vanish on all rows, where some columns of them are zero.

    Each is named by a column that no other of them holds. There may be more vectors
    that vanish on the part.
    """
    place = np.full(part.rows.shape[1], -1)
    place[part.columns] = np.arange(part.columns.size)
    free, basis = [], []
    for column, vector in sorted(known.items()):
        if place[column] >= 0:
            entries = {int(place[j]): x for j, x in vector.items() if place[j] >= 0}
            free.append(int(place[column]))
            basis.append(SparseVector.from_items(entries))
    pivots = np.setdiff1d(np.arange(part.columns.size), free)
    return NullSpace(pivots, np.array(free, dtype=np.intp), basis, is_proved=False)


def _are_independent(part: Part) -> bool:
    """Tell whether the first factorisation that is tried proves it, as most often."""
    try:
        moments = Moments.of(part, np.ones(part.shape[0]), Layout.of(part))
    except NotPositive:  # a column is zero on these rows
        return False
    return _is_factored(moments, SHIFTS[:1])


def _is_factored(moments: Moments, shifts: Sequence[float] = SHIFTS) -> bool:
    """Tell whether the factorisation proves columns independent."""
    try:
        return factored(moments, shifts).least_eigenvalue > 0
    except NotPositive:
        return False


def _is_eliminated(part: Part) -> bool:
    """Tell whether elimination modulo a prime, on some rows, proves them independent.

    It takes longer, and is not led astray by columns that depend on others by all but
    a hundred-thousandth.
    """
    n, k = part.shape
    if k > MOST_ELIMINATED:
        return False
    # Rows first that hold what few others do.
    rarity, shares = np.empty(n), 1.0 / part.n_filled
    for range_, block in part.raw_blocks():
        rarity[range_] = (block != 0) @ shares
    chosen = np.argsort(-rarity, kind="stable")[: k + k // 2 + ROWS_EACH]
    block = as_dense(part.raw(np.sort(chosen)))
    values = IntegerRows.from_floats(block).values
    return len(linear.independent_columns(values)) == k


def _dependent(moments: Moments) -> tuple[Index, list[tuple[Floats, int]]]:
    """Return the dependent columns, and for each the null vector in doubles.

    The vectors are in the order of the layout, and in scaled coordinates; the number
    with each is the place of its free column.
    """
    layout, n_first = moments.layout, moments.layout.first.size
    n_rest = layout.rest.size
    if n_rest == 0:
        return layout.rest, []
    root, shares, S = moments.complement(0.0)
    # What is left of columns that were about one. LAPACK takes any first pivot.
    lower, order = np.zeros((n_rest, 0)), np.arange(n_rest)
    if S.diagonal().max() > DEPENDENT:
        with calm_blas(n_rest, NARROW):
            lower, order = pivoted_cholesky(S, DEPENDENT)
    rank = lower.shape[1]
    pivots, free = order[:rank], order[rank:]
    if free.size == 0:
        return layout.rest[:0], []
    x = np.zeros((n_rest, free.size))
    x[free, np.arange(free.size)] = 1.0
    x[pivots] = -divided(lower[rank:], lower[:rank], lower=True).T
    first = -(shares @ x) / root[:, np.newaxis]
    whole = np.concatenate([first, x])
    return layout.rest[free], [
        (whole[:, j], n_first + int(place)) for j, place in enumerate(free)
    ]


def _exact_vectors(
    part: Part, moments: Moments, combined: list[tuple[Floats, int]]
) -> list[SparseVector | None]:
    """Make null vectors exact; None where one is not."""
    places = np.concatenate([moments.layout.first, moments.layout.rest])
    # In the units of the data.
    exponents = moments.exponents + part.exponents
    found: list[SparseVector | None] = []
    holding = []
    for x, at in combined:
        used = np.flatnonzero(np.abs(x) > NEGLIGIBLE)
        holding.append(places[used])
        shift = exponents[places[at]] - exponents[places[used]]
        found.append(_simple(np.ldexp(x[used], shift), places[used]))
    holds = iter(_vanishing(part, [vector for vector in found if vector is not None]))
    for k, vector in enumerate(found):
        if vector is not None and not next(holds):
            found[k] = None
    left = [k for k, vector in enumerate(found) if vector is None]
    if left:
        free = places[[combined[k][1] for k in left]]
        solved = _solved(part, _few([holding[k] for k in left], free), free)
        for k, column in zip(left, free.tolist(), strict=True):
            found[k] = solved.get(column)
    return found


def _few(used: list[Index], free: Index) -> Index:
    """Return the columns of as many combinations as are few together, less the free."""
    chosen = free[:0]
    for columns in sorted(used, key=lambda columns: columns.size):
        more = np.union1d(chosen, np.setdiff1d(columns, free))
        if more.size + free.size > MOST_EXACT:
            break
        chosen = more
    return chosen


def _simple(values: Floats, places: Index) -> SparseVector | None:
    """Round a null vector to small fractions; None where none are near."""
    if not np.isfinite(values).all():
        return None
    for denominator in DENOMINATORS:
        aims = values * denominator
        rounded = np.rint(aims)
        near = np.abs(aims - rounded) <= NEAR * np.maximum(1.0, np.abs(rounded))
        if near.all() and (np.abs(rounded) < WHOLE).all():
            entries = zip(places.tolist(), rounded.tolist(), strict=True)
            return SparseVector.from_items({j: int(value) for j, value in entries})
    return None


def _solved(part: Part, pivots: Index, free: Index) -> dict[int, SparseVector]:
    """Solve exactly for free columns as combinations of pivots, all at once.

    The null vectors that are found, by their free columns. They are sought on rows that
    tell the columns apart: rows that refute what vanishes on those chosen are chosen
    next, so few do, and columns that are zero on most rows are seen where they are not.
    """
    if pivots.size + free.size > MOST_EXACT:
        return {}
    columns = np.union1d(pivots, free)
    held = np.flatnonzero(part.filled(columns))
    some = part.restricted(columns, held)
    # Elimination keeps the first columns that it can.
    order = np.argsort(np.isin(columns, free), kind="stable")
    rng = np.random.default_rng(0)
    size = min(held.size, 2 * columns.size + ROWS_EACH)
    chosen = np.sort(rng.choice(held.size, size, replace=False))
    for _ in range(MOST_TRIES):
        part.check()
        block = as_dense(some.raw(chosen))[:, order]
        null = linear.null_basis(IntegerRows.from_floats(block).values).astype(object)
        if null.shape[1] == 0:
            return {}
        drawn = rng.integers(1, 1000, null.shape[1]).astype(object)
        both = zip(order.tolist(), (null @ drawn).tolist(), strict=True)
        wrong = _not_vanishing(some, SparseVector.from_items(dict(both)))
        if wrong.size == 0:
            break
        more = rng.choice(wrong, min(wrong.size, ROWS_EACH), replace=False)
        chosen = np.union1d(chosen, more)
    vectors = {}
    for vector in null.T:
        last = int(order[np.flatnonzero(vector)[-1]])
        both = zip(order.tolist(), vector.tolist(), strict=True)
        vectors[int(columns[last])] = SparseVector.from_items(dict(both))
    holds = _vanishing(some, list(vectors.values()))
    return {
        column: vector.placed(columns)
        for (column, vector), is_null in zip(vectors.items(), holds, strict=True)
        if is_null and column in free
    }


def _not_vanishing(part: Part, vector: SparseVector) -> Index:
    """Return the rows, by their places, on which a vector is not zero."""
    found = [no_index()]
    within = vector.within(vector.columns)
    for range_, block in part.restricted(vector.columns).raw_blocks():
        found.append(range_.start + np.flatnonzero(within.signs_on(block)))
    return np.concatenate(found)


def _vanishing(part: Part, vectors: list[SparseVector]) -> Mask:
    """Tell of each null vector whether ``a_i N = 0`` on all rows, exactly."""
    from scipy import sparse

    holds = np.ones(len(vectors), dtype=bool)
    if not vectors:
        return holds
    used = columns_held(vectors)
    within = [vector.within(used) for vector in vectors]
    largest = max(abs(value) for v in within for value in v.values)
    basis = None
    if largest < WHOLE:
        data = np.concatenate([np.array(v.values, dtype=np.float64) for v in within])
        rows = np.concatenate([v.columns for v in within])
        columns = np.repeat(np.arange(len(within)), [v.columns.size for v in within])
        basis = sparse.csc_array((data, (rows, columns)), (used.size, len(within)))
    for _, block in part.restricted(used).raw_blocks():
        values = block.data if part.is_sparse else block
        size = float(np.abs(values).max(initial=0.0))
        is_whole = bool((values == np.rint(values)).all())
        is_small = basis is not None and size * largest * max(1, part.longest) < WHOLE
        if is_whole and is_small:
            product = block @ basis
            holds &= np.asarray(abs(product).sum(axis=0)).ravel() == 0
            continue
        for j in np.flatnonzero(holds):
            holds[j] = not within[j].signs_on(block).any()
    return holds
