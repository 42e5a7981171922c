"""What dense and sparse rows in memory share: all but how a row is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index, Signs
from linsep.rows.mapped import chunks_of
from linsep.rows.protocol import Scan, split
from linsep.rows.sweep import sweep
from linsep.rows.threads import map_in_threads

Margins = tuple[Floats, Floats]


class MatrixRows(ABC):
    """Signed rows over the user's own matrix, which is never copied nor written to.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features), float64 or float32
    signs : ndarray of shape (n_samples,), int8
        +1 or -1 for each row.
    fit_intercept : bool
        Whether a constant column is appended.
    """

    def __init__(self, X: Any, signs: Signs, fit_intercept: bool) -> None:
        self.X = X
        self.signs = signs
        self.fit_intercept = fit_intercept
        self.shape: tuple[int, int] = X.shape[0], X.shape[1] + fit_intercept

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype the data are read in."""
        dtype: np.dtype[Any] = np.dtype(self.X.dtype)
        return dtype

    @property
    def entries_a_row(self) -> int:
        """Entries that a row holds in memory: one for each column, unless sparse."""
        return self.shape[1]

    @property
    def n_terms(self) -> int:
        """Terms of a dot product: one for each column, unless sparse."""
        return self.shape[1]

    def features(self, index: Index | slice) -> Any:
        """Return rows as the user gave them, neither signed nor extended."""
        return self.X[index]

    @abstractmethod
    def take(self, index: Index) -> Any:
        """Return the exact signed rows named by ``index``, in float64."""

    def margins(self, w: Floats, index: Index | None = None) -> Margins:
        """Return the computed ``a_i . w`` and ``sum_j |a_ij w_j|`` of all or some rows.

        What they may be off by is for `linsep.rows.rounding` to say.
        """
        n = self.shape[0]
        if index is not None and not are_all(index, n):
            s, t = np.empty(index.size), np.empty(index.size)
            for start, stop in split(index.size, self.entries_a_row):
                part = index[start:stop]
                some = type(self)(self.X[part], self.signs[part], self.fit_intercept)
                s[start:stop], t[start:stop] = some.margins(w)
            return s, t
        s, t = np.empty(n), np.empty(n)
        weights, constant = self._split(w)

        def fill(chunk: tuple[int, int]) -> None:
            here = slice(*chunk)
            self._fill(*chunk, weights, constant, s[here], t[here])

        for _ in map_in_threads(fill, self._chunks()):
            pass
        return s, t

    def scan(self, w: Floats, k: int, *, by_margin: bool = False) -> Scan:
        """Sweep all rows once; see `linsep.rows.protocol.Scan`."""
        weights, constant = self._split(w)

        def margins(start: int, stop: int) -> Margins:
            s, t = np.empty(stop - start), np.empty(stop - start)
            self._fill(start, stop, weights, constant, s, t)
            return s, t

        k = min(k, self.shape[0])
        return sweep(self._chunks(), margins, self.signs, self.n_terms, k, by_margin)

    def _split(self, w: Floats) -> tuple[Floats, float]:
        """Return the weights of the features, and that of the constant column."""
        d = self.X.shape[1]
        constant = float(w[d]) if self.fit_intercept else 0.0
        return np.ascontiguousarray(w[:d], dtype=np.float64), constant

    def _chunks(self) -> Iterator[tuple[int, int]]:
        # In doubles, with the margin, its size and its rank, which stay in the cache.
        a_row = self.entries_a_row * self.dtype.itemsize // 8 + 3
        return split(self.shape[0], chunks_of(self.X) * a_row, evenly=True)

    @abstractmethod
    def _fill(
        self,
        start: int,
        stop: int,
        weights: Floats,
        constant: float,
        s: Floats,
        t: Floats,
    ) -> None:
        """Set ``s`` and ``t`` to the margins of a range of rows and their sizes."""


def are_all(index: Index, n_rows: int) -> bool:
    """Tell whether the rows named are all there are, in order."""
    return index.size == n_rows and all(
        np.array_equal(index[start:stop], np.arange(start, stop))
        for start, stop in split(n_rows, 1)
    )
