"""Files, and frames with text or categories, read into a `Study`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Mask
from linsep.diagnosis.inputs.codings import Coding, coding_of
from linsep.diagnosis.inputs.design import rows_in_use, study_from
from linsep.diagnosis.inputs.families import OF_TIMES, WITH_INTERCEPT
from linsep.diagnosis.inputs.orders import Order
from linsep.diagnosis.inputs.refusals import require_column
from linsep.diagnosis.inputs.study import Factor, Study
from linsep.input import InputError
from linsep.input.files.table import Table
from linsep.input.frames import frame_of
from linsep.input.problem import tabulated
from linsep.input.row_names import (
    require_same_index,
    row_names_of,
    row_names_of_file,
)


def study_from_data(
    X: Any,
    y: Any,
    *,
    family: str,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    groups: Any = None,
    missing: str = "refuse",
    **options: Any,
) -> Study:
    """Read a design and an outcome; columns of text in a frame are factors.

    Of each the level with the most rows is the reference, without a column, but for the
    first of them where there is no intercept. The outcome, the weights and the groups
    of a conditional model may be columns of the frame, by their names.
    """
    require_same_index(X, "sample_weight", sample_weight)
    require_same_index(X, "groups", groups)
    options |= {"family": family, "fit_intercept": fit_intercept}
    if isinstance(groups, str):
        X, groups = _taken("groups", X, [groups])
        groups = groups.ravel()
    if isinstance(sample_weight, str):
        X, sample_weight = _taken("sample_weight", X, [sample_weight])
        sample_weight = sample_weight.ravel()
    options |= {"feature_names": feature_names, "sample_weight": sample_weight}
    options["groups"] = groups
    if family in OF_TIMES and isinstance(y, list | tuple) and isinstance(y[0], str):
        options["outcome_name"] = y[-2]
        X, y = _taken("y", X, y)
    present = _present(y, family, sample_weight)
    has_constant = _has_constant(family, fit_intercept)
    table, outcome = tabulated(X, y, has_constant, missing, present)
    if table is None:
        return study_from(X, y, **options)
    options["row_names"] = row_names_of(X)
    name = table.target or (y if isinstance(y, str) else None)
    options["outcome_name"] = options.get("outcome_name") or name
    return study_from_table(table, outcome, **options)


def _taken(role: str, X: Any, names: Sequence[str]) -> tuple[Any, NDArray[Any]]:
    """Take columns out of a frame; return the rest, and them."""
    found = frame_of(X)
    for name in names:
        require_column(name, [] if found is None else found[1], role)
    assert found is not None
    frame = found[0]
    return frame.drop(*names).to_native(), frame.select(names).to_numpy()


def study_from_file(
    path: str | os.PathLike[str],
    target: str | int | None,
    *,
    weights: str | None = None,
    reading: dict[str, Any] | None = None,
    missing: str = "refuse",
    **options: Any,
) -> Study:
    """Read one column of a file as the outcome of all others but those dropped.

    Parameters
    ----------
    path, target, missing
        As of `linsep.read_table`.
    weights : str, optional
        The column of weights, which is no feature; the groups of a conditional model
        may be a column likewise.
    reading : dict, optional
        Other options of `linsep.input.files.Request`.
    **options
        As of `linsep.diagnosis.inputs.design.study_from`.
    """
    from linsep.input.files import Request, declared_order, read_labelled, read_request

    given = {"missing": missing} | (reading or {})
    layout = {k: v for k, v in given.items() if k not in ("drop", "missing")}
    beside = {"sample_weight": (weights, "--weights")}
    if isinstance(options.get("sample_weight"), str):
        beside["sample_weight"] = (options["sample_weight"], "sample_weight")
    if isinstance(options.get("groups"), str):
        beside["groups"] = (options["groups"], "groups")
    named = [name for name, _ in beside.values() if name is not None]
    for option, (name, role) in beside.items():
        if name is not None:
            request = Request(name, columns=(), role=role, **layout)
            options[option] = read_request(path, request).y
    family = options["family"]
    table, y = read_labelled(
        path,
        target,
        fit_intercept=_has_constant(family, options.get("fit_intercept")),
        present=_present(None, family, options.get("sample_weight")),
        **given | {"drop": (*given.get("drop", ()), *named)},
    )
    if family == "ordinal" and options.get("order") is None:
        declared = declared_order(path, str(table.target))
        options["order"] = declared and Order(*declared)
    options["row_names"] = row_names_of_file(path, target, **layout)
    return study_from_table(table, y, outcome_name=table.target, **options)


def study_from_table(
    table: Table,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    feature_names: Sequence[str] | None = None,
    **options: Any,
) -> Study:
    """Read a table and an outcome; weights and groups have one for each row given."""
    if feature_names is not None and table.levels:
        raise InputError(
            "feature_names name the columns of an array; a file, and a frame with "
            "text, have names of their own; leave feature_names out"
        )
    if table.rows is not None:
        options |= {"present": table.rows, "n_given": table.n_rows}
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight)[table.rows]
        if groups is not None:
            groups = np.asarray(groups)[table.rows]
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
        groups=groups,
        **options,
    )
    rows = study.present
    if table.rows is not None:
        rows = np.searchsorted(table.rows, rows)
    factors = {
        column: Factor.of_one(column, codes[rows], table.levels[column].levels)
        for column, codes in table.codes.items()
    }
    sentences = (*table.coding_notes, *table.notes)
    is_whole = any(of.reference is None for of in table.levels.values())
    return replace(
        study,
        factors=factors,
        has_constant=study.has_constant or is_whole,
        notes=tuple(f"{text[0].upper()}{text[1:]}." for text in sentences),
    )


def _has_constant(family: str, fit_intercept: object) -> bool:
    """Tell whether a reference level may go without a column."""
    return fit_intercept is None or bool(fit_intercept) or family not in WITH_INTERCEPT


def _present(y: Any, family: str, sample_weight: Any) -> Mask | None:
    """Return which rows count; None where all may."""
    counts = None if isinstance(y, str) else y
    if sample_weight is None and getattr(counts, "ndim", 1) != 2:
        return None
    sized: Any = counts if sample_weight is None else np.asarray(sample_weight)
    n = len(sized)
    return np.isin(np.arange(n), rows_in_use(counts, family, sample_weight, n))
