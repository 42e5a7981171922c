"""Compiled passes: over an interior-point step's vectors, and the tempered weights."""

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


# Exponents beyond these would leave the doubles: a cap or zero is meant. A level found
# further than FAR temperatures from the guess is sought once more from there.
LARGEST_EXPONENT = 600.0
SMALLEST_EXPONENT = -700.0
FAR = 500.0
MOST_GUESSES = 100_000


@njit(cache=True, nogil=True)
def capped_exponentials(
    m: Any, caps: Any, temperature: float, mass: float, level: float, p: Any
) -> Any:
    """Fill ``p`` with ``caps min(1, exp((level - m) / temperature))`` of a given mass.

    Returns the least of ``sum_i p_i m_i + T sum_i p_i log(p_i / cap_i)``, which these
    weights attain, and the level. The level given is a guess.
    """
    n = m.shape[0]
    s = 1.0
    for _ in range(MOST_GUESSES):
        guess = level
        for i in range(n):
            e = (guess - m[i]) / temperature
            p[i] = caps[i] * np.exp(min(max(e, SMALLEST_EXPONENT), LARGEST_EXPONENT))
        s = _scale_to_mass(p, caps, mass)
        level = guess + temperature * np.log(s)
        if abs(level - guess) <= FAR * temperature:
            break
    value = 0.0
    for i in range(n):
        raw = s * p[i]
        if raw >= caps[i]:
            p[i] = caps[i]
            value += caps[i] * m[i]
        else:
            p[i] = raw
            value += raw * level  # m + T log(p / cap) is the level
    return value, level


@njit(cache=True, nogil=True)
def _scale_to_mass(raw: Any, caps: Any, mass: float) -> float:
    """Return ``s`` with ``sum_i min(cap_i, s raw_i) = mass``.

    The sum is concave in ``s``, so Newton's method climbs to the root from below after
    at most one step down.
    """
    s = 1.0
    for _ in range(1000):
        filled = 0.0
        slope = 0.0
        for i in range(raw.shape[0]):
            if s * raw[i] >= caps[i]:
                filled += caps[i]
            else:
                slope += raw[i]
        if slope <= 0.0:
            if filled <= mass * (1.0 + 1e-14):
                break
            s *= 1e-3
            continue
        new = (mass - filled) / slope
        if new <= 0.0:
            s *= 1e-3
            continue
        done = abs(new - s) <= 1e-14 * s
        s = new
        if done:
            break
    return s


@njit(cache=True, nogil=True)
def answer_groups(
    m: Any, caps: Any, temperature: float, starts: Any, levels: Any, p: Any
) -> float:
    """Fill ``p`` group by group, each of an equal mass; return the sum of the values.

    Group ``g`` is the entries from ``starts[g]`` up to ``starts[g + 1]``; its level, a
    guess at first, is overwritten.
    """
    value = 0.0
    n_groups = levels.shape[0]
    for g in range(n_groups):
        a, b = starts[g], starts[g + 1]
        part, level = capped_exponentials(
            m[a:b], caps[a:b], temperature, 1.0 / n_groups, levels[g], p[a:b]
        )
        value += part
        levels[g] = level
    return float(value)


@njit(cache=True, nogil=True)
def mean_spread(values: Any, weights: Any, starts: Any) -> float:
    """Return the standard deviation within each class, averaged over the classes."""
    total = 0.0
    n_classes = starts.shape[0] - 1
    for k in range(n_classes):
        mass = 0.0
        mean = 0.0
        for i in range(starts[k], starts[k + 1]):
            mass += weights[i]
            mean += weights[i] * values[i]
        mean /= mass
        square = 0.0
        for i in range(starts[k], starts[k + 1]):
            square += weights[i] * (values[i] - mean) ** 2
        total += np.sqrt(square / mass)
    return float(total / n_classes)


@njit(cache=True, nogil=True)
def narrow_gram(rows: Any, weights: Any, starts: Any, block: int) -> Any:
    """Return ``rows.T @ diag(weights) @ rows`` about groups' means, for few columns.

    Group ``g`` is the rows from ``starts[g]`` up to ``starts[g + 1]``; with no groups
    the sum is about zero. Rows of weight zero are left out. A BLAS is called once for
    `block` rows, which is as fast as it is for many columns and several times faster
    than from Python for few.
    """
    n, d = rows.shape
    out = np.zeros((d, d))
    held = np.empty((block, d))
    m = 0
    for i in range(n):
        if weights[i] != 0.0:
            root = np.sqrt(weights[i])
            for j in range(d):
                held[m, j] = root * rows[i, j]
            m += 1
        if m == block or (i == n - 1 and m > 0):
            part = held[:m]
            out += np.dot(part.T, part)
            m = 0
    for g in range(starts.shape[0] - 1):
        mass = 0.0
        mean = np.zeros(d)
        for i in range(starts[g], starts[g + 1]):
            if weights[i] != 0.0:
                mass += weights[i]
                for j in range(d):
                    mean[j] += weights[i] * rows[i, j]
        if mass > 0.0:
            for j in range(d):
                for k in range(d):
                    out[j, k] -= mean[j] / mass * mean[k]
    return out
