"""What a backend of rows must offer, and the one sweep every backend shares.

The signed row of sample ``i`` is ``a_i = sign_i (x_i, 1)``, the constant present
only when an intercept is fitted and then last. A backend never stores the signed
rows: it keeps the user's own array and signs rows as they are read.

A scan also returns how far each dot product may be trusted, by the bound of
`linsep.rows.rounding`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from linsep.rows._sweeps import judge_margins
from linsep.rows.rounding import SMALLEST_SUBNORMAL, error_factor
from linsep.rows.threads import map_in_threads

# Rows a chunk aims at holding this many entries: 8 MiB of float64 keeps the cost of
# handing out chunks small, and the working memory of a scan too.
CHUNK_ENTRIES = 1 << 20


@dataclass(frozen=True)
class Scan:
    """What one pass over all rows says of a weight vector ``w``.

    Attributes
    ----------
    margin_negative, margin_positive : float
        Rigorous lower bounds on ``min_i a_i . w`` over the rows signed -1 and +1; inf
        where there are none.
    margin_settled : float
        The same over the rows that are certainly positive; inf if there are none.
    n_violations : int
        Rows with ``a_i . w < 0`` for certain.
    n_unsettled : int
        Rows whose computed ``a_i . w`` is within its rounding error of zero.
    index : ndarray of shape (k,)
        The rows with the smallest relative margins, or in a scan by margin the
        smallest margins, smallest first. By relative margins all violated and
        unsettled rows come before any other row, and the scale of a row or a column
        does not matter.
    values : ndarray of shape (k,)
        Their ``a_i . w`` as computed; -inf where it overflowed.
    error : float
        No row's computed ``a_i . w`` is further from the true one than this.
    """

    margin_negative: float
    margin_positive: float
    margin_settled: float
    n_violations: int
    n_unsettled: int
    index: NDArray[np.intp]
    values: NDArray[np.float64]
    error: float = np.inf

    @property
    def margin(self) -> float:
        """A rigorous lower bound on ``min_i a_i . w`` over all rows."""
        return min(self.margin_negative, self.margin_positive)


class Rows(Protocol):
    """Signed rows that can be swept and gathered; all that may be asked of data.

    `signs` and the shape are at hand at any time, at a byte a row; the rows themselves
    are read by the four methods alone, so they may be anywhere.
    """

    signs: NDArray[np.int8]
    fit_intercept: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of columns with the constant counted."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype the data are read in."""

    @property
    def entries_a_row(self) -> int:
        """Entries that a row holds in memory, on average, rounded up."""

    @property
    def n_terms(self) -> int:
        """Terms at most that a dot product of a row has."""

    def scan(self, w: NDArray[np.float64], k: int, *, by_margin: bool = False) -> Scan:
        """Sweep all rows once and return the ``k`` with the smallest margins.

        Relative margins ``(a_i . w) / sum_j |a_ij w_j|``, unless ``by_margin`` asks for
        those in the units of ``w``.
        """

    def margins(
        self, w: NDArray[np.float64], index: NDArray[np.intp] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the computed ``a_i . w`` and ``sum_j |a_ij w_j|`` of all or some rows.

        What they may be off by is for `linsep.rows.rounding` to say.
        """

    def take(self, index: NDArray[np.intp]) -> Any:
        """Return the exact signed rows named by ``index``, in float64."""

    def features(self, index: NDArray[np.intp] | slice) -> Any:
        """Return rows as the user gave them, neither signed nor extended."""


def split(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    """Cut ``range(n_rows)`` into chunks of about ``CHUNK_ENTRIES`` entries."""
    size = max(1, CHUNK_ENTRIES // max(1, n_columns))
    for start in range(0, n_rows, size):
        yield start, min(start + size, n_rows)


class _Smallest:
    """Keep the ``k`` smallest scores seen, ties broken by row number.

    A chunk only offers rows at or below the k-th smallest so far, so the outcome
    does not depend on the order in which threads deliver their chunks.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self.limit = np.inf if k > 0 else -np.inf
        self.index = np.empty(0, dtype=np.intp)
        self.score = np.empty(0)
        self.values = np.empty(0)

    def offer(
        self, start: int, score: NDArray[np.float64], values: NDArray[np.float64]
    ) -> None:
        chosen = np.flatnonzero(score <= self.limit)
        if chosen.size == 0:
            return
        all_scores = np.concatenate([self.score, score[chosen]])
        all_values = np.concatenate([self.values, values[chosen]])
        index = np.concatenate([self.index, chosen + start])
        kept = np.arange(index.size)
        if index.size > self.k:
            # All rows that tie with the k-th smallest stay until the sort below.
            kth = np.partition(all_scores, self.k - 1)[self.k - 1]
            kept = np.flatnonzero(all_scores <= kth)
        order = kept[np.lexsort((index[kept], all_scores[kept]))[: self.k]]
        self.score, self.values = all_scores[order], all_values[order]
        self.index = index[order]
        if self.index.size == self.k:
            self.limit = self.score[-1]


# What `judge_margins` says of a chunk of rows.
_Part = tuple[float, float, float, int, int, float]


def sweep(
    chunks: Iterable[tuple[int, int]],
    margins: Callable[[int, int], tuple[NDArray[np.float64], NDArray[np.float64]]],
    signs: NDArray[np.int8],
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
    factor = error_factor(n_columns)
    underflow = n_columns * SMALLEST_SUBNORMAL

    def visit(
        chunk: tuple[int, int],
    ) -> tuple[int, NDArray[np.float64], NDArray[np.float64], _Part]:
        start, stop = chunk
        s, t = margins(start, stop)
        of_chunk, score = signs[start:stop], np.empty(stop - start)
        part = judge_margins(s, t, of_chunk, factor, underflow, by_margin, score)
        return start, score, s, part

    smallest = _Smallest(k)
    parts = []
    for start, score, values, part in map_in_threads(visit, chunks):
        smallest.offer(start, score, values)
        parts.append(part)
    return Scan(
        min((part[0] for part in parts), default=np.inf),
        min((part[1] for part in parts), default=np.inf),
        min((part[2] for part in parts), default=np.inf),
        sum(part[3] for part in parts),
        sum(part[4] for part in parts),
        smallest.index,
        smallest.values,
        max((part[5] for part in parts), default=0.0),
    )
