"""Boolean functions as data: threshold functions, easy and hard, and all others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.input import InputError, checked_count, checked_random_state
from linsep.lab.datasets.record import (
    Dataset,
    RandomState,
    exact_array,
    with_conflict,
)


def boolean_function(number: int, n_inputs: int, *, low: int = 0) -> Dataset:
    """Return a Boolean function, named by its truth table, on all its inputs.

    Construction: row k holds the binary digits of k, lowest first; its label is +1
    if bit k of `number` is set. With an intercept.

    Truth: separable if and only if no two true rows have the same sum as two false
    rows (the two of a pair may be the same row). Two pairs with the same sum are a
    conflict, for any number of inputs. That there are no others is a theorem for up
    to eight inputs: functions without such pairs are completely monotone, and up to
    eight inputs those are threshold functions.

    Parameters
    ----------
    number : int from 0 to ``2**2**n_inputs - 1``
    n_inputs : int from 0 to 8
    low : {0, -1}, default=0
        The input that stands for false; true is 1.

    Returns
    -------
    Dataset
        No separator is planted: `coef` is None.

    References
    ----------
    Muroga, Tsuboi & Baugh, "Enumeration of Threshold Functions of Eight Variables",
    IEEE Transactions on Computers C-19, 1970.

    Examples
    --------
    Exclusive or, true on rows 1 and 2:

    >>> data = boolean_function(0b0110, 2)
    >>> data.y, data.separable, data.conflict, data.conflict_weights
    (array([-1,  1,  1, -1]), False, array([0, 1, 2, 3]), (1, 1, 1, 1))
    >>> sum(boolean_function(number, 3).separable for number in range(256))
    104
    """
    checked_count("n_inputs", n_inputs, least=0, most=8)
    n_rows = 2 ** int(n_inputs)
    checked_count("number", number, least=0, most=2**n_rows - 1)
    bits = _all_inputs(n_inputs)
    y = np.array([2 * (number >> k & 1) - 1 for k in range(n_rows)], dtype=np.int64)
    data = Dataset(
        X=_coded(bits, low),
        y=y,
        fit_intercept=True,
        separable=True,
        description=f"Boolean function {number} of {n_inputs} inputs",
    )
    pairs = _pairs_with_the_same_sum(bits, y)
    if pairs is None:
        return data
    rows, counts = np.unique(pairs, return_counts=True)
    return with_conflict(data, rows, counts)


def odd_max_bit(n_inputs: int, *, low: int = 0) -> Dataset:
    """Return the odd-max-bit function on all its inputs.

    Construction: bits b_1, ..., b_m; the label is +1 if the largest i with b_i set
    is odd, -1 if it is even or no bit is set. With an intercept.

    Truth: separable, by the weights ``w_i = (-1)^(i+1) 2^i`` and the intercept -1 on
    bits 0 and 1: if i is the largest bit set, the others and the intercept sum to at
    most ``2 + ... + 2^(i-1) + 1 = 2^i - 1`` in size. So every slack is at least 1,
    and the planted margin is ``1 / ||w||``, exponentially small; on inputs -1 and 1
    both the weights' meaning and the slacks double.

    Parameters
    ----------
    n_inputs : int from 1 to 20
        There are ``2**n_inputs`` rows.
    low : {0, -1}, default=0
        The input that stands for a bit not set; 1 is set.

    Returns
    -------
    Dataset

    References
    ----------
    Beigel, "Perceptrons, PP, and the Polynomial Hierarchy", Computational Complexity
    4, 1994.

    Examples
    --------
    >>> data = odd_max_bit(2)
    >>> data.X.tolist(), data.y.tolist(), data.coef.tolist(), data.intercept
    ([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [-1, 1, -1, -1], [2.0, -4.0], -1)
    """
    checked_count("n_inputs", n_inputs, least=1, most=20)
    bits = _all_inputs(n_inputs)
    places = np.arange(1, n_inputs + 1)
    largest = np.max(bits * places, axis=1)
    weights = [(-1) ** (i + 1) * 2**i for i in range(1, n_inputs + 1)]
    # sum w (x + 1) / 2 - 1, doubled, is sum w x + (sum w - 2).
    intercept = -1 if low == 0 else sum(weights) - 2
    slack = 1 if low == 0 else 2
    return Dataset(
        X=_coded(bits, low),
        y=np.where(largest % 2 == 1, 1, -1).astype(np.int64),
        fit_intercept=True,
        separable=True,
        description=f"odd-max-bit of {n_inputs} inputs {low} and 1",
        margin_squared=Fraction(slack**2, sum(w * w for w in weights)),
        coef=exact_array(weights),
        intercept=intercept,
    )


def threshold_rows(
    n_inputs: int,
    *,
    n_samples: int | None = None,
    largest_weight: int = 9,
    random_state: RandomState = None,
) -> Dataset:
    """Return a threshold function of inputs -1 and 1 with random integer weights.

    Construction: weights w_i from 1 to `largest_weight` with random signs, and an
    intercept b of 0 or 1 that makes ``w @ x + b`` odd for every x; the label is its
    sign. With an intercept.

    Truth: separable by (w, b); every slack is an odd integer, so at least 1.

    Parameters
    ----------
    n_inputs : int, at least 1; at most 20 unless `n_samples` is given
    n_samples : int or None, default=None
        Draw that many random inputs; all ``2**n_inputs`` by default.
    largest_weight : int, default=9
        At most 2^40.
    random_state : int, Generator or None, default=None

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = threshold_rows(10)
    >>> data.X.shape, bool((data.y * (data.X @ data.coef + data.intercept)).min() >= 1)
    ((1024, 10), True)
    """
    if n_samples is None:
        checked_count("n_inputs", n_inputs, least=1, most=20)
    else:
        checked_count("n_inputs", n_inputs)
        checked_count("n_samples", n_samples)
    checked_count("largest_weight", largest_weight, least=1, most=2**40)
    rng = checked_random_state(random_state)
    weights = rng.integers(1, largest_weight + 1, size=n_inputs)
    weights *= rng.choice([-1, 1], size=n_inputs)
    intercept = 1 - int(weights.sum()) % 2
    if n_samples is None:
        inputs = 2 * _all_inputs(n_inputs) - 1
    else:
        inputs = rng.choice(np.array([-1, 1]), size=(n_samples, n_inputs))
    return Dataset(
        X=inputs.astype(np.float64),
        y=np.sign(inputs @ weights + intercept).astype(np.int64),
        fit_intercept=True,
        separable=True,
        description=f"threshold function with weights up to {largest_weight}",
        margin_squared=Fraction(1, sum(int(w) ** 2 for w in weights)),
        coef=weights.astype(np.float64),
        intercept=intercept,
    )


def hard_threshold_rows(n_bits: int) -> Dataset:
    """Return n rows of -1 and 1 that force weights of about ``n^(n/2)``.

    Construction: Håstad's matrix as Alon and Vu present it, of order
    ``n = 2**n_bits``. Order the subsets s_1, s_2, ... of the bits by size, neighbours
    differing in at most two elements. With the Hadamard matrix
    ``Q_ij = (-1)^|s_i & s_j|`` and a lower triangular L (see `_triangle`), the matrix
    ``A = L Q`` has entries -1 and 1 only, and its inverse has huge ones. The labels
    are the signs of the row of the inverse with the largest sum of sizes. No
    intercept.

    Truth: separable, as A is invertible: w = A^-1 y has all slacks 1, so the margin
    is at least ``1 / ||w||``. And the labels force it to be small: if j is that row,
    ``w_j = sum_i |A^-1_ji| y_i a_i @ w`` is at least the sum of the sizes for every w
    with slacks of at least 1; so the largest margin is at most 1 over that sum.
    That is less than 2^-30 for 32 features and less than 2^-90 for 64.

    Parameters
    ----------
    n_bits : int from 1 to 7
        There are ``2**n_bits`` rows and features.

    Returns
    -------
    Dataset

    References
    ----------
    Håstad, "On the Size of Weights for Threshold Gates", SIAM Journal on Discrete
    Mathematics 7, 1994. Alon & Vu, "Anti-Hadamard Matrices, Coin Weighing, Threshold
    Gates, and Indecomposable Hypergraphs", Journal of Combinatorial Theory A 79,
    1997, section 2.

    Examples
    --------
    >>> data = hard_threshold_rows(3)
    >>> data.X.shape, sorted(set(data.X.ravel().tolist()))
    ((8, 8), [-1.0, 1.0])
    >>> hard_threshold_rows(5).margin < 2.0**-30
    True
    """
    checked_count("n_bits", n_bits, least=1, most=7)
    subsets = _ordered_subsets(n_bits)
    n = len(subsets)
    hadamard = np.array(
        [[(-1) ** (s & t).bit_count() for t in subsets] for s in subsets]
    )
    hadamard = hadamard.astype(object)  # Python integers from here on
    triangle, scale = _triangle(subsets)
    matrix = (triangle @ hadamard) // scale[:, None]
    # A = diag(1 / scale) T Q and Q Q = n, so n A^-1 = Q T^-1 diag(scale).
    inverse = hadamard @ _inverse_of_unit_triangle(triangle) * scale
    row = max(range(n), key=lambda j: int(np.abs(inverse[j]).sum()))
    y = np.where(inverse[row] < 0, -1, 1).astype(np.int64)
    separator = [Fraction(int(value), n) for value in inverse @ y]
    return Dataset(
        X=matrix.astype(np.float64),
        y=y,
        fit_intercept=False,
        separable=True,
        description=f"rows of -1 and 1 that force large weights, order {n}",
        margin_squared=1 / sum((w * w for w in separator), Fraction(0)),
        coef=exact_array(separator),
    )


def _all_inputs(n_inputs: int) -> NDArray[np.int64]:
    """Return the binary digits of 0, 1, ..., lowest first, one number a row."""
    numbers = np.arange(2**n_inputs, dtype=np.int64)
    return numbers[:, None] >> np.arange(n_inputs) & 1


def _coded(bits: NDArray[np.int64], low: int) -> NDArray[np.float64]:
    """Write bits as `low` and 1."""
    if low not in (0, -1):
        raise InputError(f"low must be 0 or -1, got {low!r}")
    return np.where(bits == 1, 1.0, float(low))


def _pairs_with_the_same_sum(
    bits: NDArray[np.int64], y: NDArray[np.int64]
) -> list[int] | None:
    """Return rows (true, true, false, false) with equal sums of pairs, if any."""
    sums = {1: _pair_sums(bits, np.flatnonzero(y == 1)),
            -1: _pair_sums(bits, np.flatnonzero(y == -1))}  # fmt: skip
    common = sums[1].keys() & sums[-1].keys()
    if not common:
        return None
    key = min(common)
    return [*sums[1][key], *sums[-1][key]]


def _pair_sums(
    bits: NDArray[np.int64], rows: NDArray[np.intp]
) -> dict[int, tuple[int, int]]:
    """Return, for each sum of two of the rows written in base 3, one such pair."""
    codes = bits[rows] @ 3 ** np.arange(bits.shape[1])
    first, second = np.triu_indices(len(rows))
    sums = codes[first] + codes[second]
    values, where = np.unique(sums, return_index=True)
    pairs = zip(rows[first[where]], rows[second[where]], strict=True)
    return {int(v): (int(a), int(b)) for v, (a, b) in zip(values, pairs, strict=True)}


def _ordered_subsets(n_bits: int) -> list[int]:
    """Return all subsets, as bit masks, by size, neighbours differing in at most two.

    Within a size the order is that of the revolving door (each step swaps one element
    for another); sizes are joined by adding one element.
    """
    order = [0]
    for size in range(1, n_bits + 1):
        door = _revolving_door(n_bits, size)
        if (door[0] & order[-1]).bit_count() < size - 1:
            door = door[::-1]
        order += door
    return order


def _revolving_door(n_bits: int, size: int) -> list[int]:
    """Return the subsets of one size, each differing from the next by one swap."""
    if size == 0:
        return [0]
    if size == n_bits:
        return [2**n_bits - 1]
    last = 1 << (n_bits - 1)
    without = _revolving_door(n_bits - 1, size)
    with_last = [subset | last for subset in _revolving_door(n_bits - 1, size - 1)]
    return without + with_last[::-1]


def _triangle(subsets: list[int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return Håstad's L, each row scaled to integers with 1 on the diagonal.

    For i > 1 let D be the difference of s_i and s_(i-1), U their union, and F the
    subsets s of U, those with ``|s & D| = 1`` only if D has two elements. There are
    ``2^|s_i|`` of them, s_i the last and s_(i-1) among them. Row i of L has
    ``2^(1-|s_i|)`` on F, less 1 at place i - 1. The scale is ``2^(|s_i|-1)``.
    """
    n = len(subsets)
    triangle = np.zeros((n, n), dtype=object)
    scale = np.ones(n, dtype=object)
    triangle[0, 0] = 1
    for i in range(1, n):
        here, before = subsets[i], subsets[i - 1]
        union, difference = here | before, here ^ before
        two = difference.bit_count() == 2
        for j, subset in enumerate(subsets):
            inside = subset & ~union == 0
            if inside and (not two or (subset & difference).bit_count() == 1):
                triangle[i, j] = 1
        scale[i] = 2 ** (here.bit_count() - 1)
        triangle[i, i - 1] -= scale[i]
    return triangle, scale


def _inverse_of_unit_triangle(triangle: NDArray[Any]) -> NDArray[Any]:
    """Invert a lower triangular integer matrix with unit diagonal, in integers."""
    n = len(triangle)
    inverse = np.zeros((n, n), dtype=object)
    for i in range(n):
        inverse[i] = -(triangle[i, :i] @ inverse[:i]) if i else 0
        inverse[i, i] = 1
    return inverse
