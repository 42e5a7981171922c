"""How far a dot product computed in doubles may be trusted; derived here alone.

For any order of summation, with or without fused multiply-adds, the computed
``s = fl(a . w)`` obeys ``|s - a . w| <= g t + d 2^-1074`` with
``t = sum_j |a_j w_j|`` and ``g = d u / (1 - d u)``, ``u = 2^-53`` (N. J. Higham,
*Accuracy and Stability of Numerical Algorithms*, 2nd edition, 2002, section 3.1). The
second term is twice what the underflow of d products can lose, so it also covers what
is lost where ``t`` is that small. We use ``d + 4`` in place of ``d``: it covers the
rounding of ``t`` itself and a ``w`` whose entries were rounded once from exact numbers,
as long as none of them left the normal range.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from linsep.arrays import Floats, Signs

UNIT_ROUNDOFF = 2.0**-53
SMALLEST_SUBNORMAL = 2.0**-1074


def gamma(n_roundings: int) -> float:
    r"""Return ``n u / (1 - n u)``: what n roundings of a number come to at most.

    A sum of products, each of which goes through n roundings, is off by at most this
    share of the sum of their magnitudes.
    """
    terms = n_roundings * UNIT_ROUNDOFF
    return terms / (1.0 - terms)


def error_factor(n_columns: int) -> float:
    """Bound the rounding of a dot product, relative to ``sum_j |a_j w_j|``."""
    return gamma(n_columns + 4)


@cache
def error_bound(n_columns: int) -> tuple[float, float]:
    """Bound what a dot product may be off: a share of its size, and what underflows."""
    return error_factor(n_columns), n_columns * SMALLEST_SUBNORMAL


def rounding_error(sizes: Floats, n_columns: int) -> Floats:
    """Bound the error of dot products whose terms have these sums of magnitudes."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        factor, underflow = error_bound(n_columns)
        return np.asarray(factor * sizes + underflow)


def certain_signs(products: Floats, sizes: Floats, error: Any) -> Signs:
    """Return the signs an error bound leaves no doubt about, and 0 for the others.

    Not finite means overflow, of which nothing is claimed.
    """
    certain = (np.abs(products) > error) & np.isfinite(sizes)
    return np.where(certain, np.sign(products), 0).astype(np.int8)
