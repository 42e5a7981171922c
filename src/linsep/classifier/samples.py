"""Training rows as a fit sees them: absent rows left out, equal rows counted once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask
from linsep.rows import is_sparse
from linsep.rows.equal_rows import are_equal, distinct, row_words

# Beyond this many entries finding equal rows would cost more than the fit.
MOST_ENTRIES = 20_000_000
# Bits of a word that are given to the label.
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
    units : ndarray of shape (m,)
        What one row weighs, of those that a weight counts.
    """

    X: Any
    labels: Index
    weights: Floats
    index: Index
    units: Floats

    @property
    def is_one_class(self) -> bool:
        """Whether all rows have the same label."""
        return bool((self.labels == self.labels[0]).all())

    @classmethod
    def of(
        cls, X: Any, labels: Index, weights: Floats, units: Floats | None = None
    ) -> Samples:
        """Leave out rows of weight zero and merge equal rows with equal labels."""
        units = weights if units is None else units
        present = np.flatnonzero(weights > 0)
        if present.size < len(weights):
            X, labels = X[present], labels[present]
            weights, units = weights[present], units[present]
        if X.shape[0] * X.shape[1] > MOST_ENTRIES and not is_sparse(X):
            return cls(X, labels, weights, present, units)
        first, inverse = _distinct(X, labels)
        merged = np.bincount(inverse, weights, first.size).astype(np.float64)
        return cls(X[first], labels[first], merged, present[first], units[first])


def _distinct(X: Any, labels: Index) -> tuple[Index, Index]:
    """Return the first of each set of equal rows, and the set that each row is of."""

    def words(index: Index, attempt: int) -> NDArray[np.uint64]:
        part = X if attempt == 0 else X[index]
        # Labels first: the rows of a class are then one run.
        label = labels[index].astype(np.uint64) << (np.uint64(64) - LABEL_BITS)
        return np.asarray((row_words(part, attempt) >> LABEL_BITS) | label)

    def are_same(some: Index, others: Index) -> Mask:
        return np.asarray(are_equal(X, some, others) & (labels[some] == labels[others]))

    return distinct(len(labels), words, are_same)
