r"""Which unit vectors lie outside the space that rows span, proved for all at once.

The rows are given as the columns of a matrix A of shape (d, m), independent, m <= d.
With ``G = A' A`` the j-th unit vector lies in their span iff ``a_j . G^-1 a_j = 1``,
a_j the j-th row of A; else it is less. Where the Cholesky factorisation of ``G - c I``
ends, with c no less than all its errors, its factor L has ``L L' <= G``, so that

    a_j . G^-1 a_j  <=  |L^-1 a_j|^2  <=  (|y| + |a_j - L y| / sqrt(mu))^2

for any y, mu a lower bound on the eigenvalues of ``L L'``: that of `G`, which another
factorisation proves (`linsep.verified.moments`), less c and the errors.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from linsep.arrays import Mask
from linsep.rows import as_dense
from linsep.rows.rounding import gamma
from linsep.solvers._factors import divided
from linsep.solvers.pieces import second_moment
from linsep.verified.moments import LARGEST, Layout, Moments, NotPositive, factored
from linsep.verified.parts import Part

# What is closer to one may be one.
NEAR_ONE = 1e-6
# Designs that need more products are not looked at.
MOST_PRODUCTS = 100_000_000_000
# Vectors looked at in one go.
TOGETHER = 1024


def are_outside(part: Part) -> Mask:
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
    A = np.ldexp(as_dense(part.raw(np.arange(d))), -part.exponents)
    part.check()
    try:
        moments = Moments.of_sum(part, second_moment(A, part.check), Layout.dense(m), d)
        factor = moments.factored(2.0 * moments.error)
        mu = factored(moments).least_eigenvalue - factor.c - moments.error
    except NotPositive:
        return outside
    if not mu > 0:
        return outside
    # From here on in the coordinates in which the diagonal of G is in [1/2, 2].
    A = moments.scaled(A.T).T
    error = gamma(m + 8)
    # What |L||y| is at most, as a share of |y|: the root of the trace of L L'.
    most = sqrt(LARGEST * m)
    for start in range(0, d, TOGETHER):
        part.check()
        block = A[start : start + TOGETHER]
        y = divided(block, factor.lower.T)
        lengths = np.linalg.norm(y, axis=1)
        left = np.linalg.norm(block - y @ factor.lower.T, axis=1)
        left += error * (np.linalg.norm(block, axis=1) + most * lengths)
        bounds = (lengths + left / sqrt(mu)) * (1 + error)
        outside[start : start + TOGETHER] = bounds**2 < 1 - NEAR_ONE
    return outside
