from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Signs

def are_finite(X: Floats) -> bool: ...

SIGNED: dict[np.dtype[Any], Callable[[NDArray[Any], Signs, NDArray[Any]], bool]]
