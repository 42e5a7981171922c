"""Frames with columns of text or categories: these become sparse columns of 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.codings import coding_of
from linsep.diagnosis.inputs.design import rows_in_use, study_from
from linsep.diagnosis.inputs.families import WITH_INTERCEPT
from linsep.diagnosis.inputs.fixed_effects import absorbed, beside
from linsep.diagnosis.inputs.strata import require_column
from linsep.diagnosis.inputs.study import Factor, Study
from linsep.input import InputError
from linsep.input.features import features_from
from linsep.input.files.categories import FEW_ROWS, most_levels
from linsep.rows import is_sparse


def study_from_data(
    X: Any,
    y: Any,
    *,
    family: str,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    order: object = None,
    groups: Any = None,
) -> Study:
    """Read a design and an outcome; columns of text in a frame are factors.

    Of each such column the level with the most rows is the reference, without a column,
    but for the first of them where there is no intercept. They come after the numbers.
    The groups of a conditional model may be a column of the frame.
    """
    frame = _narwhals(X)
    if isinstance(groups, str):
        require_column(groups, [] if frame is None else frame.columns)
        column, frame = frame[groups], frame.drop(groups)
        X, groups = frame.to_native(), column.to_numpy()
    options: dict[str, Any] = {
        "family": family,
        "fit_intercept": fit_intercept,
        "sample_weight": sample_weight,
        "order": order,
        "groups": groups,
    }
    text = [] if frame is None else _text_columns(frame)
    if not text:
        return study_from(X, y, feature_names=feature_names, **options)
    if feature_names is not None:
        raise InputError(
            "feature_names name the columns of an array; a frame with text has names "
            "of its own; leave feature_names out, or rename its columns"
        )
    n = len(frame)
    rows = rows_in_use(y, family, sample_weight, n)
    made = absorbed(
        [_factor(name, frame[name], rows) for name in text],
        rows,
        in_place_of_constant=fit_intercept is not None
        and not fit_intercept
        and family in WITH_INTERCEPT,
        title="Text and categories",
    )
    numbers = frame.drop(text)
    names: list[str] = []
    matrix: Any = np.empty((n, 0))
    if numbers.columns:
        matrix, own = features_from(numbers.to_native())
        names = list(own or ())
    study = study_from(
        beside(matrix, made.X, np.arange(n)),
        y,
        feature_names=[*names, *made.names],
        codings=[*map(coding_of, names), *made.codings],
        **options,
    )
    return made.told_in(study, study.present)


def _narwhals(X: Any) -> Any:
    """Return a frame of any library through narwhals; None for anything else."""
    if isinstance(X, np.ndarray | list | tuple) or is_sparse(X):
        return None  # before narwhals is loaded
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        return None
    return frame if isinstance(frame, nw.DataFrame) else None


def _text_columns(frame: Any) -> list[str]:
    """Return the names of the columns that hold text or categories."""
    import narwhals.stable.v2 as nw

    kinds = (nw.String, nw.Categorical, nw.Enum)
    return [
        name
        for name, kind in frame.schema.items()
        if isinstance(kind, kinds) and frame[name].null_count() < len(frame)
    ]


def _factor(name: str, column: Any, rows: NDArray[np.intp]) -> Factor:
    """Give the values of a column that occur in rows numbers, in sorted order."""
    n_missing = column.null_count()
    if n_missing:
        row = int(np.argmax(column.is_null().to_numpy().astype(bool)))
        raise InputError(
            f"X must have no missing values, got {n_missing} in column {name!r}, the "
            f"first in row {row}; fill them in, remove the rows, or leave the column "
            "out"
        )
    values = column.to_numpy()
    levels = np.unique(values[rows].astype(object))
    if levels.size > most_levels(len(values)) or levels.size == rows.size > FEW_ROWS:
        among = f"more than {most_levels(len(values)):,} different values"
        if levels.size == rows.size:
            among = f"another value in each of the {rows.size:,} rows"
        raise InputError(
            f"column {name!r} of X must hold numbers or a few categories, got the text "
            f"{str(levels[0])!r} among {among}; leave it out, or make it a fixed "
            f"effect of a formula, 'y ~ ... | {name}'"
        )
    number = {level: code for code, level in enumerate(levels.tolist())}
    codes = np.array(
        [number.get(value, -1) for value in values.tolist()], dtype=np.intp
    )
    return Factor((name,), codes, tuple((str(level),) for level in levels))
