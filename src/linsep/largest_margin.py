"""`max_margin`: the hyperplane furthest from both classes, with a proof of how far.

1. Validate, and gather a working set, as `linsep.separation` does.
2. Solve the working set's hard margin by an active set (`linsep.solvers.hard_margin`).
3. A conflict is settled exactly; if it stands, no hyperplane exists: done.
4. Otherwise one sweep over all rows bounds the margin from below, the multipliers bound
   it from above. The two meet to `tol`: done.
5. The rows nearest to the hyperplane join the working set; back to 2.

Where rounding keeps the two bounds apart, exact arithmetic settles the support
(`linsep.proof.largest_margin`).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.input import InputError, Problem, checked_seed, problem_from
from linsep.result import Separation, Status
from linsep.rows import Rows, Scan, as_dense
from linsep.rows.working_set import WorkingSet
from linsep.search.hyperplane import Hyperplane
from linsep.search.separator_search import Callback, Limits, Search, Stopped, Verdict
from linsep.separation import one_class_result, result_of
from linsep.solvers.active_set import Outcome
from linsep.solvers.bounds import margin_upper
from linsep.solvers.engines import Candidate, Kind
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


def max_margin(
    X: Any,
    y: Any,
    *,
    tol: float = 1e-6,
    fit_intercept: bool = True,
    max_passes: int = 100,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Separation:
    r"""Find the hyperplane with the largest margin, or prove that none separates.

    Solves, with the classes coded -1 and +1 and the intercept unpenalised,

    .. math::

        \min_{w, b} \tfrac12 \|w\|^2 \quad\text{subject to}\quad
        y_i (w \cdot x_i + b) \ge 1 \text{ for every row},

    the hard-margin support vector machine. The margin is :math:`1 / \|w\|`, the
    distance from the hyperplane to the nearest row in the units of the features.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or path
        As for `linsep.separate`.
    y : array-like of shape (n_samples,), or str
        Labels of at most two classes.
    tol : float, default=1e-6
        Stop when ``margin_upper - margin_lower <= tol * margin_upper``; in (0, 1).
        1e-10 is within reach of data whose margin is not tiny beside their size.
    fit_intercept : bool, default=True
        Whether the hyperplane may miss the origin.
    max_passes : int, default=100
        Sweeps over all rows at most, >= 1.
    max_rounds : int or None, default=None
        Steps of the active set at most, >= 1, with the solves that guess its start
        where rows are few beside the columns; None sets no limit of its own.
    time_limit : float or None, default=None
        Seconds at most, > 0.
    random_state : int or None, default=None
        Seed of the working set's sample; None is the same as 0.
    callback : callable or None, default=None
        Called with a `Pass` after each sweep; a true return value stops.

    Returns
    -------
    Separation
        Its ``support`` names the rows that carry the solution, with ``coef`` and
        ``intercept`` scaled so that they lie at decision values of -1 and +1;
        ``margin_squared()`` is the exact square of the largest margin. On inseparable
        data it is the answer of `linsep.separate`, with the conflict. A limit reached
        with a separating hyperplane in hand is no failure: the status is "separable",
        the interval is wider than `tol` and the message says so.

    Raises
    ------
    InputError
        If the data or an argument cannot be used.

    Notes
    -----
    The active set is finite, whatever the margin; a step costs O(k d + k^2) for k rows
    on the margin. Sweeps cost O(n d); four to seven are the rule. At most two rows a
    column start from a guess that exchanges many rows at once, in four to sixteen
    solves of O(k^3) as a rule.

    References
    ----------
    Goldfarb & Idnani, "A numerically stable dual method for solving strictly convex
    quadratic programs", Mathematical Programming 27 (1983), doi:10.1007/BF02591962.
    Júdice & Pires, "A block principal pivoting algorithm for large-scale strictly
    monotone linear complementarity problems", Computers & Operations Research 21
    (1994).

    Examples
    --------
    >>> import linsep
    >>> best = linsep.max_margin([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> best.support.tolist(), best.margin_squared()
    ([1, 2], Fraction(1, 1))
    >>> print(round(best.margin_lower, 6), best.coef.tolist(), best.intercept)
    1.0 [1.0] -2.0
    """
    started = time.perf_counter()
    if not (isinstance(tol, float | int | np.floating) and 0 < tol < 1):
        raise InputError(
            f"tol must be a number between 0 and 1, both excluded, got {tol!r}; it "
            "bounds the relative width of the margin's interval, 1e-6 by default"
        )
    limits = Limits.checked(max_passes, max_rounds, time_limit, started)
    rng = np.random.default_rng(checked_seed(random_state))
    problem = problem_from(X, y, fit_intercept=fit_intercept)
    search = MarginSearch(problem.rows, limits, rng, callback, tol=float(tol))
    return solve_problem(problem, search)


def solve_problem(problem: Problem, search: MarginSearch) -> Separation:
    """Run a search for the largest margin and word its answer."""
    if len(problem.classes) == 1 and problem.fit_intercept:
        return one_class_result(problem, search.limits.started)
    verdict = search.run()
    answer = result_of(problem, search, verdict)
    if verdict.hyperplane is None:
        return answer
    rows, support = search.rows, search.support
    return replace(
        answer,
        support=np.sort(support) if support.size else None,
        _square=lambda: exact_square(rows, support),
    )


def exact_square(rows: Rows, support: NDArray[np.intp]) -> Fraction:
    """Return the largest margin squared, settled exactly from a support."""
    settled = _settle_exactly(rows, support, lambda: False)
    assert settled is not None  # these rows are separable, and exact steps end
    return Fraction(settled.squared)


@dataclass
class MarginSearch(Search):
    """A search that goes on, once the data are separated, to the largest margin.

    Parameters
    ----------
    tol : float
        The relative width of the margin's interval to reach.
    """

    tol: float = 1e-6
    support: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    _best: Hyperplane | None = None

    def run(self) -> Verdict:
        """Decide; with a limit reached, report the best hyperplane in hand."""
        verdict = super().run()
        if verdict.status is Status.UNDECIDED and self._best is not None:
            reason = verdict.message.removeprefix("Undecided: ")
            return self._separable(f"; the interval is open, because {reason}")
        return verdict

    def _decide(self) -> Verdict:
        """Solve the working set, sweep, grow, until the interval closes."""
        working = WorkingSet(self.rows, self.rng)
        while True:
            self.n_working = working.index.size
            if min(working.rows.shape) > MOST_FACTORED:
                return self._decide_without_margin()
            solution = self._solve_margin(working)
            if solution.outcome is Outcome.CONFLICT:
                verdict = self._prove_conflict(working, _candidate(solution))
                return verdict if verdict is not None else self._decide_exactly()
            if solution.outcome is Outcome.STALLED:
                self._stop_if_due()
                return self._decide_exactly()
            held = working.index[solution.support]
            rows = _dense(working.rows[solution.support])
            self._bound_above(rows, solution.weights)
            scan = self._price(solution.w, working.n_added)
            self._take_in(solution.w, held, scan)
            missed = self._missed(scan, working, solution.target)
            if not self._is_closed() and not missed.size:
                self._refine(solution, rows, scan)
                if not self._is_closed():
                    return self._decide_exactly()
            if self._is_closed():
                if not self._is_tight():
                    self._refine(solution, rows, scan)
                self._name_first_rows(solution, scan, working)
                return self._separable("")
            working.grow(scan, held, self.n_passes)

    def _decide_without_margin(self) -> Verdict:
        """Decide whether there is a separator where the largest margin is too large."""
        verdict = super()._decide()
        if verdict.hyperplane is not None:
            self._best = verdict.hyperplane
            return self._separable(
                f"; the interval is open, because more than {MOST_FACTORED:,} rows and "
                "columns at once are too many for the largest margin"
            )
        return verdict

    def _solve_margin(self, working: WorkingSet) -> Solution:
        """Run the active set on the working set."""
        before = self.n_rounds
        limit = self.limits.max_rounds

        def should_stop(n_steps: int) -> bool:
            self.n_rounds = before + n_steps
            return self._reason_to_stop() is not None

        solution = solve_margin(
            working.rows,
            self.rows.fit_intercept,
            start=working.positions(self.support),
            tolerance=min(1e-9, 0.1 * self.tol),
            max_steps=None if limit is None else max(1, limit - before),
            should_stop=should_stop,
        )
        self.n_rounds = before + solution.n_steps
        return solution

    def _price(self, w: NDArray[np.float64], k: int) -> Scan:
        """Sweep all rows once for those nearest to the hyperplane."""
        self._count_sweep()
        scan = self.rows.scan(w, k, by_margin=True)
        self._note(scan)
        return scan

    def _count_sweep(self) -> None:
        if self.n_passes >= self.limits.max_passes:
            self._stop_because_of_passes()
        self._stop_if_due()
        self.n_passes += 1

    def _stop_because_of_passes(self) -> None:

        raise Stopped(
            f"Undecided: max_passes={self.limits.max_passes} sweeps were made; allow "
            "more to go on."
        )

    def _note(self, scan: Scan) -> None:
        """Record a sweep and tell the callback."""
        self.n_violations = scan.n_violations
        record = self._record()
        self.trace.append(record)
        self._tell(record)

    def _bound_above(
        self, rows: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> None:
        bound = margin_upper(rows, weights, self.rows.fit_intercept)
        self.margin_upper = min(self.margin_upper, bound)

    def _take_in(
        self, w: NDArray[np.float64], support: NDArray[np.intp], scan: Scan
    ) -> None:
        """Keep a hyperplane if it is the best so far; its support starts the next."""
        self.support = support
        before = self.margin_lower
        hyperplane = Hyperplane(w)
        self._bound_below(scan.margin, hyperplane)
        if self.margin_lower > max(before, 0.0):
            self._best = hyperplane
        if self.trace:
            self.trace[-1] = self._record()

    def _is_closed(self) -> bool:
        """Tell whether the interval is narrow enough."""
        upper, lower = self.margin_upper, self.margin_lower
        return lower > 0 and upper - lower <= self.tol * upper

    def _is_tight(self) -> bool:
        """Tell whether the interval is as narrow as doubles without care give."""
        return self.margin_upper - self.margin_lower <= TIGHT * self.margin_upper

    def _name_first_rows(
        self, solution: Solution, scan: Scan, working: WorkingSet
    ) -> None:
        """Where rows tie, let the first of them be the support."""
        edge = solution.target * (1.0 + 1e-9) + 4 * scan.error
        near = scan.index[scan.values <= edge]
        tied = np.union1d(near, self.support)
        if tied.size == self.support.size:
            return
        multipliers = np.zeros(tied.size)
        held = working.index[solution.support]
        multipliers[np.searchsorted(tied, held)] = solution.weights
        rows = _dense(self.rows.take(tied))
        features = rows[:, : self.rows.shape[1] - int(self.rows.fit_intercept)]
        # Neither squares that overflow, nor features lost beside the constant 1.
        features[:] = shifted(features, -exponent_above(features))
        self.support = tied[lowest_support(rows, multipliers) > 0]

    def _missed(
        self, scan: Scan, working: WorkingSet, target: float
    ) -> NDArray[np.intp]:
        """Return rows the sweep found inside the margin that are not held yet."""
        edge = target * (1.0 - min(1e-9, 0.1 * self.tol))
        inside = scan.index[scan.values < edge]
        return np.setdiff1d(inside, working.index) if inside.size else inside

    def _refine(
        self, solution: Solution, rows: NDArray[np.float64], scan: Scan
    ) -> None:
        """Take the rounding out of both bounds by exact evaluation."""
        from linsep.proof.largest_margin import exact_upper

        if rows.size > (MOST_EXACT_ENTRIES if not self._is_closed() else CHEAP_ENTRIES):
            return
        bound = exact_upper(rows, solution.weights, self.rows.fit_intercept)
        self.margin_upper = min(self.margin_upper, bound)
        slack = self._exact_slack(solution.w, scan)
        if slack > 0:
            self._bound_below(slack, Hyperplane(solution.w))
            if slack > scan.margin:
                self._best = Hyperplane(solution.w)

    def _exact_slack(self, w: NDArray[np.float64], scan: Scan) -> float:
        """Bound the least ``a_i . w`` by exact products of the rows nearest."""
        nearest, others = self._nearest(scan)
        least = Hyperplane(w).least_slack(self.rows.take(nearest))
        return -np.inf if least is None else float(min(least, others))

    def _nearest(self, scan: Scan) -> tuple[NDArray[np.intp], float]:
        """Return the rows that may be nearest, and what all others have at least."""
        n, d = self.rows.shape
        if not np.isfinite(scan.error):  # products overflowed: all rows are in doubt
            return (
                (np.arange(n), np.inf)
                if n * d <= MOST_EXACT_ENTRIES
                else (scan.index, -np.inf)
            )
        bound = scan.values[0] + 4 * scan.error
        nearest = scan.index[scan.values <= bound]
        if nearest.size == n:
            return nearest, np.inf
        if nearest.size == scan.index.size:
            return nearest, -np.inf
        return nearest, float(scan.values[nearest.size] - scan.error)

    def _exact_lower(self, w: NDArray[np.float64], scan: Scan) -> float:
        """Bound the margin of a hyperplane, with no rounding before the last step."""
        from linsep.proof.exact import exact_values
        from linsep.proof.largest_margin import exact_lower

        nearest, others = self._nearest(scan)
        if others <= 0 or not self._coef(w).any():
            return -np.inf
        weights = [Fraction(float(v)) for v in w]
        denominator = math.lcm(*(v.denominator for v in weights))
        integers = [int(v * denominator) for v in weights]
        rows = self.rows.take(nearest)
        values = exact_values(rows, integers, Fraction(1, denominator))
        if others < np.inf:
            values.append(Fraction(others))
        least = min(values)
        return exact_lower(least, self._coef(w)) if least > 0 else -np.inf

    def _decide_exactly(self) -> Verdict:
        """Settle the support by exact arithmetic, from a separator if need be."""
        if self.margin_lower <= 0:
            verdict = super()._decide()
            if verdict.hyperplane is None:
                return verdict
            self._best = verdict.hyperplane
        settled = _settle_exactly(
            self.rows, self.support, lambda: self._reason_to_stop() is not None
        )
        if settled is None:
            return self._separable("; the interval is open, because of rounding")
        self.support = np.array(settled.support, dtype=np.intp)
        rows = _dense(self.rows.take(self.support))
        weights = np.array([float(m * settled.squared) for m in settled.multipliers])
        from linsep.proof.largest_margin import exact_upper, root_above

        # The optimum itself is known: the bound by rounded weights may be above it.
        bound = min(
            root_above(settled.squared),
            exact_upper(rows, weights, self.rows.fit_intercept),
        )
        self.margin_upper = min(self.margin_upper, bound)
        w, _ = rounded_weights(
            settled.weights, settled.denominator, self.rows.fit_intercept
        )
        scan = self._price(w, 4 * self.rows.shape[1] + 200)
        lower = self._exact_lower(w, scan)
        if lower > 0 and lower >= self.margin_lower:
            self.margin_lower, self._best = lower, Hyperplane(w)
        if not self._is_closed():
            return self._separable(
                "; double precision comes no closer, margin_squared() is exact"
            )
        return self._separable("")

    def _coef(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        return w[: self.rows.shape[1] - int(self.rows.fit_intercept)]

    def _separable(self, remark: str) -> Verdict:
        """Word the verdict for the best hyperplane."""
        if self.trace:
            self.trace[-1] = self._record()  # exact bounds came after the last sweep
        return Verdict(
            Status.SEPARABLE,
            f"Separable: the largest margin is {self.margin_upper:.6g}, held by "
            f"{self.support.size} rows{remark.rstrip('.')}.",
            self._best,
        )


def _candidate(solution: Solution) -> Candidate:
    """Word a conflict for the exact check."""
    total = solution.weights.sum()
    return Candidate(
        Kind.CONFLICT,
        solution.w,
        solution.support,
        solution.weights / total,
        solution.n_steps,
    )


def _dense(rows: Any) -> NDArray[np.float64]:
    return as_dense(rows)


def _settle_exactly(rows: Rows, support: NDArray[np.intp], should_stop: Any) -> Any:
    """Settle the largest margin of all rows exactly, from a guess of its support."""
    from linsep.proof.exact import exact_values, is_lost
    from linsep.proof.largest_margin import exact_margin

    n, d = rows.shape

    def most_violated(weights: list[int], denominator: int) -> Any:
        w, shift = rounded_weights(weights, denominator, rows.fit_intercept)
        target = float(np.ldexp(1.0, shift))
        is_faithful = np.isfinite(w).all() and not is_lost(w, weights).any()
        k = min(n, 4 * d + 200) if is_faithful else 0
        scan = rows.scan(w, k or n, by_margin=True)
        if scan.index.size < n and not scan.values[-1] - 2 * scan.error > target:
            scan = rows.scan(w, n, by_margin=True)
        clear = scan.values - 2 * scan.error > target
        doubtful = scan.index[~clear] if k else scan.index
        worst = None
        for at in range(0, doubtful.size, 1000):
            part = doubtful[at : at + 1000]
            values = exact_values(rows.take(part), weights, Fraction(1, denominator))
            least = min(range(len(values)), key=lambda i: (values[i], part[i]))
            if values[least] < 1 and (worst is None or values[least] < worst[1]):
                worst = int(part[least]), values[least]
        return worst

    if rows.fit_intercept:
        start = _with_both_classes(rows, support)
    else:
        start = support if support.size else np.array([0], dtype=np.intp)
    return exact_margin(
        rows.take, start, rows.fit_intercept, most_violated, should_stop
    )


def _with_both_classes(rows: Rows, support: NDArray[np.intp]) -> NDArray[np.intp]:
    """Add a row of a class that the support lacks."""
    missing = [
        int(np.argmax(rows.signs == sign))
        for sign in (-1, 1)
        if not (rows.signs[support] == sign).any()
    ]
    return np.append(support, missing).astype(np.intp)
