"""Long sentences as lines that fit a page or a terminal."""

from __future__ import annotations

import re
import shutil
import sys

from linsep.printable import printable

# Columns of a page, unless a terminal says how many it has.
WIDTH = 88
NARROWEST = 40
INDENT = "    "
# What is not parted from the word before it: signs, and numbers; both are not parted
# from the word after them.
_BOUND = re.compile(r"[-+=<>*]{1,2}$|[-+(]?\d")
_BINDING = re.compile(r"[-+=<>*]{1,2}|\d[\d,]*")


def wrapped(line: str, width: int = WIDTH) -> str:
    """Break a sentence into lines, the further ones indented.

    Conditions such as "age >= 40" stay together if there is room on a line. Control
    characters, which names may hold, are escaped.

    Examples
    --------
    >>> print(wrapped("age >= 40 in 3 rows, all ill = 1, as ever and a day", 40))
    age >= 40 in 3 rows, all ill = 1,
        as ever and a day
    """
    line = printable(line)
    own = line[: len(line) - len(line.lstrip(" "))]
    lines: list[str] = []
    current = ""
    for unit in _units(line[len(own) :], width // 3):
        start = own + INDENT * bool(lines)
        if current and len(f"{start}{current} {unit}") > width:
            lines.append(start + current)
            current = unit
        else:
            current = f"{current} {unit}" if current else unit
    lines.append(own + INDENT * bool(lines) + current)
    return "\n".join(lines)


def width_of_terminal() -> int:
    """Return how many columns the terminal has; of a page, where there is none."""
    if not sys.stdout.isatty():
        return WIDTH
    return max(NARROWEST, shutil.get_terminal_size((WIDTH, 24)).columns)


def _units(text: str, most: int) -> list[str]:
    """Split a sentence into what stays on a line, of so many characters at most."""
    units: list[str] = []
    last = ""
    for word in text.split(" "):
        is_bound = bool(units) and (_BOUND.match(word) or _BINDING.fullmatch(last))
        if is_bound and len(units[-1]) + 1 + len(word) <= most:
            units[-1] += f" {word}"
        else:
            units.append(word)
        last = word
    return units
