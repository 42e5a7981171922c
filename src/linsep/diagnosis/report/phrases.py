"""Numbers, names and lists as people write them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from linsep.diagnosis.inputs.study import INTERCEPT, Study

# Long factors smaller than this, compared to the largest, are the rounding of others.
NOISE = 1e-14


def combination_text(terms: Sequence[tuple[str, Any]]) -> str:
    """Write a linear combination as people do.

    Examples
    --------
    >>> from fractions import Fraction
    >>> combination_text([("a", 1), ("b", Fraction(-1, 2)), ("intercept", 3)])
    'a - 1/2*b + 3'
    """
    text = ""
    largest = max((float(abs(factor)) for _, factor in terms), default=0.0)
    for name, factor in terms:
        size = abs(factor)
        shown = str(size)
        if len(shown) > 12 and float(size) < NOISE * largest:
            continue
        if len(shown) > 12:
            shown = f"{float(size):.6g}"
        term = name if size == 1 else f"{shown}*{name}"
        if name == INTERCEPT:
            term = shown
        if not text:
            text = f"-{term}" if factor < 0 else term
        else:
            text += f" - {term}" if factor < 0 else f" + {term}"
    return text or "0"


def rounded(factor: Fraction) -> Fraction:
    """Round to six digits; combinations leave out what is nothing beside the rest."""
    return Fraction(f"{float(factor):.6g}")


def number_text(value: float) -> str:
    """Write a number as short as it can be read back, whole numbers without a point.

    Examples
    --------
    >>> number_text(1.0), number_text(0.1), number_text(1e20)
    ('1', '0.1', '1e+20')
    """
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value))


def count_rows(n: int) -> str:
    """Count rows in words.

    Examples
    --------
    >>> count_rows(1), count_rows(1234)
    ('1 row', '1,234 rows')
    """
    return "1 row" if n == 1 else f"{n:,} rows"


def prediction(where: str, n_rows: int, outcome: str) -> str:
    """Say that rows have one outcome only.

    Examples
    --------
    >>> prediction("NV = 1", 13, "HG = 1")
    'NV = 1 in 13 rows, all HG = 1.'
    """
    return f"{where} in {count_rows(n_rows)}, all {outcome}."


def outcome_text(study: Study, level: int) -> str:
    """Name an outcome: "HG = 1", or for counts the column of the counts."""
    label = study.outcome.levels[level]
    if study.outcome.is_labels:
        return f"{study.outcome_name} = {label}"
    return str(label)


def listed(items: Sequence[str], most: int = 8) -> str:
    """List a few things, and say how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])} and {len(items) - most:,} more"
