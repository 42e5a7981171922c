"""Equal rows, found by one word a row and then compared exactly.

Rows that are equal have the same word, so they stand together once the words are
sorted. Rows that share a word by chance are told apart by looking at them, and sorted
again by other words. So what is found depends on the rows alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask
from linsep.rows.matrices import is_sparse
from linsep.rows.protocol import split

# Rows are hashed this many entries at a time, within the cache.
BLOCK_ENTRIES = 1 << 16


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
    group: Index
    first: Index


def merge_equal_rows(X: Any) -> Groups:
    """Gather equal rows.

    Examples
    --------
    >>> groups = merge_equal_rows(np.array([[1.0], [2.0], [1.0]]))
    >>> groups.X.ravel().tolist(), groups.group.tolist()
    ([1.0, 2.0], [0, 1, 0])
    """
    n = X.shape[0]
    words = row_words(X)
    ranked = np.sort(words)
    if not (ranked[1:] == ranked[:-1]).any():  # the usual case, in half the memory
        every = np.arange(n)
        return Groups(X, every, every)
    del ranked
    first, group = distinct(
        n,
        lambda index, attempt: row_words(X[index], attempt) if attempt else words,
        lambda some, others: are_equal(X, some, others),
    )
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return Groups(X if first.size == n else X[first[order]], place[group], first[order])


def distinct(
    n: int,
    words: Callable[[Index, int], NDArray[np.uint64]],
    are_same: Callable[[Index, Index], Mask],
) -> tuple[Index, Index]:
    """Return the first row of each set of rows that are the same, and each row's set.

    Parameters
    ----------
    n : int
        Number of rows.
    words : callable
        Given the numbers of rows, all of them at first, and of the attempt, returns a
        word for each: the same one for rows that are the same.
    are_same : callable
        Tells, pair by pair, whether rows are the same.

    Returns
    -------
    first : ndarray of shape (m,), int
        The first row of each set. The sets are in the order of their words.
    group : ndarray of shape (n,), int
        The number of each row's set.
    """
    found: list[Index] = []
    n_found = 0
    group, leader = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    rest = np.arange(n)
    for attempt in count():
        word = words(rest, attempt)
        order = word.argsort(kind="stable")
        word, ranked = word[order], rest[order]
        starts = np.ones(rest.size, dtype=bool)
        starts[1:] = word[1:] != word[:-1]
        run = np.cumsum(starts) - 1
        first = ranked[starts]
        leader[ranked] = first[run]
        group[ranked] = n_found + run
        found.append(first)
        n_found += first.size
        followers = rest[leader[rest] != rest]
        rest = followers[~are_same(followers, leader[followers])]
        if rest.size == 0:
            break
    return np.concatenate(found), group


def row_words(X: Any, attempt: int = 0) -> NDArray[np.uint64]:
    """Return a word for each row, equal for equal rows; `attempt` gives other words."""
    return _sparse_words(X, attempt) if is_sparse(X) else _dense_words(X, attempt)


def are_equal(X: Any, some: Index, others: Index) -> Mask:
    """Tell, pair by pair, whether rows are equal, entry by entry."""
    equal = np.empty(some.size, dtype=bool)
    # Some rows at a time: both of each pair are copied.
    for start, stop in split(some.size, 8 * (X.size // max(1, X.shape[0]))):
        a, b = X[some[start:stop]], X[others[start:stop]]
        if is_sparse(a):
            equal[start:stop] = np.diff((a != b).tocsr().indptr) == 0
        else:
            equal[start:stop] = (a == b).all(axis=1)
    return equal


def _folded(values: Floats) -> NDArray[np.uint64]:
    """Fold the bits of doubles: those of whole numbers differ in high bits only."""
    bits = (values + 0.0).view(np.uint64)  # no negative zeros: they equal zero
    return np.asarray(bits ^ (bits >> np.uint64(32)))


def _factors(columns: NDArray[Any], attempt: int = 0) -> NDArray[np.uint64]:
    """Return an odd number for each column number, without a pattern."""
    step = np.uint64(1 + (attempt << 32))
    mixed = (columns.astype(np.uint64) + step) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.asarray((mixed ^ (mixed >> np.uint64(32))) | np.uint64(1))


def _dense_words(X: NDArray[Any], attempt: int = 0) -> NDArray[np.uint64]:
    from linsep.rows._sweeps import row_hashes

    n, d = X.shape
    factors = _factors(np.arange(d), attempt)
    words = np.empty(n, dtype=np.uint64)
    step = max(1, BLOCK_ENTRIES // max(1, d))
    for start in range(0, n, step):
        block = np.ascontiguousarray(X[start : start + step], dtype=np.float64)
        row_hashes(block.view(np.uint64), factors, words[start : start + step])
    return words


def _sparse_words(X: Any, attempt: int) -> NDArray[np.uint64]:
    n = X.shape[0]
    words = np.empty(n, dtype=np.uint64)
    step = max(1, BLOCK_ENTRIES * n // max(1, X.nnz))
    for start in range(0, n, step):
        ends = X.indptr[start : start + step + 1]
        here = slice(ends[0], ends[-1])
        values = np.asarray(X.data[here], dtype=np.float64)
        terms = _folded(values) * _factors(X.indices[here], attempt)
        sums = np.concatenate([[np.uint64(0)], np.cumsum(terms, dtype=np.uint64)])
        words[start : start + step] = np.diff(sums[ends - ends[0]])
    return words
