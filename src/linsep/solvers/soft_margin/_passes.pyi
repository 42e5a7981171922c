from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Starts = NDArray[np.intp]

def predictor_gap(
    theta: Floats,
    u: Floats,
    z: Floats,
    s: Floats,
    dtheta: Floats,
    dz: Floats,
    ds: Floats,
) -> float: ...
def corrector_targets(
    theta: Floats,
    u: Floats,
    z: Floats,
    s: Floats,
    dtheta: Floats,
    dz: Floats,
    ds: Floats,
    mu: float,
) -> Floats: ...
def take_step_inplace(
    theta: Floats,
    u: Floats,
    z: Floats,
    s: Floats,
    dtheta: Floats,
    dz: Floats,
    ds: Floats,
    share: float,
) -> tuple[float, float]: ...
def capped_exponentials(
    m: Floats, caps: Floats, temperature: float, mass: float, level: float, p: Floats
) -> tuple[float, float]: ...
def answer_groups(
    m: Floats,
    caps: Floats,
    temperature: float,
    starts: Starts,
    levels: Floats,
    p: Floats,
) -> float: ...
def mean_spread(values: Floats, weights: Floats, starts: Starts) -> float: ...
def weighted_gram(
    rows: Floats, weights: Floats, starts: Starts, block: int
) -> Floats: ...
def curved_product(
    data: Floats,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    weights: Floats,
    p: Floats,
    x: Floats,
) -> Floats: ...
def column_moments(
    X: Floats,
    share: Floats,
    mean: Floats,
    largest: Floats,
    peak: Floats,
    square: Floats,
) -> None: ...
def moved_rows(
    X: Floats, origin: Floats, scale: Floats, signs: Floats, out: Floats
) -> None: ...
