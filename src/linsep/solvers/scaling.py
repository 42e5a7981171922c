"""Powers of two: scaling that no bit of a mantissa pays for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linsep.rows import is_sparse

# Powers of two beyond this one, up or down, are near an end of the doubles.
SAFE_EXPONENT = 900


def exponent_above(values: Any) -> int:
    """Return the exponent of the power of two above all magnitudes; 0 for zeros.

    Examples
    --------
    >>> exponent_above(np.array([3.0, -4.0])), exponent_above(np.zeros(2))
    (3, 0)
    """
    largest = float(abs(values).max()) if min(values.shape) else 0.0
    return math.frexp(largest)[1]


def shifted(values: Any, power: int) -> Any:
    """Multiply an array or a CSR matrix by a power of two.

    Entries that become subnormal are rounded; the caller sees that none overflow.

    Examples
    --------
    >>> shifted(np.array([5e-324, 1.0]), 2).tolist()
    [2e-323, 4.0]
    """
    if is_sparse(values):
        result = values.copy()
        result.data = np.ldexp(result.data, power)
        return result
    if abs(power) > SAFE_EXPONENT:
        return np.ldexp(values, power)
    return values * math.ldexp(1.0, power)  # the usual case, in a tenth of the time
