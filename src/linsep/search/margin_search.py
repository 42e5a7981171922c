"""The search for the largest margin, once a working set can be separated at all.

An active set solves the working set's hard margin. Its hyperplane bounds the margin
from below, by a sweep over all rows; its multipliers bound it from above. The rows
nearest to the hyperplane join the working set until the two meet to the tolerance.
Where rounding keeps them apart, exact arithmetic settles the support.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from linsep.arrays import Index, Signs, no_index
from linsep.proof.doubles import scale_of
from linsep.proof.exact import exact_values
from linsep.proof.largest_margin import (
    ExactMargin,
    exact_lower,
    exact_margin,
    exact_upper,
    root_above,
)
from linsep.result import Status
from linsep.rows import DenseRows, Rows, Scan, as_dense, split
from linsep.rows.rounding import error_bound
from linsep.rows.working_set import WorkingSet
from linsep.search.answers import Verdict
from linsep.search.hyperplane import Hyperplane
from linsep.search.limits import Monitor
from linsep.search.opening_first import by_opening
from linsep.search.separator_search import Search, SeparatorEngine
from linsep.solvers.active_set import Outcome
from linsep.solvers.bounds import margin_upper
from linsep.solvers.hard_margin.coordinates import rounded_weights
from linsep.solvers.hard_margin.support import lowest_support
from linsep.solvers.hard_margin.working import Solution, solve_margin
from linsep.solvers.scaling import exponent_above, shifted

# Rows made exact when the bounds of a sweep are too coarse.
MOST_EXACT_ENTRIES = 2_000_000
# The active set factors a dense matrix of so many rows and columns at most, 0.8 GB.
MOST_FACTORED = 10_000
# Few rows are made exact even when that only tightens what is tight enough.
CHEAP_ENTRIES = 2_000
TIGHT = 1e-10


def find_largest_margin(
    rows: Rows, monitor: Monitor, rng: np.random.Generator | int, tol: float
) -> Verdict:
    """Find the hyperplane with the largest margin, or prove that none separates.

    Where a limit is reached with a separating hyperplane in hand, that is the answer,
    and the interval stays open.
    """
    engine = MarginEngine(Search(rows, monitor, rng), tol)
    verdict = engine.search.run(lambda _: engine)
    if verdict.status is Status.UNDECIDED and engine.best is not None:
        return engine.verdict(f"; the interval is open, because {verdict.reason}")
    return verdict


def is_conflict(solution: Solution) -> bool:
    """Tell whether the active set claims that no hyperplane separates."""
    return solution.outcome is Outcome.CONFLICT


def is_stalled(solution: Solution) -> bool:
    """Tell whether the active set ended without a claim."""
    return solution.outcome is not Outcome.OPTIMAL and not is_conflict(solution)


def edge_of(solution: Solution, scan: Scan) -> float:
    """Return how far ``a_i . w`` of a row on the margin may be from 0, as computed."""
    return solution.target * (1.0 + 1e-9) + 4 * scan.error


@dataclass
class MarginEngine:
    """Goes on to the largest margin.

    Parameters
    ----------
    search : Search
        The search it serves.
    tol : float
        The relative width of the margin's interval to reach, in (0, 1).

    Attributes
    ----------
    support : ndarray of int
        Rows that carry the last solution; the next one starts from them.
    best : Hyperplane or None
        The one with the largest margin proved so far.
    """

    search: Search
    tol: float
    by_margin: bool = True
    support: Index = field(default_factory=no_index)
    best: Hyperplane | None = None
    _proved: float = 0.0  # the margin of the best
    _solution: Solution | None = None
    _is_in_place: bool = False  # all the rows of an array were solved where they are

    @property
    def is_closed(self) -> bool:
        """Whether the margin is known to the tolerance."""
        return self.search.monitor.interval.is_closed(self.tol)

    def solve(self, working: WorkingSet) -> Hyperplane | Verdict:
        """Run the active set; where it gets no further, exact arithmetic."""
        if min(working.shape) > MOST_FACTORED:
            return self._without_margin()
        rows, signs = self._held(working)
        self._is_in_place = signs is not None
        solution = self._solve(working, rows, signs)
        support, weights = solution.support, solution.weights
        numbers = working.index[support] if signs is None else support
        if is_conflict(solution):
            # Of small data it is the one that a search for any hyperplane names.
            opened = by_opening(self.search) if working.is_complete else None
            if opened is not None and opened.status is Status.INSEPARABLE:
                return opened
            at = working.positions(numbers)
            proved = self.search.prove_conflict(working, at, weights / weights.sum())
            return proved or self._exactly()
        monitor, fit_intercept = self.search.monitor, self.search.rows.fit_intercept
        if is_stalled(solution):
            monitor.stop_if_due()
            return self._exactly()
        monitor.at_most(margin_upper(rows, weights, fit_intercept, support, signs))
        if not self._is_in_place:
            solution = solution._replace(support=numbers)
        self.support, self._solution = numbers, solution
        return Hyperplane(solution.w)

    def wanted(self, working: WorkingSet) -> int:
        """Return how many of the nearest rows a sweep should name.

        Of all the rows of an array none, where rounding leaves little in doubt: they
        are swept once more should some be needed.
        """
        solution, (rounding, _) = self._solution, error_bound(working.shape[1])
        if solution is None or not self._is_in_place:
            return working.n_added
        error = rounding * abs(float(solution.w[-1]))  # at the least
        return 0 if error < 0.1 * TIGHT * solution.target else working.n_added

    def accept(
        self, working: WorkingSet, hyperplane: Hyperplane, scan: Scan
    ) -> Verdict | None:
        """Return the verdict if the interval is closed, or no row is left to take."""
        solution, monitor = self._solution, self.search.monitor
        assert solution is not None  # the sweep was of its hyperplane
        self._keep_if_best(hyperplane)
        if scan.index.size == 0:
            is_alone = solution.beyond * solution.target > edge_of(solution, scan)
            if is_alone and monitor.interval.is_closed(min(TIGHT, self.tol)):
                return self.verdict()
            monitor.n_passes += 1
            scan = self.search.rows.scan(hyperplane.w, working.n_added, by_margin=True)
        is_complete = self._missed(scan, working, solution.target).size == 0
        if not self.is_closed and not is_complete:
            return None
        if not monitor.interval.is_closed(TIGHT):
            self._refine(solution, scan)
        if not self.is_closed:
            return self._exactly()
        self._name_first_rows(solution, scan)
        return self.verdict()

    def grow(self, working: WorkingSet, scan: Scan) -> None:
        """Take the rows nearest to the hyperplane."""
        working.grow(scan, self.support, self.search.monitor.n_passes)

    def verdict(self, remark: str = "") -> Verdict:
        """Return the verdict for the best hyperplane."""
        monitor, rows, support = self.search.monitor, self.search.rows, self.support
        monitor.amend_last_sweep()
        return Verdict(
            Status.SEPARABLE,
            f"Separable: the largest margin is {monitor.interval.upper:.6g}, held by "
            f"{support.size} rows{remark}.",
            self.best,
            support=support if support.size else None,
            square=partial(exact_square, rows, support),
        )

    def _held(self, working: WorkingSet) -> tuple[Any, Signs | None]:
        """Return the rows held, and their signs if they are not signed yet.

        Which is so of all the rows of an array, in their order: they are not copied.
        """
        rows = self.search.rows
        may_be = working.is_complete and rows.fit_intercept
        if may_be and isinstance(rows, DenseRows) and rows.is_plain:
            return rows.X, rows.signs
        return working.rows, None

    def _solve(self, working: WorkingSet, rows: Any, signs: Signs | None) -> Solution:
        """Run the active set on the working set."""
        monitor = self.search.monitor
        before, start = monitor.n_rounds, self.support
        solution = solve_margin(
            rows,
            self.search.rows.fit_intercept,
            signs=signs,
            start=working.positions(start) if signs is None else start,
            tolerance=min(1e-9, 0.1 * self.tol),
            max_steps=monitor.rounds_left,
            should_stop=monitor.counting(),
        )
        monitor.n_rounds = before + solution.n_steps
        return solution

    def _keep_if_best(self, hyperplane: Hyperplane) -> None:
        """Keep a hyperplane whose margin is larger than all before."""
        margin = self.search.monitor.interval.lower
        if margin > self._proved:
            self.best, self._proved = hyperplane, margin

    def _missed(self, scan: Scan, working: WorkingSet, target: float) -> Index:
        """Return rows the sweep found inside the margin that are not held yet."""
        if working.is_complete:
            return no_index()
        edge = target * (1.0 - min(1e-9, 0.1 * self.tol))
        return np.setdiff1d(scan.index[scan.values < edge], working.index)

    def _without_margin(self) -> Verdict:
        """Decide whether there is a separator where the largest margin is too large."""
        verdict = self.search.decide(SeparatorEngine(self.search))
        if verdict.hyperplane is None:
            return verdict
        self.best = verdict.hyperplane
        return self.verdict(
            f"; the interval is open, because more than {MOST_FACTORED:,} rows and "
            "columns at once are too many for the largest margin"
        )

    def _refine(self, solution: Solution, scan: Scan) -> None:
        """Take the rounding out of both bounds by exact evaluation."""
        rows = as_dense(self.search.rows.take(solution.support))
        if rows.size > (CHEAP_ENTRIES if self.is_closed else MOST_EXACT_ENTRIES):
            return
        bound = exact_upper(rows, solution.weights, self.search.rows.fit_intercept)
        monitor = self.search.monitor
        monitor.at_most(bound)
        self._bound_below_exactly(Hyperplane(solution.w), scan)

    def _nearest(self, scan: Scan) -> tuple[Index, float]:
        """Return the rows that may be nearest, and what all others have at least."""
        n, d = self.search.rows.shape
        if not np.isfinite(scan.error):  # products overflowed: all rows are in doubt
            if n * d <= MOST_EXACT_ENTRIES:
                return np.arange(n), np.inf
            return scan.index, -np.inf
        bound = scan.values[0] + 4 * scan.error
        nearest = scan.index[scan.values <= bound]
        if nearest.size == n:
            return nearest, np.inf
        if nearest.size == scan.index.size:
            return nearest, -np.inf
        return nearest, float(scan.values[nearest.size] - scan.error)

    def _name_first_rows(self, solution: Solution, scan: Scan) -> None:
        """Where rows tie, let the first of them be the support."""
        edge = edge_of(solution, scan)
        near = scan.index[: np.searchsorted(scan.values, edge, side="right")]
        if near.size <= self.support.size and set(near.tolist()).issubset(
            self.support.tolist()
        ):
            return
        tied = np.union1d(near, self.support)
        multipliers = np.zeros(tied.size)
        multipliers[np.searchsorted(tied, solution.support)] = solution.weights
        rows = as_dense(self.search.rows.take(tied))
        features = rows[:, : rows.shape[1] - int(self.search.rows.fit_intercept)]
        # Neither squares that overflow, nor features lost beside the constant 1.
        features[:] = shifted(features, -exponent_above(features))
        self.support = tied[lowest_support(rows, multipliers) > 0]

    def _exactly(self) -> Verdict:
        """Settle the support by exact arithmetic, from a separator if need be."""
        monitor, rows = self.search.monitor, self.search.rows
        if self.best is None:
            verdict = self.search.decide(SeparatorEngine(self.search))
            if verdict.hyperplane is None:
                return verdict
            self.best, self._proved = verdict.hyperplane, monitor.interval.lower
        settled = settle_exactly(rows, self.support, monitor.should_stop)
        if settled is None:
            why = monitor.reason_to_stop() or "of rounding"
            return self.verdict(f"; the interval is open, because {why}")
        self.support = np.array(settled.support, dtype=np.intp)
        carriers = as_dense(rows.take(self.support))
        weights = np.array([float(m * settled.squared) for m in settled.multipliers])
        # The optimum itself is known: the bound by rounded weights may be above it.
        bound = min(
            root_above(settled.squared),
            exact_upper(carriers, weights, rows.fit_intercept),
        )
        monitor.at_most(bound)
        w, _ = rounded_weights(settled.weights, settled.denominator, rows.fit_intercept)
        hyperplane = Hyperplane(w)
        scan = self.search.sweep(hyperplane, 4 * rows.shape[1] + 200, by_margin=True)
        self._keep_if_best(hyperplane)
        self._bound_below_exactly(hyperplane, scan)
        if not self.is_closed:
            return self.verdict(
                "; double precision comes no closer, margin_squared() is exact"
            )
        return self.verdict()

    def _bound_below_exactly(self, hyperplane: Hyperplane, scan: Scan) -> None:
        """Take in a hyperplane's margin, with no rounding before the last step."""
        nearest, others = self._nearest(scan)
        coef = self.search.features(hyperplane.w)
        if others <= 0 or not coef.any():
            return
        integers = hyperplane.integers()
        scale = scale_of(hyperplane.w, integers)
        rows = as_dense(self.search.rows.take(nearest))
        values = exact_values(rows, integers, scale)
        if others < np.inf:
            values.append(Fraction(others))
        if min(values) > 0:
            bound = exact_lower(min(values), coef)
            self.search.monitor.at_least(bound)
            self._keep_if_best(hyperplane)


