"""The precision ladder: an exact answer where double precision alone finds none.

1. The dual simplex in doubles, on the rows as they are; its last basis is examined
   exactly. Well-conditioned data end here.
2. An exact change of basis (`linsep.proof.coordinates`). In those coordinates the
   simplex goes on in doubles, and its basis is examined exactly.
3. Again, in the coordinates of the basis reached, a few times.
4. The exact simplex from the last basis. It always ends.

Each rung only proposes; an answer is returned when integers have proved it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linsep.arrays import Index
from linsep.proof.answers import Answer, Separator, never
from linsep.proof.coordinates import basis_coordinates
from linsep.proof.exact import IntegerRows
from linsep.proof.gordan import dense_columns
from linsep.proof.simplex import Search, proved

# Bases examined exactly after each guess, and changes of basis, before exactness alone.
_EXACT_STEPS = 2
_REBASES = 6


def settle(
    A: Any,
    order: Sequence[int] | Index = (),
    *,
    should_stop: Callable[[], bool] = never,
) -> Answer | None:
    """Decide exactly whether some w has ``A w > 0``.

    Parameters
    ----------
    A : ndarray or sparse CSR matrix of shape (m, d), float64
        Finite entries, taken at their exact values.
    order : sequence of int, default=()
        Rows likely to be tight or in conflict, likeliest first.
    should_stop : callable, optional
        Asked between steps; a true answer gives up.

    Returns
    -------
    Separator, Conflict or None
        None only if `should_stop` said so.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 1.0], [-1.0, -1.0 + 2**-50], [0.0, -1.0]])
    >>> settle(A).rows
    (0, 1, 2)
    """
    dense, columns = dense_columns(A)
    answer = settle_rows(IntegerRows.from_floats(dense), should_stop, order)
    if isinstance(answer, Separator):
        full = [0] * A.shape[1]
        for column, value in zip(columns, answer.w, strict=True):
            full[column] = value
        return Separator(tuple(full))
    return answer


def settle_rows(
    rows: IntegerRows,
    should_stop: Callable[[], bool] = never,
    order: Sequence[int] | Index = (),
) -> Answer | None:
    """Decide rows of exact integers; see `settle`."""
    return proved(rows, order, lambda search: _climb(search, should_stop))


def _climb(search: Search, should_stop: Callable[[], bool]) -> Answer | None:
    answer = None
    if search.guess(should_stop):
        answer = search.pivot(should_stop, _EXACT_STEPS)
    for _ in range(_REBASES):
        if answer is not None or should_stop() or not search.basis:
            break
        tableau, levels = basis_coordinates(search.values, search.basis)
        search.levels = [level - min(levels) for level in levels]
        search.follow(tableau, should_stop)
        answer = search.pivot(should_stop, _EXACT_STEPS)
    return answer or search.pivot(should_stop)
