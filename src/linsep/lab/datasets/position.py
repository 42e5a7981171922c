"""Points in general position, and how many of their labellings are separable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from linsep.input import InputError, checked_count, checked_random_state
from linsep.lab.datasets.record import Dataset, RandomState, exact_array, with_conflict
from linsep.labellings import separable_labellings

# OEIS A000609: linear threshold functions of 0, 1, 2, ... inputs.
_THRESHOLD_FUNCTIONS = (
    2, 4, 14, 104, 1882, 94572, 15028134, 8378070864, 17561539552946,
    144130531453121108,
)  # fmt: skip


def cover_count(n_points: int, n_features: int, *, fit_intercept: bool = True) -> int:
    """Return how many labellings of points in general position are separable.

    Cover's count ``2 sum_{k=0}^{m-1} C(n_points - 1, k)``, where m is the number of
    coefficients, ``n_features`` and one more with an intercept. General position:
    any m of the points extended by 1 (without an intercept: of the points
    themselves), or all if there are fewer, are linearly independent.

    Parameters
    ----------
    n_points : int, at least 1
    n_features : int, at least 0; at least 1 without an intercept
    fit_intercept : bool, default=True

    Returns
    -------
    int
        Out of ``2**n_points``; labellings with one class only are counted.

    References
    ----------
    Cover, "Geometrical and Statistical Properties of Systems of Linear Inequalities
    with Applications in Pattern Recognition", IEEE Transactions on Electronic
    Computers EC-14, 1965, theorem 1.

    Examples
    --------
    Of the 32 labellings of 5 points in the plane:

    >>> cover_count(5, 2)
    22
    """
    n = checked_count("n_points", n_points)
    d = checked_count("n_features", n_features, least=0 if fit_intercept else 1)
    return separable_labellings(n, d + int(fit_intercept))


def threshold_function_count(n_inputs: int) -> int:
    """Return how many Boolean functions are linear threshold functions.

    Parameters
    ----------
    n_inputs : int from 0 to 9

    Returns
    -------
    int
        Out of ``2**2**n_inputs``.

    References
    ----------
    OEIS A000609, https://oeis.org/A000609.

    Examples
    --------
    >>> [threshold_function_count(n) for n in range(5)]
    [2, 4, 14, 104, 1882]
    """
    checked_count("n_inputs", n_inputs, least=0, most=len(_THRESHOLD_FUNCTIONS) - 1)
    return _THRESHOLD_FUNCTIONS[n_inputs]


def moment_curve(
    n_points: int,
    n_features: int,
    *,
    labels: Sequence[int] | NDArray[np.int64] | None = None,
    random_state: RandomState = None,
) -> Dataset:
    """Return points in general position, with any labels and the truth about them.

    Construction: ``x(t) = (t, t^2, ..., t^d)`` at ``t = 1 - n, 3 - n, ..., n - 1``, in
    this order. Any d + 1 of them are affinely independent (Vandermonde). With an
    intercept.

    Truth: a hyperplane is a polynomial of degree at most d in t, so the labels are
    separable if and only if they change at most d times along the curve. If they do,
    the polynomial with a root at each change, halfway, separates; it has integer
    coefficients, and values of at least 1. If they change more often, take d + 2
    points of alternating labels: the divided difference over them is zero for every
    polynomial of degree d, and its weights ``1 / prod_{j != i} (t_i - t_j)``
    alternate in sign, so their sizes are a conflict. So of all labellings exactly
    ``cover_count(n_points, n_features)`` are separable.

    Parameters
    ----------
    n_points : int, at least 1
    n_features : int, at least 1
        ``(n_points - 1)**n_features`` must be at most 2^53, to be exact.
    labels : array-like of shape (n_points,) or None, default=None
        -1 or +1; None draws them by coin.
    random_state : int, Generator or None, default=None

    References
    ----------
    Cover, 1965, section III (polynomial separability on the moment curve).

    Examples
    --------
    >>> moment_curve(4, 2, labels=[-1, 1, 1, -1])
    Dataset(4 x 2, separable: 2 label changes on the moment curve in 2 dimensions)
    >>> data = moment_curve(4, 2, labels=[-1, 1, -1, 1])
    >>> data.separable, data.conflict, data.conflict_weights
    (False, array([0, 1, 2, 3]), (1, 3, 3, 1))
    """
    n = checked_count("n_points", n_points)
    d = checked_count("n_features", n_features)
    if (n - 1) ** d > 2**53:
        raise InputError(
            f"(n_points - 1)**n_features must be at most 2**53, got {n - 1}**{d}; "
            "take fewer points or features"
        )
    if labels is None:
        labels = checked_random_state(random_state).choice([-1, 1], size=n)
    y = np.array(labels, dtype=np.int64)
    if y.shape != (n,) or not np.isin(y, (-1, 1)).all():
        raise InputError(
            f"labels must be n_points = {n} numbers -1 or +1, got {labels!r}"
        )
    times = [2 * k + 1 - n for k in range(n)]
    changes = np.flatnonzero(y[1:] != y[:-1])
    data = Dataset(
        X=np.array([[float(t**k) for k in range(1, d + 1)] for t in times]),
        y=y,
        fit_intercept=True,
        separable=True,
        description=(
            f"{len(changes)} label changes on the moment curve in {d} dimensions"
        ),
    )
    if len(changes) > d:
        rows = np.append(0, changes[: d + 1] + 1)
        return with_conflict(data, rows, _divided_difference([times[i] for i in rows]))
    return _with_polynomial(data, [times[i] + 1 for i in changes])


def _with_polynomial(data: Dataset, roots: list[int]) -> Dataset:
    """Return the data with the polynomial that changes sign at the roots."""
    d = data.X.shape[1]
    polynomial = [int(data.y[-1])] + [0] * d  # lowest degree first
    for root in roots:
        shifted = [0, *polynomial[:-1]]
        polynomial = [s - root * c for s, c in zip(shifted, polynomial, strict=True)]
    norm_squared = sum(c * c for c in polynomial[1:])
    return replace(
        data,
        coef=exact_array(polynomial[1:]),
        intercept=polynomial[0],
        margin_squared=Fraction(1, norm_squared) if norm_squared else None,
    )


def _divided_difference(times: list[int]) -> list[int]:
    """Return the sizes of the weights of a divided difference, as integers."""
    sizes = [abs(math.prod(t - other for other in times if other != t)) for t in times]
    common = math.lcm(*sizes)
    weights = [common // size for size in sizes]
    divisor = math.gcd(*weights)
    return [weight // divisor for weight in weights]
