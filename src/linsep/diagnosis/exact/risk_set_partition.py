r"""The partition of a Cox regression whose pairs are too many to be written down.

A recession direction ``w`` ranks the rows; a pair that it does not separate has equal
``x . w``, exactly. So once a direction is found, what is left is a Cox regression
again, in strata of equal ``x . w``, and the search goes on there: first single columns,
then Newton's method (`linsep.diagnosis.exact.partial_likelihood`), whose iterates run
off along a direction if there is one, and prove overlap if there is none.

A certificate of overlap is of few rows: their comparisons are among those of all. If
they overlap, every direction that meets all comparisons is zero on them, and so on
their span; if their rank is that of all, that is every comparison there is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask, no_index
from linsep.diagnosis.exact import demands
from linsep.diagnosis.exact.columns import Columns
from linsep.diagnosis.exact.large_columns import columns_of_any
from linsep.diagnosis.exact.ordered_partition import OrderedPartition
from linsep.diagnosis.exact.partial_likelihood import Spans, Sums, is_proved, sums_at
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.status import Estimate
from linsep.diagnosis.watch import Watch, require_time
from linsep.proof.exact import IntegerRows, integers_from, primitive
from linsep.rows import as_dense
from linsep.verified.reduction import Reduced
from linsep.verified.vectors import SparseVector

# Steps of Newton's method, and halvings of one.
MOST_STEPS, MOST_HALVINGS = 60, 30
# Iterates so long, in deviations of columns, may be running off.
LONG = 3.0
# Bits to which a direction is rounded.
BITS = (0, 1, 3, 6, 12)
# Directions at most, one after the other.
MOST_DIRECTIONS = 50
# Rows at random to start a certificate with, those added in a round, and rounds.
FIRST, EACH, MOST_PARTS = 200, 60, 60


@dataclass
class RiskSetPartition:
    """The search.

    Parameters
    ----------
    study : Study
        A Cox regression.
    columns : Columns
        Which of its columns are independent, those of `strata_beside` being last.
    watch : Watch
    """

    study: Study
    columns: Columns
    watch: Watch
    directions: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Take the independent columns, near zero."""
        d = len(self.study.names)
        self.kept = np.sort(self.columns.kept[self.columns.kept < d])
        X = as_dense(self.study.X).astype(np.float64)[:, self.kept]
        self.X = X
        spread = X.std(axis=0)
        spread[~(spread > 0)] = 1.0
        # Differences from the mean are off by one rounding; powers of two by none.
        self.powers = np.frexp(spread)[1]
        self.centred = np.ldexp(X - X.mean(axis=0), -self.powers)

    def run(self) -> tuple[OrderedPartition, dict[int, Estimate]]:
        """Part the rows, and decide the coefficients of the columns kept.

        Raises
        ------
        OutOfTime
        """
        strata = self.study.strata
        assert strata is not None
        while True:
            require_time(self.watch.is_over)
            direction = self._next(strata)
            if direction is None:
                break
            self.directions.append(direction)
            if len(self.directions) > MOST_DIRECTIONS:
                self._give_up()
            ranks, _ = self._ranks(direction)
            pairs = np.column_stack([strata, ranks])
            strata = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
        w = self._together()
        return self._partition(w), self._verdicts(w, strata)

    def _give_up(self, why: str = "rounding hides a direction") -> None:
        self.watch.give_up(
            "there are too many pairs at risk to be written down, and without them "
            f"{why}."
        )
        require_time(self.watch.is_over)

    def _next(self, strata: Index) -> list[int] | None:
        """Find a direction that separates some pairs, or prove that there is none."""
        sets = _spans(self.study, strata)
        if sets.risk_sets.n_sets == 0:
            return None
        for j in range(self.kept.size):
            unit = [int(k == j) for k in range(self.kept.size)]
            for sign in (1, -1):
                if self._separates([sign * value for value in unit], sets):
                    return [sign * value for value in unit]
        columns, _ = self._columns_within(strata)
        used = np.sort(columns.kept[columns.kept < self.kept.size])
        X = np.ascontiguousarray(self.centred[:, used])
        w = np.zeros(used.size)
        sums = sums_at(X, w, sets)
        for _ in range(MOST_STEPS):
            require_time(self.watch.is_over)
            if is_proved(X, sums, sets):
                return None
            w, sums, has_moved = self._stepped(X, w, sums, sets)
            if np.abs(w).max(initial=0.0) > LONG:
                found = self._snapped(w, used, sets)
                if found is not None:
                    return found
            if not has_moved:
                break
        self._give_up()
        return None

    def _columns_within(self, strata: Index) -> tuple[Columns, int]:
        """Tell the columns apart within strata, and return the rank.

        Of rows that are compared there; the others say nothing.
        """
        here = self.study.risk_sets(strata).is_compared
        d = self.kept.size
        if not here.any():
            return Columns(no_index(), np.ones(d, dtype=bool)), 0
        numbers = np.unique(strata[here], return_inverse=True)[1].reshape(-1)
        rows = demands.strata_beside(self.X[here], numbers)
        order = np.append(np.arange(d, rows.shape[1]), np.arange(d))
        rng = np.random.default_rng(0)
        found = columns_of_any(rows, order, rng, self.watch.is_over)
        if found.is_open:
            self._give_up("it is not known which columns are independent")
        return found, found.kept.size - (rows.shape[1] - d)

    def _stepped(
        self, X: Floats, w: Floats, sums: Sums, sets: Spans
    ) -> tuple[Floats, Sums, bool]:
        """Take a step of Newton's method; tell whether the likelihood grew."""
        try:
            step = np.linalg.solve(sums.hessian, sums.r)
        except np.linalg.LinAlgError:
            step = np.linalg.lstsq(sums.hessian, sums.r, rcond=1e-12)[0]
        for _ in range(MOST_HALVINGS):
            there = sums_at(X, w + step, sets)
            if np.isfinite(there.value) and there.value > sums.value:
                return w + step, there, True
            step = step / 2
        return w, sums, False

    def _snapped(self, w: Floats, used: Index, sets: Spans) -> list[int] | None:
        """Round an iterate that runs off to few bits, in the units of the data."""
        whole = np.zeros(self.kept.size)
        whole[used] = np.ldexp(w, -self.powers[used])
        for unit in (np.abs(w).max(), *np.sort(np.abs(w))[-4:-1][::-1]):
            for bits in BITS:
                # As deviations of columns, so that units do not matter.
                rounded = np.rint(np.ldexp(w / unit, bits))
                if not rounded.any():
                    continue
                whole[used] = np.ldexp(rounded, -self.powers[used])
                found = primitive(integers_from(whole))
                if self._separates(found, sets):
                    return found
        return None

    def _ranks(self, direction: list[int]) -> tuple[Index, list[Fraction]]:
        """Return the rank of each exact ``x . w``, and the distinct values."""
        values, power = self._exact(direction)
        distinct, ranks = np.unique(values, return_inverse=True)
        unit = Fraction(2) ** power
        numbers = [unit * Fraction(value) for value in distinct.tolist()]
        return ranks.reshape(-1).astype(np.intp), numbers

    def _exact(self, direction: list[int]) -> tuple[NDArray[Any], int]:
        """Return every ``x . w`` exactly, over a power of two."""
        used = [j for j, value in enumerate(direction) if value]
        part, w = self.X[:, used], [direction[j] for j in used]
        size = sum(map(abs, w)) * float(np.abs(part).max(initial=0.0))
        if size < 2**53 and (part == np.rint(part)).all():
            return np.asarray(part @ np.array(w, dtype=np.float64)), 0
        if len(used) == 1 and abs(w[0]) == 1:
            return np.asarray(part[:, 0] * w[0]), 0
        rows = IntegerRows.from_floats(part)
        least = int(rows.exponents.min())
        shifts = (rows.exponents - least).astype(object)
        return np.left_shift(rows.products(w).astype(object), shifts), least

    def _separates(self, direction: list[int], sets: Spans) -> bool:
        """Tell exactly whether a direction is >= 0 on all pairs and positive on one."""
        # Most are refuted by doubles.
        floats = np.array([float(value) for value in direction])
        z = self.X @ floats
        error = 1e-12 * (np.abs(self.X) @ np.abs(floats)).max(initial=0.0)
        cases, others = sets.facing(z)
        if (z[cases] < z[others] - 2 * error).any():
            return False
        ranks, _ = self._ranks(direction)
        least, most = sets.least_case(ranks), sets.largest(ranks)
        held = most >= 0
        if (least[held] < most[held]).any():
            return False
        turned = ranks.max() - ranks
        return bool((sets.least_case(turned) < sets.largest(turned))[held].any())

    def _together(self) -> list[int]:
        """Make one direction of all, each counting so much that it decides first."""
        whole = [0] * self.kept.size
        for direction in reversed(self.directions):
            if not any(whole):
                whole = direction
                continue
            _, first = self._ranks(direction)
            _, rest = self._ranks(whole)
            gap = min(b - a for a, b in pairwise(first))
            times = int((rest[-1] - rest[0]) / gap) + 1
            whole = [times * a + b for a, b in zip(direction, whole, strict=True)]
        return primitive(whole)

    def _partition(self, w: list[int]) -> OrderedPartition:
        """Tell which rows are compared by pairs that are all separated."""
        n, d = self.X.shape[0], self.columns.aliased.size
        entries = {int(j): value for j, value in zip(self.kept, w, strict=True)}
        stage = np.zeros(n + 1, dtype=np.intp)
        directions = []
        if any(w):
            directions.append(SparseVector.from_items(entries))
            stage[:n] = ~self._is_separated(w)
        reduced = Reduced(directions, stage, is_proved=True)
        return OrderedPartition(reduced, tuple(entries.get(j, 0) for j in range(d)))

    def _is_separated(self, w: list[int]) -> Mask:
        """Return which rows only strict pairs speak of, for a direction of them all."""
        spans = _spans(self.study)
        sets = spans.risk_sets
        ranks, _ = self._ranks(w)
        # A case alone at its time is not compared with itself.
        is_case = sets.case_of >= 0
        is_alone = is_case.copy()
        is_alone[is_case] = sets.n_cases[sets.case_of[is_case]] == 1
        last = np.where(is_alone, sets.leaves - 2, spans.last)
        last[last < sets.enters] = -1
        others = replace(spans, last=last)
        lowest = others.lowest(spans.least_case(ranks))
        separated = (last < 0) | (lowest > ranks)
        # A case must be above all who are compared with it: those who stay on, and
        # those who leave at its time.
        highest = others.largest(ranks)
        own = highest[sets.case_of[is_case]]
        separated[is_case] &= ranks[is_case] > own
        return np.asarray(separated)

    def _verdicts(self, w: list[int], strata: Index) -> dict[int, Estimate]:
        """Decide what the rank says, and one direction where there is no other.

        The rest is left undecided.
        """
        within, rank = self._columns_within(strata)
        n_free = self.kept.size - rank
        found = {}
        for k, (j, value) in enumerate(zip(self.kept.tolist(), w, strict=True)):
            if not within.aliased[k]:
                found[j] = Estimate.FINITE
            elif n_free == 1:
                found[j] = Estimate.PLUS if value > 0 else Estimate.MINUS
        return found


