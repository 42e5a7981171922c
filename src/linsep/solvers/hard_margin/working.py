"""Solve the hard margin of a working set, in the coordinates that fit its shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from linsep.arrays import Floats, Index, Signs
from linsep.rows import is_sparse
from linsep.solvers.active_set import NO_ROWS, ActiveSet, Outcome
from linsep.solvers.blas import calm_blas
from linsep.solvers.bounds import norm
from linsep.solvers.gram_factor import pivoted_cholesky
from linsep.solvers.hard_margin.coordinates import Direct
from linsep.solvers.hard_margin.start import HardMargin, is_guessed
from linsep.solvers.pieces import Check, Halted, gram_of, halting
from linsep.solvers.scaling import exponent_above, shifted

# Sparse rows of at most so many entries, zeros counted, 32 MB, are made dense, which
# lets them be centred.
DENSE_ENTRIES = 4_000_000
# Of so many entries and columns no BLAS is given so much at once that its threads work,
# unless rows are so few that a start is guessed.
MOST_TINY, MOST_NARROW = 1 << 17, 90
# A pivot below this share of the largest is rounding: the row depends on earlier ones.
RANK_TOLERANCE = 1e-13


class Solution(NamedTuple):
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
    beyond : float
        Every row but those of the support has ``a_i . w`` of at least `target` times
        this, up to rounding; 1 where some are on the margin without a multiplier.
    """

    outcome: Outcome
    w: Floats
    support: Index
    weights: Floats
    n_steps: int
    target: float = 1.0
    beyond: float = 1.0


def solve_margin(
    rows: Any,
    fit_intercept: bool,
    *,
    signs: Signs | None = None,
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
    signs : ndarray of shape (m,) or None, default=None
        Given with an intercept and features in C order only, for them to be signed.
    start : ndarray of int
        Rows believed to be on the margin; may be empty.
    tolerance : float
        Rows at ``1 - tolerance`` or above are satisfied.
    max_steps : int or None, default=None
        Steps at most.
    should_stop : callable
        Asked with the steps taken so far; a true answer stops.
    """
    m, d = rows.shape[0], rows.shape[1] + (signs is not None)
    if is_sparse(rows) and m * d <= DENSE_ENTRIES:
        rows = rows.toarray()
    is_narrow = d <= 2 * m and not is_sparse(rows)
    made = _direct if is_narrow else _wide
    outcome = Outcome.STALLED
    is_tiny = m * d <= MOST_TINY and d <= MOST_NARROW and not is_guessed(m, d)
    with calm_blas(min(m, d), n_entries=0 if is_tiny else rows.size):
        try:
            check = halting(should_stop)
            problem, to_weights = made(rows, fit_intercept, check, signs)
            if start.size:
                problem.start(start)
            for state in problem.solve(tolerance=tolerance, max_steps=max_steps):
                outcome = Outcome.STALLED if state is Outcome.RUNNING else state
                if should_stop(problem.n_steps):
                    break
        except Halted:
            return Solution(outcome, np.zeros(d), NO_ROWS, np.zeros(0), 0)
    support, weights = problem.carriers
    n_steps, u = problem.n_steps, problem.u
    largest = float(weights[0]) if weights.size else 0.0
    if not norm(u) + largest < np.inf:
        nothing = np.zeros(d), support[:0], weights[:0]
        return Solution(Outcome.STALLED, *nothing, n_steps)
    w, shift = to_weights(problem, u)
    target = math.ldexp(1.0, shift)
    beyond = problem.beyond if len(support) == problem.n_active else 1.0
    return Solution(outcome, w, support, weights, n_steps, target, beyond)


def _direct(
    rows: Floats, fit_intercept: bool, check: Check, signs: Signs | None = None
) -> Any:
    """Keep the columns."""
    coordinates, scaled, s, squares = Direct.of(rows, fit_intercept, signs)
    made = partial(HardMargin, check=check) if is_guessed(*scaled.shape) else ActiveSet
    problem = made(scaled, s, free_offset=fit_intercept, squares=squares)
    return problem, lambda state, u: coordinates.hyperplane(u, state.offset)


def _wide(
    rows: Any, fit_intercept: bool, check: Check, signs: Signs | None = None
) -> Any:
    """Replace the columns by those of a factor of the Gram matrix."""
    if is_sparse(rows):
        coordinates, features, s = Direct.of_sparse(rows, fit_intercept)
    else:
        coordinates, scaled, s, _ = Direct.of(rows, fit_intercept, signs)
        features = scaled[:, :-1] if fit_intercept else scaled
    gram = gram_of(features, check)
    check()
    factor, _ = pivoted_cholesky(gram, RANK_TOLERANCE)
    spread = exponent_above(factor)
    factor = shifted(factor, -spread)
    if fit_intercept:
        factor = np.column_stack([factor, s])
    known = None
    if is_guessed(*factor.shape):
        known = shifted(gram, -2 * spread, out=gram)
        if fit_intercept:
            known += np.multiply.outer(s, s)
    problem = HardMargin(factor, s, free_offset=fit_intercept, check=check, gram=known)

    def to_weights(state: HardMargin, u: Floats) -> tuple[Floats, int]:
        weights = np.zeros(len(s))  # most rows are on the margin: none is copied
        weights[state.support] = state.multipliers
        coef = np.asarray(features.T @ weights)
        if fit_intercept:
            coef = np.append(coef, u[-1])
        return coordinates.hyperplane(coef, state.offset, -2 * spread)

    return problem, to_weights
