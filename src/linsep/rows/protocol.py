"""The question asked of data: what a backend of rows must offer.

The signed row of sample ``i`` is ``a_i = sign_i (x_i, 1)``, the constant present
only when an intercept is fitted and then last. A backend never stores the signed
rows: it keeps the user's own array and signs rows as they are read.

A scan also returns how far each dot product may be trusted, by the bound of
`linsep.rows.rounding`. `linsep.rows.sweep` makes one of rows in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from linsep.arrays import Floats, Index, Signs

# Rows a chunk aims at holding this many entries: 8 MiB of float64 keeps the cost of
# handing out chunks small, and the working memory of a scan too.
CHUNK_ENTRIES = 1 << 20
NO_NUMBERS: Floats = np.empty(0)


@dataclass
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
    scores : ndarray of shape (k,)
        What the rows named are ranked by; empty where scans are not to be merged.
    """

    margin_negative: float
    margin_positive: float
    margin_settled: float
    n_violations: int
    n_unsettled: int
    index: Index
    values: Floats
    error: float = np.inf
    scores: Floats = field(default_factory=lambda: NO_NUMBERS)

    @property
    def margin(self) -> float:
        """A rigorous lower bound on ``min_i a_i . w`` over all rows."""
        return min(self.margin_negative, self.margin_positive)


class Rows(Protocol):
    """Signed rows that can be swept and gathered; all that may be asked of data.

    `signs` and the shape are at hand at any time, at a byte a row; the rows themselves
    are read by the four methods alone, so they may be anywhere.
    """

    signs: Signs
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

    def scan(self, w: Floats, k: int, *, by_margin: bool = False) -> Scan:
        """Sweep all rows once and return the ``k`` with the smallest margins.

        Relative margins ``(a_i . w) / sum_j |a_ij w_j|``, unless ``by_margin`` asks for
        those in the units of ``w``.
        """

    def margins(self, w: Floats, index: Index | None = None) -> tuple[Floats, Floats]:
        """Return the computed ``a_i . w`` and ``sum_j |a_ij w_j|`` of all or some rows.

        What they may be off by is for `linsep.rows.rounding` to say.
        """

    def take(self, index: Index) -> Any:
        """Return the exact signed rows named by ``index``, in float64."""

    def features(self, index: Index | slice) -> Any:
        """Return rows as the user gave them, neither signed nor extended."""


def split(
    n_rows: int, n_columns: int, *, evenly: bool = False
) -> Iterator[tuple[int, int]]:
    """Cut ``range(n_rows)`` into chunks of about ``CHUNK_ENTRIES`` entries.

    The last may be a small rest, unless they are cut `evenly`, as threads share them.
    """
    size = max(1, CHUNK_ENTRIES // max(1, n_columns))
    if evenly:
        n_chunks = max(1, -(-n_rows // size))
        size = max(1, -(-n_rows // n_chunks))
    for start in range(0, n_rows, size):
        yield start, min(start + size, n_rows)
