from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Reals = NDArray[np.float64] | NDArray[np.float32] | NDArray[Any]
Signs = NDArray[np.int8]

def row_major_margins(
    X: Reals, signs: Signs, w: Floats, constant: float, s: Floats, t: Floats
) -> None: ...
def scattered_margins(
    addresses: NDArray[np.uintp],
    is_single: bool,
    signs: Signs,
    w: Floats,
    constant: float,
    s: Floats,
    t: Floats,
) -> None: ...
def sparse_margins(
    data: Reals,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    signs: Signs,
    w: Floats,
    constant: float,
    s: Floats,
    t: Floats,
) -> None: ...
def take_rows(
    data: Reals,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    signs: Signs,
    rows: NDArray[np.intp],
    constant: int,
    taken: Floats,
    places: NDArray[Any],
) -> None: ...
def judge_margins(
    s: Floats,
    t: Floats,
    signs: Signs,
    factor: float,
    underflow: float,
    by_margin: bool,
    score: Floats,
) -> tuple[float, float, float, int, int, float]: ...

JUDGED: dict[
    int,
    Callable[
        [Reals, Signs, Floats, float, float],
        tuple[float, float, float, int, int, float],
    ],
]

def length(values: Floats) -> float: ...
def row_hashes(
    bits: NDArray[np.uint64], factors: NDArray[np.uint64], out: NDArray[np.uint64]
) -> None: ...
def add_to_lanes(
    addresses: NDArray[np.uintp],
    n: int,
    lane: int,
    step: int,
    lanes: NDArray[np.uint64],
) -> None: ...
def signed_rows(
    X: Reals, signs: Signs, index: NDArray[np.intp], out: Floats
) -> None: ...
def hull_point(
    rows: Floats,
    index: NDArray[np.intp] | None,
    p: Floats,
    balanced: bool,
    signs: Signs | None = None,
) -> tuple[float, float, float] | None: ...
def length_above(
    length: float, weighed: float, longest: float, n_terms: int
) -> float: ...
def centred_rows(
    rows: Floats, centre: Floats, out: Floats, largest: Floats
) -> None: ...
