"""Numbers, names, conditions and outcomes as people write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from linsep.arrays import Index
from linsep.diagnosis.exact.columns import Columns
from linsep.diagnosis.inputs.study import INTERCEPT, Study
from linsep.diagnosis.report.claims import Claim, Reason

if TYPE_CHECKING:
    from linsep.diagnosis.record import Diagnosis

# Long factors so many times smaller than the largest are the rounding of others.
NOISE = 10**14
# Numbers whose parts are longer than this are written with six digits.
LONG_BITS = 40
# Values of no more characters are written as they are.
SHORT = 5
# Factors beyond this are written relative to the largest, and rounded.
LONGEST_FACTOR = 10**6
# Things listed before the rest is counted.
MOST_LISTED = 8
# Collinear columns written out, and the characters that a combination may have; longer
# ones stand in `collinear` alone.
MOST_WRITTEN = 8
LONGEST_TEXT = 300


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


def terms_text(terms: Sequence[tuple[str, Fraction]]) -> str:
    """Write a direction, the intercept last; long numbers relative to the largest."""
    terms = sorted(terms, key=lambda term: term[0] == INTERCEPT)
    if max(abs(factor) for _, factor in terms) <= LONGEST_FACTOR:
        return combination_text(terms)
    unit = max(abs(factor) for name, factor in terms if name != INTERCEPT)
    return f"about {combination_text([(n, rounded(f / unit)) for n, f in terms])}"


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


def is_are(n: int) -> str:
    """Return the verb for so many."""
    return "is" if n == 1 else "are"


def estimate_exists(is_whole: bool) -> str:
    """Say that there is an estimate, if of what is identified alone."""
    of_what = "" if is_whole else " of every coefficient that is identified"
    return f"The maximum likelihood estimate{of_what} exists."


def claim_texts(study: Study, reasons: Iterable[Reason]) -> list[str]:
    """Say what reasons claim, nothing twice."""
    claims = [claim for reason in reasons for claim in reason.claims]
    return list(dict.fromkeys(claim_text(study, claim) for claim in claims))


def claim_text(study: Study, claim: Claim) -> str:
    """Say what is known of the rows that meet a condition.

    "NV = 1 in 13 rows, all HG = 1.", or where outcomes are only ruled out
    "a = 0 in 2 rows, never y = lo."
    """
    count = counted(study, claim.rows)
    head = f"{claim.where}: {count}" if " in " in count else f"{claim.where} in {count}"
    held, missing = np.flatnonzero(claim.held), np.flatnonzero(~claim.held)
    if held.size == 1:
        return f"{head}, all {outcomes_text(study, held)}."
    if held.size < missing.size:
        return f"{head}, only {outcomes_text(study, held)}."
    return f"{head}, never {outcomes_text(study, missing)}."


def more_columns(
    study: Study,
    reasons: Sequence[Reason],
    does: tuple[str, str] = ("predicts rows by itself", "predict rows by themselves"),
) -> list[str]:
    """Name the columns of reasons that are not written out, and what each of them does.

    In the singular and the plural.
    """
    names = [study.names[r.column] for r in reasons if r.column is not None]
    if not names:
        return []
    what = f"column {does[0]}" if len(names) == 1 else f"columns {does[1]}"
    return [f"{len(names):,} more {what}: {listed(names)}."]


def counted(study: Study, rows: Index) -> str:
    """Count rows, and what they stand for: "24 observations in 3 rows"."""
    text = count_rows(rows.size)
    if study.frequencies is None:
        return text
    n = float(study.frequencies[rows].sum())
    return f"{n:,.15g} observation{'s' * (n != 1)} in {text}"


def outcomes_text(study: Study, levels: Index) -> str:
    """Name outcomes: "HG = 1", "y = lo or hi", for counts their column."""
    outcome = study.outcome
    if study.family == "poisson":
        return f"{study.outcome_name} {'=' if levels[0] == 0 else '>'} 0"
    labels = [str(outcome.levels[level]) for level in levels]
    if len(labels) > MOST_LISTED:
        labels = [*labels[:MOST_LISTED], f"{len(labels) - MOST_LISTED:,} more"]
    text = " or ".join(labels)
    return f"{study.outcome_name} = {text}" if outcome.is_labels else text


def outcome_text(study: Study, level: int) -> str:
    """Name an outcome: "HG = 1", or for counts the column of the counts."""
    label = study.outcome.levels[level]
    if study.outcome.is_labels:
        return f"{study.outcome_name} = {label}"
    return str(label)


def is_short(value: float) -> bool:
    """Tell whether a number is read at a glance."""
    return len(number_text(value)) <= SHORT


def cut_text(inner: float, outer: float) -> str:
    """Write a number from `inner` towards `outer`, `outer` itself left out.

    It is `inner` where that is short, else the number of the fewest digits.

    Examples
    --------
    >>> cut_text(1.1085626195212777, 1.07), cut_text(3.0, 2.0)
    ('1.1', '3')
    >>> cut_text(1.1085626195212777, 1.1085)
    '1.10856'
    """
    if is_short(inner):
        return number_text(inner)
    towards = ROUND_FLOOR if outer < inner else ROUND_CEILING
    for digits in range(1, 18):
        context = Context(prec=digits, rounding=towards, Emax=MAX_EMAX, Emin=MIN_EMIN)
        value = float(context.plus(Decimal(inner)))
        if (outer < value <= inner) or (inner <= value < outer):
            return number_text(value)
    return number_text(inner)


def threshold_text(
    name: str, inner: float, outer: float, above: bool, closed: bool = True
) -> str:
    """Say which values are meant by a short number between two values.

    Parameters
    ----------
    inner, outer : float
        The last value that is meant, and the next one that is not.
    above : bool
        Whether the values meant lie above.
    closed : bool, default=True
        Whether the number written may be `inner`, and not `outer`; else the other way.

    Examples
    --------
    >>> threshold_text("age", 40.0, 38.0, above=True, closed=False)
    'age > 38'
    """
    number = cut_text(inner, outer) if closed else cut_text(outer, inner)
    return f"{name} {'>' if above else '<'}{'=' * closed} {number}"


def value_text(study: Study, column: int, value: float) -> str:
    """Say that a column has a value, factor levels by their own names.

    "NV = 1", "region = north", "ward = yes and fever = no"; the one other level of a
    factor by its name, several by what they are not: "colour other than red".
    """
    coding = study.codings[column]
    if value == 1.0 and coding.levels:
        return levels_text(coding.levels)
    if value == 0.0 and len(coding.levels) == 1:
        factor, level = coding.levels[0]
        other = study.other_level(factor, level)
        return (
            f"{factor} other than {level}" if other is None else f"{factor} = {other}"
        )
    if value == 0.0 and coding.levels:
        return f"not ({levels_text(coding.levels)})"
    return f"{study.names[column]} = {number_text(value)}"


def levels_text(levels: Iterable[tuple[str, str]]) -> str:
    """Say which levels factors have.

    Examples
    --------
    >>> levels_text([("ward", "yes"), ("fever", "no")])
    'ward = yes and fever = no'
    """
    return " and ".join(f"{factor} = {level}" for factor, level in levels)


def listed(items: Sequence[str], most: int = MOST_LISTED) -> str:
    """List a few things, and say how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])} and {len(items) - most:,} more"


