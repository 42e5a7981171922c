"""Does the maximum likelihood estimate exist? Separation of regressions, diagnosed."""

from linsep.diagnosis.batch import Batch, diagnose_many
from linsep.diagnosis.checking import (
    SeparationError,
    SeparationWarning,
    check_separation,
)
from linsep.diagnosis.diagnosing import diagnose
from linsep.diagnosis.influential import InfluentialRows, influential_rows
from linsep.diagnosis.record import Diagnosis

__all__ = [
    "Batch",
    "Diagnosis",
    "InfluentialRows",
    "SeparationError",
    "SeparationWarning",
    "check_separation",
    "diagnose",
    "diagnose_many",
    "influential_rows",
]
