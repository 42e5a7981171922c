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
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from linsep.arrays import Floats, Index
from linsep.proof import linear
from linsep.proof.exact import IntegerRows, integers_from, python_vector

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


class _Row(NamedTuple):
    """A signed row divided by a power of two, so that its entries are integers.

    Its value at the solution, the target, is one divided alike.
    """

    features: list[int]
    border: int  # the entry of the constant column, 0 without one
    target: fmpq


class _Support:
    """Independent active rows, their multipliers, and the system they solve."""

    def __init__(self, take: Callable[[Index], Any], free: bool) -> None:
        self._take = take
        self._held: dict[int, _Row] = {}
        self.width: int
        self.free = free
        self.rows: list[int] = []
        self.multipliers: list[fmpq] = []
        self.offset: fmpq

    def read(self, index: list[int]) -> IntegerRows:
        """Return rows as integers, the constant column last if there is one."""
        return IntegerRows.from_floats(self._take(np.asarray(index, dtype=np.intp)))

    def row(self, i: int) -> _Row:
        """Return a row, read when it is first asked for."""
        if i not in self._held:
            read = self.read([i])
            (values,), (exponent,) = read.values.tolist(), read.exponents.tolist()
            border = values.pop() if self.free else 0
            self.width = len(values)
            self._held[i] = _Row(values, border, fmpq(2) ** -exponent)
        return self._held[i]

    def features(self) -> fmpz_mat:
        """Return the features of the active rows."""
        rows = [self.row(i).features for i in self.rows]
        return fmpz_mat(len(rows), self.width, list(chain.from_iterable(rows)))

    def matrix(self) -> fmpq_mat:
        """Return the Gram matrix of the active rows, bordered by their signs."""
        features = self.features()
        lines: list[list[Any]] = (features * features.transpose()).tolist()
        if self.free:
            border = [self.row(i).border for i in self.rows]
            lines = [[*line, b] for line, b in zip(lines, border, strict=True)]
            lines.append([*border, 0])
        return fmpq_mat(len(lines), len(lines), list(chain.from_iterable(lines)))

    def column(self, entering: int) -> fmpq_mat:
        """Return the column that a row would have in the matrix."""
        row = self.row(entering)
        products = self.features() * linear.integer_column(row.features)
        entries: list[Any] = products.entries()
        entries += [row.border] if self.free else []
        return fmpq_mat(len(entries), 1, entries)

    def solution(self) -> fmpq_mat:
        """Return the multipliers, and the offset if there is one, as a column."""
        entries = [*self.multipliers, self.offset] if self.free else self.multipliers
        return fmpq_mat(len(entries), 1, entries)

    def solve(self) -> None:
        """Solve for the multipliers and the offset of the active rows."""
        right = [self.row(i).target for i in self.rows] + (
            [fmpq(0)] if self.free else []
        )
        self._set(self.matrix().solve(fmpq_mat(len(right), 1, right)))

    def move(self, direction: fmpq_mat, length: fmpq) -> None:
        """Move the multipliers and the offset against the direction."""
        self._set(self.solution() - direction * length)

    def _set(self, solution: fmpq_mat) -> None:
        entries = solution.entries()
        if self.free:
            self.offset = entries.pop()
        self.multipliers = entries

    def weights(self) -> tuple[list[int], int]:
        """Return ``w`` and ``b`` as integers over one denominator."""
        multipliers = fmpq_mat(len(self.rows), 1, self.multipliers)
        entries = (fmpq_mat(self.features().transpose()) * multipliers).entries()
        if self.free:
            entries.append(self.offset)
        numerators, denominator = fmpq_mat(len(entries), 1, entries).numer_denom()
        return linear.python_integers(numerators), int(denominator)


