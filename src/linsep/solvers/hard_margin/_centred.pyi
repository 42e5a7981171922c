import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_USUAL: float

def centred(
    rows: Floats, signs: Floats, centre: Floats, out: Floats, squares: Floats
) -> float: ...
def uncentred(
    u: Floats, offset: float, centre: Floats, scale: float
) -> Floats | None: ...
