"""Data whose answer hangs on the last bit, on scale, huge weights or duplicates."""

from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linsep.input import InputError, checked_count, checked_random_state
from linsep.lab.datasets.planted import GRID, integer_weights
from linsep.lab.datasets.record import Dataset, exact_array, with_conflict

_SMALLEST_EXPONENT = -1074  # of the smallest subnormal double
_LARGEST_EXPONENT = 990  # leaves room for the integers and the lifts below 2^1024
_LARGEST_LIFT = 20  # rows without a constant are multiplied by up to 2^20
_LARGEST_HULL = 4  # rows averaged; their weights sum to at most 16 ...
_ROOM = 16  # ... which divides every entry


def last_bit(
    outcome: Literal["separable", "tie", "overlap"],
    n_features: int = 3,
    *,
    n_samples: int = 30,
    random_state=None,
) -> Dataset:
    """Return data that one unit in the last place makes separable, tied or overlapping.

    Construction: a plane ``w @ x = 1`` with integer weights, w_1 = 1. d points of
    class -1 lie on it exactly, all others of class -1 beneath it and of class +1
    above. One point of class +1 is the average of the d points with weights that sum
    to a power of two, on the plane: the tie. In the other outcomes its first entry is
    one unit in the last place higher (separable) or lower (overlap). With an
    intercept.

    Truth: in the tie the point is in the hull of the d points, so there is a conflict
    of d + 1 rows. One unit u higher, ``w @ x = 1 + u`` there, at least that for all of
    class +1, and at most 1 for class -1: the intercept -1 - u/2 separates, with margin
    ``u / (2 ||w||)``. One unit lower the point is within the simplex of the d points
    and one more of class -1 straight beneath the tie, and the weights say exactly
    where: a conflict of d + 2 rows.

    Parameters
    ----------
    outcome : "separable", "tie" or "overlap"
    n_features : int, default=3
        At least 1.
    n_samples : int, default=30
        At least ``n_features + 2``.
    random_state : int, Generator or None, default=None
        None stands for `linsep.datasets.SEED`. The same state gives the same data in
        all outcomes, but for the one entry.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> up, tie, down = (last_bit(k) for k in ("separable", "tie", "overlap"))
    >>> up.separable, tie.separable, down.separable
    (True, False, False)
    >>> row, column = np.argwhere(up.X != down.X)[0]
    >>> bool(up.X[row, column] == np.nextafter(tie.X[row, column], np.inf))
    True
    >>> int(np.sum(up.X != tie.X))
    1
    """
    if outcome not in ("separable", "tie", "overlap"):
        raise InputError(
            f"outcome must be 'separable', 'tie' or 'overlap', got {outcome!r}"
        )
    checked_count("n_features", n_features)
    d = int(n_features)
    checked_count("n_samples", n_samples, least=d + 2)
    rng = checked_random_state(random_state)
    plane = small_plane(d, rng)
    y = rng.choice(np.array([-1, 1]), size=n_samples)
    rows = rng.permutation(n_samples)[: d + 2]
    y[rows[:-1]], y[rows[-1]] = -1, 1
    face, deep, moved = rows[:d], rows[d], rows[d + 1]
    height = y * rng.integers(1, 5, size=n_samples)
    height[face] = 0
    X = rows_at_heights(1 + height, plane, rng)
    weights = integer_weights(d, rng)
    X[moved] = weights @ X[face] / weights.sum()
    X[deep] = X[moved]
    X[deep, 0] -= 1.0
    tie = X[moved, 0]
    if outcome != "tie":
        X[moved, 0] = np.nextafter(tie, np.inf if outcome == "separable" else -np.inf)
    unit = abs(Fraction(float(X[moved, 0])) - Fraction(float(tie)))
    intercept = exact_array([-1 - unit / 2])[0]
    data = Dataset(
        X=X,
        y=y,
        fit_intercept=True,
        separable=True,
        description=f"{outcome} by one unit in the last place",
        margin_squared=unit**2 / (4 * int(plane @ plane)),
        coef=plane.astype(np.float64),
        intercept=intercept,
    )
    if outcome == "separable":
        return data
    total = int(weights.sum())
    if outcome == "tie":
        return with_conflict(data, np.append(face, moved), [*weights.tolist(), total])
    # moved = (1 - u) tie + u deep, and u is a power of two.
    parts = int(1 / unit)
    shares = [int(w) * (parts - 1) for w in weights]
    return with_conflict(data, rows, [*shares, total, total * parts])


