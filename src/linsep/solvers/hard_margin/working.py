"""Solve the hard margin of a working set, in the coordinates that fit its shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.rows import is_sparse
from linsep.solvers.active_set import NO_ROWS, Outcome
from linsep.solvers.blas import calm_blas
from linsep.solvers.bounds import norm
from linsep.solvers.gram_factor import pivoted_cholesky
from linsep.solvers.hard_margin.coordinates import Direct
from linsep.solvers.hard_margin.start import HardMargin
from linsep.solvers.pieces import Check, Halted, gram_of, halting
from linsep.solvers.scaling import exponent_above, shifted

# Sparse rows of at most so many entries, zeros counted, 32 MB, are made dense, which
# lets them be centred.
DENSE_ENTRIES = 4_000_000
# A pivot below this share of the largest is rounding: the row depends on earlier ones.
RANK_TOLERANCE = 1e-13


@dataclass(frozen=True)
class Solution:
    """What the active set made of a working set.

    Attributes
    ----------
    outcome : Outcome
        OPTIMAL, CONFLICT, or STALLED (also when stopped).
    w : ndarray of shape (d,)
        Weights on the columns, the intercept last; the least ``a_i . w`` is about
        `target`.
    support : ndarray of shape (k,)
        Rows with a positive multiplier, the largest first; or those of the conflict.
    weights : ndarray of shape (k,)
        Their multipliers.
    n_steps : int
        Steps taken.
    target : float
        1, or another power of two where the weights would leave the doubles.
    """

    outcome: Outcome
    w: Floats
    support: Index
    weights: Floats
    n_steps: int
    target: float = 1.0


def solve_margin(
    rows: Any,
    fit_intercept: bool,
    *,
    start: Index,
    tolerance: float,
    max_steps: int | None = None,
    should_stop: Callable[[int], bool],
) -> Solution:
    """Find the largest margin of signed rows held in memory.

    Parameters
    ----------
    rows : ndarray or csr_matrix of shape (m, d)
        Signed rows.
    fit_intercept : bool
        Whether the last column is the free, unpenalised constant.
    start : ndarray of int
        Rows believed to be on the margin; may be empty.
    tolerance : float
        Rows at ``1 - tolerance`` or above are satisfied.
    max_steps : int or None, default=None
        Steps at most.
    should_stop : callable
        Asked with the steps taken so far; a true answer stops.
    """
    m, d = rows.shape
    if is_sparse(rows) and m * d <= DENSE_ENTRIES:
        rows = rows.toarray()
    narrow = d <= 2 * m and not is_sparse(rows)
    outcome = Outcome.STALLED
    with calm_blas(min(m, d), n_entries=rows.size):
        made = _direct if narrow else _wide
        try:
            problem, to_weights = made(rows, fit_intercept, halting(should_stop))
            if start.size:
                problem.start(start)
            for state in problem.solve(tolerance=tolerance, max_steps=max_steps):
                outcome = Outcome.STALLED if state is Outcome.RUNNING else state
                if should_stop(problem.n_steps):
                    break
        except Halted:
            return Solution(outcome, np.zeros(d), NO_ROWS, np.zeros(0), 0)
    weights = problem.multipliers
    order = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)]
    support, weights = problem.support[order], weights[order]
    if not norm(problem.u) + norm(weights) < np.inf:
        return Solution(
            Outcome.STALLED, np.zeros(d), support[:0], weights[:0], problem.n_steps
        )
    w, shift = to_weights(problem)
    target = math.ldexp(1.0, shift)
    return Solution(outcome, w, support, weights, problem.n_steps, target)


def _direct(rows: Floats, fit_intercept: bool, check: Check) -> Any:
    """Keep the columns."""
    coordinates, scaled, signs = Direct.of(rows, fit_intercept)
    problem = HardMargin(scaled, signs, free_offset=fit_intercept, check=check)
    return problem, lambda state: coordinates.hyperplane(state.u, state.offset)


def _wide(rows: Any, fit_intercept: bool, check: Check) -> Any:
    """Replace the columns by those of a factor of the Gram matrix."""
    if is_sparse(rows):
        coordinates, features, signs = Direct.of_sparse(rows, fit_intercept)
    else:
        coordinates, scaled, signs = Direct.of(rows, fit_intercept)
        features = scaled[:, :-1] if fit_intercept else scaled
    gram = gram_of(features, check)
    check()
    factor, _ = pivoted_cholesky(gram, RANK_TOLERANCE)
    spread = exponent_above(factor)
    factor = shifted(factor, -spread)
    if fit_intercept:
        factor = np.column_stack([factor, signs])
    problem = HardMargin(factor, signs, free_offset=fit_intercept, check=check)

    def to_weights(state: HardMargin) -> tuple[Floats, int]:
        coef = np.asarray(features[state.support].T @ state.multipliers)
        if fit_intercept:
            coef = np.append(coef, state.u[-1])
        return coordinates.hyperplane(coef, state.offset, -2 * spread)

    return problem, to_weights
