"""Short names for the arrays that signatures speak of, and the empty one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
Booleans = NDArray[np.bool_]


def no_index() -> Index:
    """Return the numbers of no rows, or of no columns."""
    return np.empty(0, dtype=np.intp)
