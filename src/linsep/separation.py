"""`separate`: the pipeline from data to a proved verdict.

1. Validate: the user's data become signed rows (`linsep.input`).
2. Gather a working set and solve it (`linsep.solvers`): a hyperplane or a conflict.
3. A conflict is settled exactly; if it stands, no hyperplane exists: done.
4. Otherwise one sweep over all rows. None violated: the hyperplane is checked exactly
   where rounding leaves a doubt, and that sweep is the proof: done.
5. Rows found violated, and near-violators, join the working set; back to 2.

When floating point can make no progress on the working set, exact arithmetic takes over
(`linsep.proof.ladder`), and ends it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.input import (
    Problem,
    checked_callback,
    checked_seed,
    problem_from,
)
from linsep.result import Separation, Status
from linsep.rows import as_dense
from linsep.search.separator_search import Callback, Limits, Search, Verdict

if TYPE_CHECKING:
    from linsep.proof.certificate import Certificate


def separate(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    max_passes: int = 100,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Separation:
    """Find a hyperplane that separates two classes, or prove that there is none.

    Looks for ``coef`` and ``intercept`` with ``y_i (coef . x_i + intercept) > 0`` for
    every row, the classes coded -1 and +1. By Gordan's theorem either they exist, or
    there are weights ``p >= 0``, ``sum p = 1``, with ``sum_i p_i y_i (x_i, 1) = 0``;
    the answer carries whichever does, after a check in exact arithmetic on the numbers
    as given.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or path
        Finite numbers: NumPy arrays, lists, SciPy sparse matrices, pandas or polars
        frames. float32 and float64 arrays are read in place, never copied. A path to a
        data file is read with ``y`` as the name of its target column.
    y : array-like of shape (n_samples,), or str
        Labels of at most two classes, in any coding. One class is separable by a
        constant decision.
    fit_intercept : bool, default=True
        Whether the hyperplane may miss the origin.
    max_passes : int, default=100
        Sweeps over all rows at most, >= 1.
    max_rounds : int or None, default=None
        Rounds of the solvers at most, >= 1; None sets no limit of its own (the solvers
        are finite).
    time_limit : float or None, default=None
        Seconds at most, > 0. It is looked at between steps: one sweep, factorisation
        or exact solve is not cut short, so data of hundreds of columns may overrun it.
    random_state : int or None, default=None
        Seed of the working set's sample; None is the same as 0. The answer is the same
        from run to run on one machine.
    callback : callable or None, default=None
        Called with a `Pass` after each sweep, and from time to time in between; a true
        return value stops the search.

    Returns
    -------
    Separation
        Never raises for lack of an answer: a limit, a callback or Ctrl-C gives the
        status "undecided" with the margin interval found so far.

    Raises
    ------
    InputError
        If the data or an argument cannot be used; a ValueError whose text says what
        must hold, what was received, and what to do.

    Notes
    -----
    A sweep costs O(n d); rows are gathered between sweeps, not counted as one. The
    number of sweeps does not depend on the margin in practice (four to seven), and
    Clarkson's reweighting bounds it by O(d log n) in expectation.

    References
    ----------
    Hanashiro & Abernethy, "Linear Separation via Optimism" (2020). Gordan, "Ueber die
    Auflösung linearer Gleichungen mit reellen Coefficienten" (1873).

    Examples
    --------
    >>> import linsep
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> answer = linsep.separate(X, y)
    >>> answer.status.value, answer.proved
    ('separable', True)
    >>> bool(answer.decision_function([[10.0]])[0] > 0)
    True
    >>> linsep.separate([[0.0], [1.0], [2.0]], [0, 1, 0]).conflict.tolist()
    [0, 1, 2]
    """
    started = time.perf_counter()
    limits = Limits.checked(max_passes, max_rounds, time_limit, started)
    rng = np.random.default_rng(checked_seed(random_state))
    checked_callback(callback)
    try:
        problem = problem_from(X, y, fit_intercept=fit_intercept)
    except KeyboardInterrupt:
        return interrupted_result(started, bool(fit_intercept))
    if len(problem.classes) == 1 and fit_intercept:
        return one_class_result(problem, started)
    search = Search(problem.rows, limits, rng, callback)
    return result_of(problem, search, search.run())


def interrupted_result(started: float, fit_intercept: bool) -> Separation:
    """Answer for Ctrl-C before the data were read: nothing is known of them."""
    return Separation(
        status=Status.UNDECIDED,
        proved=False,
        classes=np.empty(0),
        coef=None,
        intercept=None,
        margin_lower=-np.inf,
        margin_upper=np.inf,
        conflict=None,
        conflict_weights=None,
        n_passes=0,
        n_rounds=0,
        trace=(),
        seconds=time.perf_counter() - started,
        message="Undecided: interrupted while the data were still being read.",
        n_samples=0,
        n_features=0,
        fit_intercept=fit_intercept,
    )


def one_class_result(problem: Problem, started: float) -> Separation:
    """Answer for one class and an intercept: a constant decision, no hyperplane."""
    rows, label = problem.rows, problem.classes[0]

    def certify() -> Certificate:
        from linsep.proof.certificate import Certificate

        weights = [0] * problem.n_features + [1]
        return Certificate.for_separator(rows, problem.classes, weights)

    return Separation(
        status=Status.SEPARABLE,
        proved=True,
        classes=problem.classes,
        coef=np.zeros(problem.n_features),
        intercept=1.0,
        margin_lower=np.inf,
        margin_upper=np.inf,
        conflict=None,
        conflict_weights=None,
        n_passes=0,
        n_rounds=0,
        trace=(),
        seconds=time.perf_counter() - started,
        message=(
            f"Separable: all rows are of one class ({label}), which a constant "
            "decision gets right; there is no hyperplane to speak of."
        ),
        n_samples=problem.n_samples,
        n_features=problem.n_features,
        fit_intercept=True,
        feature_names=problem.feature_names,
        _certify=certify,
    )


def result_of(problem: Problem, search: Search, verdict: Verdict) -> Separation:
    """Put the verdict and the search's bounds into the public record."""
    n_features = problem.n_features
    coef = intercept = exact = None
    if verdict.hyperplane is not None:
        w, exact = verdict.hyperplane.w, verdict.hyperplane.exact
        coef = w[:n_features]
        intercept = float(w[n_features]) if problem.fit_intercept else 0.0
    conflict, weights, values, labels = _conflict_of(problem, verdict)
    return Separation(
        status=verdict.status,
        proved=verdict.status is not Status.UNDECIDED,
        classes=problem.classes,
        coef=coef,
        intercept=intercept,
        margin_lower=search.margin_lower,
        margin_upper=search.margin_upper,
        conflict=conflict,
        conflict_weights=weights,
        n_passes=search.n_passes,
        n_rounds=search.n_rounds,
        trace=tuple(search.trace),
        seconds=search.elapsed(),
        message=verdict.message,
        n_samples=problem.n_samples,
        n_features=n_features,
        fit_intercept=problem.fit_intercept,
        feature_names=problem.feature_names,
        exact_weights=exact,
        conflict_rows=values,
        conflict_labels=labels,
        _certify=_certifier(problem, verdict),
    )


