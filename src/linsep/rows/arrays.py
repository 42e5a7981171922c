"""Short names for the arrays that signatures speak of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
Booleans = NDArray[np.bool_]
