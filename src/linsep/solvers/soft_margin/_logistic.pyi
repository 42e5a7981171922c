import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

def judge(
    scores: Floats, labels: Index, weights: Floats, p: Floats, pull: Floats
) -> float: ...
def are_right(scores: Floats, labels: Index) -> bool: ...
def descend(
    rows: Floats,
    labels: Index,
    weights: Floats,
    ridge: Floats,
    V: Floats,
    scores: Floats,
    p: Floats,
    pull: Floats,
    before: Floats,
    triangle: Floats,
    loss: float,
    share: float,
    most_steps: int,
    until_right: bool,
    block: int,
) -> tuple[int, float]: ...
def take_step(
    V: Floats,
    step: Floats,
    scores: Floats,
    change: Floats,
    labels: Index,
    weights: Floats,
    ridge: Floats,
    loss: float,
    gain: float,
    p: Floats,
    pull: Floats,
) -> tuple[Floats, Floats, float]: ...
def left_out(
    rows: Floats,
    triangle: Floats,
    p: Floats,
    residual: Floats,
    units: Floats,
    block: int,
) -> Floats: ...
