"""One sweep over rows in memory: their margins judged, the smallest of them ranked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Signs, no_index
from linsep.rows._sweeps import judge_margins
from linsep.rows.protocol import Scan
from linsep.rows.rounding import error_bound
from linsep.rows.threads import map_in_threads

# Rows that wait to be ranked, for each that is kept.
MOST_WAITING = 4


class _Smallest:
    """Keep the ``k`` smallest scores seen, ties broken by row number.

    A chunk only offers rows at or below the k-th smallest so far, so the outcome does
    not depend on the order in which threads deliver their chunks. What is offered waits
    until it is worth a sort.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self.limit = np.inf
        self._waiting: list[tuple[NDArray[Any], ...]] = []
        self._n_waiting = 0

    def offer(self, start: int, score: Floats, values: Floats) -> None:
        chosen = np.flatnonzero(score <= self.limit)
        if chosen.size == 0:
            return
        if chosen.size < score.size:
            score, values = score[chosen], values[chosen]
        self._waiting.append((chosen + start, score, values))
        self._n_waiting += chosen.size
        if self._n_waiting > MOST_WAITING * self.k:
            self.kept()

    def kept(self) -> tuple[NDArray[Any], ...]:
        """Return the rows, their scores and their values, smallest first."""
        if not self._waiting:
            return no_index(), np.empty(0), np.empty(0)
        is_one = len(self._waiting) == 1
        parts = zip(*self._waiting, strict=True)
        index, score, values = (p[0] if is_one else np.concatenate(p) for p in parts)
        if index.size > self.k > 0:
            # All rows that tie with the k-th smallest stay until the sort below.
            kth = np.partition(score, self.k - 1)[self.k - 1]
            kept = np.flatnonzero(score <= kth)
            index, score, values = index[kept], score[kept], values[kept]
        # Rows of one offer are in order, and stay so where they tie.
        if is_one:
            order = np.argsort(score, kind="stable")[: self.k]
        else:
            order = np.lexsort((index, score))[: self.k]
        found = index[order], score[order], values[order]
        self._waiting, self._n_waiting = [found], order.size
        if 0 < self.k == order.size:
            self.limit = found[1][-1]
        return found


# What `judge_margins` says of a chunk of rows.
_Part = tuple[float, float, float, int, int, float]


def sweep(
    chunks: Iterable[tuple[int, int]],
    margins: Callable[[int, int], tuple[Floats, Floats]],
    signs: Signs,
    n_columns: int,
    k: int,
    by_margin: bool = False,
) -> Scan:
    """Run ``margins(start, stop) -> (s, t)`` over all chunks and rank the rows.

    Parameters
    ----------
    chunks : iterable of (int, int)
        The half-open row ranges to visit.
    margins : callable
        Returns, for a range, the computed ``a_i . w`` and ``sum_j |a_ij w_j|``.
    signs : ndarray of shape (n,)
        The sign of each row.
    n_columns : int
        Number of columns, for the error bound.
    k : int
        How many rows to keep; rows are ranked by ``s_i / t_i``.
    by_margin : bool, default=False
        Rank them by ``s_i`` instead.
    """
    factor, underflow = error_bound(n_columns)

    def visit(chunk: tuple[int, int]) -> tuple[int, Floats, Floats, _Part]:
        start, stop = chunk
        s, t = margins(start, stop)
        of_chunk, score = signs[start:stop], np.empty(stop - start)
        part = judge_margins(s, t, of_chunk, factor, underflow, by_margin, score)
        return start, score, s, part

    smallest = _Smallest(k)
    down = up = settled = np.inf
    n_violations = n_unsettled = 0
    error = 0.0
    for start, score, values, part in map_in_threads(visit, chunks):
        if k:
            smallest.offer(start, score, values)
        down, up = min(down, part[0]), min(up, part[1])
        settled, error = min(settled, part[2]), max(error, part[5])
        n_violations, n_unsettled = n_violations + part[3], n_unsettled + part[4]
    index, score, values = smallest.kept()
    counts = n_violations, n_unsettled
    return Scan(down, up, settled, *counts, index, values, error, score)
