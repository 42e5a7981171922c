"""Formulas from strangers: parsed, so that none runs code or grows without bound."""

from __future__ import annotations

import re
from collections.abc import Collection

from linsep.diagnosis.inputs.formulas import COUNTS
from linsep.input import InputError

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

    Each operation lists one product for each pair of terms of its two sides, and a
    power one for each choice of a term in each factor; these are counted, without the
    products that turn out equal. What is not a formula at all is left to formulaic.
    """
    left = [text for _, text in tokens].index("~") if ("operator", "~") in tokens else 0
    _Count(tokens[left + 1 :], formula).of_sum()


class _Count:
    """A bound on the number of terms of a formula, by recursive descent."""

    def __init__(self, tokens: list[tuple[str, str]], formula: str) -> None:
        self.texts = [text for _, text in tokens]
        self.at = 0
        self.formula = formula

    def of_sum(self) -> int:
        total = self._of_crossing()
        while self._took("+", "-"):
            total += self._of_crossing()
        return total

    def _of_crossing(self) -> int:
        total = self._of_interaction()
        while self._took("*"):
            other = self._of_interaction()
            total = self._bounded(total + other + total * other)
        return total

    def _of_interaction(self) -> int:
        total = self._of_power()
        while self._took(":"):
            total = self._bounded(total * self._of_power())
        return total

    def _of_power(self) -> int:
        total = self._of_atom()
        while self._took("**"):
            exponent = "".join(self.texts[self.at : self.at + 1])
            if not exponent.isdecimal() or not 1 <= int(exponent[:9]) <= MOST_POWER:
                raise InputError(
                    "a power in a formula on the command line must be a whole number "
                    f"from 1 to {MOST_POWER}, got {exponent!r} in {self.formula!r}"
                )
            self.at += 1
            total = self._bounded(total ** int(exponent))
        return total

    def _of_atom(self) -> int:
        """Count what is in parentheses; a column, transformed or not, is one term."""
        while self._took("+", "-"):
            pass
        is_call = not self._took("(")
        if is_call:
            self.at += 1
            if not self._took("("):
                return 1
        total = self.of_sum()
        self._took(")")
        return 1 if is_call else total

    def _took(self, *texts: str) -> bool:
        """Step over the next token if it is one of these."""
        if self.at < len(self.texts) and self.texts[self.at] in texts:
            self.at += 1
            return True
        return False

    def _bounded(self, total: int) -> int:
        if total > MOST_TERMS:
            raise InputError(
                f"the powers and interactions of a formula on the command line must "
                f"come to at most {MOST_TERMS:,} terms, got more in "
                f"{self.formula[:200]!r}; take fewer columns or a lower power"
            )
        return total


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
