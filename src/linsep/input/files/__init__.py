"""Data files to arrays: CSV, Parquet, svmlight text, NumPy's npy and npz."""

from linsep.input.files.read import read_table
from linsep.input.files.table import Table

__all__ = ["Table", "read_table"]
