"""`check_separation`: one line in a pipeline that warns, raises, or keeps quiet."""

from __future__ import annotations

import warnings
from typing import Any

from linsep.diagnosis.diagnosing import diagnose
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.status import Kind
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
    *inputs: Any, on_separation: str = "warn", **options: Any
) -> Diagnosis:
    """Diagnose a regression, and warn or raise if it is separated.

    Parameters
    ----------
    *inputs
        A model, or whatever else `linsep.diagnose` takes.
    on_separation : {"warn", "raise", "ignore"}, default="warn"
        What to do about complete and quasi-complete separation. Collinearity alone is
        not separation.
    **options
        Passed to `linsep.diagnose`.

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
    answer = diagnose(*inputs, **options)
    if on_separation == "ignore" or answer.status is Kind.OVERLAP:
        return answer
    if on_separation == "raise" and answer.status is not Kind.UNDECIDED:
        raise SeparationError(answer.summary(), answer)
    warnings.warn(answer.summary(), SeparationWarning, stacklevel=2)
    return answer
