"""What the columns of a design stand for: numbers, or levels of factors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# "g[T.b]", "C(g)[T.b]", "C(g, contr.sum)[S.a]". A level may hold brackets, but a name
# that reads as two such columns joined by a colon is an interaction.
_COLUMN = re.compile(
    r"(?P<term>C\(\s*(?P<inside>`[^`]+`|[^,()]+?)\s*(?:,(?P<contrast>.*))?\)"
    r"|(?P<plain>[^\[\]:()]+))\[(?P<mark>T\.)?(?P<level>(?:(?!\]:.*\[).)*)\]"
)


@dataclass(frozen=True)
class Coding:
    """What one column of a design stands for.

    Attributes
    ----------
    factor : str or None
        The factor whose main effect the column belongs to.
    levels : tuple of (str, str)
        Factors and levels: the column is 1 where each factor has its level, else 0.
        Empty for a column of numbers and for contrasts.
    has_reference : bool
        Whether the name says that another level has no column.
    is_contrast : bool
        Whether the name says that the factor is coded by contrasts.
    """

    factor: str | None = None
    levels: tuple[tuple[str, str], ...] = ()
    has_reference: bool = False
    is_contrast: bool = False


def coding_of(name: str) -> Coding:
    """Read a column's name as formulas write it; used where only names are known.

    Examples
    --------
    >>> coding_of("C(g, contr.sum)[S.a]").factor, coding_of("x:g[T.b]").factor
    ('g', None)
    >>> coding_of("g[T.b]:h[c]").levels, coding_of("colour=red").levels
    ((('g', 'b'), ('h', 'c')), (('colour', 'red'),))
    """
    whole = _COLUMN.fullmatch(name)
    if whole is not None:
        factor = (whole["inside"] or whole["plain"]).strip().strip("`")
        contrast = bool(whole["contrast"])
        is_indicator = not contrast or "reatment" in whole["contrast"]
        levels = ((factor, whole["level"]),) if is_indicator else ()
        return Coding(factor, levels, bool(whole["mark"]), contrast)
    parts = [coding_of(part) for part in name.split(":")] if ":" in name else []
    if parts and all(part.factor is not None for part in parts):
        if all(part.levels for part in parts):
            return Coding(levels=tuple(pair for part in parts for pair in part.levels))
        return Coding()
    factor, equals, level = name.partition("=")
    if equals and factor and level and "(" not in name:
        return Coding(levels=((factor, level),))
    return Coding()


def factors_of(codings: Iterable[Coding], columns: Iterable[Any]) -> list[str]:
    """Return the columns of the data that are factors of some term, sorted."""
    named: set[str] = set()
    for coding in codings:
        named.update(factor for factor, _ in coding.levels)
        if coding.factor is not None:
            named.add(coding.factor)
    return sorted(named & set(columns))


def level_text(level: Any) -> str:
    """Write a level as people do: whole numbers without a point.

    Examples
    --------
    >>> level_text(2.0), level_text("2.0")
    ('2', '2.0')
    """
    if isinstance(level, float) and level.is_integer() and abs(level) < 2**53:
        return str(int(level))
    return str(level)
