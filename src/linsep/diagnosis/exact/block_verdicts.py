r"""What very many rows say of each coefficient: block by block, and when asked for.

With N a basis of all w on the kept columns that vanish on the overlapped rows, every
such w is ``N u``. The separated rows ask ``(a_i N) u >= 0``, and most of them see few
of the coordinates u: they fall into blocks that have no row in common. A coefficient
``w_j = sum_k N_jk u_k`` can be negative iff its share of some block can, all others
being zero. So:

- a column that N does not hold is *finite*;
- a coordinate that is alone in its block has the sign its rows give it; so has one that
  some row sees alone, since that row asks for it;
- where all shares of a coefficient have known signs that agree, it is infinite of that
  sign, and where two differ, of either;
- anything else is a question to the exact engine, about the rows of one block.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linsep.arrays import Floats, Index, no_index
from linsep.diagnosis.exact.quotient import Quotient
from linsep.diagnosis.status import Estimate
from linsep.diagnosis.watch import OutOfTime, ShouldStop, require_time
from linsep.proof.answers import Conflict
from linsep.proof.doubles import scaled_doubles
from linsep.proof.exact import IntegerArray, IntegerRows, integers_from, python_vector
from linsep.proof.signs import all_positive
from linsep.rows import Rows, as_dense, rows_from
from linsep.rows.equal_rows import merge_equal_rows
from linsep.rows.working_set import WorkingSet
from linsep.solvers.engines import Kind, solve
from linsep.verified.vectors import SparseVector, columns_held, columns_of

# Blocks of more coordinates are left undecided, and those of more than this many are
# if no witness is found.
MOST_COORDINATES = 1_000
MOST_EXACT = 200
# No blocks are looked for where that takes more products.
MOST_PRODUCTS = 300_000_000
# Rounds and steps of an engine at most that looks for a witness.
MOST_ROUNDS = 2_000


def block_verdicts(
    rows: Rows,
    separated: Index,
    basis: list[SparseVector],
    kept: Index,
    should_stop: ShouldStop,
) -> dict[int, Estimate]:
    """Return the verdict on the coefficient of every kept column.

    Parameters
    ----------
    rows : Rows of shape (m, d)
    separated : ndarray of int
        Rows that some direction is positive on.
    basis : list of SparseVector
        Of all w on the kept columns that vanish on the other rows.
    kept : ndarray of int
        Independent columns.
    should_stop : callable
        A true answer leaves the rest undecided.
    """
    found = dict.fromkeys(kept.tolist(), Estimate.FINITE)
    shares: dict[int, list[tuple[int, int]]] = {}
    for k, vector in enumerate(basis):
        for column, value in vector.items():
            shares.setdefault(column, []).append((k, value))
    found |= dict.fromkeys(shares, Estimate.UNDECIDED)
    try:
        blocks = _Blocks(rows, separated, basis, should_stop)
        for column, terms in shares.items():
            found[column] = blocks.verdict(terms)
    except OutOfTime:
        pass
    return found


class _Blocks:
    """The blocks of coordinates, and the rows that see each."""

    def __init__(
        self,
        rows: Rows,
        separated: Index,
        basis: list[SparseVector],
        should_stop: ShouldStop,
    ) -> None:
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        self.basis, self.should_stop = basis, should_stop
        require_time(should_stop)
        q = len(basis)
        used = columns_held(basis)
        self.used = used
        self.entries = sparse.csr_array(columns_of(rows.take(separated), used))
        self.entries.eliminate_zeros()
        self.by_column = self.entries.tocsc()
        where = np.searchsorted(used, np.concatenate([v.columns for v in basis]))
        which = np.repeat(np.arange(q), [v.columns.size for v in basis])
        pattern = sparse.csr_array(
            (np.ones(where.size), (where, which)), shape=(used.size, q)
        )
        held = np.diff(self.by_column.indptr).astype(np.int64)
        n_products = int(held @ np.diff(pattern.indptr))
        if n_products > MOST_PRODUCTS:
            raise OutOfTime
        # Which coordinates a row may see; that they do not cancel is looked at later.
        self.seen = sparse.csr_array((abs(self.entries) > 0).astype(float) @ pattern)
        self.by_coordinate = self.seen.tocsc()
        # Coordinates are of one block if paths over rows lead from one to the other.
        both = sparse.block_array([[None, self.by_coordinate.T], [self.seen, None]])
        _, block = connected_components(both, directed=False)
        self.block = block[:q]
        self.members: dict[int, list[int]] = {}
        for k, block in enumerate(self.block.tolist()):
            self.members.setdefault(block, []).append(k)
        self.cache: dict[int, _Block | _Alone | None] = {}

    def verdict(self, terms: list[tuple[int, int]]) -> Estimate:
        """Decide a coefficient from its shares of the coordinates."""
        by_block: dict[int, dict[int, int]] = {}
        for k, value in terms:
            by_block.setdefault(int(self.block[k]), {})[k] = value
        can_rise = can_fall = is_open = False
        require_time(self.should_stop)
        for number, factors in by_block.items():
            block = self._block(number)
            signs = None if block is None else block.signs(factors)
            if signs is None:
                is_open = True
            else:
                can_rise, can_fall = can_rise or signs[0], can_fall or signs[1]
        if can_rise and can_fall:
            return Estimate.UNDETERMINED
        if is_open:
            return Estimate.UNDECIDED
        return Estimate.PLUS if can_rise else Estimate.MINUS

    def _block(self, number: int) -> _Block | _Alone | None:
        """Return a block's exact rows; None if it is too large."""
        if number not in self.cache:
            require_time(self.should_stop)
            self.cache[number] = self._made(number)
        return self.cache[number]

    def _sign_of(self, k: int) -> int:
        """Return the sign of a coordinate that is one column, alone in its block."""
        vector = self.basis[k]
        place = np.searchsorted(self.used, vector.columns[0])
        begin = self.by_column.indptr[place]
        entry = self.by_column.data[begin]
        return 1 if (entry > 0) == (vector.values[0] > 0) else -1

    def _made(self, number: int) -> _Block | _Alone | None:
        members = self.members[number]
        if len(members) > MOST_COORDINATES:
            return None
        if len(members) == 1 and self.basis[members[0]].columns.size == 1:
            return _Alone(self._sign_of(members[0]))
        held = np.unique(self.by_coordinate[:, members].indices)
        vectors = [self.basis[k] for k in members]
        columns = columns_held(vectors)
        places = np.searchsorted(self.used, columns)
        block = merge_equal_rows(columns_of(self.entries[held], places)).X
        exact = IntegerRows.from_floats(as_dense(block))
        N = np.zeros((columns.size, len(members)), dtype=object)
        for k, vector in enumerate(vectors):
            N[np.searchsorted(columns, vector.columns), k] = vector.values
        none = no_index()
        quotient = Quotient(rows_from(block), np.arange(columns.size), none, N)
        if all(vector.columns.size == 1 for vector in vectors):
            order = np.searchsorted(columns, [vector.columns[0] for vector in vectors])
            values = exact.values[:, order] * N[order, np.arange(len(vectors))]
        else:
            values = exact.values.astype(object) @ N
        return _Block(members, values, quotient, self.should_stop)


