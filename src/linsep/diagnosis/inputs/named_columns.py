"""Columns of the design that an argument names, by themselves or by their factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.study import Study
from linsep.input import InputError
from linsep.input.errors import did_you_mean


def are_named(
    study: Study, wanted: Sequence[str] | str, argument: str
) -> NDArray[np.bool_]:
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
