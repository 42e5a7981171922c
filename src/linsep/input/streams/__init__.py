"""Data that are read in record batches, as often as asked, and never held whole."""

from linsep.input.streams.new_rows import new_rows
from linsep.input.streams.problem import problem_of_stream
from linsep.input.streams.sources import Source, sql_source, stream_of

__all__ = ["Source", "new_rows", "problem_of_stream", "sql_source", "stream_of"]
