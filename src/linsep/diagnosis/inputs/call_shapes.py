"""The ways to call `diagnose`, told apart."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from linsep.diagnosis.inputs.families import PAIRED, family_named
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.inputs.tables import study_from_data, study_from_file
from linsep.input import InputError


def study_of(given: Sequence[Any], **options: Any) -> Study:
    """Read a regression from the inputs of a call, whichever of the ways it is.

    Parameters
    ----------
    given : sequence
        ``(X, y)``, ``(formula, data)``, ``(path, target)``, ``(model,)`` or
        ``(estimator, X, y)``.
    **options
        ``family``, ``fit_intercept``, ``sample_weight``, ``feature_names``, ``order``,
        ``groups`` and ``missing``; None where nothing was said.
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
        _require_no_missing(options)
        return study_from_formula(first, rest[0], **options)
    is_estimator = hasattr(first, "fit") and hasattr(first, "get_params")
    libraries = ("statsmodels", "lifelines", "pyfixest")
    if is_estimator or any(_is_of(first, library) for library in libraries):
        _require_no_missing(options)
        return study_from_model(first, *rest, **options)
    options["family"] = family_named(options["family"] or "binomial")
    if options["family"] in PAIRED:
        from linsep.diagnosis.inputs.paired import study_from_pairs

        if len(rest) > 1:
            _expect(rest, 1, "diagnose(pairs, results, family='paired')")
        return study_from_pairs(first, *rest, **options)
    options["missing"] = options.get("missing") or "refuse"
    if isinstance(first, str | os.PathLike):
        rest = rest or [None]  # a file that names its labels itself
        _expect(rest, 1, "diagnose(path, target): the file and its target column")
        return study_from_file(first, rest[0], **options)
    _expect(rest, 1, "diagnose(X, y): the design and the outcome")
    return study_from_data(first, rest[0], **options)


def _require_no_missing(options: dict[str, Any]) -> None:
    """Take `missing` out of the options of what handles missing values itself."""
    if options.pop("missing", None) is not None:
        raise InputError(
            "missing goes with diagnose(X, y) and diagnose(path, target); a formula "
            "leaves rows with missing values out, and a model has done so"
        )


def study_from_model(model: Any, *data: Any, **options: Any) -> Study:
    """Read a model of statsmodels, lifelines, or in scikit-learn's manner."""
    if _is_of(model, "lifelines"):
        from linsep.diagnosis.inputs.formula_models import study_from_lifelines

        _expect(data, 1, "diagnose(fitter, frame): lifelines keeps no design")
        return study_from_lifelines(model, *data, **options)
    if _is_of(model, "pyfixest"):
        from linsep.diagnosis.inputs.formula_models import study_from_pyfixest

        _expect(data[1:], 0, "diagnose(fit) or diagnose(fit, frame)")
        return study_from_pyfixest(model, *data, **options)
    if _is_of(model, "statsmodels"):
        from linsep.diagnosis.inputs.statsmodels_models import study_from_statsmodels

        _expect(data, 0, "diagnose(model): a statsmodels model holds its data")
        return study_from_statsmodels(model, **options)
    from linsep.diagnosis.inputs.sklearn_models import study_from_sklearn

    _expect(data, 2, "diagnose(estimator, X, y)")
    return study_from_sklearn(model, *data, **options)


def _is_formula(given: object) -> bool:
    """Tell whether an input is a formula."""
    return isinstance(given, str) and "~" in given


def _is_of(model: object, library: str) -> bool:
    """Tell whether an object's class, or one it is derived from, is a library's."""
    modules = (kind.__module__ for kind in type(model).__mro__)
    return any(module.partition(".")[0] == library for module in modules)


def _expect(rest: Sequence[Any], count: int, form: str) -> None:
    """Check how many inputs came after the first."""
    if len(rest) != count:
        raise InputError(
            f"diagnose is called as {form}; got {len(rest) + 1} inputs in place of "
            f"{count + 1}"
        )
