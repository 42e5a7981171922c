"""Data files to arrays: CSV, Parquet, svmlight text, NumPy's npy and npz."""

from linsep.files.read import read_table
from linsep.files.table import Table

__all__ = ["Table", "read_table"]
