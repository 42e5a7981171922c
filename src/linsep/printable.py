"""Names and values as a terminal may show them."""

from __future__ import annotations

import re

# Control characters but for the line feed and the tab, and marks that turn the
# direction of a text: a terminal acts on them.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Return a text with its control characters escaped, also as JSON has them.

    Examples
    --------
    >>> print(printable("red\x1b[31m"))
    red\u001b[31m
    """
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
