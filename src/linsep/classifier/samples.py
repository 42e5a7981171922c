"""Training rows as a fit sees them: absent rows left out, equal rows counted once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import is_sparse
from linsep.rows._sweeps import row_hashes

# Beyond this many entries finding equal rows would cost more than the fit.
MOST_ENTRIES = 20_000_000
# Rows are hashed this many entries at a time, within the cache.
BLOCK_ENTRIES = 1 << 16
# Bits of a hash that are given to the label.
LABEL_BITS = np.uint64(16)


@dataclass(frozen=True)
class Samples:
    """Distinct labelled rows with their weights, in an order of their own.

    The order depends on the rows alone, so a fit is the same for the same rows in any
    order, and for a row given twice or with twice the weight.

    Attributes
    ----------
    X : ndarray or csr_matrix of shape (m, d)
    labels : ndarray of shape (m,)
        Class numbers.
    weights : ndarray of shape (m,)
        Sums of the weights of the equal rows, > 0.
    index : ndarray of shape (m,)
        The first of the equal rows in the data given.
    """

    X: Any
    labels: NDArray[np.intp]
    weights: NDArray[np.float64]
    index: NDArray[np.intp]

    @classmethod
    def of(
        cls, X: Any, labels: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> Samples:
        """Leave out rows of weight zero and merge equal rows with equal labels."""
        present = np.flatnonzero(weights > 0)
        if present.size < len(weights):
            X, labels, weights = X[present], labels[present], weights[present]
        if X.shape[0] * X.shape[1] > MOST_ENTRIES and not is_sparse(X):
            return cls(X, labels, weights, present)
        first, inverse = _distinct(X, labels)
        merged = np.bincount(inverse, weights, first.size).astype(np.float64)
        return cls(X[first], labels[first], merged, present[first])

    def take(self, index: NDArray[np.intp]) -> Samples:
        """Return some of the rows."""
        return Samples(
            self.X[index], self.labels[index], self.weights[index], self.index[index]
        )


def _distinct(
    X: Any, labels: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first of each set of equal rows, and the set that each row is of.

    Rows are sorted by a hash of row and label, so equal ones are neighbours; should two
    unequal rows share a hash, whole rows are sorted instead.
    """
    hashes = _sparse_hashes(X) if is_sparse(X) else _dense_hashes(X)
    # Labels first: the rows of a class are then one run.
    hashes = (hashes >> LABEL_BITS) | (
        labels.astype(np.uint64) << (np.uint64(64) - LABEL_BITS)
    )
    order = hashes.argsort(kind="stable")
    new = np.ones(len(order), dtype=bool)
    new[1:] = hashes[order[1:]] != hashes[order[:-1]]
    same = np.flatnonzero(~new)
    before, after = order[same - 1], order[same]
    equal = labels[before] == labels[after]
    if not (equal.all() and _all_equal(X, before, after)):
        _, first, inverse = np.unique(
            _keys(X, labels), return_index=True, return_inverse=True
        )
        return first, inverse.ravel()
    inverse = np.empty(len(order), dtype=np.intp)
    inverse[order] = np.cumsum(new) - 1
    return order[new], inverse


def _folded(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Fold the bits of doubles: those of whole numbers differ in high bits only."""
    bits = (values + 0.0).view(np.uint64)  # no negative zeros: they equal zero
    return np.asarray(bits ^ (bits >> np.uint64(32)))


def _factors(columns: NDArray[Any]) -> NDArray[np.uint64]:
    """Return an odd number for each column number, without a pattern."""
    mixed = (columns.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.asarray((mixed ^ (mixed >> np.uint64(32))) | np.uint64(1))


def _dense_hashes(X: NDArray[Any]) -> NDArray[np.uint64]:
    n, d = X.shape
    factors = _factors(np.arange(d))
    hashes = np.empty(n, dtype=np.uint64)
    step = max(1, BLOCK_ENTRIES // max(1, d))
    for start in range(0, n, step):
        block = np.ascontiguousarray(X[start : start + step], dtype=np.float64)
        row_hashes(block.view(np.uint64), factors, hashes[start : start + step])
    return hashes


def _sparse_hashes(X: Any) -> NDArray[np.uint64]:
    terms = _folded(np.asarray(X.data, dtype=np.float64)) * _factors(X.indices)
    sums = np.concatenate([[np.uint64(0)], np.cumsum(terms, dtype=np.uint64)])
    return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]], dtype=np.uint64)


def _all_equal(X: Any, before: NDArray[np.intp], after: NDArray[np.intp]) -> bool:
    if before.size == 0:
        return True
    if is_sparse(X):
        return bool((X[before] != X[after]).nnz == 0)
    return bool((X[before] == X[after]).all())


def _keys(X: Any, labels: NDArray[np.intp]) -> NDArray[Any]:
    """Return one comparable value a row, equal where row and label are."""
    if is_sparse(X):
        data = X.data + 0.0  # no negative zeros
        keys = [
            X.indices[a:b].tobytes() + data[a:b].tobytes() + bytes([label % 256])
            for a, b, label in zip(
                X.indptr[:-1].tolist(), X.indptr[1:].tolist(), labels, strict=True
            )
        ]
        return np.array(keys, dtype=object)
    both = np.empty((X.shape[0], X.shape[1] + 1))
    both[:, 0] = labels
    both[:, 1:] = X
    both += 0.0  # no negative zeros
    return both.view(np.dtype((np.void, both.shape[1] * 8))).ravel()
