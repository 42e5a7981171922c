"""Formulas from strangers: parsed, so that none runs code or grows without bound."""

from __future__ import annotations

import re
from collections.abc import Collection
from math import comb

from linsep.diagnosis.formulas import COUNTS
from linsep.validate import InputError

#: What a restricted formula may apply to a column.
TRANSFORMS = frozenset({"C", "log", "log2", "log10", "exp", "center", "scale"})

# The highest power of a sum, and the most terms a formula may come to.
MOST_POWER = 10
MOST_TERMS = 10_000

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`[^`]*`)|(?P<name>[^\W\d]\w*)|(?P<number>\d+)"
    r"|(?P<operator>\*\*|[-+:*~()]))"
)


def restricted(formula: str, columns: Collection[str]) -> str:
    """Return the formula, if it holds nothing that could run code.

    Parameters
    ----------
    formula : str
    columns : collection of str
        The names it may use. Names that are not identifiers stand in backticks.

    Raises
    ------
    InputError
        If it holds anything but names of columns, ``C()`` and the transforms in
        `TRANSFORMS` of one column, ``cbind(a, b)``, whole numbers and ``~ + - : * **``
        and parentheses, or if its powers and interactions are too many terms.

    Examples
    --------
    >>> restricted("y ~ x + C(group):x", {"y", "x", "group"})
    'y ~ x + C(group):x'
    """
    tokens = _tokens(formula)
    allowed = ", ".join(sorted(TRANSFORMS))
    for position, (kind, text) in enumerate(tokens):
        following = tokens[position + 1][1] if position + 1 < len(tokens) else ""
        if kind == "quoted" and text[1:-1] not in columns:
            raise InputError(_not_allowed(text, formula, allowed))
        if kind == "name" and following == "(":
            if text not in TRANSFORMS:
                raise InputError(_not_allowed(text + "(", formula, allowed))
            inside = tokens[position + 2 : position + 4]
            if (
                len(inside) < 2
                or inside[0][0] not in ("name", "quoted")
                or (inside[1][1] != ")")
            ):
                raise InputError(
                    f"{text}() must hold the name of one column in a formula on the "
                    f"command line, got {formula!r}"
                )
        elif kind == "name" and text not in columns:
            raise InputError(_not_allowed(text, formula, allowed))
    _require_few_terms(tokens, formula)
    return formula


def _require_few_terms(tokens: list[tuple[str, str]], formula: str) -> None:
    """Raise if powers and interactions multiply to more terms than can be listed.

    A sum of k columns, taken to a degree e, has at most ``comb(k, 1) + ... +
    comb(k, e)`` terms.
    """
    for addend in _addends(tokens):
        texts = [text for _, text in addend]
        degree = 1 + sum(text in ("*", ":") for text in texts)
        for at in [i for i, text in enumerate(texts) if text == "**"]:
            exponent = "".join(texts[at + 1 : at + 2])
            if not exponent.isdecimal() or not 1 <= int(exponent[:9]) <= MOST_POWER:
                raise InputError(
                    "a power in a formula on the command line must be a whole number "
                    f"from 1 to {MOST_POWER}, got {exponent!r} in {formula!r}"
                )
            degree *= int(exponent)
        n_names = sum(kind in ("name", "quoted") for kind, _ in addend)
        n_terms = 0
        for k in range(1, min(degree, n_names) + 1):
            n_terms += comb(n_names, k)
            if n_terms > MOST_TERMS:
                raise InputError(
                    f"a formula on the command line must have at most {MOST_TERMS:,} "
                    f"terms, got more in {formula!r}; take fewer columns or a lower "
                    "power"
                )


def _addends(tokens: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Cut the tokens at every + and - that is in no parentheses, and at ~."""
    addends: list[list[tuple[str, str]]] = [[]]
    depth = 0
    for kind, text in tokens:
        depth += (text == "(") - (text == ")")
        if text == "~" or (depth == 0 and text in ("+", "-")):
            addends.append([])
        else:
            addends[-1].append((kind, text))
    return addends


def _tokens(formula: str) -> list[tuple[str, str]]:
    """Cut a formula into tokens; ``cbind(a, b)`` before the tilde is taken first."""
    left, tilde, right = formula.partition("~")
    counts = COUNTS.fullmatch(left)
    tokens: list[tuple[str, str]] = []
    rest = formula
    if counts is not None and tilde:
        for name in counts.groups():
            tokens += [("quoted" if name[0] == "`" else "name", name)]
            tokens += [("operator", "+")]
        rest = "~" + right
    at = 0
    rest = rest.rstrip()
    while at < len(rest):
        match = _TOKEN.match(rest, at)
        if match is None:
            raise InputError(
                _not_allowed(
                    rest[at:].strip()[:1], formula, ", ".join(sorted(TRANSFORMS))
                )
            )
        kind = str(match.lastgroup)
        tokens.append((kind, match.group(kind)))
        at = match.end()
    return tokens


def _not_allowed(text: str, formula: str, allowed: str) -> str:
    return (
        "a formula on the command line may hold names of columns (in backticks if need "
        f"be), {allowed} of one column, cbind(a, b), ~ + - : * ** and parentheses, got "
        f"{text!r} in {formula!r}"
    )
