import numpy as np
from numpy.typing import NDArray

OPTIMAL: int
CONFLICT: int
STEPS_EXHAUSTED: int
RUNNING: int

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
    def run(
        self, first: Index, tolerance: float, longest: float, max_steps: int
    ) -> int: ...
    def start(self, wanted: Index) -> bool: ...
    def delete(self, position: int) -> None: ...
