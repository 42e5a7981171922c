"""The ways to call `diagnose`, told apart."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from linsep.diagnosis.inputs.coded_frames import study_from_data
from linsep.diagnosis.inputs.design import study_from
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
        ``family``, ``fit_intercept``, ``sample_weight`` and ``feature_names``; None
        where nothing was said.
    """
    if not given:
        raise InputError(
            "diagnose needs data: diagnose(X, y), diagnose('y ~ x', frame), or "
            "diagnose(model); got nothing"
        )
    first, *rest = given
    if isinstance(first, str) and "~" in first:
        from linsep.diagnosis.inputs.formulas import study_from_formula

        _expect(rest, 1, "diagnose('y ~ x', data): the formula and its frame")
        return study_from_formula(first, rest[0], **options)
    if _is_of_statsmodels(first) or (
        hasattr(first, "fit") and hasattr(first, "get_params")
    ):
        return study_from_model(first, *rest, **options)
    if options["family"] is None:
        options["family"] = "binomial"
    if options["fit_intercept"] is None:
        options["fit_intercept"] = True
    if isinstance(first, str | os.PathLike):
        from linsep.input.files import read_labelled

        _expect(rest, 1, "diagnose(path, target): the file and its target column")
        table, y = read_labelled(first, rest[0])
        options["feature_names"] = options["feature_names"] or table.feature_names
        study = study_from(table.X, y, outcome_name=table.target, **options)
        return replace(study, row_names=row_names_of_file(first, rest[0]))
    _expect(rest, 1, "diagnose(X, y): the design and the outcome")
    return study_from_data(first, rest[0], **options)


def study_from_model(model: Any, *data: Any, **options: Any) -> Study:
    """Read a model of statsmodels, which holds its data, or one of scikit-learn."""
    if _is_of_statsmodels(model):
        from linsep.diagnosis.inputs.statsmodels_models import study_from_statsmodels

        _expect(data, 0, "diagnose(model): a statsmodels model holds its data")
        return study_from_statsmodels(model, **options)
    from linsep.diagnosis.inputs.sklearn_models import study_from_sklearn

    _expect(data, 2, "diagnose(estimator, X, y)")
    return study_from_sklearn(model, *data, **options)


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
