from typing import Any

from linsep.arrays import Floats, Index

def largest_of_columns(data: Floats, indices: Any, largest: Floats) -> None: ...
def squares_of_rows(data: Floats, indptr: Any, squares: Floats) -> None: ...
def to_unit_length(
    data: Floats, indices: Any, indptr: Any, to_columns: Floats, lengths: Floats
) -> None: ...
def hull_point(
    data: Floats,
    indices: Any,
    indptr: Any,
    named: Index,
    p: Floats,
    d: int,
    balanced: bool,
) -> tuple[float, float, float] | None: ...
