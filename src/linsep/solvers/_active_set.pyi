import numpy as np
from numpy.typing import NDArray

from linsep.solvers._held_rows import HeldRows

OPTIMAL: int
CONFLICT: int
STEPS_EXHAUSTED: int
RUNNING: int

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

def longest_of(squares: Floats) -> float: ...

class ActiveRows(HeldRows):
    entering: int
    n_steps: int
    beyond: float
    def __init__(self, rows: Floats, signs: Floats, free_offset: bool) -> None: ...
    def run(
        self,
        first: Index,
        tolerance: float,
        longest: float,
        max_steps: int,
        most_settled: int = 0,
    ) -> int: ...
    def carriers(self) -> tuple[Index, Floats]: ...
    def nearest_rows(self, squares: Floats) -> Index: ...
