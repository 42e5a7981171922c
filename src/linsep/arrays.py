"""What arrays hold: the names that signatures have for their types."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
#: Floats of either precision.
Reals: TypeAlias = NDArray[np.floating[Any]]
#: Numbers of rows, columns or classes.
Index: TypeAlias = NDArray[np.intp]
#: -1 or +1 for each row.
Signs: TypeAlias = NDArray[np.int8]
#: Which entries are meant.
Mask: TypeAlias = NDArray[np.bool_]


def no_index() -> Index:
    """Return the numbers of no rows, or of no columns."""
    return np.empty(0, dtype=np.intp)