def _spans(study: Study, strata: Index | None = None) -> Spans:
    """Return in which risk sets rows are compared, within strata."""
    return Spans.of(study.risk_sets(strata), exact=study.family == "cox exact")


def proving_part(
    study: Study, rank: int | None, overlaps: Callable[[Study], Any]
) -> Any:
    """Find such rows of a regression that overlaps, from some that do not on.

    What separates few rows is refuted by pairs of other rows, which are added.

    Parameters
    ----------
    study : Study
    rank : int
        Of all comparisons.
    overlaps : callable
        Diagnoses a part of the regression.

    Returns
    -------
    Diagnosis or None
        Of the part; None if none was found that is small enough.
    """
    X, rng = as_dense(study.X).astype(np.float64), np.random.default_rng(0)
    spans = _spans(study)
    compared = np.flatnonzero(spans.risk_sets.is_compared)
    chosen = rng.choice(compared, min(FIRST, compared.size), replace=False)
    for _ in range(MOST_PARTS):
        chosen = np.unique(chosen)
        part = study.part(chosen)
        sets = part.risk_sets()
        if sets.n_pairs > demands.MOST_STACKED:
            return None
        more = rng.choice(compared, min(EACH, compared.size), replace=False)
        if sets.n_sets:
            answer = overlaps(part)
            if not answer.proved:
                return None
            if answer.direction is not None:
                more = _against(X @ answer.direction, spans)
            elif answer.rank == rank:
                return answer
            else:  # rows in which what is the same in the part differs
                is_same = np.array([*map(str, answer.estimates.values())]) == "aliased"
                more = np.append(more, _extremes(X[:, is_same], compared))
        if np.isin(more, chosen).all():
            return None
        chosen = np.append(chosen, more)
    return None


def _against(z: Floats, spans: Spans) -> Index:
    """Return the pairs of a case and a row at risk that a direction has the worst."""
    cases, others = spans.facing(z)
    worst = np.argsort(z[cases] - z[others], kind="stable")[: EACH // 2]
    return np.append(cases[worst], others[worst])


def _extremes(X: Floats, rows: Index) -> Index:
    """Return rows at both ends of every column."""
    order = rows[np.argsort(X[rows], axis=0, kind="stable")]
    return np.append(order[: EACH // 2].ravel(), order[-EACH // 2 :].ravel())
