"""Compiled passes over the vectors of an interior-point step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def predictor_gap(
    theta: Any, u: Any, z: Any, s: Any, dtheta: Any, dz: Any, ds: Any
) -> Any:
    """Fill ``dz`` and ``ds``; return the gap that the longest steps would leave."""
    primal = 1.0
    dual = 1.0
    for i in range(theta.shape[0]):
        dz[i] = -z[i] - z[i] / theta[i] * dtheta[i]
        ds[i] = -s[i] + s[i] / u[i] * dtheta[i]
        primal = max(primal, -dtheta[i] / theta[i], dtheta[i] / u[i])
        dual = max(dual, -dz[i] / z[i], -ds[i] / s[i])
    primal = 1.0 / primal
    dual = 1.0 / dual
    after = 0.0
    for i in range(theta.shape[0]):
        after += (z[i] + dual * dz[i]) * (theta[i] + primal * dtheta[i])
        after += (s[i] + dual * ds[i]) * (u[i] - primal * dtheta[i])
    return after


@njit(cache=True, nogil=True)
def corrector_targets(
    theta: Any, u: Any, z: Any, s: Any, dtheta: Any, dz: Any, ds: Any, mu: float
) -> Any:
    """Overwrite ``dz`` and ``ds`` by the targets of z and s; return the right side."""
    right = np.empty(theta.shape[0])
    for i in range(theta.shape[0]):
        dz[i] = (mu - dz[i] * dtheta[i]) / theta[i]
        ds[i] = (mu + ds[i] * dtheta[i]) / u[i]
        right[i] = (dz[i] - z[i]) - (ds[i] - s[i])
    return right


@njit(cache=True, nogil=True)
def take_step_inplace(
    theta: Any, u: Any, z: Any, s: Any, dtheta: Any, dz: Any, ds: Any, share: float
) -> Any:
    """Turn targets into steps and take them; return the length and the new gap."""
    reach = share
    for i in range(theta.shape[0]):
        dz[i] -= z[i] + z[i] / theta[i] * dtheta[i]
        ds[i] -= s[i] - s[i] / u[i] * dtheta[i]
        reach = max(reach, -dtheta[i] / theta[i], dtheta[i] / u[i])
        reach = max(reach, -dz[i] / z[i], -ds[i] / s[i])
    length = min(1.0, share / reach)
    gap = 0.0
    for i in range(theta.shape[0]):
        theta[i] += length * dtheta[i]
        u[i] -= length * dtheta[i]
        z[i] += length * dz[i]
        s[i] += length * ds[i]
        gap += z[i] * theta[i] + s[i] * u[i]
    return length, gap
