"""The one question each round asks of the data.

For a vector ``v`` (the weighted sum of the learner's plays so far) the data player
holds ``p_i`` proportional to ``exp(-a_i . v)``. The oracle returns

    f = log mean_i exp(-a_i . v),    x = sum_i p_i a_i = -grad f,    min_i a_i . v

from one sweep over the rows: the running maximum of ``-a_i . v`` rescales the partial
sums. The smallest margin of a second vector ``w`` comes along at almost no cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import is_sparse
from linsep.rows.threads import count_threads, map_in_threads
from linsep.solvers.bounds import longest_row

# Below this many entries a second thread costs more than it brings.
ENTRIES_A_THREAD = 1 << 17
# A block of rows this large, and the two fetched ahead of it, stay in a core's cache
# between their two readings (measured: benchmarks/oracle.py).
BLOCK_ENTRIES = 1 << 11


@dataclass(frozen=True)
class Answer:
    """The oracle's answer at ``v``.

    Attributes
    ----------
    f : float
        ``log mean_i exp(-a_i . v)``.
    x : ndarray of shape (d,)
        The pseudoexample ``sum_i p_i a_i``.
    margin : float
        ``min_i a_i . v``.
    margin_play : float
        ``min_i a_i . w`` for the second vector asked about.
    """

    f: float
    x: NDArray[np.float64]
    margin: float
    margin_play: float


class Oracle:
    """Answers for rows held in memory.

    Parameters
    ----------
    A : ndarray or csr_matrix of shape (n, d), float64
        The signed rows. A dense array that is not in C order is copied.
    """

    def __init__(self, A: Any) -> None:
        self.is_sparse = is_sparse(A)
        if not self.is_sparse:
            A = np.ascontiguousarray(A, dtype=np.float64).view()
            A.flags.writeable = False
        self.A = A
        n, d = A.shape
        n_entries = int(A.nnz) if self.is_sparse else n * d
        n_parts = max(1, min(count_threads(), n_entries // ENTRIES_A_THREAD))
        bounds = np.linspace(0, n, n_parts + 1).astype(int)
        self._parts = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
        entries_a_row = max(1, n_entries // max(1, n))
        self._block = 4 * max(1, BLOCK_ENTRIES // (4 * entries_a_row))

    @cached_property
    def radius(self) -> float:
        """The largest row norm, ``r`` of the paper."""
        return longest_row(self.A)

    def __call__(
        self, v: NDArray[np.float64], w: NDArray[np.float64] | None = None
    ) -> Answer:
        """Sweep the rows once at ``v``; ``w`` is the second vector (default ``v``)."""
        from linsep.solvers import kernels

        play = v if w is None else w
        A = self.A

        def fold(part: tuple[int, int]) -> tuple[Any, float, float, float]:
            x = np.empty(A.shape[1])
            scratch = np.empty(self._block)
            if self.is_sparse:
                rows = (A.data, A.indices, A.indptr, *part)
                folded = kernels.softmin_sweep_sparse(*rows, v, play, x, scratch)
            else:
                folded = kernels.softmin_sweep(A, *part, v, play, x, scratch)
            return x, *folded

        parts = list(map_in_threads(fold, self._parts))
        low = min(part[1] for part in parts)
        shares = [np.exp(low - part[1]) for part in parts]
        mass = sum(share * part[2] for share, part in zip(shares, parts, strict=True))
        x = (
            sum(share * part[0] for share, part in zip(shares, parts, strict=True))
            / mass
        )
        f = float(np.log(mass / A.shape[0]) - low)
        return Answer(f, x, float(low), float(min(part[3] for part in parts)))


def softmin_weights(A: Any, v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the data player's distribution ``p_i ~ exp(-a_i . v)``, shape (n,)."""
    margins = A @ v
    p = np.exp(margins.min() - margins)
    return np.asarray(p / p.sum())