def collinear(
    named_columns: Sequence[tuple[str, int]], columns: Columns
) -> dict[str, str]:
    """Write each column that adds nothing as a combination of earlier ones."""
    if columns.is_open:
        return {}
    names = {j: name for name, j in named_columns}
    kept = set(columns.kept.tolist())
    found = {}
    for name, j in named_columns:
        terms = columns.combinations.get(j)
        if j in kept:
            continue
        if terms is None:
            found[name] = "a combination of earlier columns"
            continue
        named = [(names[k], factor) for k, factor in terms.items() if k in names]
        parts = [combination_text(named)] if named else []
        if len(named) < len(terms):
            parts.append("a constant in each group")
        found[name] = " + ".join(parts) or "0"
    return found


def collinear_lines(answer: Diagnosis) -> list[str]:
    """Say which columns add nothing, and of which they are combinations."""
    if not answer.collinear:
        return []
    shown = [
        f"{name} = {text if len(text) <= LONGEST_TEXT else 'a longer combination'}"
        for name, text in answer.collinear.items()
    ]
    more = len(shown) - MOST_WRITTEN
    return [
        "Collinear columns, apart from separation: the design has rank "
        f"{answer.rank} of {len(answer.coefficient_names)}; "
        + "; ".join(shown[:MOST_WRITTEN] + [f"and {more:,} more"] * (more > 0))
        + "."
    ]
