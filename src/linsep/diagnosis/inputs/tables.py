"""Files, and frames with text or categories, read into a `Study`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linsep.diagnosis.inputs.codings import Coding, coding_of
from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.study import Factor, Study
from linsep.input import InputError
from linsep.input.files.table import Table
from linsep.input.problem import tabulated


def study_from_data(
    X: Any,
    y: Any,
    *,
    family: str,
    fit_intercept: bool,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    missing: str = "refuse",
) -> Study:
    """Read a design and an outcome; columns of text in a file or a frame are factors.

    Of each the level with the most rows is the reference, without a column, but for the
    first of them where there is no intercept.
    """
    options: dict[str, Any] = {"family": family, "fit_intercept": fit_intercept}
    has_constant = bool(fit_intercept) or family == "ordinal"
    name = y if isinstance(y, str) else None
    table, y = tabulated(X, y, has_constant, missing, sample_weight)
    if table is None:
        options |= {"feature_names": feature_names, "sample_weight": sample_weight}
        return study_from(X, y, **options)
    if feature_names is not None and table.levels:
        raise InputError(
            "feature_names name the columns of an array; a file, and a frame with "
            "text, have names of their own; leave feature_names out"
        )
    options |= {"outcome_name": table.target or name, "feature_names": feature_names}
    return study_from_table(table, y, sample_weight=sample_weight, **options)


def study_from_table(
    table: Table,
    y: Any,
    *,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    **options: Any,
) -> Study:
    """Read a table and an outcome; `sample_weight` has a weight for each row given."""
    if table.rows is not None:
        options |= {"present": table.rows, "n_given": table.n_rows}
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight)[table.rows]
    of_level = {
        name: Coding(column, ((column, level),), has_reference=of.reference is not None)
        for column, of in table.levels.items()
        for name, level in zip(of.names(column), of.coded, strict=True)
    }
    names = feature_names or table.feature_names
    study = study_from(
        table.X,
        y,
        feature_names=names,
        codings=[of_level.get(name) or coding_of(name) for name in names],
        sample_weight=sample_weight,
        **options,
    )
    rows = study.present
    if table.rows is not None:
        rows = np.searchsorted(table.rows, rows)
    factors = {
        column: Factor((column,), codes, _texts(table, column)).of_rows(rows)
        for column, codes in table.codes.items()
    }
    sentences = (*table.coding_notes, *table.notes)
    return replace(
        study,
        factors=factors,
        has_constant=any(of.reference is None for of in table.levels.values()),
        notes=tuple(f"{text[0].upper()}{text[1:]}." for text in sentences),
    )


def _texts(table: Table, column: str) -> tuple[tuple[str, ...], ...]:
    """Return the levels of a column as a factor has them."""
    return tuple((level,) for level in table.levels[column].levels)
