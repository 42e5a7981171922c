"""Does the maximum likelihood estimate exist? Separation of regressions, diagnosed."""

from linsep.diagnosis.batch import Batch, Item
from linsep.diagnosis.diagnosing import diagnose, diagnose_formula, diagnose_model
from linsep.diagnosis.influential import InfluentialRows, influential_rows
from linsep.diagnosis.inputs.paired import pairs_from_rankings
from linsep.diagnosis.many_regressions import (
    diagnose_many,
    diagnose_outcomes,
    screen_columns,
)
from linsep.diagnosis.positivity import Positivity
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.separation_warning import (
    SeparationError,
    SeparationWarning,
    check_separation,
)
from linsep.diagnosis.status import DiagnosisStatus, Estimate
from linsep.diagnosis.watch import DiagnosisProgress

__all__ = [
    "Batch",
    "Diagnosis",
    "DiagnosisProgress",
    "DiagnosisStatus",
    "Estimate",
    "InfluentialRows",
    "Item",
    "Positivity",
    "SeparationError",
    "SeparationWarning",
    "check_separation",
    "diagnose",
    "diagnose_formula",
    "diagnose_many",
    "diagnose_model",
    "diagnose_outcomes",
    "influential_rows",
    "pairs_from_rankings",
    "screen_columns",
]
