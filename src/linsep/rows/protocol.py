"""What a backend of rows must offer, and the one sweep every backend shares.

The signed row of sample ``i`` is ``a_i = sign_i (x_i, 1)``, the constant present
only when an intercept is fitted and then last. A backend never stores the signed
rows: it keeps the user's own array and signs rows as they are read.

A scan also returns how far each dot product may be trusted. For any order of
summation, with or without fused multiply-adds, the computed ``s = fl(a . w)`` obeys
``|s - a . w| <= g t + d 2^-1074`` with ``t = sum_j |a_j w_j|`` and
``g = d u / (1 - d u)``, ``u = 2^-53`` (Higham, *Accuracy and Stability of Numerical
Algorithms*, 2002, section 3.1; the second term is what underflow can lose). We use
``d + 4`` in place of ``d``: it covers the rounding of ``t`` itself and a ``w`` whose
entries were rounded once from exact numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from linsep.rows._sweeps import judge_margins
from linsep.rows.threads import map_in_threads

UNIT_ROUNDOFF = 2.0**-53
SMALLEST_SUBNORMAL = 2.0**-1074

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
        The rows with the smallest relative margins, smallest first. All violated and
        unsettled rows come before any other row.
    relative : ndarray of shape (k,)
        Their relative margins ``(a_i . w) / sum_j |a_ij w_j|``, in [-1, 1]. Ranking
        by it does not depend on the scale of a row or of a column. In a scan by
        margin: ``a_i . w`` itself, the rows being those where it is smallest.
    error : float
        No row's computed ``a_i . w`` is further from the true one than this.
    """

    margin_negative: float
    margin_positive: float
    margin_settled: float
    n_violations: int
    n_unsettled: int
    index: NDArray[np.intp]
    relative: NDArray[np.float64]
    error: float = np.inf

    @property
    def margin(self) -> float:
        """A rigorous lower bound on ``min_i a_i . w`` over all rows."""
        return min(self.margin_negative, self.margin_positive)


class Rows(Protocol):
    """Signed rows that can be swept and gathered; all that a solver may ask of data."""

    X: Any
    signs: NDArray[np.int8]
    fit_intercept: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of columns with the constant counted."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype the data are read in."""

    def scan(self, w: NDArray[np.float64], k: int, *, by_margin: bool = False) -> Scan:
        """Sweep all rows once and return the ``k`` with the smallest margins.

        Relative margins, unless ``by_margin`` asks for those in the units of ``w``.
        """

    def take(self, index: NDArray[np.intp]) -> Any:
        """Return the exact signed rows named by ``index``, in float64."""


def error_factor(n_columns: int) -> float:
    """Bound the rounding of a dot product, relative to ``sum_j |a_j w_j|``."""
    terms = (n_columns + 4) * UNIT_ROUNDOFF
    return terms / (1.0 - terms)


def split(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    """Cut ``range(n_rows)`` into chunks of about ``CHUNK_ENTRIES`` entries."""
    size = max(1, CHUNK_ENTRIES // max(1, n_columns))
    for start in range(0, n_rows, size):
        yield start, min(start + size, n_rows)


class _Smallest:
    """Keep the ``k`` smallest relative margins seen, ties broken by row number.

    A chunk only offers rows at or below the k-th smallest so far, so the outcome
    does not depend on the order in which threads deliver their chunks.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self.limit = np.inf if k > 0 else -np.inf
        self.index = np.empty(0, dtype=np.intp)
        self.relative = np.empty(0)

    def offer(self, start: int, relative: NDArray[np.float64]) -> None:
        chosen = np.flatnonzero(relative <= self.limit)
        if chosen.size == 0:
            return
        values = np.concatenate([self.relative, relative[chosen]])
        index = np.concatenate([self.index, chosen + start])
        if values.size > self.k:
            # All rows that tie with the k-th smallest stay until the sort below.
            kth = np.partition(values, self.k - 1)[self.k - 1]
            keep = values <= kth
            values, index = values[keep], index[keep]
        order = np.lexsort((index, values))[: self.k]
        self.relative, self.index = values[order], index[order]
        if self.index.size == self.k:
            self.limit = self.relative[-1]


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

    def visit(chunk: tuple[int, int]) -> tuple[int, NDArray[np.float64], _Part]:
        start, stop = chunk
        s, t = margins(start, stop)
        of_chunk, score = signs[start:stop], np.empty(stop - start)
        part = judge_margins(s, t, of_chunk, factor, underflow, by_margin, score)
        return start, score, part

    smallest = _Smallest(k)
    parts = []
    for start, score, part in map_in_threads(visit, chunks):
        smallest.offer(start, score)
        parts.append(part)
    return Scan(
        min((part[0] for part in parts), default=np.inf),
        min((part[1] for part in parts), default=np.inf),
        min((part[2] for part in parts), default=np.inf),
        sum(part[3] for part in parts),
        sum(part[4] for part in parts),
        smallest.index,
        smallest.relative,
        max((part[5] for part in parts), default=0.0),
    )
