"""Find the hyperplane that separates two classes, and prove it; or prove there is none.

The names below are the whole public contract. They are loaded when first used, so that
``import linsep`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linsep.classifier.displays import (
        ConvergenceDisplay,
        MarginDisplay,
        ProjectionDisplay,
    )
    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron
    from linsep.diagnosis import (
        Diagnosis,
        SeparationError,
        SeparationWarning,
        check_separation,
        diagnose,
        diagnose_formula,
        diagnose_many,
        diagnose_model,
        diagnose_outcomes,
        influential_rows,
        screen_columns,
    )
    from linsep.input import InputError
    from linsep.lab import datasets
    from linsep.largest_margin import max_margin
    from linsep.proof.certificate import Certificate
    from linsep.proof.checker import CertificateError
    from linsep.result import Pass, Separation, Status
    from linsep.separation import separate

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "CertificateError",
    "ConvergenceDisplay",
    "Diagnosis",
    "InputError",
    "MarginDisplay",
    "OptimisticPerceptron",
    "Pass",
    "ProjectionDisplay",
    "Separation",
    "SeparationError",
    "SeparationWarning",
    "Status",
    "__version__",
    "check_separation",
    "datasets",
    "diagnose",
    "diagnose_formula",
    "diagnose_many",
    "diagnose_model",
    "diagnose_outcomes",
    "influential_rows",
    "max_margin",
    "screen_columns",
    "separate",
]

_HOMES = {
    "Certificate": "linsep.proof.certificate",
    "CertificateError": "linsep.proof.checker",
    "ConvergenceDisplay": "linsep.classifier.displays",
    "Diagnosis": "linsep.diagnosis",
    "InputError": "linsep.input",
    "MarginDisplay": "linsep.classifier.displays",
    "OptimisticPerceptron": "linsep.classifier.optimistic_perceptron",
    "Pass": "linsep.result",
    "ProjectionDisplay": "linsep.classifier.displays",
    "Separation": "linsep.result",
    "SeparationError": "linsep.diagnosis",
    "SeparationWarning": "linsep.diagnosis",
    "Status": "linsep.result",
    "check_separation": "linsep.diagnosis",
    "diagnose": "linsep.diagnosis",
    "diagnose_formula": "linsep.diagnosis",
    "diagnose_many": "linsep.diagnosis",
    "diagnose_model": "linsep.diagnosis",
    "diagnose_outcomes": "linsep.diagnosis",
    "influential_rows": "linsep.diagnosis",
    "max_margin": "linsep.largest_margin",
    "screen_columns": "linsep.diagnosis",
    "separate": "linsep.separation",
}
_MODULES = ("datasets", "game", "perceptrons", "plotting")


def __getattr__(name: str) -> Any:
    """Load a public name at its first use (PEP 562)."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"linsep.{name}")
    else:
        raise AttributeError(f"module 'linsep' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(set(globals()) | set(__all__))