@dataclass(frozen=True)
class _Alone:
    """A block of one coordinate, of known sign."""

    sign: int

    def signs(self, factors: dict[int, int]) -> tuple[bool, bool]:
        """Tell whether its share can be positive, and negative."""
        (factor,) = factors.values()
        rises = (factor > 0) == (self.sign > 0)
        return rises, not rises


class _Block:
    """The rows of one block: ``R u >= 0``, all positive for some u."""

    def __init__(
        self,
        members: list[int],
        R: IntegerArray,
        quotient: Quotient,
        should_stop: ShouldStop,
    ) -> None:
        self.place = {k: at for at, k in enumerate(members)}
        filled = R != 0
        self.index = np.flatnonzero(filled.any(axis=1))
        self.R, self.quotient, self.should_stop = R, quotient, should_stop
        self.known: dict[int, int] = {}
        self.witnesses: list[list[int]] = []
        for row in np.flatnonzero(filled.sum(axis=1) == 1).tolist():
            column = int(np.argmax(filled[row]))
            self.known[column] = 1 if R[row, column] > 0 else -1

    def signs(self, factors: dict[int, int]) -> tuple[bool, bool] | None:
        """Tell whether ``sum_k factors_k u_k`` can be positive, and negative.

        None if the block is too large to tell.
        """
        at = {self.place[k]: value for k, value in factors.items()}
        if self.index.size == 0:
            return True, True
        known = {
            (value > 0) == (self.known[k] > 0) if k in self.known else None
            for k, value in at.items()
        }
        if known == {True}:
            return True, False
        if known == {False}:
            return False, True
        c = [at.get(k, 0) for k in range(len(self.place))]
        found = []
        for sign in (1, -1):
            towards = [sign * value for value in c]
            if self._has_witness(towards):
                found.append(True)
            elif len(c) > MOST_EXACT:
                return None
            else:
                found.append(self._possible(towards))
        return found[0], found[1]

    @np.errstate(all="ignore")
    def _has_witness(self, c: list[int]) -> bool:
        """Tell whether doubles find a u with ``c . u > 0`` and all rows positive.

        What is found is checked, and may answer other questions too.
        """
        used = [(k, value) for k, value in enumerate(c) if value]
        for u in self.witnesses:
            if sum(value * u[k] for k, value in used) > 0:
                return True
        direction = scaled_doubles(python_vector(c)[np.newaxis])[0]
        found = self._along_a_row(direction)
        if found is None:
            found = self._by_engine(direction)
        if found is None or not np.isfinite(found).all():
            return False
        u = integers_from(found)
        if sum(value * u[k] for k, value in used) <= 0:
            return False
        w = self.quotient.to_weights(u)
        if not all_positive(self.quotient.rows, w, self.index):
            return False
        self.witnesses.append(u)
        return True

    def _along_a_row(self, c: Floats) -> Floats | None:
        """Make one row so large that ``c . u`` is positive, where rows are few.

        With ``c = R' l + r`` and ``R r = 0``, ``c . u`` is ``l . (R u) + r . u``: it
        grows along r, or where a row of positive l does.
        """
        if self.index.size > c.size:
            return None
        inverse = self._inverse
        share = inverse.T @ c
        rest = c - self._floats.T @ share
        if np.linalg.norm(rest) <= 1e-6 * np.linalg.norm(c):
            row = int(np.argmax(share))
            if share[row] <= 1e-9 * np.abs(share).max():
                return None
            rest = inverse[:, row]
        middle = inverse.sum(axis=1)
        length = 2.0 * abs(c @ middle) / float(c @ rest) + 1.0
        return np.asarray(middle + length * rest)

    def _by_engine(self, c: Floats) -> Floats | None:
        """Look for it as a hyperplane that has one row more on its side."""
        rows = np.concatenate([self._floats, c[np.newaxis] / np.abs(c).max()])
        candidate = solve(
            rows, max_rounds=MOST_ROUNDS, should_stop=lambda _: self.should_stop()
        )
        return candidate.w if candidate.kind is Kind.SEPARATOR else None

    @cached_property
    def _floats(self) -> Floats:
        """The rows as doubles, each of length about one."""
        return scaled_doubles(self.R[self.index])

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.pinv(self._floats))

    def _possible(self, c: list[int]) -> bool:
        """Ask the exact engine whether ``c . u`` can be positive with all rows."""
        quotient, index = self.quotient, self.index
        working = WorkingSet(
            quotient.rows,
            np.random.default_rng(0),
            among=index,
            dimension=quotient.dimension,
        )
        answer = quotient.decide_among(index, working, self.should_stop, c)
        return not isinstance(answer, Conflict)
