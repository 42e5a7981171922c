"""The fewest rows that stand in the way: of overlap, or of separation.

To restore overlap, all separated rows must go, and it is enough that they do: whatever
is left of them is still separated by the same direction. So that answer is exact.

To make the rest separable by removing as few rows as possible is NP-hard (it is the
maximum feasible subsystem problem; E. Amaldi & V. Kann, Theoretical Computer Science
147, 1995). A small set is found by a heuristic, and bounded from below by conflicts
that share no row: each of them must lose one.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.arrays import Index, Mask
from linsep.diagnosis.exact.columns import columns_of
from linsep.diagnosis.exact.quotient import Quotient
from linsep.diagnosis.inputs.call_shapes import study_of
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.pipeline import diagnose_study
from linsep.diagnosis.report.phrases import count_rows
from linsep.diagnosis.status import DiagnosisStatus
from linsep.diagnosis.watch import OutOfTime, Watch
from linsep.input import InputError, checked_seed, checked_time_limit
from linsep.printable import printable
from linsep.proof.answers import Conflict
from linsep.proof.exact import integers_from
from linsep.proof.signs import signs_of
from linsep.rows import as_dense, is_sparse, rows_from
from linsep.rows.equal_rows import merge_equal_rows
from linsep.rows.working_set import WorkingSet
from linsep.solvers.blas import calm_blas

# Conflicts looked for at most; each costs one solve.
MOST_CONFLICTS = 1000
# Rows called by name.
MOST_NAMED = 12
# Sets looked at by the search over conflicts.
MOST_NODES = 300


@dataclass(frozen=True)
class InfluentialRows:
    """Few rows whose removal changes the verdict.

    Attributes
    ----------
    goal : str
        ``"overlap"``: without them no row is separated. ``"separable"``: without them
        a hyperplane separates all rows.
    rows : ndarray of int
        The rows to remove, sorted. Removing them reaches the goal: that is proved.
        (For ``"overlap"`` on data separated completely these are all rows: no removal
        that leaves any row restores overlap.)
    lower_bound : int
        No fewer rows do: that is proved.
    is_fewest : bool
        Whether the two agree. For ``"separable"`` the set need not be the only one of
        its size; for ``"overlap"`` it is.
    method : str
        How the rows were found, in words.
    n_left : int
        Rows that remain.
    names : tuple
        What the first of them are called: by position, index or line.
    """

    goal: str
    rows: Index
    lower_bound: int
    method: str
    n_left: int
    names: tuple[object, ...] = ()

    @property
    def is_fewest(self) -> bool:
        """Whether no smaller set exists, for certain."""
        return self.rows.size == self.lower_bound

    def summary(self) -> str:
        """Say it in two sentences."""
        what = {
            "overlap": "leaves no separated row",
            "separable": "makes the data separable",
        }[self.goal]
        names = [printable(str(name)) for name in self.names or self.rows[:MOST_NAMED]]
        more = self.rows.size - len(names)
        shown = ", ".join(names) + (f" and {more:,} more" if more > 0 else "")
        if self.rows.size == 0:
            return f"Nothing need be removed: removing no row {what}."
        if self.goal == "overlap" and self.n_left == 0:
            return (
                "No removal restores overlap: every row is separated, and whatever is "
                "left of them still is."
            )
        if self.goal == "overlap":
            every = "it" if self.rows.size == 1 else "every one of them"
            bound = f"{every} must go (proved), so no other set is as small"
        elif self.is_fewest:
            bound = "no fewer do (proved), though other sets of this size may"
        else:
            bound = (
                f"at least {self.lower_bound} must go (proved); whether fewer than "
                f"{self.rows.size} do is open"
            )
        return (
            f"Removing {count_rows(self.rows.size)} ({shown}) {what}; {bound}.\n"
            f"Found by {self.method}."
        )

    def __repr__(self) -> str:
        """Show the goal and both bounds."""
        return (
            f"InfluentialRows(goal={self.goal!r}, n_rows={self.rows.size}, "
            f"lower_bound={self.lower_bound})"
        )


def influential_rows(
    *inputs: Any,
    goal: str = "auto",
    X: Any = None,
    y: Any = None,
    data: Any = None,
    family: str | None = None,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    order: Sequence[Any] | None = None,
    groups: Any = None,
    time_limit: float | None = None,
    random_state: int | None = None,
) -> InfluentialRows:
    """Find few rows whose removal restores overlap, or makes the data separable.

    Parameters
    ----------
    *inputs
        As for `linsep.diagnose`.
    goal : {"auto", "overlap", "separable"}, default="auto"
        "overlap" asks which rows to remove so that none of the rest is separated; the
        answer, all separated rows, is exact. "separable" (binomial only) asks which
        to remove so that the rest are separated completely; the answer is a heuristic
        with a proved lower bound. "auto" asks whichever is not so yet.
    X, y, data, family, fit_intercept, sample_weight, feature_names, order, groups
        As for `linsep.diagnose`.
    time_limit : float, optional
        Seconds for the diagnosis, and again for the search; what was proved by then
        is returned.
    random_state : int, optional
        Seed; None is 0.

    Returns
    -------
    InfluentialRows

    Raises
    ------
    InputError
        As `linsep.diagnose`, and if the data stayed undecided.

    References
    ----------
    J. W. Chinneck, "Fast heuristics for the maximum feasible subsystem problem",
    INFORMS Journal on Computing 13, 2001, doi:10.1287/ijoc.13.3.210.9632.

    Examples
    --------
    >>> import linsep
    >>> found = linsep.influential_rows([[0], [1], [2], [3], [0]], [0, 0, 1, 1, 1])
    >>> found.goal, found.rows.tolist(), found.is_fewest
    ('separable', [4], True)
    """
    if goal not in ("auto", "overlap", "separable"):
        raise InputError(f"goal must be 'auto', 'overlap' or 'separable', got {goal!r}")
    seconds = checked_time_limit(time_limit)
    seed = checked_seed(random_state)
    study = study_of(
        [*inputs, *(part for part in (data, X, y) if part is not None)],
        family=family,
        fit_intercept=fit_intercept,
        sample_weight=sample_weight,
        feature_names=feature_names,
        order=order,
        groups=groups,
    )
    answer = diagnose_study(study, Watch(seconds), seed)
    if not answer.proved:
        raise InputError(f"{answer.message} Without a verdict no row can be blamed.")
    if goal == "auto":
        goal = "separable" if answer.status is DiagnosisStatus.OVERLAP else "overlap"
    if goal == "overlap":
        return InfluentialRows(
            goal,
            answer.separated_rows,
            int(answer.separated_rows.size),
            "facial reduction",
            int(answer.overlapped_rows.size),
            _names(study, answer.separated_rows),
        )
    if study.family != "binomial" or not study.outcome.is_labels:
        raise InputError(
            "goal='separable' needs a binomial outcome with one label a row, got "
            f"family {study.family!r}"
        )
    search = _Search(study, seed, Watch(seconds))
    with calm_blas(len(study.names)):
        return search.run()


def _names(study: Study, rows: Index) -> tuple[object, ...]:
    """Return what the first of the rows are called."""
    return tuple(study.row_names.label(row) for row in rows[:MOST_NAMED].tolist())


class _Search:
    """Few rows to remove, and conflicts without a common row."""

    def __init__(self, study: Study, seed: int, watch: Watch) -> None:
        self.study = study
        groups = merge_equal_rows(study.X)
        # A distinct row stands once for each label it has.
        event = study.outcome.has[:, -1]
        key = 2 * groups.group + event
        self.kinds, first, self.kind_of_row = np.unique(
            key, return_index=True, return_inverse=True
        )
        self.counts = np.bincount(self.kind_of_row)
        signs = np.where(event[first], 1, -1).astype(np.int8)
        X = study.X[first]
        self.rows = rows_from(X, signs, study.fit_intercept)
        self.rng = np.random.default_rng(seed)
        order = np.arange(self.rows.shape[1])
        kept = columns_of(self.rows, self.rng, order).kept
        self.whole = Quotient.whole(self.rows, kept)
        self._stop = watch.is_over
        # Kinds that are rows of zeros, each a conflict by itself.
        every = abs(self.rows.take(np.arange(self.counts.size)))
        self.zero = np.flatnonzero(every.sum(1) == 0)

    def run(self) -> InfluentialRows:
        """Bound the number from below, then look for a small set."""
        lower = self._disjoint_conflicts()
        removed = self._small_set()
        lower, removed = self._deepened(lower, removed)
        chosen = np.isin(self.kind_of_row, np.flatnonzero(removed))
        return InfluentialRows(
            "separable",
            self.study.present[chosen],
            lower,
            "a heuristic (rows misplaced by soft margins, put back where possible; "
            "then a search over conflicts, as far as it went)",
            int((~chosen).sum()),
            _names(self.study, self.study.present[chosen]),
        )

    def _decided(self, index: Index) -> tuple[int, ...] | Conflict:
        """Separate the kinds of rows named, or find a conflict among them."""
        working = WorkingSet(
            self.rows, self.rng, among=index, dimension=self.whole.dimension
        )
        return self.whole.decide_among(index, working, self._stop)

    def _disjoint_conflicts(self) -> int:
        """Count conflicts that share no row."""
        left = self.counts.copy()
        bound = int(left[self.zero].sum())
        left[self.zero] = 0
        for _ in range(MOST_CONFLICTS):
            try:
                found = self._decided(np.flatnonzero(left))
            except OutOfTime:
                break
            if not isinstance(found, Conflict):
                break
            used = np.asarray(found.rows)
            spent = int(left[used].min())
            bound += spent
            left[used] -= spent
        return bound

    def _small_set(self) -> Mask:
        """Return kinds of rows without which the rest are separable."""
        everything = np.arange(self.counts.size)
        best = np.ones(self.counts.size, dtype=bool)
        for w in self._soft_margins():
            signs, _ = signs_of(self.rows, w, everything)
            removed = signs <= 0
            if self.counts[removed].sum() < self.counts[best].sum():
                best = removed
        best[self.zero] = True
        # Put rows back, those that cost most first, while the rest stay separable.
        candidates = np.flatnonzero(best)
        for kind in candidates[np.argsort(-self.counts[candidates], kind="stable")]:
            if kind in self.zero or self._stop():
                continue
            trial = best.copy()
            trial[kind] = False
            try:
                found = self._decided(np.flatnonzero(~trial))
            except OutOfTime:
                break
            if not isinstance(found, Conflict):
                best = trial
        return best

    def _deepened(self, lower: int, removed: Mask) -> tuple[int, Mask]:
        """Search for sets of ever more rows: every conflict must lose one of its own.

        A size searched to the end without success raises the lower bound.
        """
        self.nodes_left = MOST_NODES
        start = np.zeros(self.counts.size, dtype=bool)
        start[self.zero] = True
        base = int(self.counts[self.zero].sum())
        try:
            while lower < self.counts[removed].sum():
                found = self._within(start, lower - base)
                if found is not None:
                    return lower, found
                lower += 1
        except OutOfTime:
            pass
        return lower, removed

    def _within(self, removed: Mask, allowed: int) -> Mask | None:
        """Return a set with at most so many rows more, or None: there is none."""
        self.nodes_left -= 1
        if self.nodes_left < 0:
            raise OutOfTime
        found = self._decided(np.flatnonzero(~removed))
        if not isinstance(found, Conflict):
            return removed
        for kind in found.rows:
            if self.counts[kind] <= allowed:
                more = removed.copy()
                more[kind] = True
                answer = self._within(more, allowed - int(self.counts[kind]))
                if answer is not None:
                    return answer
        return None

    def _soft_margins(self) -> Any:
        """Yield hyperplanes that misplace few rows, as exact integers."""
        from sklearn.linear_model import LogisticRegression

        rows = self.rows
        signs = rows.signs
        yield tuple([0] * rows.shape[1])  # misplaces all: something to start from
        if np.unique(signs).size < 2:
            w = np.zeros(rows.shape[1])
            w[-1] = float(signs[0])
            yield tuple(integers_from(w))
            return
        X: Any = rows.features(slice(None))
        scale = as_dense(abs(X).max(axis=0)).ravel()
        scale = np.where(scale > 0, scale, 1.0)
        scaled = X.multiply(1.0 / scale).tocsr() if is_sparse(X) else X / scale
        for strength in (1e-2, 1.0, 1e2, 1e4):
            model = LogisticRegression(
                C=strength, fit_intercept=rows.fit_intercept, max_iter=200
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # convergence does not matter here
                model.fit(scaled, signs, sample_weight=self.counts)
            w = np.append(model.coef_[0] / scale, model.intercept_)
            yield tuple(integers_from(w[: rows.shape[1]]))
