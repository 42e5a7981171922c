"""What there is to tell about one regression, found once; sentences only word it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linsep.arrays import Index, Mask, no_index
from linsep.diagnosis.exact.columns import Columns, columns_of, is_nearly_collinear
from linsep.diagnosis.exact.demands import Demands, levels_of_groups
from linsep.diagnosis.exact.large_columns import columns_of_many
from linsep.diagnosis.exact.ordered_partition import AnyPartition, OrderedPartition
from linsep.diagnosis.inputs.families import OF_TIMES, PAIRED
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.claims import Reason, left_open
from linsep.diagnosis.report.fewest_columns import FewestColumns, WholeDirection
from linsep.diagnosis.report.levels import (
    cell_reasons,
    level_column_reasons,
    level_columns,
    level_reasons,
)
from linsep.diagnosis.report.single_columns import reasons_of
from linsep.diagnosis.status import DiagnosisStatus
from linsep.diagnosis.watch import Watch
from linsep.rows import as_dense, rows_from
from linsep.rows.equal_rows import Groups
from linsep.verified.parts import no_check

# Equal rows with several outcomes do not contradict each other.
COUNTED = ("poisson", "conditional poisson", *PAIRED, *OF_TIMES)
# Seconds of work at most for each kind of sentence, whoever else is working.
SECONDS_FOR_TEXT = 1.0


def budget_for_text(seconds_left: float) -> Watch:
    """Return a watch for one kind of sentence: a second, or what time is left."""
    if seconds_left < SECONDS_FOR_TEXT:
        return Watch(seconds_left)
    return Watch(SECONDS_FOR_TEXT, clock=time.process_time)


@dataclass(frozen=True, eq=False)
class Facts:
    """A regression diagnosed, and what is found in it when it is asked about.

    Attributes
    ----------
    study : Study
    groups : Groups
        Its equal rows.
    demands : Demands
    columns : Columns
        Which of them are independent.
    partition : Partition
        Of the rows of `demands`.
    seconds_left : float
        Of the time limit.
    """

    study: Study
    groups: Groups
    demands: Demands
    columns: Columns
    partition: AnyPartition
    seconds_left: float = np.inf

    @cached_property
    def status(self) -> DiagnosisStatus:
        """Whether all, some or no rows of the demands are separated."""
        n_held = self.demands.n_held
        of_rows = self.partition.overlapped[: self.demands.equal.size - n_held]
        if not of_rows.any():
            return DiagnosisStatus.COMPLETE
        if self.partition.overlapped.all():
            return DiagnosisStatus.OVERLAP
        return DiagnosisStatus.QUASI_COMPLETE

    @cached_property
    def separated(self) -> Mask:
        """Which of the observations present are separated."""
        return self.separated_by(self.partition)

    def separated_by(self, partition: AnyPartition) -> Mask:
        """Return which of the observations present a partition separates."""
        return self.demands.separated_observations(
            partition.overlapped, self.groups.group, self.study.outcome.has
        )

    @cached_property
    def levels_held(self) -> Mask:
        """Which levels of the outcome each distinct row holds."""
        return levels_of_groups(self.groups, self.study.outcome.has)

    @cached_property
    def contradictions(self) -> Index:
        """Rows of columns that were observed with more than one outcome."""
        if self.study.family in COUNTED:
            return no_index()
        is_mixed = self.levels_held.sum(axis=1) > 1
        return np.flatnonzero(is_mixed[self.groups.group])

    @property
    def is_mixed_within_rows(self) -> bool:
        """Whether each contradictory row holds several outcomes by itself."""
        n_mixed = int((self.levels_held.sum(axis=1) > 1).sum())
        return n_mixed == self.contradictions.size

    @property
    def alike(self) -> Index:
        """Two rows of equal columns and different outcomes, of those there are."""
        group, first = self.groups.group, self.contradictions[0]
        has = self.study.outcome.has
        alike = np.flatnonzero(group == group[first])
        is_other = (has[alike] != has[alike[0]]).any(axis=1)
        return np.array([alike[0], alike[np.argmax(is_other)]])

    @cached_property
    def conflict(self) -> Index:
        """Rows of two classes that no direction predicts, by themselves; may be none.

        They are those of the first conflict found, if nothing came before it.
        """
        partition, demands = self.partition, self.demands
        is_plain = self.study.family == "binomial" and self.study.outcome.is_labels
        if (
            not is_plain
            or self.study.held is not None
            or isinstance(partition, OrderedPartition)
        ):
            return no_index()
        if demands.equal.any():
            return self.alike
        if not partition.conflicts:
            return no_index()
        return np.sort(self.groups.first[np.array(partition.conflicts[0].rows)])

    @cached_property
    def is_nearly_collinear(self) -> bool:
        """Whether columns are independent by rounding alone, as far as was looked."""
        if self.columns.is_well_conditioned:
            return False
        return bool(is_nearly_collinear(self.demands.rows, self.columns.kept))

    @cached_property
    def reasons(self) -> list[Reason]:
        """The columns, levels and cells that predict rows, most rows first.

        What a column says of a factor's levels in numbers gives way to the levels; a
        level gives way to a column that says as much of the same factor. Cells of
        crossed factors speak of rows that nothing else predicts. Of a conditional model
        there are none: a column tells rows apart within groups. Nor are there under a
        penalty matrix, which may not let go of a column, nor where a column has several
        effects.
        """
        if not self.study.is_by_columns:
            return []
        columns = self._level_columns
        levels = level_reasons(self.study, self.separated, columns)
        found, _ = self._single_columns
        found = found + level_column_reasons(self.study, columns)
        singles = []
        for reason in found:
            own = [level.predicted for level in levels if level.factor == reason.factor]
            if (
                reason.is_level
                or not own
                or np.setdiff1d(reason.predicted, np.concatenate(own)).size
            ):
                singles.append(reason)
        levels = [
            level
            for level in levels
            if not any(
                reason.factor == level.factor
                and not np.setdiff1d(level.predicted, reason.predicted).size
                for reason in singles
            )
        ]
        reasons = singles + levels
        cells = cell_reasons(
            self.study,
            self._unpredicted(reasons),
            self.separated,
            budget_for_text(self.seconds_left).is_over,
        )
        return sorted(reasons + cells, key=_most_told)

    @cached_property
    def told_reasons(self) -> list[Reason]:
        """The reasons but for cells within a level that is told already."""
        in_level: dict[str, Mask] = {}
        for reason in self.reasons:
            if reason.factor is not None and reason.is_level:
                told = in_level.setdefault(reason.factor, np.zeros_like(self.separated))
                told[reason.predicted] = True
        return [
            reason for reason in self.reasons if not self._is_within(reason, in_level)
        ]

    def _is_within(self, reason: Reason, told: dict[str, Mask]) -> bool:
        """Tell whether a cell lies in a level of one of its factors."""
        if reason.column is None or reason.predicted.size < reason.n_told:
            return False
        factors = [factor for factor, _ in self.study.codings[reason.column].levels]
        return len(factors) > 1 and any(
            told[name][reason.predicted].all()
            for name in factors
            if name in told and name != reason.factor
        )

    @cached_property
    def unpredicted(self) -> Mask:
        """The separated rows that the reasons, all taken together, do not predict."""
        return self._unpredicted(self.reasons)

    def _unpredicted(self, reasons: list[Reason]) -> Mask:
        open_rows = left_open(reasons, *self.study.outcome.has.shape)
        return np.asarray(self.separated & open_rows)

    @cached_property
    def whole_reason(self) -> Reason | None:
        """A reason that predicts all separated rows by itself; columns first."""
        n_separated = int(self.separated.sum())
        whole = [r for r in self.reasons if 0 < n_separated == r.predicted.size]
        return min(whole, key=lambda reason: reason.column is None, default=None)

    @cached_property
    def whole_column(self) -> int | None:
        """A column that predicts all separated rows, beside a constant that is one.

        Where the levels of a factor make up for a constant, a direction that takes it
        up uses their columns; then it must be that of a level, and of its rows alone.
        """
        reason = self.whole_reason
        if reason is None or reason.column is None:
            return None
        study = self.study
        if study.has_own_constant:
            return reason.column
        if as_dense(study.X[:1])[0, study.is_constant].any():
            return reason.column
        values = as_dense(study.X[:, [reason.column]]).ravel()
        own = np.array_equal(np.flatnonzero(values), reason.predicted)
        return reason.column if own and reason.is_level else None

    @property
    def is_every_column_tried(self) -> bool:
        """Whether there was time to look at all columns for one that predicts rows."""
        return not self.study.is_by_columns or self._single_columns[1]

    @cached_property
    def _single_columns(self) -> tuple[list[Reason], bool]:
        return reasons_of(
            self.study,
            self._has_constant,
            budget_for_text(self.seconds_left).is_over,
            list(self._level_columns),
        )

    @cached_property
    def _level_columns(self) -> dict[int, tuple[str, int]]:
        """The columns of levels, which are seen to by counts, beside a constant."""
        return level_columns(self.study) if self._has_constant else {}

    @cached_property
    def _has_constant(self) -> bool:
        """Whether the columns make up for a constant."""
        study = self.study
        if study.has_own_constant or study.has_constant:
            return True
        d = self.groups.X.shape[1]
        rows = rows_from(self.groups.X, fit_intercept=True)
        order = np.arange(d + 1)
        if self.columns.is_well_conditioned:
            found = columns_of_many(rows, order, no_check)
            return found is not None and d not in found.kept
        return d not in columns_of(rows, np.random.default_rng(0), order).kept

    @cached_property
    def fewest_columns(self) -> WholeDirection:
        """Directions of few columns, looked for in a second or what time is left."""
        if isinstance(self.partition, OrderedPartition):
            return WholeDirection(self.demands, self.partition)
        return FewestColumns(
            self.demands, self.partition, budget_for_text(self.seconds_left)
        )


def _most_told(reason: Reason) -> tuple[int, int, int]:
    """Order reasons by the rows they predict, then by those they tell something of."""
    column = sys.maxsize if reason.column is None else reason.column
    return -reason.predicted.size, -reason.n_told, column
