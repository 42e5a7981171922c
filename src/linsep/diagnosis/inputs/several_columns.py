"""Outcomes of a formula that are several columns: ``cbind`` and ``Surv``."""

from __future__ import annotations

import re

from linsep.diagnosis.inputs.families import OF_TIMES
from linsep.input import InputError

# Outcomes of several columns: counts, and times to an event.
COUNTS = re.compile(
    r"\s*(?:cbind|Surv)\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*(?:,\s*([^,()]+?)\s*)?\)\s*"
)


def outcome_columns(counts: re.Match[str]) -> list[str]:
    """Return the columns of an outcome of several."""
    return [unquoted(name) for name in counts.groups() if name is not None]


def require_family(left: str, family: str) -> None:
    """Raise if times to an event are given to another family than theirs."""
    if left.startswith("Surv(") and family not in OF_TIMES:
        raise InputError(
            f"Surv() is the outcome of family='cox', got family={family!r}; say "
            "family='cox' (--family cox)"
        )


def unquoted(name: str) -> str:
    """Return the name of a column without the backticks around it."""
    name = name.strip()
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] == "`" else name
