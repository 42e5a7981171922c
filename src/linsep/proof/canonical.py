"""Rows that settle themselves: zero rows, opposite rows, and copies.

A row separates as any positive multiple of it does. So rows are compared by direction:
copies (positive multiples) are merged, and two rows of opposite direction, or one row
of zeros, are a conflict at once: most often the same point under both labels.

Each row is divided by its first non-zero entry. Division rounds correctly: the rounded
quotients depend on the exact quotients alone, so rows of one line have the same
quotients bit for bit, and are found as equal rows are (`linsep.rows.equal_rows`). Rows
whose words agree are compared exactly, in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask, Signs
from linsep.proof.answers import Conflict
from linsep.proof.exact import IntegerArray, IntegerRows, magnitude
from linsep.proof.gordan import conflict_from_candidate, dense_columns
from linsep.rows import is_sparse, split
from linsep.rows.equal_rows import are_equal, distinct, row_words


@dataclass(frozen=True)
class Canonical:
    """Rows without copies, and the conflict that can be seen at sight.

    Attributes
    ----------
    representatives : ndarray of int
        The first row of each direction, increasing. They are separable exactly when
        all rows are.
    owner : ndarray of shape (m,), int
        ``representatives[owner[i]]`` is a positive multiple of row ``i``.
    conflict : Conflict or None
        A row of zeros, or two rows of opposite direction, if there are any.
    """

    representatives: Index
    owner: Index
    conflict: Conflict | None


def canonicalise(A: Any) -> Canonical:
    """Find zero rows, opposite rows and copies, exactly.

    Parameters
    ----------
    A : ndarray or sparse CSR matrix of shape (m, d), float64
        Finite entries.

    Returns
    -------
    Canonical

    Notes
    -----
    A few passes over the entries, and a sort of one word a row.

    Examples
    --------
    >>> import numpy as np
    >>> found = canonicalise(np.array([[1.0, 3.0], [2.0, 6.0], [-0.5, -1.5]]))
    >>> found.representatives.tolist(), found.owner.tolist(), found.conflict
    ([0, 2], [0, 0, 1], Conflict(rows=(0, 2), weights=(1, 2)))
    """
    if is_sparse(A):
        A = A.copy()
        A.eliminate_zeros()
        A.sort_indices()
    first_entries = _first_entries(A)
    signs = np.sign(first_entries).astype(np.int8)

    def words(index: Index, attempt: int) -> NDArray[np.uint64]:
        found = np.empty(index.size, dtype=np.uint64)
        for start, stop in split(index.size, A.size // max(1, A.shape[0])):
            # All rows in their order are not copied, but looked at in place.
            part = slice(start, stop) if attempt == 0 else index[start:stop]
            quotients = _quotients(A[part], first_entries[part])
            found[start:stop] = row_words(quotients, attempt)
        return found

    leaders, line = distinct(
        A.shape[0], words, lambda some, others: _same_line(A, some, others)
    )
    # Directions of a line: the one of its leader, and the opposite one.
    leader = leaders[line]
    opposite = signs != signs[leader]
    _, first, owner = np.unique(
        2 * leader + opposite, return_index=True, return_inverse=True
    )
    ranked = np.argsort(first)
    place = np.empty_like(ranked)
    place[ranked] = np.arange(len(ranked))
    return Canonical(
        first[ranked], place[owner.ravel()], _conflict(A, signs, leader, opposite)
    )


def _conflict(A: Any, signs: Signs, leader: Index, opposite: Mask) -> Conflict | None:
    """Return a row of zeros, or else the first row opposite to an earlier one."""
    zero = np.flatnonzero(signs == 0)
    if zero.size:
        return Conflict((int(zero[0]),), (1,))
    turned = np.flatnonzero(opposite)
    if turned.size == 0:
        return None
    return conflict_from_candidate(A, [leader[turned[0]], turned[0]])


def _first_entries(A: Any) -> Floats:
    """Return the first entry of each row that is not zero, or zero."""
    first = np.zeros(A.shape[0])
    if is_sparse(A):
        filled = np.flatnonzero(np.diff(A.indptr))
        first[filled] = A.data[A.indptr[filled]]
    elif A.shape[1]:
        for start, stop in split(*A.shape):
            block = A[start:stop]
            at = (block != 0).argmax(axis=1)
            first[start:stop] = block[np.arange(len(block)), at]
    return first


def _quotients(block: Any, first_entries: Floats) -> Any:
    """Divide each row by its first entry."""
    divisors = np.where(first_entries == 0, 1.0, first_entries)
    with np.errstate(all="ignore"):
        if not is_sparse(block):
            return block / divisors[:, np.newaxis]
        quotients = block.copy()
        quotients.data = block.data / np.repeat(divisors, np.diff(block.indptr))
    return quotients


def _same_line(A: Any, some: Index, others: Index) -> Mask:
    """Return, pair by pair, whether the rows are multiples of each other, exactly."""
    same = are_equal(A, some, others)
    unlike = np.flatnonzero(~same)
    for start, stop in split(unlike.size, A.shape[1]):
        part = unlike[start:stop]
        dense, _ = dense_columns(A[np.concatenate([some[part], others[part]])])
        values = IntegerRows.from_floats(dense).values
        same[part] = _proportional(*np.split(values, 2))
    return same


def _proportional(a: IntegerArray, b: IntegerArray) -> Mask:
    if max(magnitude(a), magnitude(b)) >= 1 << 31:
        a, b = a.astype(object), b.astype(object)
    at = np.arange(len(a)), (a != 0).argmax(axis=1)
    crossed = a * b[at][:, np.newaxis] == b * a[at][:, np.newaxis]
    both = (a != 0).any(axis=1) == (b != 0).any(axis=1)
    return np.asarray(np.asarray(crossed, dtype=bool).all(axis=1) & both)
