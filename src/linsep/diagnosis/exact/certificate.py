"""The certificate of a diagnosis: the partition, about plain data of two classes."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.exact.demands import Demands
from linsep.diagnosis.exact.facial_reduction import Partition
from linsep.diagnosis.exact.ordered_partition import AnyPartition
from linsep.diagnosis.exact.overlap_proof import overlap_weights
from linsep.diagnosis.exact.quotient import Conflict
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.watch import ShouldStop, require_time
from linsep.proof.certificate import Certificate
from linsep.rows import Rows, rows_from
from linsep.rows.arrays import Booleans, Index
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
    against: Booleans
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
) -> tuple[NDArray[np.int8], Booleans]:
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
