r"""Which unit vectors lie outside the space that rows span, proved for all at once.

The rows are given as the columns of a matrix A of shape (d, m), independent, m <= d.
With ``G = A' A`` the j-th unit vector lies in their span iff ``a_j . G^-1 a_j = 1``,
a_j the j-th row of A; else it is less. Nothing is solved exactly: for any x, with what
is left, ``e = a_j - G x``,

    a_j . G^-1 a_j  <=  a_j . x + |T^-1 a_j| |T^-1 e| / mu,

as in `linsep.verified.overlap`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linsep.rows import as_dense
from linsep.rows.rounding import gamma
from linsep.verified.moments import LARGEST, Layout, Moments, factored
from linsep.verified.parts import Part

# What is closer to one may be one.
NEAR_ONE = 1e-6
# The factor is of G less a little: solutions are improved where they do not do yet.
MOST_REFINEMENTS = 3
# Designs that need more products are not looked at.
MOST_PRODUCTS = 4_000_000_000
# Vectors looked at in one go.
TOGETHER = 256


def are_outside(part: Part) -> NDArray[np.bool_]:
    """Tell which unit vectors are certainly outside the span of the part's columns.

    Parameters
    ----------
    part : Part of shape (d, m)
        Its columns are independent.
    """
    d, m = part.shape
    outside = np.zeros(d, dtype=bool)
    if m * m * d > MOST_PRODUCTS:
        return outside
    moments = Moments.of(part, np.ones(d), Layout.of(part))
    factor = factored(moments)
    mu = factor.least_eigenvalue
    if not mu > 0:
        return outside
    # From here on in the coordinates in which the diagonal of G is in [1/2, 2].
    A = moments.scaled(np.ldexp(as_dense(part.raw(np.arange(d))), -part.exponents).T).T
    G = A.T @ A
    error = gamma(d + m + 8)
    for start in range(0, d, TOGETHER):
        part.check()
        block = A[start : start + TOGETHER].T
        lengths = np.linalg.norm(block, axis=0)
        x, left = np.zeros_like(block), block
        for _ in range(MOST_REFINEMENTS):
            x += moments.scaled(factor.solve(moments.scaled(left, up=True)), up=True)
            left = block - G @ x
            # No entry of |A|'|A| is above 2, and G is off by a share of it.
            sums = np.abs(x).sum(axis=0)
            doubts = error * (np.abs(block) + LARGEST * 2.0 * sums)
            norms = np.linalg.norm(np.abs(left) + doubts, axis=0)
            values = np.einsum("ij,ij->j", block, x)
            values += error * np.einsum("ij,ij->j", np.abs(block), np.abs(x))
            is_less = values + lengths * norms / mu * (1 + error) ** 3 < 1 - NEAR_ONE
            if is_less.all():
                break
        outside[start : start + TOGETHER] = is_less
    return outside
