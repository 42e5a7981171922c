"""Columns that an argument names, by themselves or by their factor.

Those with several effects, and those with a penalty: along these no direction is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linsep.arrays import Mask
from linsep.diagnosis.inputs.study import Study
from linsep.input import InputError
from linsep.input.errors import did_you_mean


def are_named(study: Study, wanted: Sequence[str] | str, argument: str) -> Mask:
    """Tell which columns are named, or belong to a factor that is.

    Raises
    ------
    InputError
        If one of the names is of no column.
    """
    wanted = [wanted] if isinstance(wanted, str) else list(map(str, wanted))
    of_column = [
        {name, coding.factor, *(factor for factor, _ in coding.levels)}
        for name, coding in zip(study.names, study.codings, strict=True)
    ]
    for name in wanted:
        if not any(name in known for known in of_column):
            hint = did_you_mean(name, study.names)
            raise InputError(
                f"{argument} must name columns of the design, got {name!r}"
                f"{hint and '; '}{hint}"
            )
    return np.array([not known.isdisjoint(wanted) for known in of_column], dtype=bool)


def with_nominal(study: Study, nominal: Sequence[str] | str) -> Study:
    """Give columns of an ordinal model an effect of their own at each threshold.

    Raises
    ------
    InputError
        If the model is another, or one of them is no column.
    """
    if study.family != "ordinal" or study.held is not None:
        raise InputError(
            "nominal is for family='ordinal' without a penalty matrix, got "
            f"family={study.family!r}{'' if study.held is None else ' and one'}"
        )
    is_own = are_named(study, nominal, "nominal")
    if study.outcome.levels.size < 2:  # there is no threshold
        return study
    names = [name for name, own in zip(study.names, is_own, strict=True) if own]
    sentence = (
        f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} an effect at each "
        "threshold, so that rows bear on the thresholds next to their level alone. An "
        "estimate need not give every outcome of every row a probability above 0; a "
        "program that demands that may have none where this one exists."
    )
    return replace(study, nominal=frozenset(names), notes=(*study.notes, sentence))


def with_penalty(study: Study, penalised: Any) -> Study:
    """Hold the coefficients of columns, by their names or by a matrix."""
    shape = getattr(penalised, "shape", None)
    if shape is None and isinstance(penalised, Sequence) and len(penalised):
        shape = np.shape(penalised[0]) and np.shape(penalised)
    if shape is None or len(shape) != 2:
        return without_penalised(study, penalised)
    return _with_matrix(study, penalised)


def _with_matrix(study: Study, penalised: Any) -> Study:
    """Hold what a penalty matrix does not send to zero.

    Raises
    ------
    InputError
        If its columns are not those of the design.
    """
    whole = penalised.toarray() if hasattr(penalised, "toarray") else penalised
    held = np.asarray(whole, dtype=np.float64)
    d = len(study.names)
    if held.shape[1] != d or not np.isfinite(held).all():
        raise InputError(
            f"a penalty matrix must have a column for each of the {d} columns of the "
            f"design, the intercept left out, and finite numbers, got shape "
            f"{held.shape}; the columns are {', '.join(study.names[:8])}"
            f"{', ...' if d > 8 else ''}"
        )
    return replace(study, held=held, penalty="")


def without_penalised(study: Study, penalised: Sequence[str] | str) -> Study:
    """Leave out columns whose coefficients a penalty that grows without end holds.

    Along a direction that changes one of them the penalised likelihood falls for ever,
    so it has no maximum iff a direction of the other columns separates.

    Parameters
    ----------
    study : Study
    penalised : sequence of str
        Columns; or factors, for all of their levels.

    Raises
    ------
    InputError
        If one of them is no column, or none is left.
    """
    wanted = [penalised] if isinstance(penalised, str) else list(map(str, penalised))
    kept = np.flatnonzero(~are_named(study, wanted, "penalized"))
    if kept.size == 0 and not study.fit_intercept:
        raise InputError(
            "penalized must leave a column without a penalty, or an intercept: with "
            "all of them penalised the estimate exists"
        )
    part = study.part(np.arange(study.present.size), kept)
    told = ", ".join(wanted)
    are = "is" if len(wanted) == 1 else "are"
    sentence = (
        f"{told} {are} penalised: these estimates are finite, and what is said here is "
        "of directions that leave them as they are."
    )
    return replace(part, notes=(*study.notes, sentence), penalty="")
