"""The fixed effects of a formula: ``"y ~ x | firm + year^region"``.

What stands after the bar names factors. Each is absorbed as columns of 0 and 1, made as
one sparse matrix from the numbers of the levels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Index
from linsep.diagnosis.inputs.codings import Coding, level_text
from linsep.diagnosis.inputs.refusals import the_data_have
from linsep.diagnosis.inputs.study import Factor, Study
from linsep.input import InputError
from linsep.input.levels import coding_note, commonest, level_name, level_note

# A column's name, a sign, or anything else, which is refused.
_TOKEN = re.compile(
    r"\s*(?:(?P<name>`[^`]+`|[^\W\d][\w.]*)|(?P<sign>[+^])|(?P<other>.))"
)
_CALL = re.compile(r"[^\W\d][\w.]*\s*\(")
_SEVERAL_MODELS = re.compile(r"\s*(?:csw0?|sw0?|mvsw)\s*\(")
# A stretch of a formula in which a bar means something else.
_QUOTED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")

SUPPORTED = (
    "names of columns joined by +, and by ^ for a factor of each combination, such as "
    "'y ~ x | firm + region^year'"
)


@dataclass(frozen=True)
class Absorbed:
    """Factors as sparse columns of 0 and 1.

    Attributes
    ----------
    column_of : ndarray of shape (n, n_factors), int
        The column in which a row has its one for a factor; -1 for none.
    names : tuple of str
        ``firm[17]`` where all levels have columns, else ``year[T.1991]``.
    codings : tuple of Coding
    factors : dict of str to Factor
        By their names; those of combinations are called ``region^year``.
    notes : tuple of str
        A sentence on the columns made.
    """

    column_of: NDArray[np.int32]
    names: tuple[str, ...]
    codings: tuple[Coding, ...]
    factors: dict[str, Factor]
    notes: tuple[str, ...]

    def beside(self, matrix: Any, rows: Index) -> Any:
        """Put rows of the columns, if there are any, to the right of a matrix."""
        from scipy import sparse

        if not self.names:
            return matrix
        levels = self.column_of
        if rows.size < levels.shape[0]:
            levels = levels[rows]
        is_dense = isinstance(matrix, np.ndarray)
        numbers = matrix if is_dense else np.empty((rows.size, 0))
        k = numbers.shape[1]
        values = np.concatenate([numbers, levels >= 0], axis=1, dtype=np.float64)
        columns = np.empty(values.shape, dtype=np.int32)
        columns[:, :k], columns[:, k:] = np.arange(k), levels + np.int32(k)
        held = values != 0
        counts = reduce(np.add, held.T, np.zeros(rows.size, dtype=np.int32))
        indptr = np.concatenate([[0], np.cumsum(counts)])
        whole = sparse.csr_array(
            (values[held], columns[held], indptr),
            shape=(rows.size, k + len(self.names)),
        )
        return whole if is_dense else sparse.hstack([matrix, whole], format="csr")

    def told_in(self, study: Study, rows: Index) -> Study:
        """Return a study of these rows that knows what its columns were made of."""
        of_rows = {name: factor.of_rows(rows) for name, factor in self.factors.items()}
        return replace(
            study,
            factors={**study.factors, **of_rows},
            has_constant=study.has_constant
            or any(not coding.has_reference for coding in self.codings),
            notes=study.notes + self.notes,
        )


def split_at_bar(right: str) -> tuple[str, str | None]:
    """Split the right side of a formula into its terms and its fixed effects.

    Examples
    --------
    >>> split_at_bar("x + C(g) | firm + year"), split_at_bar("`a|b`")
    (('x + C(g)', 'firm + year'), ('`a|b`', None))
    """
    blanked = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), right)
    depth, bars = 0, []
    for place, character in enumerate(blanked):
        depth += (character in "([{") - (character in ")]}")
        if character == "|" and depth == 0:
            bars.append(place)
    if not bars:
        return right, None
    terms, *parts = (
        right[start:stop].strip()
        for start, stop in zip([0, *(b + 1 for b in bars)], [*bars, None], strict=True)
    )
    if len(parts) > 1:
        raise InputError(
            "a formula must have one part on the right, and after one | the fixed "
            f"effects, got {right!r}; instruments are not part of a regression that "
            "can be diagnosed"
        )
    if not terms or not parts[0]:
        raise InputError(
            f"a formula must have terms before the | and fixed effects after it, got "
            f"{right!r}; write 'y ~ 1 | firm' for fixed effects alone"
        )
    return terms, parts[0]


def named_factors(effects: str, columns: Collection[str]) -> list[tuple[str, ...]]:
    """Read the part after the bar: for each factor the columns it combines.

    Examples
    --------
    >>> named_factors("firm + region^year", ["firm", "region", "year"])
    [('firm',), ('region', 'year')]
    """
    if _SEVERAL_MODELS.search(effects):
        raise InputError(
            "fixed effects must be those of one model, got "
            f"{effects!r}; diagnose each of its models by a formula of its own"
        )
    call = _CALL.search(_QUOTED.sub("", effects))
    if call is not None:
        raise InputError(
            f"fixed effects must be {SUPPORTED}, got {call[0].strip()!r} in "
            f"{effects[:200]!r}; every column named there is a factor, without C() or "
            "i(); write transforms before the |"
        )
    if "[" in _QUOTED.sub("", effects):
        raise InputError(
            f"fixed effects must be factors alone, got slopes that vary with them in "
            f"{effects!r}; write firm[x] as 'y ~ C(firm):x | firm', and firm[[x]] as "
            "'y ~ C(firm):x | ...' without firm"
        )
    factors: list[tuple[str, ...]] = []
    sign = "+"
    for token in _TOKEN.finditer(effects.rstrip()):
        if (token["name"] is None) == bool(sign):
            raise InputError(_not_supported(token[0].strip(), effects))
        if token["name"] is None:
            sign = token["sign"]
            if sign is None:
                raise InputError(_not_supported(token["other"], effects))
            continue
        name = token["name"].strip("`")
        if name not in columns:
            raise InputError(
                f"fixed effects must be {SUPPORTED}, got {name!r} in "
                f"{effects[:200]!r}, which is no column; {the_data_have(name, columns)}"
            )
        factors.append((*factors.pop(), name) if sign == "^" else (name,))
        sign = ""
    if sign:
        raise InputError(_not_supported(sign, effects))
    sets = Counter(frozenset(factor) for factor in factors)
    for factor in factors:
        if sets[frozenset(factor)] > 1 or len(set(factor)) < len(factor):
            raise InputError(
                "fixed effects must name each factor once, and each column once in a "
                f"factor, got {'^'.join(factor)!r} in {effects!r}; leave one out"
            )
    return factors


def absorbed(
    factors: Sequence[Factor], rows: Index, in_place_of_constant: bool
) -> Absorbed:
    """Turn factors into columns: all levels of the first, all but one of each other.

    The levels of the first factor stand in place of an intercept. Of each other factor
    the level with the most rows, the first of them in order, is the reference, which
    has no column.

    Parameters
    ----------
    factors : sequence of Factor
        Levels that no row in use has, and missing values, have the code -1.
    rows : ndarray of int
        The rows in use.
    in_place_of_constant : bool
        Whether there is no intercept, and no thresholds, for which the first factor
        stands; else it is as the others.
    """
    n, n_columns = factors[0].codes.size if factors else 0, 0
    column_of = np.empty((n, len(factors)), dtype=np.int32)
    names: list[str] = []
    codings: list[Coding] = []
    found: dict[str, Factor] = {}
    notes: list[str] = []
    for k, factor in enumerate(factors):
        name = "^".join(factor.columns)
        found[name] = factor
        is_whole = k == 0 and in_place_of_constant
        coded, reference = np.arange(len(factor.levels)), None
        if not is_whole:
            left_out = commonest(factor.codes[rows], coded.size)
            coded, reference = np.delete(coded, left_out), factor.levels[left_out]
        # The last entry is for the code -1.
        column_of_level = np.full(len(factor.levels) + 1, -1, dtype=np.int32)
        column_of_level[coded] = n_columns + np.arange(coded.size)
        column_of[:, k] = column_of_level[factor.codes]
        n_columns += coded.size
        levels = [factor.levels[code] for code in coded.tolist()]
        names += [level_name(name, "^".join(level), not is_whole) for level in levels]
        pairs = (tuple(zip(factor.columns, level, strict=True)) for level in levels)
        codings += [Coding(name, pair, has_reference=not is_whole) for pair in pairs]
        without = None if reference is None else "^".join(reference)
        notes.append(level_note(name, len(factor.levels), without))
    return Absorbed(
        column_of,
        tuple(names),
        tuple(codings),
        found,
        (f"{coding_note(notes, 'Fixed effects')}.",) if notes else (),
    )


def factor_of(name: str, values: Any) -> Factor:
    """Give the values of one column numbers; missing values have the code -1.

    Examples
    --------
    >>> factor_of("g", ["b", "a", "b"]).codes.tolist()
    [1, 0, 1]
    """
    import pandas as pd

    series = pd.Series(values)
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes, levels = np.asarray(series.cat.codes), series.cat.categories
    else:
        try:
            codes, levels = pd.factorize(series, sort=True)
        except TypeError:  # values that have no order among each other
            codes, levels = pd.factorize(series)
    return Factor.of_one(
        name, np.asarray(codes, dtype=np.intp), map(level_text, levels)
    )


def combined_factor(columns: Sequence[str], frame: Any, rows: Index) -> Factor:
    """Give values, or combinations of them, that occur in rows numbers, others -1."""
    first, *others = (
        factor_of(column, _whole_numbers(frame[column])) for column in columns
    )
    codes, levels = _occurring(first.codes, len(first.levels), rows)
    texts = [first.levels[level] for level in levels.tolist()]
    for other in others:
        is_missing = (codes < 0) | (other.codes < 0)
        pairs = np.where(is_missing, -1, codes * len(other.levels) + other.codes)
        n_pairs = len(texts) * len(other.levels)
        codes, levels = _occurring(pairs, n_pairs, rows)
        left, right = np.divmod(levels, len(other.levels))
        texts = [
            texts[a] + other.levels[b]
            for a, b in zip(left.tolist(), right.tolist(), strict=True)
        ]
    return Factor(tuple(columns), codes, tuple(texts))


def _occurring(codes: Index, n_codes: int, rows: Index) -> tuple[Index, Index]:
    """Give the codes that occur in rows new numbers, others -1; say which they are."""
    if n_codes > codes.size:
        found = np.unique(codes[rows])
        place = np.minimum(np.searchsorted(found, codes), found.size - 1)
        return np.where(found[place] == codes, place, -1), found
    found = np.flatnonzero(np.bincount(codes[rows], minlength=n_codes))
    number = np.full(n_codes + 1, -1)  # the last is that of the code -1
    number[found] = np.arange(found.size)
    return number[codes], found


def _whole_numbers(series: Any) -> Any:
    """Return floats that are whole as integers: a missing value made them floats."""
    if series.dtype.kind != "f":
        return series
    present = series.dropna().to_numpy(dtype=np.float64)
    is_whole = (np.abs(present) < 2**53) & (present == np.rint(present))
    return series.astype("Int64") if is_whole.all() else series


def _not_supported(text: str, effects: str) -> str:
    advice = "write other terms before the |"
    if text in (":", "*"):
        advice = f"write ^ in place of {text} for a factor of each combination"
    return (
        f"fixed effects must be {SUPPORTED}, got {text[:200]!r} in {effects[:200]!r}; "
        f"{advice}"
    )
