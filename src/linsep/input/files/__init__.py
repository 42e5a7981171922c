"""Data files to arrays: delimited text, Parquet, JSON lines, svmlight text, NumPy's."""

from linsep.input.files.declared_order import declared_order
from linsep.input.files.read import read_columns, read_labelled, read_table
from linsep.input.files.table import Table

__all__ = ["Table", "declared_order", "read_columns", "read_labelled", "read_table"]
