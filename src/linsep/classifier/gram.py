"""Kernels: rows of a Cholesky factor of the Gram matrix stand for the feature space.

``K = L L^T`` up to rounding, so the rows of ``L`` have the inner products of the
feature space and every linear solver runs on them unchanged. The factor is pivoted: a
few landmark rows span the rest, and a decision function is a sum of kernels at the
landmarks. What is claimed of the training rows is checked on the Gram matrix as given.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.classifier.samples import Samples
from linsep.classifier.two_classes import Settings, problem_of
from linsep.result import LargestMargin, Separation, Status
from linsep.search.answers import Verdict, result_of
from linsep.search.hyperplane import Hyperplane
from linsep.search.limits import Clock, Effort, Interval
from linsep.search.reasons import Reason
from linsep.solvers.active_set import Outcome
from linsep.solvers.bounds import margin_upper
from linsep.solvers.gram_factor import gram_factor
from linsep.solvers.hard_margin.start import HardMargin

# Up to this many rows the whole Gram matrix is factored at once, without a rank limit.
WHOLE = 1500
# Landmarks at most for more rows than that.
MOST_LANDMARKS = 1500
# Multiplications, n r^2, that a system of a soft fit may cost.
SOFT_WORK = 4e9
# Steps of the active set a landmark, seconds, and entries made exact, at most.
STEPS_A_LANDMARK = 20
MOST_SECONDS = 20.0
MOST_EXACT = 500_000
# Pivots below this share of the largest are rounding.
RANK_TOLERANCE = 1e-12


@dataclass(frozen=True)
class GramFactor:
    """A pivoted Cholesky factor.

    Attributes
    ----------
    rows : ndarray of shape (n, rank)
        ``L``.
    landmarks : ndarray of shape (rank,)
        The rows chosen as pivots, in order.
    columns : ndarray of shape (n, rank)
        The Gram matrix's columns at the landmarks, as given.
    complete : bool
        Whether what is left over is no more than rounding.
    """

    rows: NDArray[np.float64]
    landmarks: NDArray[np.intp]
    columns: NDArray[np.float64]
    complete: bool

    def dual(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``beta`` with ``sum_j beta_j k(., landmark_j) = v`` in the space."""
        from scipy.linalg import solve_triangular

        triangle = self.rows[self.landmarks]
        return np.asarray(solve_triangular(triangle.T, v.T, lower=False)).T


def soft_width(n: int, rank: int) -> int:
    """Return how many leading columns of a factor a soft fit may use.

    The first pivots span the feature space best, so fewer columns are a coarser view
    of the same space.
    """
    return min(rank, max(50, int(np.sqrt(SOFT_WORK / max(1, n)))))


def narrowed(samples: Samples, width: int) -> Samples:
    """Keep the leading columns of rows of a factor."""
    return replace(samples, X=np.ascontiguousarray(samples.X[:, :width]))


def factor_gram(
    columns: Callable[[NDArray[np.intp]], NDArray[np.float64]],
    diagonal: NDArray[np.float64],
) -> GramFactor:
    """Factor a Gram matrix given by its columns.

    Parameters
    ----------
    columns : callable
        Returns the named columns, shape (n, k).
    diagonal : ndarray of shape (n,)
    """
    n = len(diagonal)
    floor = RANK_TOLERANCE * float(diagonal.max(initial=0.0))
    if n <= WHOLE:
        gram = columns(np.arange(n))
        rows, pivots = gram_factor(0.5 * (gram + gram.T), RANK_TOLERANCE)
        return GramFactor(rows, pivots, gram[:, pivots], True)
    left = diagonal.astype(np.float64).copy()
    L = np.zeros((n, MOST_LANDMARKS))
    landmarks: list[int] = []
    kept = []
    while len(landmarks) < MOST_LANDMARKS:
        pivot = int(left.argmax())
        if left[pivot] <= floor:
            break
        j = len(landmarks)
        column = columns(np.array([pivot]))[:, 0]
        kept.append(column)
        L[:, j] = (column - L[:, :j] @ L[pivot, :j]) / np.sqrt(left[pivot])
        left -= L[:, j] ** 2
        landmarks.append(pivot)
        left[landmarks] = 0.0
    rank = len(landmarks)
    return GramFactor(
        np.ascontiguousarray(L[:, :rank]),
        np.array(landmarks, dtype=np.intp),
        np.column_stack(kept) if kept else np.zeros((n, 0)),
        float(left.max(initial=0.0)) <= floor,
    )


