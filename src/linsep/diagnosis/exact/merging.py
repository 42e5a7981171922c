"""Equal rows of a table, found and merged exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.exact.sweeps import margins
from linsep.rows import is_sparse, rows_from


@dataclass(frozen=True)
class Groups:
    """Rows of `X` gathered into groups of equal rows.

    Attributes
    ----------
    X : ndarray or csr_array of shape (m, n_features)
        The distinct rows, in the order in which they first occur.
    group : ndarray of shape (n,), int
        The number of each row's group.
    first : ndarray of shape (m,), int
        The first row of each group.
    """

    X: Any
    group: NDArray[np.intp]
    first: NDArray[np.intp]


def merge_equal_rows(X: Any) -> Groups:
    """Gather equal rows.

    Rows are sorted by a random projection, which is the same for equal rows; whether
    neighbours with the same projection are equal is then looked at entry by entry.

    Examples
    --------
    >>> groups = merge_equal_rows(np.array([[1.0], [2.0], [1.0]]))
    >>> groups.X.ravel().tolist(), groups.group.tolist()
    ([1.0, 2.0], [0, 1, 0])
    """
    n, d = X.shape
    rows = rows_from(X, np.ones(n, dtype=np.int8), False)
    draws = np.random.default_rng(0).uniform(1.0, 2.0, d)
    with np.errstate(all="ignore"):
        key, _ = margins(rows, draws, np.arange(n))
    key[~np.isfinite(key)] = np.inf
    order = np.argsort(key, kind="stable")
    starts = np.ones(n, dtype=bool)
    starts[1:] = key[order][1:] != key[order][:-1]
    leader = order[np.maximum.accumulate(np.where(starts, np.arange(n), 0))]
    follower = np.flatnonzero(~starts)
    if follower.size:
        equal = _are_equal(X, order[follower], leader[follower])
        leader[follower[~equal]] = order[follower[~equal]]
    first_of = np.empty(n, dtype=np.intp)
    first_of[order] = leader
    first, group = np.unique(first_of, return_inverse=True)
    distinct = X if first.size == n else X[first]
    return Groups(distinct, group.astype(np.intp), first.astype(np.intp))


def _are_equal(
    X: Any, some: NDArray[np.intp], others: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Compare rows entry by entry, a block at a time."""
    equal = np.empty(some.size, dtype=bool)
    step = max(1, (1 << 21) // max(1, X.shape[1]))
    for start in range(0, some.size, step):
        part = slice(start, start + step)
        a, b = X[some[part]], X[others[part]]
        if is_sparse(a):
            equal[part] = np.diff((a != b).tocsr().indptr) == 0
        else:
            equal[part] = (a == b).all(axis=1)
    return equal