def exact_margin(
    take: Callable[[Index], Any],
    support: Index,
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
        Rows believed to carry the solution, the most trusted first; at least one row,
        and with `free` one of each class.
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
    guess = [int(i) for i in support]
    # A guess may lead nowhere; its first row of each class never does.
    first = {state.row(i).border > 0: i for i in reversed(guess)}
    if not _begins(state, guess) and not _begins(state, list(first.values())):
        return None
    while not should_stop():
        weights, denominator = state.weights()
        worst = most_violated(weights, denominator)
        if worst is None:
            return _answer(state, weights, denominator)
        if not _admit(state, worst[0], should_stop):
            return None
    return None


def _begins(state: _Support, index: list[int]) -> bool:
    """Activate rows independent of those before them, none of negative multiplier."""
    values = state.read(index).values
    state.rows = [index[i] for i in linear.independent_columns(values.T)]
    while state.rows:
        if state.free and len({state.row(i).border > 0 for i in state.rows}) < 2:
            return False
        state.solve()
        least = min(range(len(state.rows)), key=lambda i: state.multipliers[i])
        if state.multipliers[least] >= 0:
            return True
        del state.rows[least]
    return False


def _admit(state: _Support, entering: int, should_stop: Callable[[], bool]) -> bool:
    """Take exact dual steps until a violated row is active; False if it cannot be.

    Let ``K`` be the bordered matrix of the active rows and ``c`` the column that the
    entering row would have in it. For each unit of the entering multiplier

    1. the other multipliers and the offset fall by ``K^-1 c``, so that the values of
       the active rows stay, and
    2. the row's own value rises by ``|a|^2 - c' K^-1 c``.
    3. The longest step is where the first multiplier reaches zero;
    4. the full step is where the row's value reaches its target.
    5. If the full step comes first, it is taken, and the row is active.
    6. Otherwise the longest is, the row that blocks is dropped, and all begins again.
       With no step at all the rows cannot be separated.
    """
    row = state.row(entering)
    length_squared = sum((fmpq(value) ** 2 for value in row.features), start=fmpq(0))
    multiplier = fmpq(0)
    while not should_stop():
        column = state.column(entering)
        fall = state.matrix().solve(column)  # 1
        rise = length_squared - _dot(column, fall)  # 2
        steps = [  # 3
            (held / fall[i, 0], i)
            for i, held in enumerate(state.multipliers)
            if fall[i, 0] > 0
        ]
        longest, blocking = min(steps, default=(None, -1))
        value = _dot(column, state.solution()) + length_squared * multiplier
        full = (row.target - value) / rise if rise > 0 else None  # 4
        if full is not None and (longest is None or full <= longest):  # 5
            state.move(fall, full)
            state.rows.append(entering)
            state.multipliers.append(multiplier + full)
            return True
        if longest is None:  # 6
            return False
        state.move(fall, longest)
        multiplier += longest
        del state.rows[blocking], state.multipliers[blocking]
    return False


def _dot(one: fmpq_mat, other: fmpq_mat) -> fmpq:
    """Return the product of two columns."""
    return (one.transpose() * other)[0, 0]


def _answer(state: _Support, weights: list[int], denominator: int) -> ExactMargin:
    """Word the solution, multipliers as those of the rows as given."""
    scaled = {
        row: _fraction(multiplier * state.row(row).target)
        for row, multiplier in zip(state.rows, state.multipliers, strict=True)
    }
    pairs = sorted((row, m) for row, m in scaled.items() if m > 0)
    total = sum((m for _, m in pairs), start=Fraction(0))
    return ExactMargin(
        1 / total,
        tuple(row for row, _ in pairs),
        tuple(m for _, m in pairs),
        tuple(weights),
        denominator,
    )


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def exact_upper(rows: Floats, weights: Floats, free: bool) -> float:
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
    exact, whole = IntegerRows.from_floats(rows), integers_from(weights)
    least = int(exact.exponents.min())
    shares = [p << int(e) - least for p, e in zip(whole, exact.exponents, strict=True)]
    total = sum(whole)
    if free:
        positive = (rows[:, -1] > 0).tolist()
        up = sum(p for p, is_up in zip(whole, positive, strict=True) if is_up)
        down = total - up
        if not (up and down):
            return float("inf")
        shares = [
            p * (down if is_up else up)
            for p, is_up in zip(shares, positive, strict=True)
        ]
        total = 2 * up * down
    # With `free` the signs come to 0.
    sums = python_vector(shares) @ exact.values.astype(object)
    squared = Fraction(sum(int(v) ** 2 for v in sums), total**2)
    return root_above(squared * Fraction(4) ** least)


def exact_lower(least: Fraction, coef: Floats) -> float:
    """Return ``least / |coef|`` rounded down; ``least >= 0``, ``coef`` not zero."""
    exact = IntegerRows.from_floats(coef[np.newaxis])
    squared = sum(int(c) ** 2 for c in exact.values[0])
    power = Fraction(4) ** int(exact.exponents[0])
    return root_below(least**2 / (squared * power))


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
        root = math.nextafter(root, -math.inf)
    return root


def square_root(value: Fraction) -> float:
    """Return a double next to the square root of a fraction of any size, or of zero.

    It is the root where that is a double, else the one above or the one below: the
    fraction is rounded once, which moves a root by less than half a unit in its last
    place, and every rounding keeps the order.

    Examples
    --------
    >>> square_root(Fraction(1, 4**600))
    2.409919865102884e-181
    """
    shift = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    root = math.sqrt(value / Fraction(4) ** shift)
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(root, shift))  # inf above the doubles
