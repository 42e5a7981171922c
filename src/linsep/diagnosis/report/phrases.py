"""Numbers, names, conditions and outcomes as people write them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.codings import Coding
from linsep.diagnosis.inputs.study import INTERCEPT, Study

# Long factors so many times smaller than the largest are the rounding of others.
NOISE = 10**14
# Numbers whose parts are longer than this are written with six digits.
LONG_BITS = 40


def combination_text(terms: Sequence[tuple[str, int | Fraction]]) -> str:
    """Write a linear combination as people do.

    Examples
    --------
    >>> from fractions import Fraction
    >>> combination_text([("a", 1), ("b", Fraction(-1, 2)), ("intercept", 3)])
    'a - 1/2*b + 3'
    """
    text = ""
    sizes = [abs(Fraction(term[1])) for term in terms]
    largest = max(sizes, default=0)
    for (name, factor), size in zip(terms, sizes, strict=True):
        shown = _exact_text(size)
        if shown is None and NOISE * size < largest:
            continue
        if shown is None:
            shown = size_text(size)
        term = name if size == 1 else f"{shown}*{name}"
        if name == INTERCEPT:
            term = shown
        if not text:
            text = f"-{term}" if factor < 0 else term
        else:
            text += f" - {term}" if factor < 0 else f" + {term}"
    return text


def _exact_text(size: int | Fraction) -> str | None:
    """Write a number exactly, or return None: it is too long."""
    if max(size.numerator.bit_length(), size.denominator.bit_length()) > LONG_BITS:
        return None
    text = str(size)
    return text if len(text) <= 12 else None


def size_text(size: int | Fraction) -> str:
    """Write a positive number of any size with six digits.

    Examples
    --------
    >>> size_text(10**400), size_text(Fraction(2, 3)), size_text(Fraction(1, 10**400))
    ('1e+400', '0.666667', '1e-400')
    """
    digits = Context(prec=6, Emax=MAX_EMAX, Emin=MIN_EMIN)
    rounded = digits.divide(Decimal(size.numerator), Decimal(size.denominator))
    if -300 < rounded.adjusted() < 300:
        return f"{float(size):.6g}"
    return f"{digits.normalize(rounded):e}"


def rounded(factor: Fraction) -> Fraction:
    """Round to six digits; combinations leave out what is nothing beside the rest."""
    sign = -1 if factor < 0 else 1
    return sign * Fraction(size_text(abs(factor)))


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


def only_outcome(
    study: Study, rows: NDArray[np.bool_] | NDArray[np.intp]
) -> str | None:
    """Name the one outcome of these rows, or None: there are several."""
    held = np.flatnonzero(study.outcome.has[rows].any(axis=0))
    if held.size != 1:
        return None
    if study.family == "poisson":
        return f"{study.outcome_name} = 0" if held[0] == 0 else None
    return outcome_text(study, int(held[0]))


def condition_text(
    study: Study,
    column: int,
    values: NDArray[Any],
    bound: float,
    above: bool,
    closed: bool,
) -> str:
    """Say which rows are meant: "NV = 1", "x2 = b", "age > 40"."""
    name, first = study.names[column], float(values[0])
    if (values == first).all():
        return value_text(name, study.codings[column], first)
    sign = (">=" if closed else ">") if above else ("<=" if closed else "<")
    return f"{name} {sign} {number_text(bound)}"


def range_text(
    study: Study, column: int, values: NDArray[Any], ends: tuple[bool, bool]
) -> str:
    """Say in which range the values lie; open below or above at the ends."""
    name = study.names[column]
    low, high = float(values.min()), float(values.max())
    if low == high:
        return value_text(name, study.codings[column], low)
    if ends[0]:
        return f"{name} <= {number_text(high)}"
    if ends[1]:
        return f"{name} >= {number_text(low)}"
    return f"{number_text(low)} <= {name} <= {number_text(high)}"


def value_text(name: str, coding: Coding, value: float) -> str:
    """Say that a column has a value, factor levels by their own names.

    Examples
    --------
    >>> value_text("C(region)[T.north]", Coding(levels=(("region", "north"),)), 1.0)
    'region = north'
    >>> value_text("colour=red", Coding(levels=(("colour", "red"),)), 0.0)
    'colour other than red'
    >>> value_text("NV", Coding(), 1.0)
    'NV = 1'
    """
    if value == 1.0 and coding.levels:
        return " and ".join(f"{factor} = {level}" for factor, level in coding.levels)
    if value == 0.0 and len(coding.levels) == 1:
        factor, level = coding.levels[0]
        return f"{factor} other than {level}"
    return f"{name} = {number_text(value)}"


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
