"""The one question each round asks of the data.

For a vector ``v`` (the weighted sum of the learner's plays so far) the data player
holds ``p_i`` proportional to ``exp(-a_i . v)``. The oracle returns

    f = log mean_i exp(-a_i . v),    x = sum_i p_i a_i = -grad f,    min_i a_i . v

from one sweep over the rows: the running maximum of ``-a_i . v`` rescales the partial
sums. The smallest margin of a second vector ``w`` comes along at almost no cost.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from linsep.arrays import Floats
from linsep.rows import is_sparse
from linsep.rows.threads import count_threads
from linsep.solvers._optimistic import Sweep
from linsep.solvers.bounds import longest_row

# Parts of about so many entries are folded apart, by several threads: with fewer a
# thread costs more than it brings.
ENTRIES_A_PART = 1 << 17
MOST_PARTS = 64
# A block of rows this large stays in a core's cache between its two readings
# (measured: benchmarks/oracle.py).
BLOCK_ENTRIES = 1 << 12


class Oracle:
    """Answers for rows held in memory, by its `sweep`.

    Parameters
    ----------
    A : ndarray or csr_matrix of shape (n, d), float64
        The signed rows. A dense array that is not in C order is copied.
    """

    def __init__(self, A: Any) -> None:
        n, d = A.shape
        if is_sparse(A):
            n_entries = int(A.nnz)
        else:
            A = np.ascontiguousarray(A, dtype=np.float64)
            n_entries = n * d
        self.A = A
        # The parts, unlike the threads, are the same on every machine. Each has a sum
        # of its own, which is to be far smaller than its rows.
        a_part = max(ENTRIES_A_PART, 16 * d)
        n_parts = min(MOST_PARTS, max(1, n_entries // a_part))
        bounds = np.linspace(0, n, n_parts + 1) if n_parts > 1 else np.array([0, n])
        block = max(4, BLOCK_ENTRIES // max(1, n_entries // max(1, n)))
        n_threads = min(count_threads(), n_parts) if n_parts > 1 else 1
        self.sweep = Sweep(A, bounds.astype(np.intp), block, n_threads)

    @cached_property
    def radius(self) -> float:
        """The largest row norm, ``r`` of the paper."""
        return longest_row(self.A)


def softmin(margins: Floats) -> Floats:
    """Return the data player's distribution ``p_i ~ exp(-margins_i)``, shape (n,)."""
    p = np.exp(margins.min() - margins)
    return np.asarray(p / p.sum())