def kernel_separation(
    factor: GramFactor,
    samples: Samples,
    classes: NDArray[Any],
    settings: Settings,
    gram_rows: Callable[[NDArray[np.intp]], NDArray[np.float64]],
) -> tuple[Separation, NDArray[np.float64] | None]:
    """Decide whether two classes are separable in the feature space.

    The active set runs on the factor's rows. A separator is then a function ``f = sum_j
    beta_j k(., landmark_j) + b``, and its signs at the training rows are checked
    exactly on the Gram matrix as given. A conflict must have ``sum_i p_i y_i K_ij = 0``
    for every column, exactly; where rounding of the kernel prevents that, nothing is
    proved and the status is "undecided".

    Returns
    -------
    separation : Separation
        Its ``coef`` are the ``beta``, its rows those of the Gram matrix.
    v : ndarray of shape (rank + 1,) or None
        The separator in the factor's coordinates, the intercept last.
    """
    free = settings.fit_intercept
    whole = problem_of(factor.columns, samples.labels, classes, None, free)
    whole = replace(whole, present=samples.index)
    signs = np.where(samples.labels == 1, 1.0, -1.0)
    clock, upper = Clock(), np.inf
    problem, scale = _hard_problem(factor.rows, signs, free)
    outcome = Outcome.STALLED
    limit = STEPS_A_LANDMARK * problem.rows.shape[1] + 200
    for state in problem.solve(tolerance=1e-10, max_steps=limit):
        outcome = state
        if clock.elapsed() > (settings.time_limit or MOST_SECONDS):
            break
    support, multipliers = problem.support, problem.multipliers
    if multipliers.sum() > 0:
        rows = factor.rows[support] * signs[support, None]
        if free:
            rows = np.column_stack([rows, signs[support]])
        upper = margin_upper(rows, multipliers, free)
    if outcome is Outcome.OPTIMAL:
        coef = problem.u[: factor.rows.shape[1]] / scale
        offset = problem.offset + problem.u[-1] if free else 0.0
        w = np.append(factor.dual(coef), offset) if free else factor.dual(coef)
        verdict, margin = _checked(whole.rows, w, float(np.linalg.norm(coef)))
        verdict = replace(verdict, support=support[multipliers > 0])
        answer = result_of(
            whole,
            verdict,
            Effort(n_rounds=problem.n_steps, seconds=clock.elapsed()),
            Interval(margin, upper),
            LargestMargin,
        )
        if answer.coef is None:
            return answer, None
        return answer, np.append(coef, offset)
    if outcome is Outcome.CONFLICT:
        verdict = _proved(
            support, multipliers, whole.rows.signs, gram_rows, free, settings
        )
    else:
        verdict = Verdict.undecided(Reason.KERNEL_STALLED.text())
    answer = result_of(
        whole,
        verdict,
        Effort(n_rounds=problem.n_steps, seconds=clock.elapsed()),
        Interval(upper=0.0 if verdict.conflict is not None else upper),
        LargestMargin,
    )
    return answer, None


def _hard_problem(
    rows: NDArray[np.float64], signs: NDArray[np.float64], free: bool
) -> tuple[HardMargin, float]:
    """Return the hard margin's problem for rows of a factor, and their scale."""
    largest = float(np.abs(rows).max(initial=0.0))
    scale = float(np.ldexp(1.0, int(np.frexp(largest)[1]))) if largest > 0 else 1.0
    signed = rows * (signs / scale)[:, None]
    if free:
        signed = np.column_stack([signed, signs])
    signed = np.ascontiguousarray(signed)
    return HardMargin(signed, signs, free_offset=free), scale


def _checked(rows: Any, w: NDArray[np.float64], length: float) -> tuple[Verdict, float]:
    """Check a function's signs on the Gram matrix; return its margin too."""
    scan = rows.scan(w, rows.shape[0], by_margin=True)
    slack = scan.margin
    if slack <= 0 and scan.n_violations == 0:
        doubtful = scan.index[scan.values <= scan.error]
        exact = Hyperplane(w).least_slack(rows.take(doubtful))
        slack = -np.inf if exact is None else min(exact, scan.margin_settled)
    if slack <= 0:
        reason = Reason.KERNEL_SEPARATOR_UNPROVED.text()
        return Verdict.undecided(reason), -np.inf
    return Verdict(
        Status.SEPARABLE,
        "Separable in the feature space: proved on the Gram matrix as given.",
        Hyperplane(w),
    ), slack / length * (1.0 - 1e-9)


def _proved(
    support: NDArray[np.intp],
    multipliers: NDArray[np.float64],
    signs: NDArray[np.int8],
    gram_rows: Callable[[NDArray[np.intp]], NDArray[np.float64]],
    free: bool,
    settings: Settings,
) -> Verdict:
    """Return the conflict if it is one of the Gram matrix as given, exactly."""
    from linsep.proof.gordan import conflict_from_candidate

    deadline = time.perf_counter() + (settings.time_limit or MOST_SECONDS)
    held = multipliers > 0
    index = support[held]
    rows = gram_rows(index) * signs[index, None]
    if free:
        rows = np.column_stack([rows, signs[index].astype(np.float64)])
    exact = None
    if rows.size <= MOST_EXACT:
        exact = conflict_from_candidate(
            rows,
            np.arange(len(rows)),
            multipliers[held],
            lambda: time.perf_counter() > deadline,
        )
    if exact is None:
        return Verdict.undecided(Reason.KERNEL_CONFLICT_UNPROVED.text())
    chosen = index[np.array(exact.rows)]
    order = np.argsort(chosen)
    return Verdict(
        Status.INSEPARABLE,
        f"Inseparable in the feature space: no function separates even these "
        f"{chosen.size} rows.",
        conflict=chosen[order],
        conflict_weights=tuple(exact.weights[i] for i in order),
    )
