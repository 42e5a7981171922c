"""Levels of a factor that hold one outcome only, whatever the factor's coding.

A reference level has no column of its own, and sum or Helmert columns are no level's
indicator. So levels are read from the data of the formula where they are at hand. Else
the reference of a treatment coding is told by what it is not, and the level of another
coding by its columns' values.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.factors import LEVEL_COLUMN, columns_of_factors
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.phrases import (
    listed,
    number_text,
    outcome_text,
    prediction,
)
from linsep.diagnosis.report.single_columns import Reason
from linsep.rows import as_dense

# Factors of more columns are not looked at without the data they came from.
MOST_COLUMNS = 200
# Levels of a contrast coding are told by the values of so many columns at most.
FEW_COLUMNS = 4


def level_reasons(study: Study, separated: NDArray[np.bool_]) -> list[Reason]:
    """Find the levels whose rows are all separated and all of one outcome."""
    found = []
    for factor, text, rows in _levels(study, separated):
        if not rows.any() or not separated[rows].all():
            continue
        outcome = _only_outcome(study, rows)
        if outcome is not None:
            sentence = prediction(text, int(rows.sum()), outcome)
            found.append(Reason(None, (sentence,), rows, factor, is_level=True))
    return found


def _levels(
    study: Study, separated: NDArray[np.bool_]
) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield factor, words and rows of each level that may be separated."""
    factors = columns_of_factors(study)
    if not factors:
        return
    for factor, columns in factors.items():
        values = study.factors.get(factor)
        if values is not None:
            number: dict[object, int] = {}  # levels of any kind, as they first occur
            codes = np.array([number.setdefault(v, len(number)) for v in values])
            n_left = np.bincount(codes[~separated], minlength=len(number))
            for level, k in number.items():
                if n_left[k] == 0:
                    yield factor, f"{factor} = {level}", np.equal(codes, k)
            continue
        matches = [LEVEL_COLUMN.fullmatch(study.names[j]) for j in columns]
        found = [match for match in matches if match is not None]
        if len(columns) > MOST_COLUMNS:
            continue
        block = study.X[:, columns]
        block = as_dense(block)
        if all(match["mark"] for match in found) and np.isin(block, (0.0, 1.0)).all():
            named = listed([match["level"] for match in found])
            words = f"{factor} other than {named} (the reference level)"
            yield factor, words, np.asarray((block == 0).all(axis=1))
        elif any(match["contrast"] for match in found) and len(columns) <= FEW_COLUMNS:
            cells, cell = np.unique(block, axis=0, return_inverse=True)
            for k, of_cell in enumerate(cells):
                words = " and ".join(
                    f"{study.names[j]} = {number_text(float(value))}"
                    for j, value in zip(columns, of_cell, strict=True)
                )
                yield factor, words, np.equal(cell.reshape(-1), k)


def _only_outcome(study: Study, rows: NDArray[np.bool_]) -> str | None:
    """Name the one outcome of these rows, or None: there are several."""
    held = np.flatnonzero(study.outcome.has[rows].any(axis=0))
    if held.size != 1:
        return None
    if study.family == "poisson":
        return f"{study.outcome_name} = 0" if held[0] == 0 else None
    return outcome_text(study, int(held[0]))
