"""Rows that settle themselves: zero rows, opposite rows, and copies.

A row separates as any positive multiple of it does. So rows are compared by direction:
copies (positive multiples) are merged, and two rows of opposite direction, or one row
of zeros, are a conflict at once: most often the same point under both labels.

To find equal directions among many rows, each row is divided by its first non-zero
entry. Division rounds correctly: the rounded quotients depend on the exact quotients
alone, so rows of one line have the same quotients bit for bit. The quotients are hashed
to one word a row; rows whose words agree are then compared exactly, in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.proof.answers import Conflict
from linsep.proof.exact import IntegerArray, IntegerRows, magnitude
from linsep.proof.gordan import conflict_from_candidate, dense_columns
from linsep.rows import is_sparse

# Entries handled at once: 8 MiB of doubles.
_CHUNK = 1 << 20


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

    representatives: NDArray[np.intp]
    owner: NDArray[np.intp]
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
    One pass over the entries, then a sort of one word a row.

    Examples
    --------
    >>> import numpy as np
    >>> found = canonicalise(np.array([[1.0, 3.0], [2.0, 6.0], [-0.5, -1.5]]))
    >>> found.representatives.tolist(), found.owner.tolist(), found.conflict
    ([0, 2], [0, 0, 1], Conflict(rows=(0, 2), weights=(1, 2)))
    """
    m = A.shape[0]
    words, signs = _lines(A)
    order = np.lexsort((np.arange(m), words))
    starts = np.ones(m, dtype=bool)
    starts[1:] = words[order][1:] != words[order][:-1]
    group = np.empty(m, dtype=np.intp)
    group[order] = np.cumsum(starts) - 1
    leader = order[starts][group]
    followers = np.flatnonzero(leader != np.arange(m))
    along = _same_line(A, followers, leader[followers])
    # Rows whose words agree by chance stay by themselves.
    leader[followers[~along]] = followers[~along]

    # Directions of a line: the one of its leader, and the opposite one.
    opposite = signs != signs[leader]
    key = 2 * leader + opposite
    _, first, owner = np.unique(key, return_index=True, return_inverse=True)
    ranked = np.argsort(first)
    place = np.empty_like(ranked)
    place[ranked] = np.arange(len(ranked))
    return Canonical(
        first[ranked], place[owner.ravel()], _conflict(A, signs, leader, opposite)
    )


def _conflict(
    A: Any,
    signs: NDArray[np.int8],
    leader: NDArray[np.intp],
    opposite: NDArray[np.bool_],
) -> Conflict | None:
    zero = np.flatnonzero(signs == 0)
    if zero.size:
        return Conflict((int(zero[0]),), (1,))
    turned = np.flatnonzero(opposite)
    if turned.size == 0:
        return None
    return conflict_from_candidate(A, [leader[turned[0]], turned[0]])


def _lines(A: Any) -> tuple[NDArray[np.uint64], NDArray[np.int8]]:
    """Return a word that rows of one line share, and the sign of the first entry."""
    m, d = A.shape
    # Odd multipliers drawn at random; sums wrap around, which does no harm.
    draws = np.random.default_rng(0).integers(0, 1 << 63, d, dtype=np.uint64)
    multipliers = 2 * draws + 1
    words = np.zeros(m, dtype=np.uint64)
    signs = np.zeros(m, dtype=np.int8)
    step = max(1, _CHUNK // max(1, d))
    for start in range(0, m, step):
        part = slice(start, min(start + step, m))
        if is_sparse(A):
            words[part], signs[part] = _sparse_words(A[part], multipliers)
        elif d:
            words[part], signs[part] = _dense_words(A[part], multipliers)
    return words, signs


def _dense_words(
    block: NDArray[np.float64], multipliers: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.int8]]:
    lead = block[np.arange(len(block)), (block != 0).argmax(axis=1)]
    with np.errstate(all="ignore"):
        quotients = block / np.where(lead == 0, 1.0, lead)[:, np.newaxis]
    return _mixed(quotients) @ multipliers, np.sign(lead).astype(np.int8)


def _sparse_words(
    block: Any, multipliers: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.int8]]:
    block = block.copy()
    block.eliminate_zeros()
    block.sort_indices()
    sizes = np.diff(block.indptr)
    filled = np.flatnonzero(sizes)
    words = np.zeros(len(sizes), dtype=np.uint64)
    signs = np.zeros(len(sizes), dtype=np.int8)
    if filled.size:
        heads = block.indptr[filled]
        lead = block.data[heads]
        with np.errstate(all="ignore"):
            quotients = block.data / np.repeat(lead, sizes[filled])
        terms = _mixed(quotients) * multipliers[block.indices]
        words[filled] = np.add.reduceat(terms, heads)
        signs[filled] = np.sign(lead)
    return words, signs


def _mixed(quotients: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Spread the bits of doubles over whole words; zero stays zero.

    Small integers have their bits at the top only, where products would lose them.
    The steps are those of MurmurHash3's finaliser.
    """
    bits = (quotients + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0
    bits ^= bits >> np.uint64(33)
    bits *= np.uint64(0xFF51AFD7ED558CCD)
    bits ^= bits >> np.uint64(33)
    return bits


def _same_line(
    A: Any, some: NDArray[np.intp], others: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return, pair by pair, whether the rows are multiples of each other, exactly."""
    same = np.empty(some.size, dtype=bool)
    step = max(1, _CHUNK // max(1, A.shape[1]))
    for start in range(0, some.size, step):
        part = slice(start, start + step)
        dense, _ = dense_columns(A[np.concatenate([some[part], others[part]])])
        a, b = np.split(dense, 2)
        found = (a == b).all(axis=1)
        other = np.flatnonzero(~found)
        rows = IntegerRows.from_floats(np.concatenate([a[other], b[other]]))
        found[other] = _proportional(*np.split(rows.values, 2))
        same[part] = found
    return same


def _proportional(a: IntegerArray, b: IntegerArray) -> NDArray[np.bool_]:
    if a.shape[1] == 0:
        return np.ones(len(a), dtype=bool)
    if max(magnitude(a), magnitude(b)) >= 1 << 31:
        a, b = a.astype(object), b.astype(object)
    at = np.arange(len(a)), (a != 0).argmax(axis=1)
    crossed = a * b[at][:, np.newaxis] == b * a[at][:, np.newaxis]
    both = (a != 0).any(axis=1) == (b != 0).any(axis=1)
    return np.asarray(np.asarray(crossed, dtype=bool).all(axis=1) & both)
