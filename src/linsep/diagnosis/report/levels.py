"""Levels of factors, and cells of crossed ones, that hold one outcome only.

A reference level has no column of its own, and sum or Helmert columns are no level's
indicator. So levels are read from the data of the formula where they are at hand. Else
the reference of a treatment coding is told by what it is not, and the level of another
coding by its columns' values.

An interaction has no column for a cell with a reference level: its indicator is a sum
of several. So cells are counted from the levels of the rows, as many cells as occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from linsep.arrays import Index, Mask
from linsep.diagnosis.inputs.study import Factor, Study
from linsep.diagnosis.report.claims import Claim, Reason, claim_of, outcome_counts
from linsep.diagnosis.report.phrases import listed, number_text, value_text
from linsep.diagnosis.watch import ShouldStop
from linsep.rows import as_dense

# Factors of more columns are not looked at without the data they came from.
MOST_COLUMNS = 200
# Levels of a contrast coding are told by the values of so many columns at most.
FEW_COLUMNS = 4


def level_columns(study: Study) -> dict[int, tuple[str, int]]:
    """Return the columns that indicate a level of a factor at hand: which level."""
    numbers = {
        name: {level: code for code, level in enumerate(factor.levels)}
        for name, factor in study.factors.items()
    }
    found = {}
    for j, coding in enumerate(study.codings):
        if coding.factor in numbers and coding.levels:
            texts = tuple(text for _, text in coding.levels)
            code = numbers[coding.factor].get(texts)
            if code is not None:
                found[j] = (coding.factor, code)
    return found


def level_column_reasons(
    study: Study, columns: Mapping[int, tuple[str, int]]
) -> list[Reason]:
    """Find the columns of levels that predict rows, beside a constant.

    They are those `linsep.diagnosis.report.single_columns.reasons_of` finds, told by
    the counts of outcomes in the levels: the rows of a level, or all others, are of one
    outcome only, or, of several classes, of all but one.
    """
    found: list[Reason] = []
    if study.outcome.levels.size < 2:
        return found
    tables = {name: _Table(study, factor) for name, factor in study.factors.items()}
    for column, (name, code) in columns.items():
        table = tables[name]
        inside = table.counts[code]
        if not inside.any():
            continue
        claims = []
        for value, counts in ((1.0, inside), (0.0, table.total - inside)):
            if _is_telling(study.family, counts):
                rows = table.rows(code) if value else table.other_rows(code)
                where = value_text(study, column, value)
                claims.append(Claim(where, rows, counts > 0))
        if claims:
            found.append(Reason(tuple(claims), column, name, is_level=True))
    return found


def _is_telling(family: str, counts: Index) -> bool:
    """Tell whether something follows for rows of which so many have each outcome."""
    held = np.flatnonzero(counts)
    if family == "poisson":
        return held.tolist() == [0]
    if family == "ordinal":  # one column cannot part a level in the middle
        return held.size == 1 and held[0] in (0, counts.size - 1)
    return 0 < held.size < counts.size


class _Table:
    """How many rows of each level of a factor have each outcome, and which they are."""

    def __init__(self, study: Study, factor: Factor) -> None:
        n_levels = len(factor.levels)
        self.codes = factor.codes
        self.counts = outcome_counts(factor.codes, n_levels, study.outcome.has)
        self.total = self.counts.sum(axis=0)
        self._order = np.argsort(factor.codes, kind="stable")
        sizes = np.bincount(factor.codes, minlength=n_levels)
        self._ends = np.append(0, np.cumsum(sizes))

    def rows(self, code: int) -> Index:
        """Return the rows of a level, in order."""
        return self._order[self._ends[code] : self._ends[code + 1]]

    def other_rows(self, code: int) -> Index:
        """Return the rows of all other levels."""
        return np.flatnonzero(self.codes != code)


def level_reasons(
    study: Study, separated: Mask, columns: Mapping[int, tuple[str, int]]
) -> list[Reason]:
    """Find levels whose rows are all separated and all of one outcome.

    Levels that `columns` indicate are left out: the columns speak of them.
    """
    found = []
    for factor, text, rows in _levels(study, separated, set(columns.values())):
        if rows.size == 0 or not separated[rows].all():
            continue
        claim = claim_of(text, rows, study.outcome)
        if claim.is_prediction:
            found.append(Reason((claim,), None, factor, is_level=True))
    return found


def _levels(
    study: Study, separated: Mask, with_columns: set[tuple[str, int]]
) -> Iterator[tuple[str, str, Index]]:
    """Yield factor, words and rows of each level that may be separated."""
    for factor, columns in _columns_of_factors(study).items():
        known = study.factors.get(factor)
        if known is not None:
            n_levels = len(known.levels)
            n_left = np.bincount(known.codes[~separated], minlength=n_levels)
            for code in np.flatnonzero(n_left == 0).tolist():
                if (factor, code) not in with_columns:
                    yield factor, known.text(code), np.flatnonzero(known.codes == code)
            continue
        codings = [study.codings[j] for j in columns]
        if len(columns) > MOST_COLUMNS:
            continue
        block = as_dense(study.X[:, columns])
        is_binary = bool(np.isin(block, (0.0, 1.0)).all())
        if is_binary and all(c.has_reference and c.levels for c in codings):
            named = listed([coding.levels[0][1] for coding in codings])
            words = f"{factor} other than {named} (the reference level)"
            yield factor, words, np.flatnonzero((block == 0).all(axis=1))
        elif (
            any(coding.is_contrast for coding in codings)
            and len(columns) <= FEW_COLUMNS
        ):
            cells, cell = np.unique(block, axis=0, return_inverse=True)
            for k, of_cell in enumerate(cells):
                words = " and ".join(
                    f"{study.names[j]} = {number_text(float(value))}"
                    for j, value in zip(columns, of_cell, strict=True)
                )
                yield factor, words, np.flatnonzero(cell.reshape(-1) == k)


def _columns_of_factors(study: Study) -> dict[str, list[int]]:
    """Return each factor's columns."""
    columns: dict[str, list[int]] = {}
    for j, coding in enumerate(study.codings):
        if coding.factor is not None:
            columns.setdefault(coding.factor, []).append(j)
    return columns


