r"""The largest margin as an exact number, from a support that floating point guessed.

For active rows ``S`` the solution of ``min |w|^2 / 2`` with ``y_i (w . x_i + b) = 1``
on ``S`` is rational: with the Gram matrix ``G`` of the signed rows and their signs
``s``,

    [G  s] [lambda]   [1]
    [s' 0] [  b   ] = [0],     w = sum_i lambda_i y_i x_i,    |w|^2 = sum_i lambda_i.

It is the largest margin exactly when ``lambda >= 0`` and every row has ``y_i (w . x_i +
b) >= 1`` (Karush, Kuhn and Tucker; the problem is convex). Both are checked with
integers. Where the guess fails the check, exact steps of the dual active set (Goldfarb
& Idnani, 1983) go on from it, which is finite: every step that adds a row lengthens
``w``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import NDArray

from linsep.proof import linear
from linsep.proof.exact import IntegerRows, integer_product
from linsep.rows import as_dense

Evaluate = Callable[[list[int], int], tuple[int, Fraction] | None]


@dataclass(frozen=True)
class ExactMargin:
    """The exact solution.

    Attributes
    ----------
    squared : Fraction
        The largest margin, squared.
    support : tuple of int
        Rows with a positive multiplier, increasing.
    multipliers : tuple of Fraction
        Theirs; they sum to ``1 / squared``.
    weights : tuple of int
        ``w`` and, with an intercept, ``b`` last, times `denominator`.
    denominator : int
        Positive.
    """

    squared: Fraction
    support: tuple[int, ...]
    multipliers: tuple[Fraction, ...]
    weights: tuple[int, ...]
    denominator: int


class _Support:
    """Independent active rows, their multipliers, and the system they solve."""

    def __init__(self, take: Callable[[NDArray[np.intp]], Any], free: bool) -> None:
        self._take = take
        self.free = free
        self.rows: list[int] = []
        self.multipliers: list[fmpq] = []
        self.offset = fmpq(0)

    def load(self, index: list[int]) -> IntegerRows:
        dense = self._take(np.asarray(index, dtype=np.intp))
        dense = as_dense(dense)
        return IntegerRows.from_floats(dense)

    def bordered(self, index: list[int]) -> tuple[fmpq_mat, fmpq_mat, fmpz_mat]:
        """Return the matrix, the right side, and the features of rows as integers.

        Row ``i`` is scaled by ``2**-exponent``, its multiplier by the inverse.
        """
        exact = self.load(index)
        k = len(index)
        values = exact.values[:, :-1] if self.free else exact.values
        features = linear.integer_matrix(np.asarray(values, dtype=object))
        gram = features * features.transpose()
        size = k + int(self.free)
        matrix = fmpq_mat(size, size)
        right = fmpq_mat(size, 1)
        for i in range(k):
            for j in range(k):
                matrix[i, j] = fmpq(gram[i, j])
            right[i, 0] = _power(-int(exact.exponents[i]))
            if self.free:
                sign = fmpq(int(exact.values[i, -1]))
                matrix[i, k] = matrix[k, i] = sign
        return matrix, right, features

    def solve(self) -> None:
        """Solve for the multipliers and the offset of the present rows."""
        matrix, right, _ = self.bordered(self.rows)
        solution = matrix.solve(right)
        k = len(self.rows)
        self.multipliers = [solution[i, 0] for i in range(k)]
        self.offset = solution[k, 0] if self.free else fmpq(0)

    def scales(self) -> list[fmpq]:
        return [_power(-int(e)) for e in self.load(self.rows).exponents]

    def weights(self) -> tuple[list[int], int]:
        """Return ``w`` and ``b`` as integers over one denominator."""
        _, _, features = self.bordered(self.rows)
        k = len(self.rows)
        column = fmpq_mat(k, 1)
        for i in range(k):
            column[i, 0] = self.multipliers[i]
        w = fmpq_mat(features.transpose()) * column
        entries = [w[j, 0] for j in range(w.nrows())]
        if self.free:
            entries.append(self.offset)
        total = fmpq_mat(len(entries), 1, entries)
        numerators, denominator = total.numer_denom()
        return linear.python_integers(numerators), int(denominator)


def exact_margin(
    take: Callable[[NDArray[np.intp]], Any],
    support: NDArray[np.intp],
    free: bool,
    most_violated: Evaluate,
    should_stop: Callable[[], bool],
) -> ExactMargin | None:
    """Settle the largest margin exactly.

    Parameters
    ----------
    take : callable
        Returns named signed rows in float64; with `free` the last column is the sign.
    support : ndarray of int
        Rows believed to carry the solution, the most trusted first.
    free : bool
        Whether there is an unpenalised intercept.
    most_violated : callable
        Given integer weights and their denominator, returns the row furthest below 1
        and its exact value, or None if every row is at 1 or above.
    should_stop : callable
        Asked between steps; a true answer gives up.

    Returns
    -------
    ExactMargin or None
        None if stopped, or if the rows cannot be separated at all.
    """
    state = _Support(take, free)
    state.rows = _independent(state, [int(i) for i in support])
    if not _make_feasible(state):
        return None
    while not should_stop():
        weights, denominator = state.weights()
        worst = most_violated(weights, denominator)
        if worst is None:
            return _answer(state, weights, denominator)
        if not _admit(state, worst[0], should_stop):
            return None
    return None


def _independent(state: _Support, index: list[int]) -> list[int]:
    """Keep the rows that are independent of those before them."""
    values = state.load(index).values
    return [index[i] for i in linear.independent_columns(values.T)]


def _make_feasible(state: _Support) -> bool:
    """Drop rows with negative multipliers until there are none."""
    while state.rows:
        if state.free and len(_classes(state)) < 2:
            return False
        state.solve()
        least = min(range(len(state.rows)), key=lambda i: state.multipliers[i])
        if state.multipliers[least] >= 0:
            return True
        del state.rows[least]
    return False


def _classes(state: _Support) -> set[int]:
    return {1 if v > 0 else -1 for v in state.load(state.rows).values[:, -1]}


def _admit(state: _Support, entering: int, should_stop: Callable[[], bool]) -> bool:
    """Take exact dual steps until a violated row is active; False if it cannot be."""
    multiplier = fmpq(0)
    while not should_stop():
        index = [*state.rows, entering]
        matrix, right, _ = state.bordered(index)
        k = len(state.rows)
        kept = [*range(k), *range(k + 1, matrix.nrows())]
        inner = fmpq_mat(len(kept), len(kept))
        column = fmpq_mat(len(kept), 1)
        for i, at in enumerate(kept):
            column[i, 0] = matrix[at, k]
            for j, other in enumerate(kept):
                inner[i, j] = matrix[at, other]
        direction = inner.solve(column)
        rise = matrix[k, k] - (column.transpose() * direction)[0, 0]
        gap = right[k, 0] - matrix[k, k] * multiplier
        for i in range(k):
            gap -= matrix[k, i] * state.multipliers[i]
        if state.free:
            gap -= matrix[k, k + 1] * state.offset
        ratios = [
            (state.multipliers[i] / direction[i, 0], i)
            for i in range(k)
            if direction[i, 0] > 0
        ]
        longest = min(ratios) if ratios else None
        full = gap / rise if rise > 0 else None
        if full is None and longest is None:
            return False
        if longest is None or (full is not None and full <= longest[0]):
            assert full is not None
            _move(state, direction, full)
            state.rows.append(entering)
            state.multipliers.append(multiplier + full)
            return True
        _move(state, direction, longest[0])
        multiplier += longest[0]
        del state.rows[longest[1]], state.multipliers[longest[1]]
    return False


def _move(state: _Support, direction: fmpq_mat, length: fmpq) -> None:
    """Move the multipliers and the offset against the direction."""
    k = len(state.rows)
    for i in range(k):
        state.multipliers[i] -= length * direction[i, 0]
    if state.free:
        state.offset -= length * direction[k, 0]


def _answer(state: _Support, weights: list[int], denominator: int) -> ExactMargin:
    """Word the solution, multipliers as those of the rows as given."""
    scales = state.scales()
    scaled = [m * s for m, s in zip(state.multipliers, scales, strict=True)]
    pairs = sorted(
        (row, _fraction(m)) for row, m in zip(state.rows, scaled, strict=True)
    )
    pairs = [(row, m) for row, m in pairs if m > 0]
    total = sum((m for _, m in pairs), start=Fraction(0))
    return ExactMargin(
        1 / total,
        tuple(row for row, _ in pairs),
        tuple(m for _, m in pairs),
        tuple(weights),
        denominator,
    )


def exact_values(
    rows: NDArray[np.float64], weights: list[int], denominator: int
) -> list[Fraction]:
    """Return every ``a_i . w`` exactly."""
    exact = IntegerRows.from_floats(rows)
    products = integer_product(exact.values, weights)
    return [
        Fraction(int(p), denominator) * Fraction(2) ** int(e)
        for p, e in zip(products, exact.exponents, strict=True)
    ]


def _power(exponent: int) -> fmpq:
    """Return two to an integer power."""
    return fmpq(1 << exponent) if exponent >= 0 else fmpq(1, 1 << -exponent)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def exact_upper(
    rows: NDArray[np.float64], weights: NDArray[np.float64], free: bool
) -> float:
    """Return ``|sum_i p_i a_i|``, rounded up, for weights brought to balance exactly.

    Parameters
    ----------
    rows : ndarray of shape (k, d)
        Signed rows; with `free` the last column is the sign.
    weights : ndarray of shape (k,)
        Not negative, not all zero, taken exactly as they are.
    free : bool
        Whether both classes are given the same mass, as a free intercept demands.
    """
    exact = IntegerRows.from_floats(rows)
    shares = [Fraction(float(p)) for p in weights]
    if free:
        positive = rows[:, -1] > 0
        mass = {
            side: sum((p for p, s in zip(shares, positive, strict=True) if s == side))
            for side in (True, False)
        }
        if not all(mass.values()):
            return float("inf")
        shares = [
            p / (2 * mass[bool(s)]) for p, s in zip(shares, positive, strict=True)
        ]
    else:
        total = sum(shares)
        shares = [p / total for p in shares]
    scaled = [
        p * Fraction(2) ** int(e) for p, e in zip(shares, exact.exponents, strict=True)
    ]
    denominator = math.lcm(*(p.denominator for p in scaled))
    numerators = np.empty(len(scaled), dtype=object)
    numerators[:] = [int(p * denominator) for p in scaled]
    width = rows.shape[1] - int(free)
    sums = numerators @ exact.values[:, :width].astype(object)
    squared = Fraction(sum(int(v) ** 2 for v in sums), denominator**2)
    return root_above(squared)


def exact_lower(least: Fraction, coef: NDArray[np.float64]) -> float:
    """Return ``least / |coef|`` rounded down; ``least >= 0``, ``coef`` not zero."""
    length_squared = sum((Fraction(float(c)) ** 2 for c in coef), start=Fraction(0))
    return root_below(least**2 / length_squared)


def root_above(value: Fraction) -> float:
    """Return the least double that is no smaller than the square root; maybe inf.

    Examples
    --------
    >>> root_above(Fraction(9, 4)), root_above(Fraction(1, 4**2000))
    (1.5, 5e-324)
    """
    root = square_root(value)
    while root < math.inf and Fraction(root) ** 2 < value:
        root = math.nextafter(root, math.inf)
    if root == math.inf:
        return root
    while root > 0 and Fraction(math.nextafter(root, 0.0)) ** 2 >= value:
        root = math.nextafter(root, 0.0)
    return root


def root_below(value: Fraction) -> float:
    """Return the largest finite double that is no larger than the square root.

    Examples
    --------
    >>> root_below(Fraction(9, 4)), root_below(Fraction(1, 4**2000))
    (1.5, 0.0)
    """
    root = min(square_root(value), float(np.finfo(np.float64).max))
    while Fraction(root) ** 2 > value:
        root = math.nextafter(root, 0.0)
    above = math.nextafter(root, math.inf)
    while above < math.inf and Fraction(above) ** 2 <= value:
        root, above = above, math.nextafter(above, math.inf)
    return root


def square_root(value: Fraction) -> float:
    """Return the square root of a fraction of any size, to about one unit roundoff.

    Examples
    --------
    >>> square_root(Fraction(1, 4**600))
    2.409919865102884e-181
    """
    if value <= 0:
        return 0.0
    shift = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    root = math.sqrt(value / Fraction(4) ** shift)
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(root, shift))  # inf above the doubles
