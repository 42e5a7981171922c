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

from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.phrases import (
    listed,
    number_text,
    only_outcome,
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
        outcome = only_outcome(study, rows)
        if outcome is not None:
            sentence = prediction(text, int(rows.sum()), outcome)
            found.append(Reason(None, (sentence,), rows, factor, is_level=True))
    return found


def _levels(
    study: Study, separated: NDArray[np.bool_]
) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield factor, words and rows of each level that may be separated."""
    factors = _columns_of_factors(study)
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
        codings = [study.codings[j] for j in columns]
        if len(columns) > MOST_COLUMNS:
            continue
        block = study.X[:, columns]
        block = as_dense(block)
        is_binary = bool(np.isin(block, (0.0, 1.0)).all())
        if is_binary and all(c.has_reference and c.levels for c in codings):
            named = listed([coding.levels[0][1] for coding in codings])
            words = f"{factor} other than {named} (the reference level)"
            yield factor, words, np.asarray((block == 0).all(axis=1))
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
                yield factor, words, np.equal(cell.reshape(-1), k)


def _columns_of_factors(study: Study) -> dict[str, list[int]]:
    """Return each factor's columns."""
    columns: dict[str, list[int]] = {}
    for j, coding in enumerate(study.codings):
        if coding.factor is not None:
            columns.setdefault(coding.factor, []).append(j)
    return columns
