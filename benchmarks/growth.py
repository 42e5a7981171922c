"""How passes, rounds, seconds and bytes grow with rows, columns, margin, partitions.

    python benchmarks/growth.py

Planted rows of float32, streamed from memory by Arrow, so that no disk is measured.
`read` is what all readings of the columns come to, `held` what the working set keeps,
and `moved` what a cluster of so many partitions would send for one sweep: from each
partition the rows that it names, merged eight at a time.
"""

import time

import numpy as np
import pyarrow as pa

import linsep
from linsep import datasets
from linsep.rows.blocks import BlockRows
from linsep.rows.clusters import FAN_IN
from linsep.rows.working_set import ADDED_A_DIMENSION, LEAST_ADDED

CASES = [
    *((n, 30, 1e-3, 16) for n in (10_000, 100_000, 1_000_000)),
    *((200_000, d, 1e-3, 16) for d in (10, 30, 100)),
    *((200_000, 30, margin, 16) for margin in (1e-1, 1e-2, 1e-4, 1e-6)),
    *((200_000, 30, 1e-3, partitions) for partitions in (1, 100, 10_000)),
]


def measured(n, d, margin):
    """Return the answer, and how often all columns were read."""
    data = datasets.planted_margin(n, d, margin=margin)
    X = data.X.astype(np.float32)
    columns = {f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(d)}
    table = pa.table(columns | {"y": data.y.astype(np.int8)})
    held = []
    begun = BlockRows.__init__

    def noted(self, *arguments, **options):
        held.append(self)
        begun(self, *arguments, **options)

    BlockRows.__init__ = noted
    try:
        started = time.perf_counter()
        answer = linsep.separate(lambda: table, "y")
        passed = time.perf_counter() - started
    finally:
        BlockRows.__init__ = begun
    assert answer.proved
    return answer, held[0].n_readings, passed


def bytes_moved(d, partitions):
    """Return what one sweep sends: the rows named, up a tree of merges."""
    a_finding = max(LEAST_ADDED, ADDED_A_DIMENSION * (d + 1)) * (4 * d + 3 * 8)
    total, findings = 0, partitions
    while findings > 1:
        total += findings * a_finding
        findings = -(-findings // FAN_IN)
    return total + a_finding, a_finding


def main():
    head = ("rows", "columns", "margin", "partitions", "passes", "readings", "rounds")
    print(*head, "seconds", "read MB", "held MB", "moved MB", "to client MB", sep="\t")
    for n, d, margin, partitions in CASES:
        answer, readings, passed = measured(n, d, margin)
        moved, to_client = bytes_moved(d, partitions)
        kept = max(state.n_working for state in answer.trace) * (d + 1) * 8
        print(
            f"{n:,}", d, f"{margin:g}", f"{partitions:,}", answer.n_passes, readings,
            f"{answer.n_rounds:,}", f"{passed:.2f}", f"{readings * n * d / 25e4:.0f}",
            f"{kept / 1e6:.1f}", f"{moved / 1e6:.2f}", f"{to_client / 1e6:.2f}",
            sep="\t", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
