r"""Gordan's theorem: what proves that no hyperplane separates.

    Either some w has A w > 0, or some p >= 0, p != 0, has A^T p = 0; never both.

(P. Gordan, "Über die Auflösung linearer Gleichungen mit reellen Coefficienten",
Mathematische Annalen 6, 1873, doi:10.1007/BF01442864.) A ``p`` with the fewest rows
is a *circuit*: the rows it uses have, up to scale, this one linear dependence and no
other. Such rows number at most rank + 1 (Carathéodory), and without any one of them
the rest are independent, hence separable. That is the conflict we report.

Engines find candidates in floating point. Whether the rows they name carry a circuit
of one sign is a question of exact linear algebra, answered here: for few rows of short
numbers by compiled code, for all others by python-flint, loaded for these only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.proof._few_rows import few_rows_conflict
from linsep.proof.answers import Conflict, never
from linsep.proof.exact import IntegerArray, IntegerRows
from linsep.rows import as_dense, is_sparse

if TYPE_CHECKING:
    from flint import fmpz_mat

# Of so few rows one exact elimination finds what depends on what, and sooner.
FEW_ROWS = 24


def conflict_from_candidate(
    A: Any,
    support: Sequence[int] | Index,
    weights: Sequence[float] | Floats | None = None,
    should_stop: Callable[[], bool] = never,
) -> Conflict | None:
    """Find an exact minimal conflict among the rows an engine named.

    Parameters
    ----------
    A : ndarray or sparse CSR matrix of shape (m, d), float64
    support : sequence of int
        Row numbers that seem to carry a dependence with positive weights.
    weights : sequence of float, default=None
        The engine's weight of each, larger ones being trusted more.
    should_stop : callable, optional
        Asked now and then; a true answer gives up.

    Returns
    -------
    Conflict or None
        Row numbers refer to `A`. None if these rows alone can be separated (the
        engine was wrong), or if `should_stop` said so.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25], [3.0, 1.0]])
    >>> conflict_from_candidate(A, [0, 1, 2])
    Conflict(rows=(0, 1, 2), weights=(2, 1, 4))
    """
    chosen = np.unique(np.asarray(support, dtype=np.intp))
    trust = np.zeros(len(chosen))
    if weights is not None:
        np.add.at(trust, np.searchsorted(chosen, support), weights)
    conflict = conflict_of(dense_columns(A[chosen])[0], trust, should_stop)
    return None if conflict is None else conflict.renumbered(chosen)


def conflict_of(
    rows: Any, trust: Floats, should_stop: Callable[[], bool] = never
) -> Conflict | None:
    """Find a minimal conflict among rows of doubles, those of most trust first."""
    dense = np.ascontiguousarray(as_dense(rows), dtype=np.float64)
    weights = few_rows_conflict(dense)
    if weights is None:
        order = np.argsort(-trust, kind="stable")
        return conflict_among(IntegerRows.from_floats(dense), order, should_stop)
    used = [row for row, weight in enumerate(weights) if weight]
    return Conflict(tuple(used), tuple(weights[row] for row in used)) if used else None


def conflict_among(
    rows: IntegerRows,
    order: Sequence[int] | Index,
    should_stop: Callable[[], bool] = never,
) -> Conflict | None:
    """Find a minimal conflict among exact rows, the first of `order` trusted most."""
    from linsep.proof import linear, simplex

    ranked = [int(i) for i in order]
    values = rows.values[ranked]
    if len(ranked) <= FEW_ROWS:
        basis = linear.small_null_basis(values.T)
        n_dependences, weights = len(basis), basis[0] if basis else None
    else:
        n_dependences, weights = _only_dependence(values)
    if n_dependences == 0:
        return None
    if n_dependences == 1:
        if weights is None or min(weights) < 0:
            return None
        used = {row: p for row, p in zip(ranked, weights, strict=True) if p}
        return Conflict.of_scaled(used, rows.exponents)
    # Several dependences: the simplex method walks to a circuit of one sign.
    answer = simplex.decide(rows, ranked, should_stop)
    return answer if isinstance(answer, Conflict) else None


def dense_columns(A: Any) -> tuple[Floats, Index]:
    """Return rows as a dense array without unused columns, and the columns kept."""
    if not is_sparse(A):
        return A, np.arange(A.shape[1])
    columns = np.unique(A.indices)
    return A[:, columns].toarray(), columns


def _only_dependence(values: IntegerArray) -> tuple[int, list[int] | None]:
    """Return how many dependences there likely are, and the one of k rows if it is one.

    That is the ``p`` with ``values^T p = 0`` and a positive sum; None if there is none.

    With the sum as one more equation, ``k - 1`` independent columns make the system
    square. So do all columns where they are so many, independent or not: if not, or if
    the sum can only be zero, the system is singular.
    """
    from linsep.proof import linear

    k, d = values.shape
    columns = list(range(d)) if d == k - 1 else linear.independent_columns(values)
    if len(columns) != k - 1:
        return k - len(columns), None
    ones = np.ones((1, k), dtype=values.dtype)
    lines = np.vstack([values.T[columns], ones])
    square = linear.integer_matrix(lines)
    every = square if d == k - 1 else linear.integer_matrix(values.T)
    numerators = linear.solve_last(lines)
    if numerators is None or not _are_weights(every, numerators, d):
        right = linear.integer_column([*[0] * (k - 1), 1])
        try:
            numerators, _ = linear.solve(square, right)
        except ZeroDivisionError:
            return k - len(linear.independent_columns(values)), None
        if not _are_weights(every, numerators, d):
            return 1, None
    return 1, linear.python_integers(numerators)


def _are_weights(every: fmpz_mat, weights: fmpz_mat, d: int) -> bool:
    """Tell exactly whether weights, not all zero, make each of d sums of rows zero."""
    return not weights.is_zero() and not any((every * weights).entries()[:d])
