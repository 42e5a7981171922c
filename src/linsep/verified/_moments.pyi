import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

def nearest_before(indptr: Index, indices: Index, nearest: Index) -> None: ...
def places_held(
    indptr: Index, indices: Index, start: int, stop: int, held: Index
) -> None: ...
def sum_blocks(
    indptr: Index,
    indices: Index,
    data: Floats,
    v: Floats,
    first: Index,
    rest: Index,
    C: Floats,
    D: Floats,
    starts: Index,
    columns: Index,
    entries: Floats,
) -> None: ...
def take_products(
    starts: Index, columns: Index, entries: Floats, S: Floats, begin: int, end: int
) -> None: ...
def row_products(
    indptr: Index,
    indices: Index,
    data: Floats,
    q: Floats,
    products: Floats,
    sizes: Floats,
) -> None: ...
def column_sums(
    indptr: Index,
    indices: Index,
    data: Floats,
    u: Floats,
    sums: Floats,
    rests: Floats,
) -> None: ...
