"""Words on a regression whose rows are read in batches: the few rows that words need.

A single column predicts rows by how the extremes of the two outcomes lie on it. So what
single columns say of all rows they say of the rows separated and of those that are
extreme on a column, and these few are read once and put to the sentences that there are
for rows in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index
from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.report.phrases import (
    claim_texts,
    listed,
    more_columns,
    terms_text,
)
from linsep.diagnosis.report.sentences import (
    MOST_REASONS,
    MOST_TERMS,
    effect_text,
)
from linsep.diagnosis.report.single_columns import reasons_of
from linsep.diagnosis.watch import ShouldStop
from linsep.rows import as_dense
from linsep.rows.blocks import MOST_KEPT, BlockRows
from linsep.rows.matrix_rows import MatrixRows
from linsep.rows.protocol import split

# The least of each column for a label, or with its sign changed, and the row of it.
_Ends = tuple[Floats, Index]
_SIGNS = (-1, 1)
_SIDES = list(product(_SIGNS, (1.0, -1.0)))


def ends_of(start: int, block: MatrixRows) -> _Ends:
    """Find the extremes of each column for each label in a block of rows."""
    parts = list(split(*block.shape)) or [(0, 0)]
    return reduce(nearer_ends, (_ends(start, block, *part) for part in parts))


def _ends(start: int, block: MatrixRows, first: int, stop: int) -> _Ends:
    """Find them in a range of its rows."""
    columns = np.ascontiguousarray(as_dense(block.features(slice(first, stop))[:]).T)
    least = np.full((len(_SIDES), len(columns)), np.inf)
    row = np.zeros(least.shape, dtype=np.intp)
    every = np.arange(len(columns))
    for sign in _SIGNS:
        here = np.flatnonzero(block.signs[first:stop] == sign)
        if here.size == 0 or every.size == 0:
            continue
        values = columns[:, here]
        for at, side in zip(
            (values.argmax(1), values.argmin(1)), (-1.0, 1.0), strict=True
        ):
            place = _SIDES.index((sign, side))
            least[place] = side * values[every, at]
            row[place] = start + first + here[at]
    return least, row


def nearer_ends(a: _Ends, b: _Ends) -> _Ends:
    """Return the extremes of the rows of both, the earlier of equal ones."""
    is_less = b[0] < a[0]
    return np.where(is_less, b[0], a[0]), np.where(is_less, b[1], a[1])


def telling_rows(
    rows: BlockRows,
    separated: Index,
    outcome: tuple[str, NDArray[np.generic], str],
    names: tuple[str, ...],
) -> Study | None:
    """Return the rows that say what single columns say of all; None if too many.

    Parameters
    ----------
    rows : BlockRows
        Read once for the extremes, and once for what is not known of these rows.
    separated : ndarray of int
        The rows that some direction separates.
    outcome : str, ndarray of shape (2,), str
        The family, the labels of the negative and of the positive sign, the name.
    names : tuple of str
        Of the features.
    """
    family, labels, outcome_name = outcome
    most = MOST_KEPT // rows.entries_a_row
    if separated.size + len(_SIDES) * len(names) > most:
        return None
    _, extreme = rows.fold(ends_of, nearer_ends)
    index = np.union1d(separated, extreme)
    return study_from(
        as_dense(rows.features(index)),
        np.where(rows.signs[index] > 0, labels[1], labels[0]),
        family=family,
        fit_intercept=rows.fit_intercept,
        feature_names=names,
        outcome_name=outcome_name,
        present=index,
    )


def claims_of_columns(
    study: Study, separated: Index, should_stop: ShouldStop
) -> tuple[list[str], bool]:
    """Say what single columns predict, and tell whether that is all rows separated."""
    found, _ = reasons_of(study, study.fit_intercept, should_stop)
    found = sorted(found, key=lambda reason: -reason.predicted.size)
    texts = claim_texts(study, found[:MOST_REASONS])
    texts += more_columns(study, found[MOST_REASONS:])
    if not found:
        return [], False
    predicted = np.concatenate([reason.predicted for reason in found])
    is_all = bool(np.isin(separated, study.present[predicted]).all())
    if is_all and len(found) == 1:
        name = study.names[found[0].column or 0]
        texts.append(f"The simplest direction found uses one column, {name}.")
    elif is_all:
        texts.append("Together these predict all of the rows separated.")
    return texts, is_all


def direction_text(
    study: Study | None,
    terms: Sequence[tuple[str, Fraction]],
    n_separated: int,
    has_constant: bool,
) -> str:
    """Write the direction that was found, if it is short; a constant comes first."""
    names = [name for name, factor in terms[int(has_constant) :] if factor]
    columns = "1 column" if len(names) == 1 else f"{len(names):,} columns"
    used = f"A direction for all of them uses {columns}: "
    if study is None or len(names) > MOST_TERMS:
        return f"{used}{listed(names)}; see `direction`."
    text = terms_text([term for term in terms if term[1]])
    return f"{used}{text}{effect_text(study, n_separated)}"
