"""Collinear columns in words: of which others each is a combination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linsep.diagnosis.exact.columns import Columns
from linsep.diagnosis.report.phrases import combination_text

if TYPE_CHECKING:
    from linsep.diagnosis.record import Diagnosis

# Columns written out, and the characters that a combination may have; longer ones stand
# in `collinear` alone.
MOST_WRITTEN = 8
LONGEST_TEXT = 300


def collinear(
    named_columns: Sequence[tuple[str, int]], columns: Columns
) -> dict[str, str]:
    """Write each column that adds nothing as a combination of earlier ones."""
    if columns.is_open:
        return {}
    names = {j: name for name, j in named_columns}
    kept = set(columns.kept.tolist())
    found = {}
    for name, j in named_columns:
        terms = columns.combinations.get(j)
        if j in kept:
            continue
        if terms is None:
            found[name] = "a combination of earlier columns"
            continue
        named = [(names[k], factor) for k, factor in terms.items() if k in names]
        parts = [combination_text(named)] if named else []
        if len(named) < len(terms):
            parts.append("a constant in each group")
        found[name] = " + ".join(parts) or "0"
    return found


def collinear_lines(answer: Diagnosis) -> list[str]:
    """Say which columns add nothing, and of which they are combinations."""
    if not answer.collinear:
        return []
    shown = [
        f"{name} = {text if len(text) <= LONGEST_TEXT else 'a longer combination'}"
        for name, text in answer.collinear.items()
    ]
    more = len(shown) - MOST_WRITTEN
    return [
        "Collinear columns, apart from separation: the design has rank "
        f"{answer.rank} of {len(answer.coefficient_names)}; "
        + "; ".join(shown[:MOST_WRITTEN] + [f"and {more:,} more"] * (more > 0))
        + "."
    ]
