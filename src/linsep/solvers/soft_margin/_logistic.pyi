import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

def judge(
    scores: Floats, labels: Index, weights: Floats, p: Floats, pull: Floats
) -> float: ...
def are_right(scores: Floats, labels: Index) -> bool: ...
def hessian(
    rows: Floats, weights: Floats, p: Floats, ridge: Floats, block: int
) -> Floats: ...
def left_out(
    rows: Floats,
    triangle: Floats,
    p: Floats,
    residual: Floats,
    units: Floats,
    block: int,
) -> Floats: ...
