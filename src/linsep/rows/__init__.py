"""Where rows come from: one protocol, one file a backend."""

from linsep.rows.dense import DenseRows
from linsep.rows.matrices import as_dense, is_masked, is_sparse, rows_from, stacked
from linsep.rows.protocol import Rows, Scan, split
from linsep.rows.sparse import SparseRows

__all__ = [
    "DenseRows",
    "Rows",
    "Scan",
    "SparseRows",
    "as_dense",
    "is_masked",
    "is_sparse",
    "rows_from",
    "split",
    "stacked",
]
