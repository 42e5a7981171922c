"""Names and numbers as a terminal or a JSON text may hold them."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

# Control characters but for the line feed and the tab, and marks that turn the
# direction of a text: a terminal acts on them. Surrogates, which stand for bytes that
# are no UTF-8: no file takes them.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return a text with its control characters escaped, also as JSON has them.

    Examples
    --------
    >>> print(printable("red\x1b[31m"))
    red\u001b[31m
    """
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def exact_text(number: int | Fraction) -> str:
    """Write an exact number: "1/3"; also beyond 4,300 digits, where Python stops.

    Examples
    --------
    >>> exact_text(Fraction(-1, 3)), len(exact_text(10**5000))
    ('-1/3', 5001)
    """
    digits = f"{Decimal(number.numerator):f}"
    if number.denominator == 1:
        return digits
    return f"{digits}/{Decimal(number.denominator):f}"
