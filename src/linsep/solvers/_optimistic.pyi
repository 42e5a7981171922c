from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

class Sweep:
    n: int
    d: int
    def __init__(
        self, A: Any, bounds: NDArray[np.intp], block: int, n_threads: int
    ) -> None: ...
    def answer(self, v: Floats, w: Floats) -> tuple[float, Floats, float, float]: ...

class Loop:
    n_rounds: int
    step_sum: float
    step_size: float
    f: float
    margin: float
    margin_play: float
    def __init__(self, sweep: Sweep, step_size: float, floor: float) -> None: ...
    def vectors(self) -> Floats: ...
    def advance(self, until: int, enough: float) -> bool: ...
