"""`check_separation`: one line in a pipeline that warns, raises, or keeps quiet."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from linsep.diagnosis.diagnosing import Callback, diagnose
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.status import DiagnosisStatus
from linsep.input import InputError


class SeparationWarning(UserWarning):
    """A regression has no finite maximum likelihood estimate."""


class SeparationError(ValueError):
    """A regression has no finite maximum likelihood estimate.

    Attributes
    ----------
    diagnosis : Diagnosis
    """

    def __init__(self, message: str, diagnosis: Diagnosis | None = None) -> None:
        super().__init__(message)
        self.diagnosis = diagnosis


def check_separation(
    *inputs: Any,
    on_separation: str = "warn",
    X: Any = None,
    y: Any = None,
    data: Any = None,
    family: str | None = None,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    order: Sequence[Any] | None = None,
    groups: Any = None,
    time_limit: float | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Diagnosis:
    """Diagnose a regression, and warn or raise if it is separated.

    Parameters
    ----------
    *inputs
        A model, or whatever else `linsep.diagnose` takes.
    on_separation : {"warn", "raise", "ignore"}, default="warn"
        What to do about complete and quasi-complete separation. Collinearity alone is
        not separation.
    X, y, data, family, fit_intercept, sample_weight, feature_names, order, groups
        As of `linsep.diagnose`.
    time_limit, random_state, callback
        As of `linsep.diagnose`.

    Returns
    -------
    Diagnosis
        Whatever it says.

    Raises
    ------
    SeparationError
        If the data are separated and `on_separation` is "raise"; it carries the
        diagnosis.
    InputError
        As `linsep.diagnose`.

    Warns
    -----
    SeparationWarning
        If the data are separated and `on_separation` is "warn"; or if the time ran
        out.

    Examples
    --------
    >>> import linsep
    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> linsep.check_separation(X, y, on_separation="ignore").status.value
    'complete'
    >>> try:
    ...     linsep.check_separation(X, y, on_separation="raise")
    ... except linsep.SeparationError as error:
    ...     print(str(error).split(":")[0])
    Complete separation (binomial)
    """
    if on_separation not in ("warn", "raise", "ignore"):
        raise InputError(
            f"on_separation must be 'warn', 'raise' or 'ignore', got {on_separation!r}"
        )
    answer = diagnose(
        *inputs,
        X=X,
        y=y,
        data=data,
        family=family,
        fit_intercept=fit_intercept,
        sample_weight=sample_weight,
        feature_names=feature_names,
        order=order,
        groups=groups,
        time_limit=time_limit,
        random_state=random_state,
        callback=callback,
    )
    if on_separation == "ignore" or answer.status is DiagnosisStatus.OVERLAP:
        return answer
    if on_separation == "raise" and answer.proved:
        raise SeparationError(answer.summary(), answer)
    warnings.warn(answer.summary(), SeparationWarning, stacklevel=2)
    return answer
