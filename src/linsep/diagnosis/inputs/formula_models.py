"""Fits that keep a formula and no design, of lifelines and pyfixest, read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linsep.diagnosis.inputs.refusals import refuse_said
from linsep.diagnosis.inputs.study import Study
from linsep.input import InputError

_SAYS_ITSELF = "a model of {} says itself what its {{}} is; leave it out"
_OF_PYFIXEST = {"Fepois": "poisson", "Felogit": "binomial", "Feprobit": "binomial"}


def study_from_lifelines(
    fitter: Any, data: Any, *, sample_weight: Any = None, **options: Any
) -> Study:
    """Read a fitted ``CoxPHFitter`` and the frame that it was fitted to.

    The fit knows the columns of times, events, entries, strata and weights, and its
    formula; it keeps no design.
    """
    from linsep.diagnosis.inputs.tables import study_from_data

    refuse_said(options, _SAYS_ITSELF.format("lifelines"))
    model = getattr(fitter, "_model", fitter)
    is_cox = type(model).__name__ == "SemiParametricPHFitter"
    if not is_cox or not hasattr(model, "duration_col"):
        raise InputError(
            "a model of lifelines must be a fitted CoxPHFitter with the baseline of "
            f"Breslow, got {type(fitter).__name__}; fit it, or call diagnose(X, y, "
            "family='cox') with the design"
        )
    strata = _listed(model.strata)
    times = [model.entry_col, model.duration_col, model.event_col]
    frame = data
    if model.event_col is None:  # all have the event
        times[-1] = "(event)"
        frame = frame.assign(**{"(event)": 1})
    times = [name for name in times if name is not None]
    beside = [model.weights_col, getattr(model, "cluster_col", None)]
    if model.weights_col is not None and sample_weight is None:
        sample_weight = frame[model.weights_col]
    frame = frame.drop(columns=[name for name in beside if name is not None])
    groups = frame.groupby(strata).ngroup().to_numpy() if strata else None
    shared = {"family": "cox", "sample_weight": sample_weight, "groups": groups}
    if isinstance(model.formula, str):
        from linsep.diagnosis.inputs.formulas import study_from_formula

        left = ", ".join(f"`{name}`" for name in times)
        formula = f"Surv({left}) ~ {model.formula.partition('~')[2] or model.formula}"
        study = study_from_formula(formula, frame, **shared)
    else:
        study = study_from_data(frame.drop(columns=strata), times, **shared)
    return replace(study, penalty=_penalty(model))


def study_from_pyfixest(
    fit: Any, data: Any = None, *, sample_weight: Any = None, **options: Any
) -> Study:
    """Read a fit of ``fepois`` or ``feglm``, by its formula.

    Parameters
    ----------
    fit : object
    data : frame, optional
        What was given to it; by default the rows that it was fitted to, without those
        that pyfixest left out as separated beforehand.
    """
    from linsep.diagnosis.inputs.formulas import study_from_formula

    refuse_said(options, _SAYS_ITSELF.format("pyfixest"))
    family = _OF_PYFIXEST.get(type(fit).__name__)
    if family is None:
        raise InputError(
            "a fit of pyfixest must be one of fepois, or of feglm with family 'logit' "
            f"or 'probit', got {type(fit).__name__}; of several fits give one, "
            "fits.fetch_model(0)"
        )
    frame = data
    notes: tuple[str, ...] = ()
    if frame is None:
        frame = getattr(fit, "_data", None)
        n_left_out = getattr(fit, "n_separation_na", None) or 0
        if n_left_out:
            notes = (
                f"pyfixest left {n_left_out:,} rows out as separated before it fitted, "
                "of which nothing is said here: diagnose(fit, frame) is about all.",
            )
    if frame is None:
        raise InputError(
            "a fit of pyfixest without its data, store_data=False, must be given with "
            "them: diagnose(fit, frame)"
        )
    if data is not None and fit._sample_split_var is not None:
        raise InputError(
            "a fit to a part of the data, split= or fsplit=, must be given alone, got "
            "a frame beside it; leave the frame out"
        )
    if fit._weights_name is not None and sample_weight is None:
        sample_weight = frame[fit._weights_name]
    study = study_from_formula(
        fit._fml, frame, family=family, sample_weight=sample_weight
    )
    return replace(study, notes=(*notes, *study.notes))


def _listed(strata: Any) -> list[str]:
    """Return the columns of strata."""
    if strata is None:
        return []
    is_several = isinstance(strata, Sequence) and not isinstance(strata, str)
    return list(strata) if is_several else [strata]


def _penalty(model: Any) -> str:
    """Say how a fit is penalised; "" if it is not."""
    size = model.penalizer  # of all columns, or of each
    return f"penalizer = {size}" if np.any(size) else ""