def exact_square(rows: Rows, support: Index) -> Fraction:
    """Return the largest margin squared, settled exactly from a support."""
    settled = settle_exactly(rows, support, lambda: False)
    assert settled is not None  # these rows are separable, and exact steps end
    return Fraction(settled.squared)


def settle_exactly(
    rows: Rows, support: Index, should_stop: Callable[[], bool]
) -> ExactMargin | None:
    """Settle the largest margin of all rows exactly, from a guess of its support."""
    if rows.fit_intercept:
        start = _with_both_classes(rows, support)
    else:
        start = support if support.size else np.array([0], dtype=np.intp)
    most_violated = partial(_most_violated, rows)
    return exact_margin(
        rows.take, start, rows.fit_intercept, most_violated, should_stop
    )


def _most_violated(
    rows: Rows, weights: Sequence[int], denominator: int
) -> tuple[int, Fraction] | None:
    """Return the row furthest below 1 and its exact value; None if no row is."""
    n, d = rows.shape
    w, shift = rounded_weights(weights, denominator, rows.fit_intercept)
    target = float(np.ldexp(1.0, shift))
    k = min(n, 4 * d + 200) if Hyperplane(w, tuple(weights)).is_faithful else 0
    scan = rows.scan(w, k or n, by_margin=True)
    if scan.index.size < n and not scan.values[-1] - 2 * scan.error > target:
        scan = rows.scan(w, n, by_margin=True)
    with np.errstate(over="ignore"):  # minus infinity is not clear
        clear = scan.values - 2 * scan.error > target
    doubtful = scan.index[~clear] if k else scan.index
    worst = None
    scale = Fraction(1, denominator)
    for start, stop in split(doubtful.size, rows.entries_a_row):
        part = doubtful[start:stop]
        values = exact_values(as_dense(rows.take(part)), list(weights), scale)
        least = min(range(len(values)), key=lambda i: (values[i], part[i]))
        if values[least] < 1 and (worst is None or values[least] < worst[1]):
            worst = int(part[least]), values[least]
    return worst


def _with_both_classes(rows: Rows, support: Index) -> Index:
    """Add a row of a class that the support lacks."""
    missing = [
        int(np.argmax(rows.signs == sign))
        for sign in (-1, 1)
        if not (rows.signs[support] == sign).any()
    ]
    return np.append(support, missing).astype(np.intp)
