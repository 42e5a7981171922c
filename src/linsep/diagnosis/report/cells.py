"""Cells of crossed factors that hold one outcome only, reference levels included.

An interaction has no column for a cell with a reference level: its indicator is a sum
of several. So cells are counted from the levels of the rows, as many cells as occur.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.study import Factor, Study
from linsep.diagnosis.report.claims import Claim, Reason, outcome_counts
from linsep.diagnosis.report.phrases import levels_text


def crossed_factors(study: Study) -> list[tuple[str, ...]]:
    """Return the factors that terms cross and whose levels are known, fewest first."""
    crossed = {
        tuple(factor for factor, _ in coding.levels)
        for coding in study.codings
        if coding.factor is None and len(coding.levels) > 1
    }
    known = {names for names in crossed if all(n in study.factors for n in names)}
    return sorted(known, key=lambda names: (len(names), names))


def cell_reasons(
    study: Study,
    unexplained: NDArray[np.bool_],
    separated: NDArray[np.bool_],
    should_stop: Callable[[], bool],
) -> list[Reason]:
    """Find the cells of one outcome whose rows are separated, most rows first.

    Parameters
    ----------
    study : Study
    unexplained : ndarray of shape (n,), bool
        Separated rows for which no reason was found yet; cells without such a row, or
        whose rows a smaller crossing explains, are left out.
    separated : ndarray of shape (n,), bool
    should_stop : callable
        Asked before each crossing of factors.
    """
    found: list[Reason] = []
    left = unexplained.copy()
    for names in crossed_factors(study):
        if not left.any() or should_stop():
            break
        factors = [study.factors[name] for name in names]
        cell, n_cells = _cells(factors)
        counts = outcome_counts(cell, n_cells, study.outcome.has)
        is_pure = (counts > 0).sum(axis=1) == 1
        is_pure &= np.bincount(cell[~separated], minlength=n_cells) == 0
        is_pure &= np.bincount(cell[left], minlength=n_cells) > 0
        chosen = np.flatnonzero(is_pure[cell])
        chosen = chosen[np.argsort(cell[chosen], kind="stable")]
        starts = np.flatnonzero(np.diff(cell[chosen], prepend=-1))
        for rows in np.split(chosen, starts[1:]) if chosen.size else []:
            levels = [
                pair
                for factor in factors
                for pair in zip(
                    factor.columns, factor.levels[factor.codes[rows[0]]], strict=True
                )
            ]
            claim = Claim(levels_text(levels), rows, counts[cell[rows[0]]] > 0)
            found.append(Reason((claim,), is_level=True))
            left[rows] = False
    return sorted(found, key=lambda reason: -reason.n_told)


def _cells(factors: list[Factor]) -> tuple[NDArray[np.intp], int]:
    """Give each row the number of its cell, of those that occur."""
    cell, n_cells = np.zeros(factors[0].codes.size, dtype=np.intp), 1
    for factor in factors:
        both = cell * len(factor.levels) + factor.codes
        occurring, cell = np.unique(both, return_inverse=True)
        cell, n_cells = cell.reshape(-1), occurring.size
    return cell, n_cells
