"""The ways to call `diagnose`, told apart."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from linsep.diagnosis.inputs.coded_frames import study_from_data
from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.families import family_named
from linsep.diagnosis.inputs.orders import Order
from linsep.diagnosis.inputs.study import Study
from linsep.input import InputError
from linsep.input.row_names import row_names_of_file


def study_of(given: Sequence[Any], **options: Any) -> Study:
    """Read a regression from the inputs of a call, whichever of the ways it is.

    Parameters
    ----------
    given : sequence
        ``(X, y)``, ``(formula, data)``, ``(path, target)``, ``(model,)`` or
        ``(estimator, X, y)``.
    **options
        ``family``, ``fit_intercept``, ``sample_weight``, ``feature_names``, ``order``
        and ``groups``; None where nothing was said.
    """
    if not given:
        raise InputError(
            "diagnose needs data: diagnose(X, y), diagnose('y ~ x', frame), or "
            "diagnose(model); got nothing"
        )
    first, *rest = given
    if not isinstance(first, str) and any(map(_is_formula, rest)):
        raise InputError(
            "a formula comes before its data, diagnose('y ~ x', data), got a "
            f"{type(first).__name__} first; did you swap the two?"
        )
    if _is_formula(first):
        from linsep.diagnosis.inputs.formulas import study_from_formula

        _expect(rest, 1, "diagnose('y ~ x', data): the formula and its frame")
        return study_from_formula(first, rest[0], **options)
    if _is_of_statsmodels(first) or (
        hasattr(first, "fit") and hasattr(first, "get_params")
    ):
        return study_from_model(first, *rest, **options)
    options["family"] = family_named(options["family"] or "binomial")
    if isinstance(first, str | os.PathLike):
        _expect(rest, 1, "diagnose(path, target): the file and its target column")
        return study_from_file(first, rest[0], **options)
    _expect(rest, 1, "diagnose(X, y): the design and the outcome")
    return study_from_data(first, rest[0], **options)


def study_from_file(
    path: str | os.PathLike[str],
    target: str | int,
    *,
    drop: Sequence[str | int] = (),
    header: bool | None = None,
    weights: str | None = None,
    **options: Any,
) -> Study:
    """Read one column of a file as the outcome of all others but those dropped.

    Parameters
    ----------
    path, target, drop, header
        As of `linsep.read_table`.
    weights : str, optional
        The column of weights, which is no feature; the groups of a conditional model
        may be a column likewise.
    **options
        As of `linsep.diagnosis.inputs.design.study_from`.
    """
    from linsep.input.files import declared_order, read_labelled, read_table

    groups = options.get("groups")
    beside = {"sample_weight": weights}
    if isinstance(groups, str):
        beside["groups"] = groups
    named = [name for name in beside.values() if name is not None]
    table, y = read_labelled(path, target, drop=[*drop, *named], header=header)
    for option, name in beside.items():
        if name is not None:
            column = read_table(path, name, columns=(), header=header)
            options[option] = column.y
    if options["family"] == "ordinal" and options.get("order") is None:
        declared = declared_order(path, str(table.target))
        options["order"] = declared and Order(*declared)
    options["feature_names"] = options.get("feature_names") or table.feature_names
    options["row_names"] = row_names_of_file(path, target, header)
    return study_from(table.X, y, outcome_name=table.target, **options)


def study_from_model(model: Any, *data: Any, **options: Any) -> Study:
    """Read a model of statsmodels, which holds its data, or one of scikit-learn."""
    if _is_of_statsmodels(model):
        from linsep.diagnosis.inputs.statsmodels_models import study_from_statsmodels

        _expect(data, 0, "diagnose(model): a statsmodels model holds its data")
        return study_from_statsmodels(model, **options)
    from linsep.diagnosis.inputs.sklearn_models import study_from_sklearn

    _expect(data, 2, "diagnose(estimator, X, y)")
    return study_from_sklearn(model, *data, **options)


def _is_formula(given: object) -> bool:
    """Tell whether an input is a formula."""
    return isinstance(given, str) and "~" in given


def _is_of_statsmodels(model: object) -> bool:
    """Tell whether an object's class, or one it is derived from, is statsmodels'."""
    modules = (kind.__module__ for kind in type(model).__mro__)
    return any(module.partition(".")[0] == "statsmodels" for module in modules)


def _expect(rest: Sequence[Any], count: int, form: str) -> None:
    """Check how many inputs came after the first."""
    if len(rest) != count:
        raise InputError(
            f"diagnose is called as {form}; got {len(rest) + 1} inputs in place of "
            f"{count + 1}"
        )
