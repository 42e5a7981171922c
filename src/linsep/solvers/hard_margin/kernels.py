"""Compiled steps of the active set with a free intercept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from linsep.solvers.kernels import (
    FAST,
    _dot,
    _solve_gram,
    active_products,
    add_active,
    append_column,
    delete_column,
    project_out,
)

OPTIMAL, CONFLICT, STEPS_EXHAUSTED = 0, 1, 2


@njit(cache=True, nogil=True, fastmath=FAST)
def _enter(
    A: Any,
    signs: Any,
    candidates: Any,
    active: Any,
    k: int,
    u: Any,
    offset: float,
    tolerance: float,
) -> int:
    """Return the candidate violated most that is not active; -1 if there is none."""
    entering = -1
    smallest = 1.0 - tolerance
    for candidate in candidates:
        value = _dot(A[candidate], u) + signs[candidate] * offset
        if value < smallest:
            held = False
            for i in range(k):
                held = held or active[i] == candidate
            if not held:
                smallest = value
                entering = candidate
    return entering


@njit(cache=True, nogil=True, fastmath=FAST)
def balance(
    A: Any,
    signs: Any,
    active: Any,
    k: int,
    R: Any,
    entering: int,
    direction: Any,
    z: Any,
    y: Any,
) -> float:
    """Correct a projection so that the multipliers keep ``sum_i lambda_i y_i = 0``.

    With ``G y = s`` for the Gram matrix ``G`` and the signs ``s`` of the active rows,
    ``direction - rho y`` and ``z + rho A_S^T y`` solve the bordered system; the
    intercept then moves by ``-rho`` for each unit of the entering multiplier.
    """
    for i in range(k):
        y[i] = signs[active[i]]
    _solve_gram(R, k, y)
    excess = -signs[entering]
    curvature = 0.0
    for i in range(k):
        excess += signs[active[i]] * direction[i]
        curvature += signs[active[i]] * y[i]
    rho = excess / curvature
    for i in range(k):
        direction[i] -= rho * y[i]
    add_active(A, active, k, y, rho, z)
    return float(rho)


@njit(cache=True, nogil=True, fastmath=FAST)
def offset_steps(
    A: Any,
    signs: Any,
    free: bool,
    candidates: Any,
    active: Any,
    k: int,
    multipliers: Any,
    R: Any,
    u: Any,
    offset: float,
    direction: Any,
    tolerance: float,
    max_steps: int,
) -> Any:
    """Make ``u`` the shortest with ``a_i . u + s_i offset >= 1`` on the candidates.

    Dual active-set steps; see `linsep.solvers.hard_margin.active_set`. Returns
    ``(status, k, entering, offset, n_steps)``. On CONFLICT ``a_entering`` equals
    ``sum_i direction_i a_active(i)`` with every ``direction_i <= 0``, and the same for
    the signs if the offset is free.
    """
    d = A.shape[1]
    z = np.empty(d)
    c = np.empty(d + 1)
    y = np.empty(d + 1)
    n_steps = 0
    while True:
        entering = _enter(A, signs, candidates, active, k, u, offset, tolerance)
        if entering < 0:
            return OPTIMAL, k, entering, offset, n_steps
        a = A[entering]
        multiplier = 0.0
        while True:
            if n_steps >= max_steps:
                return STEPS_EXHAUSTED, k, entering, offset, n_steps
            n_steps += 1
            squared = project_out(A, active, k, R, a, direction, z)
            length_a = _dot(a, a)
            size = 1.0
            for i in range(k):
                size += abs(direction[i])
                c[i] = direction[i]
            dependent = squared <= (1e-13 * size) ** 2 * length_a or k == d
            rho = 0.0
            rise = squared
            if free and k > 0:
                rho = balance(A, signs, active, k, R, entering, direction, z, y)
                rise = _dot(z, z)
            longest = np.inf
            leaving = -1
            for i in range(k):
                if direction[i] > 1e-12 * size:
                    ratio = max(multipliers[i], 0.0) / direction[i]
                    if ratio < longest:
                        longest = ratio
                        leaving = i
            full = np.inf
            if not dependent:
                gap = 1.0 - _dot(a, u) - signs[entering] * offset
                full = max(0.0, gap) / rise
            if full == np.inf and longest == np.inf:
                return CONFLICT, k, entering, offset, n_steps
            length = min(full, longest)
            multiplier += length
            for i in range(k):
                multipliers[i] -= length * direction[i]
            if not dependent:
                offset -= length * rho
                for j in range(d):
                    u[j] += length * z[j]
            if full <= longest:
                append_column(R, k, c, np.sqrt(squared))
                active[k] = entering
                multipliers[k] = multiplier
                k += 1
                break
            delete_column(R, k, leaving)
            for i in range(leaving, k - 1):
                active[i] = active[i + 1]
                multipliers[i] = multipliers[i + 1]
            k -= 1


@njit(cache=True, nogil=True, fastmath=FAST)
def factor_rows(A: Any, rows: Any, active: Any, R: Any) -> int:
    """Factor the independent ones of the rows named; return how many there are."""
    d = A.shape[1]
    z = np.empty(d)
    c = np.empty(d + 1)
    k = 0
    for row in rows:
        if k == d:
            break
        squared = project_out(A, active, k, R, A[row], c, z)
        if squared > 1e-20 * _dot(A[row], A[row]):
            append_column(R, k, c, np.sqrt(squared))
            active[k] = row
            k += 1
    return k


@njit(cache=True, nogil=True, fastmath=FAST)
def settle_equalities(
    A: Any,
    signs: Any,
    free: bool,
    active: Any,
    k: int,
    R: Any,
    multipliers: Any,
    u: Any,
) -> float:
    """Recompute ``u`` and the offset so that every active row is at 1; return it.

    Solves ``A_S u + s offset = 1``, ``u = A_S^T lambda``, ``s . lambda = 0`` with three
    corrections of the residuals, so ``u`` is as good as a least-norm solution by QR.
    """
    step = np.empty(k)
    y = np.empty(k)
    multipliers[:k] = 0.0
    u[:] = 0.0
    offset = 0.0
    curvature = 0.0
    if free:
        for i in range(k):
            y[i] = signs[active[i]]
        _solve_gram(R, k, y)
        for i in range(k):
            curvature += signs[active[i]] * y[i]
    for _ in range(4):
        imbalance = 0.0
        active_products(A, active, k, u, step)
        for i in range(k):
            step[i] = 1.0 - step[i] - signs[active[i]] * offset
            imbalance += signs[active[i]] * multipliers[i]
        _solve_gram(R, k, step)
        if free:
            for i in range(k):
                imbalance += signs[active[i]] * step[i]
            move = imbalance / curvature
            offset += move
            for i in range(k):
                step[i] -= move * y[i]
        add_active(A, active, k, step, 1.0, u)
        for i in range(k):
            multipliers[i] += step[i]
    return offset
