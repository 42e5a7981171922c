r"""The exact dual simplex: the last rung, which always ends with an answer.

Rows ``a_i`` are separable iff ``A w >= t`` has a solution, for any fixed positive
``t`` (scale ``w`` up). Take rank-many independent rows ``b`` and the linear program

    minimise c . w  subject to  A w >= t,     c = A_b^T y,  y > 0.

The basis ``b`` is dual feasible. Each step solves ``A_b w = t_b`` exactly, looks at
all rows, and takes one with ``a_k . w < t_k``. Write ``a_k = A_b^T u``.

- ``A w > 0``: a separator.
- ``u <= 0``: then ``a_k + sum_i (-u_i) a_i = 0``, a conflict; it is minimal because
  the rows of a basis are independent.
- Otherwise row ``k`` enters, and the row with the smallest ``y_i / u_i`` over
  ``u_i > 0`` leaves, which keeps ``y >= 0``.

The objective never falls. It rises strictly unless the leaving ``y_i`` is zero, and
through such ties both choices take the smallest index, which cannot cycle (R. G. Bland,
"New finite pivoting rules for the simplex method", Mathematics of Operations Research
2, 1977, doi:10.1287/moor.2.2.103). So no basis occurs twice and the method ends.

Every number is an exact integer. The basis is factorised afresh at each step: Dixon's
solver makes that cheap, and a good first basis makes the steps few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import count

import numpy as np
from flint import fmpz_mat

from linsep.arrays import Floats, Index
from linsep.proof import linear
from linsep.proof.answers import Answer, Conflict, Separator, never
from linsep.proof.doubles import row_bits, scaled_doubles
from linsep.proof.evened import evened
from linsep.proof.exact import IntegerRows, primitive
from linsep.proof.signs import shortened

# Beyond this condition number a double keeps no digit of a basis's coordinates.
_CONDITION_LIMIT = 1e14
# In doubles, entries smaller than this, relative to the largest of their row, are zero.
_TOLERANCE = 1e-9
# A tableau that grew this much has lost most of its digits.
_GROWTH_LIMIT = 1e12
# The guess takes few pivots a row of the basis, unless rounding makes it go in circles.
_PIVOTS_A_ROW = 20


def decide(
    rows: IntegerRows,
    order: Sequence[int] | Index = (),
    should_stop: Callable[[], bool] = never,
) -> Answer | None:
    """Decide exactly whether the rows are separable.

    Parameters
    ----------
    rows : IntegerRows of shape (m, d)
    order : sequence of int, default=()
        Rows likely to be tight or in conflict, likeliest first: the first basis is
        taken from them as far as they go.
    should_stop : callable, optional
        Asked between steps; a true answer gives the search up.

    Returns
    -------
    Separator, Conflict or None
        None only if `should_stop` said so.

    Examples
    --------
    >>> import numpy as np
    >>> decide(IntegerRows.from_floats(np.array([[1.0, 0.0], [0.0, -1.0]])))
    Separator(w=(1, -1))
    >>> decide(IntegerRows.from_floats(np.array([[1.0], [2.0], [-0.5]])))
    Conflict(rows=(0, 2), weights=(1, 2))
    """

    def run(search: Search) -> Answer | None:
        search.guess(should_stop)
        return search.pivot(should_stop)

    return proved(rows, order, run)


def proved(
    rows: IntegerRows,
    order: Sequence[int] | Index,
    run: Callable[[Search], Answer | None],
) -> Answer | None:
    """Run searches until an answer holds on all columns, or one gives up."""
    if rows.shape[0] == 0:
        return Separator((0,) * rows.shape[1])
    attempt = 0
    while True:
        answer = run(Search.start(rows, order, attempt))
        if answer is None or holds(rows, answer):
            return answer
        attempt += 1  # a prime hid part of the rank


class Search:
    """One run of the dual simplex, on as many columns as the rank.

    Attributes
    ----------
    basis : list of r int
        Independent rows; their order is the order of the coordinates.
    values : integers of shape (m, r)
        The rows on `columns`, which are as many as the rank, rescaled by powers of two
        (`linsep.proof.evened`): ``2**exponents[i] * values[i] * 2**shifts``.
    levels : list of m int
        The targets: ``t_k = 2**levels[k]``. Each is near the size of its row, so that
        "most violated" does not depend on the scale of a row.
    """

    def __init__(self, rows: IntegerRows, columns: list[int], basis: list[int]) -> None:
        self.rows = rows
        self.columns = columns
        self.basis = basis
        part = IntegerRows(rows.values[:, columns], rows.exponents)
        short, self.shifts = evened(part)
        self.values, self.exponents = short.values, short.exponents
        self.levels = row_bits(self.values)
        self.entering: int | None = None

    @classmethod
    def start(
        cls, rows: IntegerRows, order: Sequence[int] | Index, attempt: int
    ) -> Search:
        """Pick the first independent rows of `order`, and columns to match."""
        m, _ = rows.shape
        first = dict.fromkeys(int(i) for i in order)
        ranked = [*first, *(i for i in range(m) if i not in first)]
        chosen = linear.independent_columns(rows.values[ranked].T, attempt)
        basis = [ranked[position] for position in chosen]
        if len(basis) == rows.shape[1]:
            return cls(rows, list(range(len(basis))), basis)
        columns = linear.independent_columns(rows.values[basis], attempt)
        return cls(rows, columns, basis)

    @cached_property
    def _matrix(self) -> fmpz_mat:
        return linear.integer_matrix(self.values)

    def guess(self, should_stop: Callable[[], bool] = never) -> bool:
        """Move to the basis where the same method ends in double precision.

        Returns False, and stays, where the basis is too ill-conditioned for that.
        """
        if not self.basis:
            return True
        self.levels = row_bits(self.values)
        floats = scaled_doubles(self.values)
        # Coordinates do not depend on the scale of a column; their rounding does.
        floats = np.ldexp(floats, -np.frexp(np.abs(floats).max(axis=0))[1])
        basis = floats[self.basis]
        if not np.linalg.cond(basis, 1) < _CONDITION_LIMIT:
            return False
        tableau = np.linalg.solve(basis.T, floats.T).T
        self.follow(np.ascontiguousarray(tableau, dtype=np.float64), should_stop)
        return True

    def follow(self, tableau: Floats, should_stop: Callable[[], bool] = never) -> None:
        """Pivot in floating point on rows given in the coordinates of the basis."""
        basis, entering = guess_basis(tableau, self.basis, should_stop)
        if self._is_basis(basis):
            self.basis, self.entering = basis, entering

    def pivot(
        self, should_stop: Callable[[], bool] = never, limit: int | None = None
    ) -> Answer | None:
        """Pivot exactly until the answer is found, at most `limit` bases on."""
        # Any positive costs will do; these make ties unlikely.
        draws = np.random.default_rng(1).integers(1 << 20, 1 << 21, len(self.basis))
        cost = [int(draw) for draw in draws]
        tie = False
        if self.entering is not None and not should_stop():
            # If it is the conflict that the guess took it for, that is all.
            u, scale = self._coordinates(self.entering)
            if max(u) <= 0:
                return self._conflict(self.entering, u, scale)
        steps = count() if limit is None else range(limit)
        for _ in steps:
            if should_stop():
                break
            w, products, denominator = self._primal()
            if min(products) > 0:
                return self.separator(w)
            row = self._choose(products, denominator, tie)
            u, scale = self._coordinates(row)
            eligible = [i for i, value in enumerate(u) if value > 0]
            if not eligible:
                return self._conflict(row, u, scale)
            leaving = min(
                eligible, key=lambda i: (Fraction(cost[i], u[i]), self.basis[i])
            )
            tie = cost[leaving] == 0
            cost = _updated(cost, u, leaving, scale)
            self.basis[leaving] = row
        return None

    def _is_basis(self, basis: list[int]) -> bool:
        found = linear.independent_columns(self.values[basis].T)
        return len(found) == len(self.basis)

    def _primal(self) -> tuple[list[int], list[int], int]:
        """Solve ``A_b w = t_b``; return ``w``, ``A w`` and their denominator."""
        numerators, denominator = linear.solve(
            linear.integer_matrix(self.values[self.basis]),
            linear.integer_column([1 << self.levels[i] for i in self.basis]),
        )
        products = self._matrix * numerators
        return (
            linear.python_integers(numerators),
            linear.python_integers(products),
            denominator,
        )

    def _choose(self, products: list[int], denominator: int, tie: bool) -> int:
        """Take the row most violated; in a tie the first violated one."""
        if tie:
            return next(
                i
                for i, product in enumerate(products)
                if product < denominator << self.levels[i]
            )
        if self.entering is not None and products[self.entering] <= 0:
            row, self.entering = self.entering, None
            return row
        top = max(self.levels)
        return min(
            range(len(products)), key=lambda i: products[i] << (top - self.levels[i])
        )

    def _coordinates(self, row: int) -> tuple[list[int], int]:
        """Solve ``A_b^T u = a_k``: numerators and their positive denominator."""
        numerators, denominator = linear.solve(
            linear.integer_matrix(self.values[self.basis].T),
            linear.integer_column([int(v) for v in self.values[row]]),
        )
        return linear.python_integers(numerators), denominator

    def separator(self, w: list[int]) -> Separator:
        """Round a `w` that separates as far as it still does; put columns back."""
        full = [0] * self.rows.shape[1]
        top = max(self.shifts, default=0)
        short = shortened(self.values, w)
        for column, shift, value in zip(self.columns, self.shifts, short, strict=True):
            full[column] = value << (top - shift)
        return Separator(tuple(primitive(full)))

    def _conflict(self, row: int, u: list[int], scale: int) -> Conflict:
        weights = {row: scale}
        for i, value in zip(self.basis, u, strict=True):
            if value < 0:
                weights[i] = -value
        return Conflict.of_scaled(weights, self.exponents)


def _updated(cost: list[int], u: list[int], leaving: int, scale: int) -> list[int]:
    """Return the costs after a pivot, up to a positive factor."""
    pivot, price = u[leaving], cost[leaving]
    changed = [y * pivot - price * value for y, value in zip(cost, u, strict=True)]
    changed[leaving] = price * scale
    return primitive(changed)


def guess_basis(
    tableau: Floats, basis: list[int], should_stop: Callable[[], bool]
) -> tuple[list[int], int | None]:
    """Follow the pivots in floating point, one rank-one update each.

    It may be wrong in any way: its only output is a basis to start from.

    Parameters
    ----------
    tableau : ndarray of shape (m, r)
        Every row in the coordinates of the basis: ``a_k = sum_j tableau[k, j] b_j``,
        rows of comparable size. Overwritten.
    basis : list of r int
        The rows of the basis, so ``tableau[basis]`` is the identity.
    should_stop : callable
        Asked between pivots.

    Returns
    -------
    basis : list of r int
        The last basis reached.
    row : int or None
        The row that, with the basis, looks like a conflict; None if there is none.
    """
    basis, r = list(basis), len(basis)
    # Unequal costs make ties of the ratio test, and so stalling, unlikely.
    cost = np.random.default_rng(0).uniform(1.0, 2.0, r)
    with np.errstate(all="ignore"):  # an overflow only spoils the guess
        for _ in range(_PIVOTS_A_ROW * (r + 10)):
            margins = tableau.sum(axis=1)
            lengths = np.sqrt(1.0 + np.einsum("ij,ij->i", tableau, tableau))
            row = int(np.argmin((margins - 1.0) / lengths))  # steepest edge
            worst = int(np.argmin(margins / lengths))
            if margins[worst] > _TOLERANCE * lengths[worst] or should_stop():
                break
            if margins[row] > 0:
                row = worst
            entering = tableau[row, :].copy()
            eligible = np.flatnonzero(entering > _TOLERANCE * np.abs(entering).max())
            if eligible.size == 0:
                return basis, row
            ratios = cost[eligible] / entering[eligible]
            leaving = int(eligible[np.argmin(ratios)])
            factor = tableau[:, leaving] / entering[leaving]
            cost -= entering * ratios.min()
            cost[leaving] = ratios.min()
            np.maximum(cost, 0.0, out=cost)
            tableau -= np.outer(factor, entering)
            tableau[:, leaving] = factor
            basis[leaving] = row
            if not np.abs(factor).max() < _GROWTH_LIMIT:
                break
    return basis, None


def holds(rows: IntegerRows, answer: Answer) -> bool:
    """Check an answer against all columns by exact products."""
    if isinstance(answer, Separator):
        return bool((rows.products(answer.w) > 0).all())
    chosen = rows.take(answer.rows)
    least = int(chosen.exponents.min())
    scaled = [
        weight << (int(e) - least)
        for weight, e in zip(answer.weights, chosen.exponents, strict=True)
    ]
    total = linear.integer_matrix(chosen.values.T) * linear.integer_column(scaled)
    return bool(total.is_zero())
