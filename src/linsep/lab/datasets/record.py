"""What every generator returns: data, and the truth about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Index

#: The seed that ``random_state=None`` stands for, as everywhere in linsep.
SEED = 0
RandomState: TypeAlias = int | np.random.Generator | None


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Data of two classes, and what is known about them for certain.

    The signed row of sample i is ``a_i = y_i (x_i, 1)``, the constant only with
    ``fit_intercept``. Everything said here is exact: take the entries of X as the
    rational numbers they are.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        float64 or float32.
    y : ndarray of shape (n_samples,)
        -1 or +1, int64.
    fit_intercept : bool
        Whether the truth below is about hyperplanes that may miss the origin.
    separable : bool
        Whether some hyperplane has every row strictly on its own side.
    description : str
        One line.
    margin_squared : Fraction, or None
        The square of a margin that some hyperplane has, in the units of X; 0 if not
        separable; None if no margin is known. It is the largest one if
        ``margin_is_exact``, else a lower bound on it.
    margin_is_exact : bool
    coef : ndarray of shape (n_features,), or None
        A planted separator, ``y_i (x_i @ coef + intercept) > 0`` for every row.
        float64 where that holds it exactly, else Python integers and fractions.
        For data that are not separable: the one planted before they were spoilt.
    intercept : float, int or Fraction
    conflict : ndarray of int, or None
        Rows that no hyperplane separates, in increasing order: the proof that the
        data are not separable.
    conflict_weights : tuple of int, or None
        Positive weights of those rows, ``sum_i weight_i a_i = 0`` exactly.
    flipped : ndarray of int, or None
        Rows whose labels were flipped.
    """

    X: NDArray[Any]
    y: NDArray[np.int64]
    fit_intercept: bool
    separable: bool
    description: str
    margin_squared: Fraction | None = None
    margin_is_exact: bool = False
    coef: NDArray[Any] | None = None
    intercept: float | Fraction = 0.0
    conflict: Index | None = None
    conflict_weights: tuple[int, ...] | None = None
    flipped: Index | None = None

    @property
    def margin(self) -> float | None:
        """The square root of `margin_squared`, rounded down; None if not known."""
        if self.margin_squared is None:
            return None
        return _root_below(self.margin_squared)

    def __repr__(self) -> str:
        verdict = "separable" if self.separable else "not separable"
        n, d = self.X.shape
        return f"Dataset({n} x {d}, {verdict}: {self.description})"


def with_conflict(
    data: Dataset, rows: Index, weights: Sequence[int] | NDArray[np.int64]
) -> Dataset:
    """Return the data, not separable any more because of these rows.

    The weights are positive, with ``sum_i weight_i a_i = 0``; rows may come in any
    order.
    """
    order = np.argsort(rows)
    return replace(
        data,
        separable=False,
        margin_squared=Fraction(0),
        margin_is_exact=True,
        conflict=np.asarray(rows)[order].astype(np.intp),
        conflict_weights=tuple(int(weights[k]) for k in order),
    )


def exact_array(numbers: list[int] | list[Fraction]) -> NDArray[Any]:
    """Return the numbers as float64 if every one is a double, else as objects."""
    try:
        floats = [float(number) for number in numbers]
    except OverflowError:
        return np.array(numbers, dtype=object)
    if all(a == b for a, b in zip(floats, numbers, strict=True)):
        return np.array(floats)
    return np.array(numbers, dtype=object)


def _root_below(square: Fraction) -> float:
    """Return the largest double, to one unit, that is at most the square root."""
    if square == 0:
        return 0.0
    size = square.numerator.bit_length() - square.denominator.bit_length()
    half = (106 - size) // 2  # square * 4**half has some 106 bits, its root 53
    scaled = square * Fraction(4) ** half
    return math.ldexp(math.isqrt(math.floor(scaled)) >> 1, 1 - half)
