"""Verdicts, and the public answers they become."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from linsep.arrays import Index, no_index
from linsep.input import Problem
from linsep.lazy import Lazy, LazyIfMade
from linsep.result import LargestMargin, Separation, Status
from linsep.rows import Rows, as_dense
from linsep.rows.blocks import BlockRows, at_rest
from linsep.search.hyperplane import Hyperplane
from linsep.search.limits import Effort, Interval, Monitor
from linsep.search.reasons import Reason

if TYPE_CHECKING:
    from linsep.proof.certificate import Certificate
    from linsep.report.shown_rows import ShownRows
    from linsep.verified.reduction import Reduced

Answer = TypeVar("Answer", bound=Separation)


class Verdict(NamedTuple):
    """How a search ended; exactly what the status says is proved.

    Attributes
    ----------
    status : Status
    message : str
        The sentence of the answer.
    hyperplane : Hyperplane or None
        That separates all rows.
    conflict : ndarray of int or None
        Rows, sorted, that no hyperplane separates.
    conflict_weights : tuple of int or None
        Positive weights under which they sum to zero.
    support : ndarray of int or None
        Rows that carry the largest margin, where that was sought.
    square : callable or None
        Settles the largest margin squared, exactly.
    reduced : Reduced or None
        The proof that no hyperplane separates, where no conflict was looked for.
    """

    status: Status
    message: str
    hyperplane: Hyperplane | None = None
    conflict: Index | None = None
    conflict_weights: tuple[int, ...] | None = None
    support: Index | None = None
    square: Callable[[], Fraction] | None = None
    reduced: Reduced | None = None

    @classmethod
    def undecided(cls, reason: str) -> Verdict:
        """Return the verdict of a search that had to end; see `Reason.text`."""
        return cls(Status.UNDECIDED, f"Undecided: {reason}.")

    @property
    def reason(self) -> str:
        """Why it is undecided, as the second half of a sentence."""
        return self.message.removeprefix("Undecided: ").removesuffix(".")

    @classmethod
    def separable(cls, hyperplane: Hyperplane) -> Verdict:
        """Return the verdict for a proved hyperplane."""
        return cls(
            Status.SEPARABLE,
            "Separable: the hyperplane has every row strictly on its side.",
            hyperplane,
        )

    @classmethod
    def inseparable(cls, rows: Index, weights: tuple[int, ...]) -> Verdict:
        """Return the verdict for a proved conflict, its rows in any order."""
        these = "this one row" if rows.size == 1 else f"these {rows.size} rows"
        named = sorted(zip(rows.tolist(), weights, strict=True))
        return cls(
            Status.INSEPARABLE,
            f"Inseparable: no hyperplane separates even {these}.",
            conflict=np.array([row for row, _ in named], dtype=np.intp),
            conflict_weights=tuple([int(weight) for _, weight in named]),
        )

    @classmethod
    def overlapping(cls, reduced: Reduced) -> Verdict:
        """Return the verdict of a reduction that proved rows to overlap."""
        n = int(reduced.overlapped.sum())
        return cls(
            Status.INSEPARABLE,
            f"Inseparable: {n:,} rows overlap, which one factorisation proves; fewer "
            "that would do were not looked for (minimal_conflict=True does).",
            reduced=reduced,
        )

    def renumbered(self, numbers: Index) -> Verdict:
        """Return the verdict with row ``i`` called ``numbers[i]``."""
        support = None if self.support is None else numbers[self.support]
        if self.conflict is None or self.conflict_weights is None:
            return self._replace(support=support)
        conflict = numbers[self.conflict]
        order = np.argsort(conflict)
        weights = tuple(self.conflict_weights[at] for at in order)
        return self._replace(
            conflict=conflict[order], conflict_weights=weights, support=support
        )


def answered(
    read: Callable[[], Problem],
    find: Callable[[Rows], Verdict],
    monitor: Monitor,
    record: type[Answer],
    fit_intercept: bool,
) -> Answer:
    """Read the data, search them, and put the verdict into a record, after Ctrl-C too.

    Parameters
    ----------
    read : callable
        Returns the problem.
    find : callable
        Returns the verdict on its rows.
    monitor : Monitor
        Of the search.
    record : type
        `Separation` or `LargestMargin`.
    fit_intercept : bool
        For the answer to Ctrl-C before the data were read.
    """
    problem = None
    try:
        problem = read()
        if len(problem.classes) == 1 and problem.fit_intercept:
            return one_class(problem, monitor.effort, record)
        rows = problem.rows
        if not isinstance(rows, BlockRows):
            told = find(rows), monitor.effort, monitor.interval, record
            return result_of(problem, *told)
        monitor.n_rows = rows.shape[0]
        with at_rest(rows):
            with rows.watched(monitor.read):
                verdict = find(rows)
            told = verdict, monitor.effort, monitor.interval, record
            return result_of(problem, *told)
    except KeyboardInterrupt:
        if problem is None:
            return interrupted(monitor.effort, record, fit_intercept)
        verdict = Verdict.undecided(Reason.INTERRUPTED.text())
        return result_of(problem, verdict, monitor.effort, monitor.interval, record)


def result_of(
    problem: Problem,
    verdict: Verdict,
    effort: Effort,
    interval: Interval,
    record: type[Answer],
) -> Answer:
    """Put a verdict, what it cost and the margin's bounds into a public record."""
    answer = record.__new__(record)
    # What is not among the fields is the class's default; a few rows are separated in
    # the time that setting all of them would take.
    fields = vars(answer)
    fields.update(
        status=verdict.status,
        message=verdict.message,
        classes=problem.classes,
        n_samples=problem.n_samples,
        n_features=problem.n_features,
        fit_intercept=problem.fit_intercept,
        margin_lower=interval.lower,
        margin_upper=interval.upper,
        n_passes=effort.n_passes,
        n_rounds=effort.n_rounds,
        trace=effort.trace,
        seconds=effort.seconds,
        feature_names=problem.feature_names,
        notes=problem.notes,
        _columns=problem.columns,
        _certificate=_certificate(problem, verdict),
        _shown=LazyIfMade(partial(_shown_rows, problem, verdict)),
    )
    if verdict.hyperplane is not None:
        fields.update(_hyperplane(problem, verdict.hyperplane))
    if verdict.conflict is not None and verdict.conflict_weights is not None:
        given = verdict.conflict, verdict.conflict_weights
        fields.update(_conflict(problem, *given))
    if record is LargestMargin and verdict.support is not None:
        square = None if verdict.square is None else LazyIfMade(verdict.square)
        support = np.sort(problem.given(verdict.support))
        fields.update(support=support, _square=square)
    return answer


