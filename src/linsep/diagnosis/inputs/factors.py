"""Which columns of a formula's design are levels of which factor."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from linsep.diagnosis.inputs.study import Study

# "g[T.b]", "C(g)[T.b]", "C(g, contr.sum)[S.a]": main effects only.
LEVEL_COLUMN = re.compile(
    r"(?P<term>C\(\s*(?P<inside>`[^`]+`|[^,()]+?)\s*(?:,(?P<contrast>.*))?\)"
    r"|(?P<plain>[^\[\]:()]+))\[(?P<mark>T\.)?(?P<level>.*)\]"
)


def with_factors(study: Study, frame: Any) -> Study:
    """Keep the raw columns of the factors among a formula's terms.

    Parameters
    ----------
    study : Study
        Its `present` counts the rows of the frame.
    frame : DataFrame
    """
    factors = {}
    for factor in columns_of_factors(study):
        if factor in frame.columns:
            factors[factor] = np.asarray(frame[factor], dtype=object)[study.present]
    return replace(study, factors=factors)


def factor_of(name: str) -> str | None:
    """Return the factor whose main effect a column belongs to, or None.

    Examples
    --------
    >>> factor_of("C(g, contr.sum)[S.a]"), factor_of("g[T.b]"), factor_of("x:g[T.b]")
    ('g', 'g', None)
    """
    match = LEVEL_COLUMN.fullmatch(name)
    if match is None:
        return None
    return (match["inside"] or match["plain"]).strip().strip("`")


def columns_of_factors(study: Study) -> dict[str, list[int]]:
    """Return each factor's columns."""
    columns: dict[str, list[int]] = {}
    for j, name in enumerate(study.names):
        factor = factor_of(name)
        if factor is not None:
            columns.setdefault(factor, []).append(j)
    return columns