def clustered_ties(
    n_clusters: int,
    n_features: int,
    *,
    n_per_cluster: int = 100,
    spread: float = 2.0**-40,
    overlap: bool = False,
    fit_intercept: bool = True,
    random_state=None,
) -> Dataset:
    """Return clusters of near-ties: both classes within a hair of the same points.

    Construction: centres exactly on a plane ``w @ x = 0`` with integer weights; the
    members of a cluster are its centre plus `spread` times small integer vectors off
    the plane, with the label of their side. With `overlap` two clusters have a pair
    of members opposite each other across the plane, the same in both, and one of the
    pairs has its labels swapped.

    Truth: the entries are stored exactly, so w separates with slacks of at least
    `spread`, and the margin is at least ``spread / ||w||``. With `overlap` the four
    signed rows sum to zero.

    Parameters
    ----------
    n_clusters : int, at least 1; at least 2 with `overlap`
    n_features : int, at least 2
    n_per_cluster : int, default=100
        At least 2.
    spread : float, default=2**-40
        A power of two from 2**-40 to 1.
    overlap : bool, default=False
    fit_intercept : bool, default=True
        The truth is the same either way.
    random_state : int, Generator or None, default=None

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = clustered_ties(5, 4)
    >>> data.X.shape, len(np.unique(np.round(data.X, 6), axis=0))
    ((500, 4), 5)
    """
    checked_count("n_clusters", n_clusters, least=2 if overlap else 1)
    checked_count("n_features", n_features, least=2)
    checked_count("n_per_cluster", n_per_cluster, least=2)
    if not 2.0**-40 <= spread <= 1 or np.frexp(spread)[0] != 0.5:
        raise InputError(
            f"spread must be a power of two from 2**-40 to 1, got {spread!r}"
        )
    rng = checked_random_state(random_state)
    plane = small_plane(n_features, rng)
    centres = rows_at_heights(np.zeros(n_clusters, dtype=np.int64), plane, rng)
    cluster = np.repeat(np.arange(n_clusters), n_per_cluster)
    offsets = rng.integers(-4, 5, size=(len(cluster), n_features))
    offsets[offsets @ plane == 0, 0] += 1
    if overlap:
        corners = np.array([0, 1, n_per_cluster, n_per_cluster + 1])
        offsets[corners] = np.outer([1, -1, -1, 1], offsets[0])
    y = np.sign(offsets @ plane).astype(np.int64)
    if overlap:
        y[corners] = np.array([1, -1, 1, -1]) * y[0]
    order = rng.permutation(len(cluster))
    data = Dataset(
        X=(centres[cluster] + spread * offsets)[order],
        y=y[order],
        fit_intercept=fit_intercept,
        separable=True,
        description=f"{n_clusters} clusters of near-ties of size {spread:g}",
        margin_squared=Fraction(spread) ** 2 / int(plane @ plane),
        coef=plane.astype(np.float64),
    )
    if not overlap:
        return data
    return with_conflict(data, np.argsort(order)[corners], (1, 1, 1, 1))


def duplicated_rows(
    n_samples: int,
    n_features: int,
    *,
    n_distinct: int = 10,
    overlap: bool = False,
    fit_intercept: bool = True,
    random_state=None,
) -> Dataset:
    """Return a few rows of small integers, repeated by the thousand.

    Construction: `n_distinct` integer rows (some may be equal), each on its side of a
    plane with small integer weights; every sample is one of them. With `overlap` one
    sample of the commonest row has the wrong label.

    Truth: the plane separates with integer slacks, so of at least 1. With `overlap`
    two samples are the same point with both labels.

    Parameters
    ----------
    n_samples : int
        At least `n_distinct`, and more with `overlap`.
    n_features : int, at least 1
    n_distinct : int, default=10
        At least 1.
    overlap : bool, default=False
    fit_intercept : bool, default=True
    random_state : int, Generator or None, default=None

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = duplicated_rows(5000, 3, n_distinct=4)
    >>> len(np.unique(data.X, axis=0))
    4
    """
    checked_count("n_distinct", n_distinct)
    checked_count("n_samples", n_samples, least=n_distinct + int(overlap))
    checked_count("n_features", n_features)
    rng = checked_random_state(random_state)
    plane = small_plane(n_features, rng)
    distinct, sides = integer_rows(n_distinct, plane, rng)
    extra = rng.integers(n_distinct, size=n_samples - n_distinct)
    which = rng.permutation(np.append(np.arange(n_distinct), extra))
    y = sides[which]
    data = Dataset(
        X=distinct[which].astype(np.float64),
        y=y,
        fit_intercept=fit_intercept,
        separable=True,
        description=f"{n_distinct} rows repeated to {n_samples}",
        margin_squared=Fraction(1, int(plane @ plane)),
        coef=plane.astype(np.float64),
    )
    if not overlap:
        return data
    copies = np.flatnonzero(which == np.bincount(which).argmax())
    rows = rng.choice(copies, size=2, replace=False)
    y[rows[0]] *= -1
    return with_conflict(data, rows, (1, 1))


