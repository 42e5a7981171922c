"""Does the maximum likelihood estimate exist? Separation of regressions, diagnosed."""

from linsep.diagnosis.checking import (
    SeparationError,
    SeparationWarning,
    check_separation,
)
from linsep.diagnosis.diagnosing import diagnose
from linsep.diagnosis.record import Diagnosis

__all__ = [
    "Diagnosis",
    "SeparationError",
    "SeparationWarning",
    "check_separation",
    "diagnose",
]
