"""Formulas from strangers: none runs code, and none grows without bound.

formulaic's own tokens are held against a list of what is allowed, and the number of
terms is bounded on its own syntax tree before any term is made.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from linsep.diagnosis.inputs.fixed_effects import named_factors, split_at_bar
from linsep.diagnosis.inputs.formula_data import require_formulaic
from linsep.diagnosis.inputs.formulas import sides_of
from linsep.diagnosis.inputs.refusals import no_such_column
from linsep.diagnosis.inputs.several_columns import COUNTS, outcome_columns, unquoted
from linsep.input import InputError

if TYPE_CHECKING:
    from formulaic.parser.types import Token

#: What a formula of a stranger may apply to a column.
TRANSFORMS = frozenset({"C", "log", "log2", "log10", "exp", "center", "scale"})

# The highest power of a sum, the most terms a formula may come to, how long and how
# deep it may be written, and the most fixed effects.
MOST_POWER = 10
MOST_TERMS = 10_000
MOST_CHARACTERS = 200_000
MOST_NESTED = 100
MOST_FACTORS = 100

_CALL = re.compile(r"([^\W\d]\w*)\(\s*([^\W\d]\w*|`[^`]*`)\s*\)")


def safe_formula(formula: str, columns: Collection[str]) -> str:
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
        and parentheses, and names joined by ``+`` and ``^`` after a ``|``, or if it is
        too long, too deep, or too many terms.

    Examples
    --------
    >>> safe_formula("y ~ x + C(group):x | year", {"y", "x", "group", "year"})
    'y ~ x + C(group):x | year'
    """
    require_formulaic()
    if len(formula) > MOST_CHARACTERS:
        raise InputError(
            "a formula on the command line must have at most "
            f"{MOST_CHARACTERS:,} characters, got {len(formula):,}; give a file of "
            "fewer columns with --target"
        )
    left, right = sides_of(formula)
    counts = COUNTS.fullmatch(left)
    if counts is None:
        _checked_tokens(left, formula, columns)
    else:
        for name in outcome_columns(counts):
            if name not in columns:
                raise InputError(no_such_column(name, columns, " on the command line"))
    terms, effects = split_at_bar(right)
    if effects is not None:
        n_factors = len(named_factors(effects, columns))
        if n_factors > MOST_FACTORS:
            raise InputError(
                "a formula on the command line must have at most "
                f"{MOST_FACTORS} fixed effects, got {n_factors:,} in {formula[:200]!r}"
            )
    _require_few_terms(_checked_tokens(terms, formula, columns), formula)
    return formula


def _checked_tokens(side: str, formula: str, columns: Collection[str]) -> list[Token]:
    """Cut one side of a formula into tokens, each of them allowed."""
    from formulaic.errors import FormulaSyntaxError
    from formulaic.parser.algos.tokenize import tokenize

    tokens: list[Token] = []
    depth, power = 0, False
    try:
        for token in tokenize(side):
            kind, text = token.kind.value, token.token
            if power and not (kind == "value" and _is_power(text)):
                raise InputError(_bad_power(text, formula))
            name = _column_of(kind, text)
            if name is not None and name not in columns:
                raise InputError(no_such_column(name, columns, " on the command line"))
            power = kind == "operator" and "**" in text
            if (power and text != "**") or not (name or _is_allowed(kind, text)):
                raise InputError(_not_allowed(text, formula))
            depth += {"(": 1, ")": -1}.get(text, 0) if kind == "context" else 0
            tokens.append(token)
            if depth > MOST_NESTED:
                raise InputError(
                    "a formula on the command line must nest its parentheses at most "
                    f"{MOST_NESTED} deep, got more in {formula[:200]!r}"
                )
    except FormulaSyntaxError as error:
        raise InputError(_not_allowed(side, formula)) from error
    return tokens


def _column_of(kind: str, text: str) -> str | None:
    """Return the column that a token names, plain or in a transform; else None."""
    call = _CALL.fullmatch(text) if kind == "python" else None
    if call is not None and call[1] in TRANSFORMS:
        return unquoted(call[2])
    return text if kind == "name" else None


def _is_allowed(kind: str, text: str) -> bool:
    """Tell whether a token that is no column cannot run code."""
    if kind == "value":
        return text.isdecimal()
    return kind != "python" and set(text) <= set("+-:*" if kind == "operator" else "()")


def _is_power(text: str) -> bool:
    return text.isdecimal() and 1 <= int(text[:9]) <= MOST_POWER


def _require_few_terms(tokens: Iterable[Token], formula: str) -> None:
    """Raise if powers and interactions multiply to more terms than can be listed.

    Each operation lists one product for each pair of terms of its two sides, and a
    power one for each choice of a term in each factor; these are counted, without the
    products that turn out equal. What is not a formula at all is left to formulaic.
    """
    from formulaic.errors import FormulaSyntaxError
    from formulaic.parser import DefaultOperatorResolver
    from formulaic.parser.algos.tokens_to_ast import tokens_to_ast
    from formulaic.parser.types import ASTNode

    try:
        nodes: list[Any] = [tokens_to_ast(tokens, DefaultOperatorResolver())]
    except FormulaSyntaxError:
        return
    if not isinstance(nodes[0], ASTNode):
        return
    for node in nodes:  # parents before children; the list grows meanwhile
        nodes += [part for part in node.args if isinstance(part, ASTNode)]
    n_terms: dict[int, int] = {}
    for node in reversed(nodes):
        parts = [n_terms.get(id(part), 1) for part in node.args]
        symbol = node.operator.symbol
        if symbol == "**":
            exponent = getattr(node.args[1], "token", "")
            if not _is_power(exponent):  # a power of a power
                raise InputError(_bad_power(str(node.args[1]), formula))
            total = parts[0] ** int(exponent)
        elif symbol in ("*", ":"):
            total = parts[0] * parts[1] + (sum(parts) if symbol == "*" else 0)
        else:
            n_terms[id(node)] = sum(parts)
            continue
        if total > MOST_TERMS:
            raise InputError(
                "the powers and interactions of a formula on the command line must "
                f"come to at most {MOST_TERMS:,} terms, got more in {formula[:200]!r}; "
                "take fewer columns or a lower power"
            )
        n_terms[id(node)] = total


def _bad_power(text: str, formula: str) -> str:
    return (
        "a power in a formula on the command line must be a whole number from 1 to "
        f"{MOST_POWER}, got {text!r} in {formula[:200]!r}"
    )


def _not_allowed(text: str, formula: str) -> str:
    return (
        "a formula on the command line may hold names of columns (in backticks if need "
        f"be), {', '.join(sorted(TRANSFORMS))} of one column, cbind(a, b), Surv(time, "
        "event), ~ + - : * ** and parentheses, and fixed effects after a |, got "
        f"{text[:200]!r} in {formula[:200]!r}"
    )
