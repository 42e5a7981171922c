"""Levels of a factor that hold one outcome only, whatever the factor's coding.

A reference level has no column of its own, and sum or Helmert columns are no level's
indicator. So levels are read from the data of the formula where they are at hand. Else
the reference of a treatment coding is told by what it is not, and the level of another
coding by its columns' values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.study import Factor, Study
from linsep.diagnosis.report.claims import Claim, Reason, claim_of, outcome_counts
from linsep.diagnosis.report.phrases import listed, number_text, value_text
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


def _is_telling(family: str, counts: NDArray[np.intp]) -> bool:
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

    def rows(self, code: int) -> NDArray[np.intp]:
        """Return the rows of a level, in order."""
        return self._order[self._ends[code] : self._ends[code + 1]]

    def other_rows(self, code: int) -> NDArray[np.intp]:
        """Return the rows of all other levels."""
        return np.flatnonzero(self.codes != code)


def level_reasons(
    study: Study,
    separated: NDArray[np.bool_],
    columns: Mapping[int, tuple[str, int]],
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
    study: Study,
    separated: NDArray[np.bool_],
    with_columns: set[tuple[str, int]],
) -> Iterator[tuple[str, str, NDArray[np.intp]]]:
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
