"""Boolean functions as data: threshold functions, easy and hard, and all others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index
from linsep.input import InputError, checked_count, checked_random_state
from linsep.lab.datasets.record import Dataset, RandomState, exact_array, with_conflict


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


def _all_inputs(n_inputs: int) -> NDArray[np.int64]:
    """Return the binary digits of 0, 1, ..., lowest first, one number a row."""
    numbers = np.arange(2**n_inputs, dtype=np.int64)
    return numbers[:, None] >> np.arange(n_inputs) & 1


def _coded(bits: NDArray[np.int64], low: int) -> Floats:
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


def _pair_sums(bits: NDArray[np.int64], rows: Index) -> dict[int, tuple[int, int]]:
    """Return, for each sum of two of the rows written in base 3, one such pair."""
    codes = bits[rows] @ 3 ** np.arange(bits.shape[1])
    first, second = np.triu_indices(len(rows))
    sums = codes[first] + codes[second]
    values, where = np.unique(sums, return_index=True)
    pairs = zip(rows[first[where]], rows[second[where]], strict=True)
    return {int(v): (int(a), int(b)) for v, (a, b) in zip(values, pairs, strict=True)}
