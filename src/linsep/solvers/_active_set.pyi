import numpy as np
from numpy.typing import NDArray

OPTIMAL: int
CONFLICT: int
STEPS_EXHAUSTED: int

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

class ActiveRows:
    k: int
    entering: int
    n_steps: int
    offset: float
    active: Index
    multipliers: Floats
    direction: Floats
    factor: Floats
    u: Floats
    def __init__(self, rows: Floats, signs: Floats, free_offset: bool) -> None: ...
    def steps(self, candidates: Index, tolerance: float, max_steps: int) -> int: ...
    def append(self, row: int) -> bool: ...
    def delete(self, position: int) -> None: ...
    def clear(self) -> None: ...
    def take(self, wanted: Index, independent: float) -> bool: ...
    def settle(self) -> None: ...