def wide_range(
    n_samples: int,
    n_features: int,
    *,
    overlap: bool = False,
    fit_intercept: bool = True,
    random_state=None,
) -> Dataset:
    """Return rows with entries from subnormal numbers to beyond 1e300.

    Construction: integer rows, each on its side of a plane with small integer
    weights; then column j is multiplied by ``2**e_j``, the exponents spread from
    -1074 (the smallest subnormal) to about 1000 in random order. Without an
    intercept each row is multiplied by a power of two as well. With `overlap`, one
    row of class +1 is an average of rows of class -1.

    Truth: these scalings change no separability and, being by powers of two, no bit.
    The planted weights are divided by the scale of their columns: fractions that no
    double can hold, so `coef` holds Python numbers.

    Parameters
    ----------
    n_samples : int
        At least 1; at least 3 with `overlap`.
    n_features : int, at least 1
    overlap : bool, default=False
    fit_intercept : bool, default=True
    random_state : int, Generator or None, default=None

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = wide_range(100, 6)
    >>> sizes = abs(data.X[data.X != 0])
    >>> bool(sizes.min() < 1e-320), bool(sizes.max() > 1e300)
    (True, True)
    """
    checked_count("n_samples", n_samples, least=3 if overlap else 1)
    checked_count("n_features", n_features)
    rng = checked_random_state(random_state)
    plane = small_plane(n_features, rng)
    integers, y = integer_rows(n_samples, plane, rng)
    integers *= _ROOM
    rows = rng.permutation(n_samples)[
        : min(n_samples, n_features + 2, _LARGEST_HULL + 1)
    ]
    weights = integer_weights(len(rows) - 1, rng)
    if overlap:
        hull, inside = rows[:-1], rows[-1]
        integers[hull[y[hull] == 1]] *= -1  # mirrored to the side of class -1
        y[hull], y[inside] = -1, 1
        integers[inside] = weights @ integers[hull] // weights.sum()
    exponents = rng.permutation(
        np.linspace(_SMALLEST_EXPONENT, _LARGEST_EXPONENT, n_features).astype(int)
    )
    lifts = np.zeros(n_samples, dtype=int)
    if not fit_intercept:
        lifts = rng.integers(0, _LARGEST_LIFT + 1, size=n_samples)
    coef = [
        Fraction(int(w)) / Fraction(2) ** int(e)
        for w, e in zip(plane, exponents, strict=True)
    ]
    data = Dataset(
        X=np.ldexp(integers.astype(np.float64), exponents + lifts[:, None]),
        y=y,
        fit_intercept=fit_intercept,
        separable=True,
        description=f"columns scaled by powers of two from 2^{min(exponents)} on",
        margin_squared=_ROOM**2 / sum((w * w for w in coef), Fraction(0)),
        coef=exact_array(coef),
    )
    if not overlap:
        return data
    # A row lifted by 2^k has its weight divided by 2^k; times 2^_LARGEST_LIFT.
    shares = np.append(weights, weights.sum()) << (_LARGEST_LIFT - lifts[rows])
    return with_conflict(data, rows, shares)


def small_plane(n_features: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return weights from -3 to 3, the first of them 1, of a plane through zero."""
    plane = rng.integers(-3, 4, size=n_features)
    plane[0] = 1
    return plane


def integer_rows(
    n_samples: int, plane: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows of integers from -9 to 10, none on the plane, and their sides."""
    rows = rng.integers(-9, 10, size=(n_samples, len(plane)))
    rows[rows @ plane == 0, 0] += 1
    return rows, np.sign(rows @ plane)


def rows_at_heights(
    heights: NDArray[np.int64], plane: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return Gaussian rows x, rounded to the grid, with ``x @ plane == height``."""
    rows = np.rint(rng.standard_normal((len(heights), len(plane))) / GRID) * GRID
    rows[:, 0] = heights - rows[:, 1:] @ plane[1:]
    return rows


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
