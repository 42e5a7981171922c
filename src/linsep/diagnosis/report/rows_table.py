"""The rows a diagnosis is about, as a table: name, outcome, the columns involved."""

from __future__ import annotations

from typing import Any

import numpy as np

from linsep.arrays import Index, no_index
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.facts import Facts
from linsep.diagnosis.report.levels import crossed_factors
from linsep.diagnosis.status import DiagnosisStatus
from linsep.rows import as_dense

# Columns shown of a design without names of its own factors.
MOST_COLUMNS = 12


def table_of_rows(facts: Facts) -> Any:
    """Return the separated rows, or those of a conflict where the data overlap.

    Returns
    -------
    DataFrame or dict of str to list
        A frame where one was given, with its index; else columns by name, the first,
        ``"row"``, the names of the rows.
    """
    study = facts.study
    chosen = np.flatnonzero(facts.separated)
    if facts.status is DiagnosisStatus.OVERLAP:
        chosen = facts.conflict
    columns = _columns_involved(facts)
    given = study.given.frame
    if given is not None and len(given) == study.n_given:
        names = _names_in_frame(facts, columns, given)
        made = given.iloc[study.present[chosen]][names].copy()
        if study.outcome_name not in names:
            made.insert(0, study.outcome_name, _outcomes(study, chosen))
        return made
    labels = [study.row_names.label(row) for row in study.present[chosen].tolist()]
    table: dict[str, list[Any]] = {"row": labels}
    table[study.outcome_name] = _outcomes(study, chosen)
    for column in columns:
        values = as_dense(study.X[chosen][:, [column]]).ravel()
        table[study.names[column]] = values.tolist()
    return table


def _columns_involved(facts: Facts) -> list[int]:
    """Return the columns that predict, or those of the direction, a few at most."""
    involved = [r.column for r in facts.reasons if r.column is not None]
    used: Index = no_index()
    if facts.status is not DiagnosisStatus.OVERLAP and facts.unpredicted.any():
        direction, _ = facts.fewest_columns.for_all
        used = facts.fewest_columns.columns_used(direction)
    n_columns = len(facts.study.names)
    width = n_columns + facts.study.fit_intercept
    if facts.study.family == "ordinal":
        common, own = facts.study.common_and_nominal
        n_thresholds = facts.demands.constants.size
        used = np.append(common, np.tile(own, n_thresholds))[used - n_thresholds]
    involved += (used % width).tolist()
    return list(dict.fromkeys(j for j in involved if 0 <= j < n_columns))[:MOST_COLUMNS]


def _names_in_frame(facts: Facts, columns: list[int], frame: Any) -> list[Any]:
    """Return the columns of a frame that columns of the design were made of.

    Cells and levels without a column stand for the factors that they name.
    """
    study = facts.study
    without = [reason for reason in facts.reasons if reason.column is None]
    named = {reason.factor for reason in without}
    if any(reason.factor is None for reason in without):
        named |= {name for names in crossed_factors(study) for name in names}
    for column in columns:
        coding = study.codings[column]
        named |= {study.names[column]} | {factor for factor, _ in coding.levels}
        named |= set() if coding.factor is None else {coding.factor}
    return [
        name for name in frame.columns if name in named or name == study.outcome_name
    ]


def _outcomes(study: Study, rows: Index) -> list[Any]:
    """Return the outcomes of rows as they were given; of counts both numbers."""
    if study.observed is not None:
        return list(study.observed[rows].tolist())
    return list(study.outcome.levels[study.outcome.has[rows].argmax(axis=1)].tolist())
