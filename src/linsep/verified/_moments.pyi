import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
Places = NDArray[np.signedinteger]

def pick_entries(
    indptr: Places,
    indices: Places,
    data: Floats,
    rows: Index,
    place: Places,
    starts: Places,
    columns: Places,
    entries: Floats,
) -> None: ...
def choose_rows(
    indptr: Places,
    indices: Places,
    each: int,
    held: Index,
    is_chosen: NDArray[np.uint8],
) -> None: ...
def extreme_sizes(
    indices: Places, data: Floats, largest: Floats, least: Floats
) -> None: ...
def count_signs(
    indptr: Places,
    indices: Places,
    data: Floats,
    equal: NDArray[np.uint8],
    rows: Index,
    step: int,
    positive: NDArray[np.int64],
    negative: NDArray[np.int64],
) -> None: ...
def nearest_before(indptr: Places, indices: Places, nearest: Index) -> None: ...
def places_held(
    indptr: Places, indices: Places, start: int, stop: int, held: Index
) -> None: ...
def sum_blocks(
    indptr: Places,
    indices: Places,
    data: Floats,
    v: Floats,
    first: Index,
    rest: Index,
    C: Floats,
    D: Floats,
    starts: Places,
    columns: Places,
    entries: Floats,
) -> None: ...
def take_products(
    starts: Places, columns: Places, entries: Floats, S: Floats, begin: int, end: int
) -> None: ...
def row_products(
    indptr: Places,
    indices: Places,
    data: Floats,
    q: Floats,
    products: Floats,
    sizes: Floats,
) -> None: ...
def column_sums(
    indptr: Places,
    indices: Places,
    data: Floats,
    u: Floats,
    sums: Floats,
    rests: Floats,
) -> None: ...
def weights_at(
    t: Floats, least: float, along: Floats, against: Floats, v: Floats
) -> None: ...
def loss_and_slope(
    products: Floats, moves: Floats, length: float, along: Floats, against: Floats
) -> tuple[float, float]: ...