def one_class(problem: Problem, effort: Effort, record: type[Answer]) -> Answer:
    """Answer for one class and an intercept: a constant decision, no hyperplane."""
    verdict = Verdict(
        Status.SEPARABLE,
        f"Separable: all rows are of one class ({problem.classes[0]}), which a "
        "constant decision gets right; there is no hyperplane to speak of.",
        Hyperplane(np.append(np.zeros(problem.n_features), 1.0)),
    )
    return result_of(problem, verdict, effort, Interval(lower=np.inf), record)


def not_asked(problem: Problem, nu: float) -> Separation:
    """Answer for a fit that was told its share: nothing is claimed."""
    verdict = Verdict.undecided(Reason.NOT_ASKED.text(nu))
    return result_of(problem, verdict, Effort(), Interval(), Separation)


def interrupted(effort: Effort, record: type[Answer], fit_intercept: bool) -> Answer:
    """Answer for Ctrl-C before the data were read: nothing is known of them."""
    return record(
        status=Status.UNDECIDED,
        message=Verdict.undecided(Reason.INTERRUPTED_READING.text()).message,
        classes=np.empty(0),
        n_samples=0,
        n_features=0,
        fit_intercept=fit_intercept,
        seconds=effort.seconds,
    )


def _hyperplane(problem: Problem, hyperplane: Hyperplane) -> dict[str, Any]:
    """Return the fields of a hyperplane."""
    w, width = hyperplane.w, problem.n_features
    return {
        "coef": w[:width],
        "intercept": float(w[width]) if problem.fit_intercept else 0.0,
        "exact_weights": hyperplane.exact,
    }


def _conflict(
    problem: Problem, conflict: Index, weights: tuple[int, ...]
) -> dict[str, Any]:
    """Return the fields of a conflict: its rows, their weights, values and labels."""
    given, total = conflict, sum(weights)
    if problem.present is not None:
        given = problem.given(conflict)
        order = np.argsort(given)
        given, conflict = given[order], conflict[order]
        weights = tuple(weights[at] for at in order)
    features = as_dense(problem.rows.features(conflict))
    names = problem.row_names
    return {
        "_conflict_names": Lazy(lambda: tuple(map(names.one, given))),
        "conflict": given,
        "conflict_rows": features.astype(np.float64, copy=False),
        "_late_conflict_weights": Lazy(
            lambda: tuple([Fraction(weight, total) for weight in weights])
        ),
        "_late_conflict_labels": Lazy(
            lambda: problem.classes[np.where(problem.rows.signs[conflict] > 0, -1, 0)]
        ),
    }


def _shown_rows(problem: Problem, verdict: Verdict) -> ShownRows | None:
    """Choose rows for a picture, the support or the conflict among them."""
    from linsep.report.shown_rows import shown_rows

    width, signs = problem.n_features, problem.rows.signs
    marked, marked_as = verdict.conflict, "rows in conflict"
    if marked is None:
        marked, marked_as = verdict.support, "support rows"
    plane = verdict.hyperplane
    fields = {} if plane is None else _hyperplane(problem, plane)

    def take(index: Index) -> Any:
        signed = problem.rows.take(index)[:, :width]
        if isinstance(signed, np.ndarray):
            return signed * signs[index][:, None]
        return signed.multiply(signs[index][:, None]).tocsr()

    return shown_rows(
        take,
        ((signs > 0) & (len(problem.classes) > 1)).astype(np.intp),
        tuple(map(str, problem.classes)),
        no_index() if marked is None else marked,
        marked_as,
        problem.given,
        problem.row_names.one,
        (fields["coef"], fields["intercept"]) if fields else None,
    )


def _certificate(problem: Problem, verdict: Verdict) -> Lazy[Certificate] | None:
    """Return the proof, to be made when it is first asked for."""
    rows, classes = problem.rows, problem.classes

    def certificate() -> Certificate:
        with at_rest(rows):
            return made()

    def made() -> Certificate:
        from linsep.proof.certificate import Certificate

        if verdict.hyperplane is not None:
            weights = verdict.hyperplane.integers()
            return Certificate.for_separator(rows, classes, weights)
        if verdict.reduced is not None:
            from linsep.verified.answers import ordered_certificate

            return ordered_certificate(rows, classes, verdict.reduced)
        conflict = [] if verdict.conflict is None else verdict.conflict.tolist()
        return Certificate.for_conflict(
            rows, classes, conflict, verdict.conflict_weights or ()
        )

    return None if verdict.status is Status.UNDECIDED else Lazy(certificate)