def _conflict_of(problem: Problem, verdict: Verdict) -> tuple[Any, Any, Any, Any]:
    """Return the conflict's rows, weights summing to one, values and labels."""
    if verdict.conflict is None or verdict.conflict_weights is None:
        return None, None, None, None
    from fractions import Fraction

    total = sum(verdict.conflict_weights)
    weights = tuple(Fraction(weight, total) for weight in verdict.conflict_weights)
    signs = problem.rows.signs[verdict.conflict]
    rows = problem.rows.take(verdict.conflict)
    dense = as_dense(rows)
    values = dense[:, : problem.n_features] * signs[:, None]
    labels = problem.classes[np.where(signs > 0, -1, 0)]
    return verdict.conflict, weights, values, labels


def _certifier(problem: Problem, verdict: Verdict) -> Callable[[], Certificate] | None:
    """Return what builds the certificate when it is first asked for."""
    if verdict.status is Status.UNDECIDED:
        return None

    def certify() -> Certificate:
        from linsep.proof.certificate import Certificate

        rows, classes = problem.rows, problem.classes
        if verdict.hyperplane is not None:
            weights = verdict.hyperplane.integers()
            return Certificate.for_separator(rows, classes, weights)
        conflict = [] if verdict.conflict is None else verdict.conflict.tolist()
        return Certificate.for_conflict(
            rows, classes, conflict, verdict.conflict_weights or ()
        )

    return certify