def crossed_factors(study: Study) -> list[tuple[str, ...]]:
    """Return the factors that terms cross and whose levels are known, fewest first."""
    crossed = {
        tuple(factor for factor, _ in coding.levels)
        for coding in study.codings
        if coding.factor is None and len(coding.levels) > 1
    }
    known = {names for names in crossed if all(n in study.factors for n in names)}
    return sorted(known, key=lambda names: (len(names), names))


def cell_reasons(
    study: Study, unexplained: Mask, separated: Mask, should_stop: ShouldStop
) -> list[Reason]:
    """Find the cells of one outcome whose rows are separated.

    Parameters
    ----------
    study : Study
    unexplained : ndarray of shape (n,), bool
        Separated rows for which no reason was found yet; cells without such a row, or
        whose rows a smaller crossing explains, are left out.
    separated : ndarray of shape (n,), bool
    should_stop : callable
        Asked before each crossing of factors.
    """
    found: list[Reason] = []
    left = unexplained.copy()
    for names in crossed_factors(study):
        if not left.any() or should_stop():
            break
        factors = [study.factors[name] for name in names]
        cell, n_cells = _cells(factors)
        counts = outcome_counts(cell, n_cells, study.outcome.has)
        is_pure = (counts > 0).sum(axis=1) == 1
        is_pure &= np.bincount(cell[~separated], minlength=n_cells) == 0
        is_pure &= np.bincount(cell[left], minlength=n_cells) > 0
        chosen = np.flatnonzero(is_pure[cell])
        chosen = chosen[np.argsort(cell[chosen], kind="stable")]
        starts = np.flatnonzero(np.diff(cell[chosen], prepend=-1))
        for rows in np.split(chosen, starts[1:]) if chosen.size else []:
            where = " and ".join(of.text(of.codes[rows[0]]) for of in factors)
            claim = Claim(where, rows, counts[cell[rows[0]]] > 0)
            found.append(Reason((claim,), is_level=True))
            left[rows] = False
    return found


def _cells(factors: list[Factor]) -> tuple[Index, int]:
    """Give each row the number of its cell, of those that occur."""
    cell, n_cells = np.zeros(factors[0].codes.size, dtype=np.intp), 1
    for factor in factors:
        both = cell * len(factor.levels) + factor.codes
        occurring, cell = np.unique(both, return_inverse=True)
        cell, n_cells = cell.reshape(-1), occurring.size
    return cell, n_cells
