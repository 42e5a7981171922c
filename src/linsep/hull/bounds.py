r"""Proofs in doubles, many at once: points in simplices, or beyond hyperplanes.

A point ``q`` lies in the simplex of ``k`` affinely independent points iff the solution
of ``B p = (q, 1)``, the columns of ``B`` being ``(x_i, 1)``, is not negative. With an
approximate inverse ``R`` of ``B`` and any ``p'``

    |p - p'| <= |R (b - B p')|_oo / (1 - |I - R B|_oo),

if the second norm is below one, which also proves that ``B`` is regular (S. M. Rump,
"Verification methods: rigorous results using floating-point arithmetic", Acta Numerica
19, 2010, doi:10.1017/S096249291000005X, section 10). Every product here is bounded as
`linsep.rows.rounding` says.
"""

from __future__ import annotations

import numpy as np

from linsep.arrays import Floats, Mask
from linsep.rows.rounding import SMALLEST_SUBNORMAL, error_factor, gamma

# Covers the rounding of the bounds themselves: sums of numbers that are not negative.
ROUNDED_UP = 1.0 + 1e-9


def inside_simplices(corners: Floats, points: Floats) -> Mask:
    """Tell which points are proved to lie strictly inside the simplex given for each.

    Parameters
    ----------
    corners : ndarray of shape (m, k, k)
        ``corners[i, :, j]`` is the j-th corner of the i-th simplex, a one appended.
    points : ndarray of shape (m, k)
        A one appended.
    """
    m, k, _ = corners.shape
    proved = np.zeros(m, dtype=bool)
    if m == 0:
        return proved
    try:
        inverse = np.linalg.inv(corners)
    except np.linalg.LinAlgError:
        if m == 1:
            return proved
        half = m // 2
        return np.concatenate(
            [
                inside_simplices(corners[:half], points[:half]),
                inside_simplices(corners[half:], points[half:]),
            ]
        )
    factor, tiny = error_factor(k + 2), 4 * k * SMALLEST_SUBNORMAL
    sizes, inverse_sizes = np.abs(corners), np.abs(inverse)
    right = points[:, :, np.newaxis]
    weights = inverse @ right
    residual = np.abs(right - corners @ weights)
    residual += factor * (np.abs(right) + sizes @ np.abs(weights)) + tiny
    shift = (inverse_sizes @ residual).max(axis=1)[:, 0] * ROUNDED_UP
    defect = np.abs(np.eye(k) - inverse @ corners)
    defect += factor * (np.eye(k) + inverse_sizes @ sizes) + tiny
    contraction = defect.sum(axis=2).max(axis=1) * ROUNDED_UP
    with np.errstate(invalid="ignore"):
        room = weights.min(axis=1)[:, 0] * (1.0 - contraction)
    is_regular = contraction < 0.5
    return np.asarray(is_regular & (room > shift * ROUNDED_UP))


def gap_errors(directions: Floats, largest: Floats, points: Floats) -> Floats:
    """Bound what rounding does to ``min_i c . x_i - c . q``, both ends computed.

    Parameters
    ----------
    directions : ndarray of shape (m, d)
    largest : ndarray of shape (d,)
        The largest magnitude in each coordinate of the ``x_i``.
    points : ndarray of shape (m, d)
        The q of each direction.
    """
    d = directions.shape[1]
    sizes = np.abs(directions) * np.maximum(largest, np.abs(points))
    each = error_factor(d) * sizes.sum(axis=1) * ROUNDED_UP + d * SMALLEST_SUBNORMAL
    # Twice, for the two ends; once more for their difference.
    return np.asarray(3.0 * each + gamma(4) * sizes.sum(axis=1))
