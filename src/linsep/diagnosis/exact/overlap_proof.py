r"""The proof that rows overlap: positive weights under which they sum to zero.

Facial reduction leaves a chain of conflicts. The k-th has ``p > 0`` on its rows and
``sum p_i a_i`` in the span ``L_k`` of the rows before it. From the chain one ``base``
is made that is positive on all conflict rows and sums to zero: the remainder of each
conflict is taken away by the rows before it, whose negative weights are outweighed by
a multiple of the base so far.

All other overlapped rows lie in the span too. Give each the weight one; their sum is
taken away in the same way. So long weights stand on few rows, and one on the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linsep.diagnosis.exact.quotient import Conflict
from linsep.diagnosis.watch import ShouldStop, require_time
from linsep.proof import linear
from linsep.proof.exact import IntegerRows, python_vector
from linsep.proof.simplex import never
from linsep.rows import Rows, split
from linsep.rows.arrays import Booleans, Index


def overlap_weights(
    rows: Rows,
    equal: Booleans,
    start: dict[int, int],
    spanning: Index,
    conflicts: Sequence[Conflict],
    should_stop: ShouldStop = never,
) -> tuple[int, dict[int, int]]:
    """Return ``c > 0`` and ``v`` with ``sum_i (c p_i + v_i) a_i = 0``.

    Parameters
    ----------
    rows : Rows of shape (m, d)
    equal : ndarray of shape (m,), bool
        Rows whose ``v`` may have any sign; it is not negative on the others.
    start : dict of int to int
        The weights ``p`` to complete, on overlapped rows.
    spanning : ndarray of int
        Independent overlapped rows that span all of them.
    conflicts : sequence of Conflict
        The chain, in order.
    should_stop : callable, optional
        Asked between steps.

    Raises
    ------
    OutOfTime
        If `should_stop` said so.
    """
    exact = _Sums(rows, should_stop)
    base: dict[int, int] = {}
    known = spanning[equal[spanning]]
    for conflict in conflicts:
        require_time(should_stop)
        weights = dict(zip(conflict.rows, conflict.weights, strict=True))
        scale, moves = _completed(exact, known, equal, base, weights)
        base = dict(moves)
        for i, p in weights.items():
            base[i] = base.get(i, 0) + scale * p
        known = _independent(exact, np.concatenate([known, np.array(conflict.rows)]))
    return _completed(exact, spanning, equal, base, start)


def _completed(
    exact: _Sums,
    basis: Index,
    equal: Booleans,
    base: dict[int, int],
    start: dict[int, int],
) -> tuple[int, dict[int, int]]:
    """Cancel a sum that lies in the span of the basis by weights on earlier rows."""
    scale, moves = exact.cancel(basis, start)
    # The multiple of the base that outweighs every negative move, and one more, so
    # that the rows of the base keep a positive weight.
    times = 1
    for i, move in moves.items():
        if not equal[i] and move < 0:
            times = max(times, 1 + -move // base[i])
    total = dict(moves)
    for i, p in base.items():
        total[i] = total.get(i, 0) + times * p
    return scale, {i: p for i, p in total.items() if p != 0}


def _independent(exact: _Sums, index: Index) -> Index:
    values = exact.integers(index).values
    return index[linear.independent_columns(values.T)]


class _Sums:
    """Exact sums of rows."""

    def __init__(self, rows: Rows, should_stop: ShouldStop) -> None:
        self.rows = rows
        self.should_stop = should_stop

    def integers(self, index: Index) -> IntegerRows:
        return IntegerRows.from_floats(self.rows.take(index))

    def cancel(
        self, basis: Index, weights: dict[int, int]
    ) -> tuple[int, dict[int, int]]:
        """Return ``c > 0`` and ``v`` with ``c sum_i p_i a_i + sum_b v_b a_b = 0``."""
        total, exponent = self._sum(weights)
        if not any(total):
            return 1, {}
        rows = self.integers(basis)
        columns = linear.independent_columns(rows.values)
        numerators, denominator = linear.solve(
            linear.integer_matrix(rows.values[:, columns].T),
            linear.integer_column([-total[j] for j in columns]),
        )
        # Rows are 2**e_b values_b, the total is 2**exponent total.
        shifts = [exponent - int(e) for e in rows.exponents]
        up = max(0, -min(shifts))
        moves = {
            int(b): value << (shift + up)
            for b, value, shift in zip(
                basis, linear.python_integers(numerators), shifts, strict=True
            )
            if value
        }
        return denominator << up, moves

    def _sum(self, weights: dict[int, int]) -> tuple[list[int], int]:
        """Return ``sum p_i a_i`` exactly: integers times a power of two."""
        index = np.fromiter(weights, dtype=np.intp, count=len(weights))
        multiples = python_vector(list(weights.values()))
        parts = []
        for start, stop in split(index.size, self.rows.shape[1]):
            require_time(self.should_stop)
            rows = self.integers(index[start:stop])
            parts.append(_weighted_sum(rows, multiples[start:stop]))
        least = min((exponent for _, exponent in parts), default=0)
        total = [0] * self.rows.shape[1]
        for values, exponent in parts:
            total = [
                a + (b << (exponent - least))
                for a, b in zip(total, values, strict=True)
            ]
        return total, least


def _weighted_sum(rows: IntegerRows, weights: Any) -> tuple[list[int], int]:
    """Return ``sum_i p_i 2**e_i values_i``, one power of two at a time."""
    least = int(rows.exponents.min(initial=0))
    total = [0] * rows.shape[1]
    for exponent in np.unique(rows.exponents):
        at = np.flatnonzero(rows.exponents == exponent)
        values, p = rows.values[at], weights[at]
        small = values.dtype != object and max(map(abs, p)) < 1 << 20
        if small and int(np.abs(values).max(initial=0)) < 1 << 21:
            sums = p.astype(np.int64) @ values
        else:
            sums = p @ values.astype(object)
        shift = int(exponent) - least
        total = [a + (int(b) << shift) for a, b in zip(total, sums, strict=True)]
    return total, least
