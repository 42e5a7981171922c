import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

class HeldRows:
    k: int
    offset: float
    active: Index
    multipliers: Floats
    direction: Floats
    factor: Floats
    u: Floats
    def start(self, wanted: Index) -> bool: ...
    def delete(self, position: int) -> None: ...
