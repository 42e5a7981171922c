r"""The certificate of a diagnosis: the partition, about plain data of two classes.

That rows overlap is proved by positive weights under which they sum to zero. Facial
reduction leaves a chain of conflicts. The k-th has ``p > 0`` on its rows and
``sum p_i a_i`` in the span ``L_k`` of the rows before it. From the chain one ``base``
is made that is positive on all conflict rows and sums to zero: the remainder of each
conflict is taken away by the rows before it, whose negative weights are outweighed by
a multiple of the base so far.

All other overlapped rows lie in the span too. Give each the weight one; their sum is
taken away in the same way. So long weights stand on few rows, and one on the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Index, Mask
from linsep.diagnosis.exact.demands import Demands
from linsep.diagnosis.exact.facial_reduction import Partition
from linsep.diagnosis.exact.ordered_partition import AnyPartition
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.watch import ShouldStop, require_time
from linsep.proof import linear
from linsep.proof.answers import Conflict, never
from linsep.proof.certificate import Certificate
from linsep.proof.exact import IntegerRows, python_vector
from linsep.rows import Rows, rows_from, split
from linsep.rows.equal_rows import Groups
from linsep.verified.answers import ordered_certificate
from linsep.verified.overlap import Counts


@dataclass(frozen=True)
class CertifiedRows:
    """Two-class data that stand for the regression.

    Attributes
    ----------
    rows : Rows of shape (k, d)
        Signed; the certificate speaks of these.
    labels : ndarray of shape (k,)
        Their labels.
    classes : ndarray
        The sorted labels.
    of_row : ndarray of shape (k,), int
        The demand each row comes from.
    against : ndarray of shape (k,), bool
        Whether the signed row is the negative of the demand's.
    demands : Demands
    mirrored : bool
        Whether every demand was negated: one class, of which the likelihood calls
        the other side positive.
    """

    rows: Rows
    labels: NDArray[Any]
    classes: NDArray[Any]
    of_row: Index
    against: Mask
    demands: Demands
    mirrored: bool = False


def certified_rows(study: Study, groups: Groups, demands: Demands) -> CertifiedRows:
    """Choose the data a certificate is about: the user's own where it can be."""
    if _is_users_own(study):
        return _users_own(study, groups, demands)
    equal = np.flatnonzero(demands.equal)
    of_row = np.concatenate([np.arange(demands.equal.size), equal]).astype(np.intp)
    signs = np.ones(of_row.size, dtype=np.int8)
    signs[demands.equal.size :] = -1
    taken = demands.rows.take(of_row)
    return CertifiedRows(
        rows_from(taken, signs, False),
        (signs > 0).astype(np.int64),
        np.array([0, 1]) if equal.size else np.array([1]),
        of_row,
        signs < 0,
        demands,
    )


def _is_users_own(study: Study) -> bool:
    is_plain = study.labels is not None and study.family == "binomial"
    return is_plain and study.held is None


def _users_own(study: Study, groups: Groups, demands: Demands) -> CertifiedRows:
    assert study.labels is not None
    levels = study.outcome.levels
    demanded = demands.rows.signs[groups.group]
    signs, against = _signs_and_against(study, demanded)
    return CertifiedRows(
        rows_from(study.X, signs, study.fit_intercept),
        study.labels,
        levels,
        groups.group,
        against,
        demands,
        mirrored=levels.size == 1 and bool(demanded[0] < 0),
    )


def counts_of(study: Study, groups: Groups, demands: Demands) -> Counts:
    """Return how often each demand stands in the data a certificate is about."""
    m = demands.equal.size
    if not _is_users_own(study):
        return Counts(np.ones(m), demands.equal.astype(np.float64))
    demanded = demands.rows.signs[groups.group]
    _, is_against = _signs_and_against(study, demanded)
    along = np.bincount(groups.group[~is_against], minlength=m)
    against = np.bincount(groups.group[is_against], minlength=m)
    return Counts(along.astype(np.float64), against.astype(np.float64))


def _signs_and_against(
    study: Study, demanded: NDArray[np.int8]
) -> tuple[NDArray[np.int8], Mask]:
    """Return the signs of labelled rows, and which are not those demanded.

    Rows of one class have the sign 1, whatever is demanded: `CertifiedRows.mirrored`.
    """
    if study.outcome.levels.size == 2:
        signs = np.where(study.outcome.has[:, 1], 1, -1).astype(np.int8)
        return signs, signs != demanded
    return np.ones(demanded.size, dtype=np.int8), np.zeros(demanded.size, dtype=bool)


def certificate_of(
    basis: CertifiedRows, partition: AnyPartition, should_stop: ShouldStop
) -> Certificate:
    """Certify the partition.

    Raises
    ------
    OutOfTime
        If `should_stop` said so, between steps.
    """
    sign = -1 if basis.mirrored else 1
    w = [sign * value for value in partition.w]
    if not partition.overlapped.any():
        return Certificate.for_separator(basis.rows, basis.classes, w)
    if isinstance(partition, Partition):
        every = np.arange(basis.demands.equal.size)
        return _exact(basis, partition, every, w, should_stop)
    if partition.rest is not None:
        return _exact(basis, partition.rest, partition.rest_rows, w, should_stop)
    return ordered_certificate(basis.rows, basis.classes, partition.reduced, sign)


def _exact(
    basis: CertifiedRows,
    partition: Partition,
    index: Index,
    w: list[int],
    should_stop: ShouldStop,
) -> Certificate:
    """Certify by exact weights; `index` names the demands the partition is of."""
    weights = _weights(basis, partition, index, should_stop)
    require_time(should_stop)
    listed = sorted(weights)
    return Certificate.for_partition(
        basis.rows, basis.classes, w, listed, [weights[i] for i in listed]
    )


def _weights(
    basis: CertifiedRows, partition: Partition, index: Index, should_stop: ShouldStop
) -> dict[int, int]:
    """Return positive weights of all overlapped rows under which they sum to zero.

    Each row gets the same, and a few of them more.
    """
    m = basis.demands.equal.size
    overlapped = np.zeros(m, dtype=bool)
    overlapped[index] = partition.overlapped
    covered = np.flatnonzero(overlapped[basis.of_row])
    of_row, against = basis.of_row[covered], basis.against[covered]
    counts = np.bincount(of_row[~against], minlength=m) - np.bincount(
        of_row[against], minlength=m
    )
    each, extra = overlap_weights(
        basis.demands.rows,
        basis.demands.equal,
        {int(i): int(counts[i]) for i in np.flatnonzero(counts)},
        index[partition.quotient.spanning],
        [
            Conflict(tuple(index[list(conflict.rows)].tolist()), conflict.weights)
            for conflict in partition.conflicts
        ],
        should_stop,
    )
    along_row = _first_rows(of_row[~against], covered[~against])
    against_row = _first_rows(of_row[against], covered[against])
    weights = dict.fromkeys(covered.tolist(), each)
    for i, p in extra.items():
        weights[along_row[i] if p > 0 else against_row[i]] += abs(p)
    divisor = gcd(each, *extra.values())
    return {row: weight // divisor for row, weight in weights.items()}


def _first_rows(of_row: Index, row: Index) -> dict[int, int]:
    """Return the first row of each demand."""
    demand, at = np.unique(of_row, return_index=True)
    return dict(zip(demand.tolist(), row[at].tolist(), strict=True))


def overlap_weights(
    rows: Rows,
    equal: Mask,
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
    equal: Mask,
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
