"""Find the hyperplane that separates two classes, and prove it; or prove there is none.

The names below are the whole public contract. They are loaded when first used, so that
``import linsep`` stays quick.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers read; a test holds it equal to the table
    from linsep.chance import PermutationTest as PermutationTest
    from linsep.chance import capacity as capacity
    from linsep.chance import permutation_test as permutation_test
    from linsep.classifier.fit_warnings import FitWarning as FitWarning
    from linsep.classifier.optimistic_perceptron import (
        OptimisticPerceptron as OptimisticPerceptron,
    )
    from linsep.diagnosis import Batch as Batch
    from linsep.diagnosis import Diagnosis as Diagnosis
    from linsep.diagnosis import DiagnosisStatus as DiagnosisStatus
    from linsep.diagnosis import Estimate as Estimate
    from linsep.diagnosis import InfluentialRows as InfluentialRows
    from linsep.diagnosis import SeparationError as SeparationError
    from linsep.diagnosis import SeparationWarning as SeparationWarning
    from linsep.diagnosis import check_separation as check_separation
    from linsep.diagnosis import diagnose as diagnose
    from linsep.diagnosis import diagnose_formula as diagnose_formula
    from linsep.diagnosis import diagnose_many as diagnose_many
    from linsep.diagnosis import diagnose_model as diagnose_model
    from linsep.diagnosis import diagnose_outcomes as diagnose_outcomes
    from linsep.diagnosis import influential_rows as influential_rows
    from linsep.diagnosis import pairs_from_rankings as pairs_from_rankings
    from linsep.diagnosis import screen_columns as screen_columns
    from linsep.displays import ConvergenceDisplay as ConvergenceDisplay
    from linsep.displays import MarginDisplay as MarginDisplay
    from linsep.displays import ProjectionDisplay as ProjectionDisplay
    from linsep.hull import FeasibleWeights as FeasibleWeights
    from linsep.hull import Hull as Hull
    from linsep.hull import HullAnswer as HullAnswer
    from linsep.hull import feasible_weights as feasible_weights
    from linsep.hull import in_hull as in_hull
    from linsep.input import InputError as InputError
    from linsep.input.files import Table as Table
    from linsep.input.files import read_table as read_table
    from linsep.lab import datasets as datasets
    from linsep.largest_margin import max_margin as max_margin
    from linsep.proof.certificate import Certificate as Certificate
    from linsep.proof.checker import CertificateError as CertificateError
    from linsep.result import LargestMargin as LargestMargin
    from linsep.result import Progress as Progress
    from linsep.result import Separation as Separation
    from linsep.result import Status as Status
    from linsep.separation import separate as separate

__version__ = "0.1.0"

# The public names of each module; where they agree, the module itself.
_NAMES = {
    "chance": "PermutationTest capacity permutation_test",
    "classifier.fit_warnings": "FitWarning",
    "classifier.optimistic_perceptron": "OptimisticPerceptron",
    "datasets": "datasets",
    "diagnosis": (
        "Batch Diagnosis DiagnosisStatus Estimate InfluentialRows SeparationError "
        "SeparationWarning check_separation diagnose diagnose_formula diagnose_many "
        "diagnose_model diagnose_outcomes influential_rows pairs_from_rankings "
        "screen_columns"
    ),
    "displays": "ConvergenceDisplay MarginDisplay ProjectionDisplay",
    "hull": "FeasibleWeights Hull HullAnswer feasible_weights in_hull",
    "input": "InputError",
    "input.files": "Table read_table",
    "largest_margin": "max_margin",
    "proof.certificate": "Certificate",
    "proof.checker": "CertificateError",
    "result": "LargestMargin Progress Separation Status",
    "separation": "separate",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
# Modules with contracts of their own, loaded in the same way.
_MODULES = ("game", "perceptrons", "plotting")
# Names of 0.1.0 that have another name now.
_RENAMED = {"Pass": "Progress"}

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> object:
    """Load a public name at its first use (PEP 562)."""
    if name in _RENAMED:
        new = _RENAMED[name]
        text = f"linsep.{name} is deprecated, it is now linsep.{new}"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return __getattr__(new)
    if name in _MODULES or _HOMES.get(name) == name:
        value: object = import_module(f"linsep.{name}")
    elif name in _HOMES:
        value = getattr(import_module(f"linsep.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'linsep' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__, *_MODULES})
