"""Training rows as a fit sees them: absent rows left out, equal rows counted once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Beyond this many entries finding equal rows would cost more than the fit.
MOST_ENTRIES = 20_000_000


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
        if X.shape[0] * X.shape[1] > MOST_ENTRIES and not hasattr(X, "indptr"):
            return cls(X, labels, weights, present)
        _, first, inverse = np.unique(
            _keys(X, labels), return_index=True, return_inverse=True
        )
        merged = np.zeros(first.size)
        np.add.at(merged, inverse.ravel(), weights)
        return cls(X[first], labels[first], merged, present[first])

    def take(self, index: NDArray[np.intp]) -> Samples:
        """Return some of the rows."""
        return Samples(
            self.X[index], self.labels[index], self.weights[index], self.index[index]
        )


def _keys(X: Any, labels: NDArray[np.intp]) -> NDArray[Any]:
    """Return one comparable value a row, equal where row and label are."""
    if hasattr(X, "indptr"):
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
