"""The sentences of a diagnosis."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.exact.coefficients import Estimate
from linsep.diagnosis.exact.columns import Columns, is_nearly_collinear
from linsep.diagnosis.exact.demands import Demands
from linsep.diagnosis.exact.facial_reduction import Partition
from linsep.diagnosis.exact.merging import Groups
from linsep.diagnosis.inputs.study import INTERCEPT, Study
from linsep.diagnosis.report.chance import chance_sentence
from linsep.diagnosis.report.fewest_columns import Simplest
from linsep.diagnosis.report.levels import level_reasons
from linsep.diagnosis.report.single_columns import (
    Reason,
    outcome_text,
    reasons_of,
)
from linsep.diagnosis.report.texts import combination_text, count_rows, listed
from linsep.diagnosis.status import Kind
from linsep.rows import rows_from
from linsep.solvers.blas import calm_blas

# Reasons shown in full; the rest are counted.
MOST_REASONS = 6
# Beyond this many columns a direction is not written out.
MOST_TERMS = 8
# Factors beyond this are written relative to the largest, and rounded.
LONGEST_FACTOR = 10**6

_MODELS = {
    "binomial": "binomial",
    "poisson": "log link",
    "multinomial": "multinomial",
    "ordinal": "ordinal",
}


@dataclass(frozen=True)
class Story:
    """What there is to tell about one regression."""

    study: Study
    groups: Groups
    demands: Demands
    columns: Columns
    partition: Partition
    status: Kind
    without: dict[str, Estimate]
    collinear: dict[str, str]

    def message(self, separated: NDArray[np.bool_]) -> str:
        """Return the verdict in one sentence."""
        n, k = separated.size, int(separated.sum())
        model = _MODELS[self.study.family]
        if self.status is Kind.COMPLETE:
            return (
                f"Complete separation ({model}): the model can predict all "
                f"{count_rows(n)} perfectly, so no finite maximum likelihood estimate "
                "exists."
            )
        if self.status is Kind.QUASI_COMPLETE:
            what = (
                f"{k:,} of {count_rows(n)} can be predicted perfectly, the others "
                "cannot"
                if k
                else f"no row of {n:,} can be predicted perfectly, but some outcomes "
                "can be ruled out"
            )
            return (
                f"Quasi-complete separation ({model}): {what}; no finite maximum "
                "likelihood estimate exists."
            )
        whole = self.columns.rank == self.columns.aliased.size
        of_what = "" if whole else " of every coefficient that is identified"
        return (
            f"Overlap ({model}): no direction predicts any of the {count_rows(n)} "
            f"perfectly; the maximum likelihood estimate{of_what} exists."
        )

    def findings(self) -> tuple[str, ...]:
        """Return what was found besides."""
        found = []
        study, outcome = self.study, self.study.outcome
        n_absent = study.n_given - study.present.size - study.n_missing
        if n_absent:
            found.append(f"{count_rows(n_absent)} of weight zero counted as absent.")
        if study.n_missing:
            found.append(f"{count_rows(study.n_missing)} with missing values left out.")
        if outcome.levels.size == 1:
            found.append(
                f"One class only: every row has {outcome_text(study, 0)}, which a "
                "constant predicts."
            )
        elif self._is_one_outcome():
            found.append(f"Every row has {study.outcome_name} = 0.")
        n_distinct, n = self.groups.first.size, study.X.shape[0]
        if n_distinct < n:
            found.append(
                f"{n_distinct:,} distinct {'row' if n_distinct == 1 else 'rows'} of "
                f"columns among {count_rows(n)}."
            )
        found.extend(self._contradictions())
        if self.collinear:
            found.append(
                f"Collinear columns, a finding apart from separation: the design has "
                f"rank {self.columns.rank} of {self.columns.aliased.size}; "
                + "; ".join(
                    f"{name} = {text}"
                    for name, text in list(self.collinear.items())[:MOST_TERMS]
                )
                + (
                    f"; and {len(self.collinear) - MOST_TERMS:,} more"
                    if len(self.collinear) > MOST_TERMS
                    else ""
                )
                + "."
            )
        with calm_blas(len(self.study.names)):
            nearly = is_nearly_collinear(self.demands.rows, self.columns.kept)
        if nearly:
            found.append(
                "Nearly collinear: some columns differ from a combination of others by "
                "rounding only. The answers are about the numbers as given; if the "
                "collinearity is meant, leave one of the columns out."
            )
        return tuple(found)

    def _is_one_outcome(self) -> bool:
        """Tell whether all rows have the same class, or the count zero."""
        outcome = self.study.outcome
        if self.study.family == "poisson":
            return not outcome.has[:, 1].any()
        return outcome.levels.size == 1

    def _contradictions(self) -> list[str]:
        """Tell of equal rows with different outcomes."""
        outcome = self.study.outcome
        if outcome.levels.size < 2 or self.study.family == "poisson":
            return []
        n_groups = self.groups.first.size
        has = np.zeros((n_groups, outcome.levels.size), dtype=bool)
        for level in range(outcome.levels.size):
            has[self.groups.group[outcome.has[:, level]], level] = True
        mixed = has.sum(axis=1) > 1
        if not mixed.any():
            return []
        rows = np.flatnonzero(mixed[self.groups.group])
        if rows.size == int(mixed.sum()):  # each a group of counts of its own
            return [
                f"{count_rows(rows.size)} {'holds' if rows.size == 1 else 'hold'} "
                f"both outcomes (row {self.study.present[rows[0]]}, for example)."
            ]
        group = self.groups.group[rows[0]]
        first = self.study.present[np.flatnonzero(self.groups.group == group)[:2]]
        return [
            f"{count_rows(rows.size)} share all their columns with a row of another "
            f"outcome (rows {listed([str(i) for i in first])}, for example)."
        ]

    def sentences(self, separated: NDArray[np.bool_]) -> list[str]:
        """Return everything after the verdict."""
        lines: list[str] = []
        if self.status is not Kind.OVERLAP:
            with calm_blas(len(self.study.names)):
                reasons = self._reasons(separated)
                lines += self._reason_lines(reasons)
                lines += self._direction_lines(reasons, separated)
        lines += self.findings()
        lines += self._estimate_lines()
        lines += self._remedies(separated)
        return lines + self._chance()

    def _reasons(self, separated: NDArray[np.bool_]) -> list[Reason]:
        """Return the columns and levels that predict rows, most rows first.

        What a column says of a factor's levels in numbers gives way to the levels; a
        level gives way to a column that says as much of the same factor.
        """
        study = self.study
        levels = level_reasons(study, separated)
        singles = []
        for reason in reasons_of(study, self._has_constant()):
            assert reason.column is not None
            coding = study.codings[reason.column]
            own = [level.rows for level in levels if level.factor == coding.factor]
            if coding.levels or not own or (reason.rows & ~np.any(own, axis=0)).any():
                singles.append(reason)
        levels = [
            level
            for level in levels
            if not any(
                reason.column is not None
                and study.codings[reason.column].factor == level.factor
                and not (level.rows & ~reason.rows).any()
                for reason in singles
            )
        ]
        return sorted(singles + levels, key=lambda reason: -int(reason.rows.sum()))

    def _has_constant(self) -> bool:
        """Tell whether the columns make up for a constant."""
        if self.study.fit_intercept or self.study.family == "ordinal":
            return True
        from linsep.diagnosis.exact.columns import columns_of

        X = self.groups.X
        signs = np.ones(X.shape[0], dtype=np.int8)
        d = X.shape[1]
        order = np.arange(d + 1)
        rng = np.random.default_rng(0)
        with_one = columns_of(rows_from(X, signs, True), rng, order)
        return d not in with_one.kept

    def _reason_lines(self, reasons: list[Reason]) -> list[str]:
        """Say which single columns predict which rows."""
        lines = [
            sentence
            for reason in reasons[:MOST_REASONS]
            for sentence in reason.sentences
        ]
        more = reasons[MOST_REASONS:]
        columns = [self.study.names[r.column] for r in more if r.column is not None]
        if columns:
            lines.append(
                f"{len(columns):,} more "
                + ("column predicts" if len(columns) == 1 else "columns predict")
                + f" rows by {'itself' if len(columns) == 1 else 'themselves'}: "
                + listed(columns)
                + "."
            )
        n_levels = len(more) - len(columns)
        if n_levels:
            what = "level holds" if n_levels == 1 else "levels hold"
            lines.append(f"{n_levels:,} more {what} one outcome only.")
        return lines

    def _direction_lines(
        self, reasons: list[Reason], separated: NDArray[np.bool_]
    ) -> list[str]:
        """Say the simplest direction found."""
        covered = np.zeros(separated.size, dtype=bool)
        for reason in reasons:
            covered |= reason.rows
        best = reasons[0] if reasons else None
        whole = [r for r in reasons if not (separated & ~r.rows).any()]
        for reason in whole:
            if reason.column is not None:
                name = self.study.names[reason.column]
                return [f"The simplest direction found uses one column, {name}."]
        if whole:
            return ["No other row is separated."]
        if best is not None and not (separated & ~covered).any():
            return ["Together these predict all of the rows separated."]
        search = Simplest(self.demands, self.partition, self._intercepts())
        lines = []
        if best is not None:
            left = int((separated & ~covered).sum())
            others = "row is" if left == 1 else f"{left:,} rows are"
            lines.append(f"The other {others} predicted by columns together only.")
        else:
            some = search.separating_some()
            if some is not None and not search._same(some):
                lines.append(self._direction_text(some, "The simplest direction found"))
        everything = search.separating_all()
        lines.append(self._direction_text(everything, "A direction for all of them"))
        if not reasons and len(lines) == 1:
            lines = [self._direction_text(everything, "The simplest direction found")]
        return lines

    def _intercepts(self) -> NDArray[np.intp]:
        """Return the columns of intercepts and thresholds, which cost nothing."""
        slopes = set(self.study.names)
        free = [
            int(j)
            for name, j in zip(self.demands.names, self.demands.order, strict=True)
            if name not in slopes and (name.split(" [")[0] == INTERCEPT or "|" in name)
        ]
        return np.array(free, dtype=np.intp)

    def _direction_text(self, partition: Partition, subject: str) -> str:
        """Write a direction as a combination of columns, and what it does."""
        terms = [
            (name, Fraction(partition.w[int(j)]))
            for name, j in zip(self.demands.names, self.demands.order, strict=True)
            if partition.w[int(j)]
        ]
        free = set(self._intercepts().tolist())
        n_columns = sum(
            1
            for name, j in zip(self.demands.names, self.demands.order, strict=True)
            if partition.w[int(j)] and int(j) not in free
        )
        if n_columns == 0:
            constants = "thresholds" if self.study.family == "ordinal" else "intercept"
            verb = "predict" if constants == "thresholds" else "predicts"
            return f"No column is needed: the {constants} alone {verb} these rows."
        columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
        if len(terms) > MOST_TERMS:
            names = listed([name for name, _ in terms])
            return f"{subject} uses {columns}: {names}; see `direction`."
        moved = [term for term in terms if term[0] != INTERCEPT]
        moved += [term for term in terms if term[0] == INTERCEPT]
        n_rows = int(
            self.demands.separated_observations(
                partition.overlapped, self.groups.group, self.study.outcome.has
            ).sum()
        )
        largest = max(abs(factor) for _, factor in moved)
        about = ""
        if largest > LONGEST_FACTOR:
            # Long numbers mean as much relative to the largest, rounded.
            unit = max(abs(factor) for name, factor in moved if name != INTERCEPT)
            moved = [(name, _short(factor / unit)) for name, factor in moved]
            about = "about "
        text = combination_text(moved)
        return f"{subject} uses {columns}: {about}{text}{self._effect(n_rows)}"

    def _effect(self, n_rows: int) -> str:
        """Say what a combination does to the rows."""
        study = self.study
        name = study.outcome_name
        if study.family == "poisson":
            return (
                f" is 0 wherever {name} > 0, never positive where {name} = 0, and not "
                f"0 in {count_rows(n_rows)}."
            )
        if study.family == "binomial" and study.outcome.levels.size == 2:
            first, second = (outcome_text(study, k) for k in (0, 1))
            return (
                f" is never negative where {second}, never positive where {first}, and "
                f"not 0 in {count_rows(n_rows)}."
            )
        if n_rows == 0:
            return ", along which some outcomes are ruled out."
        is_are = "is" if n_rows == 1 else "are"
        return f", along which {count_rows(n_rows)} {is_are} predicted perfectly."

    def _estimate_lines(self) -> list[str]:
        """List the coefficients by verdict."""
        aliased = [
            name
            for name, j in zip(self.demands.names, self.demands.order, strict=True)
            if self.columns.aliased[j]
        ]
        lines = []
        words = {
            Estimate.PLUS: "Estimates that go to +inf",
            Estimate.MINUS: "Estimates that go to -inf",
            Estimate.UNDETERMINED: "Infinite or not, of a sign the data leave open",
            Estimate.FINITE: "Finite estimates",
            Estimate.UNDECIDED: "Not decided within the time limit",
        }
        for verdict, text in words.items():
            names = [
                name
                for name, found in self.without.items()
                if found is verdict and name not in aliased
            ]
            if names:
                lines.append(f"{text}: {listed(names, 12)}.")
        if aliased:
            lines.append(
                "Not identified, whatever the outcome (aliased): "
                f"{listed(aliased, 12)}."
            )
            decided = [
                f"{name} {self.without[name].value}"
                for name in aliased
                if name in self.without
            ]
            if decided:
                lines.append(
                    f"With {listed(list(self.collinear))} left out: "
                    f"{listed(decided, 12)}."
                )
        return lines

    def _remedies(self, separated: NDArray[np.bool_]) -> list[str]:
        """Name what is usually done, without choosing."""
        if self.status is Kind.OVERLAP:
            return []
        remedies = [
            "Firth's or another penalty (ridge, a weakly informative prior), which "
            "makes every estimate finite",
        ]
        if self.study.family in ("binomial", "multinomial"):
            remedies.append("exact (conditional) methods")
        if self.status is Kind.QUASI_COMPLETE and separated.any():
            remedies.append(
                "merging the levels or leaving out the columns that predict perfectly"
            )
            finite = [n for n, v in self.without.items() if v is Estimate.FINITE]
            if finite:
                remedies.append(
                    f"dropping the {count_rows(int(separated.sum()))} separated, which "
                    f"leaves the finite part as it is ({listed(finite)})"
                )
        elif self._is_one_outcome():
            remedies.append("data with another outcome too")
        else:
            remedies.append("fewer columns, or more data")
        return [f"Usual remedies, none chosen for you: {'; '.join(remedies)}."]

    def _chance(self) -> list[str]:
        """Say whether separation is informative at this size (binomial only).

        Cover's count is about complete separation, so of quasi-complete separation,
        which one rare level brings about under almost any labels, it says nothing.
        """
        study = self.study
        if study.family != "binomial" or study.outcome.levels.size < 2:
            return []
        if self.status is Kind.QUASI_COMPLETE:
            return []
        n, rank = int(self.groups.first.size), self.columns.rank
        positive = np.zeros(n, dtype=bool)
        positive[self.groups.group[study.outcome.has[:, 1]]] = True
        n_positive = int(positive.sum())
        overlaps = self.status is Kind.OVERLAP
        sentence = chance_sentence(n, rank, n_positive, overlaps)
        return [sentence] if sentence else []


def _short(factor: Fraction) -> Fraction:
    """Round to six digits; combinations leave out what is nothing beside the rest."""
    return Fraction(f"{float(factor):.6g}")
