"""Numbers, names and lists as people write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linsep.diagnosis.families import INTERCEPT


def combination_text(terms: Sequence[tuple[str, Any]]) -> str:
    """Write a linear combination as people do.

    Examples
    --------
    >>> from fractions import Fraction
    >>> combination_text([("a", 1), ("b", Fraction(-1, 2)), ("intercept", 3)])
    'a - 1/2*b + 3'
    """
    text = ""
    for name, factor in terms:
        size = abs(factor)
        shown = str(size)
        if len(shown) > 12:
            shown = f"{float(size):.6g}"
        if name == INTERCEPT:
            term = shown
        else:
            term = name if size == 1 else f"{shown}*{name}"
        if not text:
            text = f"-{term}" if factor < 0 else term
        else:
            text += f" - {term}" if factor < 0 else f" + {term}"
    return text
