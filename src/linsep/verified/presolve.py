"""Columns that point one way: the separated rows that are seen without arithmetic.

A column whose entries on the rows left are all >= 0, or all <= 0, separates the rows on
which it is not zero: they go, which may leave other columns pointing one way. Columns
found at the same time make one direction, the sum of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linsep.arrays import Index, Mask
from linsep.rows import Rows, is_sparse, split
from linsep.verified._moments import count_signs
from linsep.verified.parts import Check, Part, no_check
from linsep.verified.vectors import SparseVector


@dataclass
class Presolve:
    """The rows and columns still there.

    Attributes
    ----------
    rows : Rows of shape (m, d)
    equal : ndarray of shape (m,), bool
        Rows on which a direction must be zero: no column that is not zero there
        points one way.
    left : ndarray of shape (m,), bool
        Rows not separated yet.
    positive, negative : ndarray of shape (d,), int
        How many entries of either sign each column has on them.
    """

    rows: Rows
    equal: Mask
    check: Check = no_check

    def __post_init__(self) -> None:
        """Count the signs of all columns once."""
        m, d = self.rows.shape
        self.left = np.ones(m, dtype=bool)
        self.positive = np.zeros(d, dtype=np.int64)
        self.negative = np.zeros(d, dtype=np.int64)
        self._by_row: Any = None
        if is_sparse(self.rows.features(slice(0, 0))):
            self._by_row = self.rows.take(np.arange(m))
            self._by_row.eliminate_zeros()
        self._count(np.flatnonzero(self.left), 1)

    @cached_property
    def _by_column(self) -> Any:
        return self._by_row.tocsc()

    @property
    def columns(self) -> Index:
        """Columns that are not zero on all rows left."""
        return np.flatnonzero(self.positive + self.negative)

    def part(self) -> Part:
        """Return what is left."""
        index = np.flatnonzero(self.left)
        return Part.of(self.rows, index, self.columns, self.check, self._by_row)

    def run(self) -> list[tuple[SparseVector, Index]]:
        """Drop rows until no column points one way.

        Returns
        -------
        list of (SparseVector, ndarray of int)
            The directions in order, and the rows that each separates.
        """
        found: list[tuple[SparseVector, Index]] = []
        while True:
            self.check()
            one_way = (self.positive == 0) != (self.negative == 0)
            chosen = np.flatnonzero(one_way)
            if chosen.size == 0:
                return found
            signs = np.where(self.positive[chosen] > 0, 1, -1)
            gone = self._touched(chosen)
            found.append((SparseVector(chosen, tuple(signs.tolist())), gone))
            self.drop(gone)

    def drop(self, gone: Index) -> None:
        """Take rows away."""
        self.left[gone] = False
        self._count(gone, -1)

    def _touched(self, columns: Index) -> Index:
        """Return the rows left on which some of the columns are not zero."""
        if self._by_row is not None:
            touched = np.unique(self._by_column[:, columns].indices)
            return np.asarray(touched[self.left[touched]], dtype=np.intp)
        index = np.flatnonzero(self.left)
        parts = [
            part[(block[:, columns] != 0).any(axis=1)]
            for part, block in self._blocks(index)
        ]
        return np.concatenate([index[:0], *parts])

    def _count(self, index: Index, step: int) -> None:
        """Count the signs of rows in, or out."""
        if self._by_row is not None:
            held = self._by_row
            is_equal = self.equal.view(np.uint8)
            signs = self.positive, self.negative
            count_signs(
                held.indptr, held.indices, held.data, is_equal, index, step, *signs
            )
            return
        for part, block in self._blocks(index):
            both = self.equal[part, np.newaxis] & (block != 0)
            self.positive += step * np.count_nonzero((block > 0) | both, axis=0)
            self.negative += step * np.count_nonzero((block < 0) | both, axis=0)

    def _blocks(self, index: Index) -> Iterator[tuple[Index, Any]]:
        for start, stop in split(index.size, self.rows.entries_a_row):
            self.check()
            part = index[start:stop]
            yield part, self.rows.take(part)
