import numpy as np
from numpy.typing import NDArray

SEPARATED: int
OUT_OF_UPDATES: int
OUT_OF_PASSES: int

def perceptron_passes(
    A: NDArray[np.float64],
    order: NDArray[np.intp],
    w: NDArray[np.float64],
    counts: NDArray[np.int64],
    n_passes: int,
    n_updates: int,
) -> tuple[int, int, int, int]: ...
