"""The space that remains when some rows must vanish, and the question asked in it.

Rows known to overlap span a space L; the weight vectors that vanish on it are ``w =
N u`` for an integer matrix ``N``. In the coordinates ``u`` a row is ``a_i N``, an exact
vector of integers. Engines see it rounded to doubles and name candidates; what they
name is settled on the integers. The positive sum of a conflict lies in L.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from linsep.arrays import Index, no_index
from linsep.diagnosis.watch import OutOfTime, ShouldStop, require_time
from linsep.proof import linear
from linsep.proof.answers import Conflict, Separator
from linsep.proof.doubles import scaled_doubles
from linsep.proof.exact import (
    IntegerArray,
    IntegerRows,
    integers_from,
    primitive,
    python_vector,
)
from linsep.proof.gordan import conflict_among
from linsep.proof.ladder import settle_rows
from linsep.proof.signs import all_positive, signs_of
from linsep.rows import Rows, as_dense
from linsep.rows.working_set import WorkingSet

# The row number of a row that is asked about, and not one of the data.
EXTRA = -1
# Reports of an engine without a step in between, before it is taken to be stuck.
MOST_REPORTS = 20


@dataclass(frozen=True)
class Quotient:
    """All ``w`` that vanish on some rows, and outside the kept columns.

    Attributes
    ----------
    rows : Rows of shape (m, d)
    kept : ndarray of shape (r,), int
        Independent columns.
    spanning : ndarray of int
        Independent rows that must vanish.
    basis : integers of shape (d, q), or None
        ``N``. None while no row must vanish: then ``u`` is ``w`` on the kept columns.
    """

    rows: Rows
    kept: Index
    spanning: Index
    basis: IntegerArray | None

    @classmethod
    def whole(cls, rows: Rows, kept: Index) -> Quotient:
        """Return the space of all ``w`` on independent columns; nothing must vanish."""
        return cls(rows, kept, no_index(), None)

    @classmethod
    def on_columns(cls, rows: Rows, kept: Index) -> Quotient:
        """Return the space of all ``w`` on some columns that need not span the rows."""
        basis = np.zeros((rows.shape[1], kept.size), dtype=object)
        basis[kept, np.arange(kept.size)] = 1
        return cls(rows, kept, no_index(), basis)

    @property
    def dimension(self) -> int:
        """The number q of coordinates ``u``."""
        return int(self.kept.size if self.basis is None else self.basis.shape[1])

    def vanishes(self, column: int) -> bool:
        """Tell whether every ``w`` of this space is zero in a column."""
        return self.basis is not None and not self.basis[column].any()

    def restricted(self, index: Index) -> Quotient:
        """Let more rows vanish."""
        candidates = np.concatenate([self.spanning, index])
        values = self._integers(candidates).values
        chosen = linear.independent_columns(values.T)
        null = linear.null_basis(values)
        basis = np.zeros((self.rows.shape[1], null.shape[1]), dtype=object)
        basis[self.kept] = null
        return replace(self, spanning=candidates[chosen], basis=basis)

    def coordinates(self, index: Index) -> IntegerRows:
        """Return the rows ``a_i N``, exactly, each up to a power of two."""
        integers = self._integers(index)
        if self.basis is None:
            return integers
        product = linear.integer_matrix(integers.values) * linear.integer_matrix(
            self.basis[self.kept]
        )
        return IntegerRows(linear.as_array(product), integers.exponents)

    def to_weights(self, u: Sequence[int]) -> tuple[int, ...]:
        """Return ``w = N u``, without a common factor."""
        w = [0] * self.rows.shape[1]
        if self.basis is None:
            for column, value in zip(self.kept, u, strict=True):
                w[int(column)] = int(value)
        else:
            w = [int(value) for value in self.basis @ python_vector(u)]
        return tuple(primitive(w))

    def decide(
        self,
        index: Index,
        should_stop: ShouldStop,
        extra: Sequence[int] | None = None,
        start: Index | None = None,
    ) -> tuple[int, ...] | Conflict:
        """Find a ``w`` in this space that is positive on the rows, or a conflict.

        Parameters
        ----------
        index : ndarray of int
            Rows, none of them zero in this space.
        should_stop : callable
            A true answer ends exact work early.
        extra : sequence of q int, optional
            One more row, in the coordinates ``u``, numbered `EXTRA`.
        start : ndarray of int, optional
            Rows of the answer to a question like this one, or none: the active set then
            starts from them, and no time goes to the loop.

        Returns
        -------
        tuple of d int, or Conflict

        Raises
        ------
        OutOfTime
            If `should_stop` said so.
        """
        require_time(should_stop)
        if index.size == 0 and extra is None:
            return (0,) * self.rows.shape[1]
        exact = _Exact(self, index, extra)
        if self.dimension == 1:
            return exact.on_a_line()
        answer = exact.by_engine(should_stop, start)
        if answer is None:
            require_time(should_stop)
            answer = exact.by_ladder(should_stop)
        if answer is None:
            raise OutOfTime
        return answer

    def decide_among(
        self,
        among: Index,
        working: WorkingSet,
        should_stop: ShouldStop,
        extra: Sequence[int] | None = None,
        start: Index | None = None,
    ) -> tuple[int, ...] | Conflict:
        """Do as `decide` for very many rows, from the few of a working set."""

        def decide(index: Index) -> tuple[int, ...] | Conflict:
            return self.decide(np.sort(index), should_stop, extra, start)

        def missed(answer: tuple[int, ...] | Conflict) -> Index:
            if isinstance(answer, Conflict):
                return among[:0]
            return not_positive(self.rows, answer, among)[: working.n_added]

        return working.decided(decide, missed)

    def more_conflicts(
        self, index: Index, first: Conflict, should_stop: ShouldStop
    ) -> list[Conflict]:
        """Find further conflicts in this space that share no row with one another.

        A factor of many levels holds a conflict of two or three rows in each: the
        coordinates are formed once for all of them.
        """
        from linsep.solvers.active_set import ActiveSet, Outcome
        from linsep.solvers.blas import calm_blas
        from linsep.solvers.metric import whiten

        exact = _Exact(self, index, None)
        found: list[Conflict] = []
        alive = np.flatnonzero(~np.isin(index, first.rows))
        with np.errstate(all="ignore"), calm_blas(self.dimension):
            rows = whiten(self.engine_rows(index)).rows
            while alive.size and not should_stop():
                problem = ActiveSet(np.ascontiguousarray(rows[alive]))
                *_, outcome = problem.solve()
                if outcome is not Outcome.CONFLICT:
                    break
                order = alive[problem.support[problem.multipliers > 0]]
                conflict = exact.among(order, should_stop)
                if conflict is None:
                    break
                found.append(conflict)
                alive = alive[~np.isin(index[alive], conflict.rows)]
        return found

    def engine_rows(self, index: Index) -> Any:
        """Return the rows in the coordinates ``u`` as doubles, for an engine."""
        if self.basis is None:
            block = self.rows.take(index)
            return block[:, self.kept] if self.kept.size < block.shape[1] else block
        return scaled_doubles(self.coordinates(index).values)

    def _integers(self, index: Index) -> IntegerRows:
        return IntegerRows.from_floats(self.rows.take(index)[:, self.kept])


def not_positive(rows: Rows, w: Sequence[int], index: Index) -> Index:
    """Return those of the rows named on which ``w`` is not positive, worst first."""
    signs, relative = signs_of(rows, w, index)
    bad = np.flatnonzero(signs <= 0)
    return np.asarray(index[bad[np.argsort(relative[bad], kind="stable")]])


class _Exact:
    """One question: engines answer in doubles, integers settle it."""

    def __init__(
        self, quotient: Quotient, index: Index, extra: Sequence[int] | None
    ) -> None:
        self.quotient = quotient
        self.index = index
        self.extra = None if extra is None else [int(value) for value in extra]

    @cached_property
    def integers(self) -> IntegerRows:
        """All rows as integers; the extra one is last."""
        n_extra = int(self.extra is not None)
        return self._some_integers(np.arange(self.index.size + n_extra))

    def on_a_line(self) -> tuple[int, ...] | Conflict:
        """Answer where one coordinate is left: two signs are a conflict."""
        values = [int(value) for value in self.integers.values[:, 0]]
        up = next((i for i, value in enumerate(values) if value > 0), None)
        down = next((i for i, value in enumerate(values) if value < 0), None)
        if up is None or down is None:
            return self.quotient.to_weights([1 if down is None else -1])
        found = conflict_among(self.integers.take([up, down]), [0, 1])
        assert found is not None
        return self._named(found, np.array([up, down]))

    def by_engine(
        self, should_stop: ShouldStop, start: Index | None
    ) -> tuple[int, ...] | Conflict | None:
        """Return what floating point found, if it holds exactly."""
        from linsep.solvers.engines import Kind, solve

        floats = self._floats()
        warm = None if start is None else np.flatnonzero(np.isin(self.index, start))
        # A candidate that overflowed fails the exact check below.
        with np.errstate(all="ignore"):
            candidate = solve(floats, start=warm, should_stop=_Patience(should_stop))
        if candidate.kind is Kind.SEPARATOR:
            return self._checked(integers_from(candidate.w))
        if candidate.kind is Kind.CONFLICT:
            held = candidate.support[candidate.weights > 0]
            trust = candidate.weights[candidate.weights > 0]
            order = held[np.argsort(-trust, kind="stable")]
            return self.among(order, should_stop)
        return None

    def among(self, order: Index, should_stop: ShouldStop) -> Conflict | None:
        """Settle exactly whether rows hold a conflict, the first trusted most."""
        rows = self._some_integers(order)
        found = conflict_among(rows, np.arange(order.size), should_stop)
        return None if found is None else self._named(found, order)

    def by_ladder(self, should_stop: ShouldStop) -> tuple[int, ...] | Conflict | None:
        """Decide by exact changes of basis, which always end."""
        answer = settle_rows(self.integers, should_stop=should_stop)
        if answer is None:
            return None
        if isinstance(answer, Separator):
            return self.quotient.to_weights(answer.w)
        return self._named(answer, np.arange(self.integers.shape[0]))

    def _floats(self) -> Any:
        floats = self.quotient.engine_rows(self.index)
        if self.extra is None:
            return floats
        dense = as_dense(floats)
        last = scaled_doubles(python_vector(self.extra)[np.newaxis])
        return np.concatenate([dense, last])

    def _some_integers(self, order: Index) -> IntegerRows:
        """Return the exact rows an engine named, without making all of them exact."""
        data = order < self.index.size
        rows = self.quotient.coordinates(self.index[order[data]])
        if data.all():
            return rows
        values = np.empty((order.size, rows.shape[1]), dtype=object)
        values[data] = rows.values
        values[~data] = python_vector(self.extra or [])
        exponents = np.zeros(order.size, dtype=np.int64)
        exponents[data] = rows.exponents
        return IntegerRows(values, exponents)

    def _checked(self, u: list[int]) -> tuple[int, ...] | None:
        """Return ``w = N u`` if it is positive on every row, exactly."""
        if self.extra is not None and not (
            sum(a * b for a, b in zip(self.extra, u, strict=True)) > 0
        ):
            return None
        w = self.quotient.to_weights(u)
        return w if all_positive(self.quotient.rows, w, self.index) else None

    def _named(self, found: Conflict, order: Index) -> Conflict:
        """Name the rows of a conflict by their numbers in the data."""
        numbers = np.append(self.index, EXTRA)
        chosen = order[np.asarray(found.rows)]
        return Conflict(tuple(int(i) for i in numbers[chosen]), found.weights)


class _Patience:
    """Stop an engine that reports again and again without having done a step.

    Exact arithmetic then decides in its place.
    """

    def __init__(self, should_stop: ShouldStop) -> None:
        self.should_stop = should_stop
        self.last, self.times = -1, 0

    def __call__(self, n_rounds: int) -> bool:
        self.times = self.times + 1 if n_rounds == self.last else 0
        self.last = n_rounds
        return self.times > MOST_REPORTS or self.should_stop()
