"""The paper's data set (2), as it is and mixed by a unimodular matrix."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from linsep.input import InputError, checked_count, checked_random_state
from linsep.lab.datasets.record import Dataset, RandomState, exact_array, with_conflict

_LARGEST_ENTRY = 18  # mixing stops short of larger entries


def paper_rows(n_features: int) -> Dataset:
    """Return the paper's data set (2), with a margin of about ``2**-n_features``.

    Construction: ``x_i = ((-1)^i, ..., (-1)^i, (-1)^(i+1), 0, ..., 0)``, the i-th
    entry being the odd one out, and ``y_i = (-1)^(i+1)``, for i = 1..n. So the
    signed rows are ``a_i = e_i - sum_{j<i} e_j``. No intercept.

    Truth: separable, and the largest margin is exactly ``sqrt(3 / (4^n - 1))``.
    ``A w = 1`` has the one solution w = (1, 2, 4, ..., 2^(n-1)), whose squared norm
    is (4^n - 1) / 3; it is the shortest w with ``A w >= 1`` because
    ``w = A^T p`` with ``p = (A A^T)^-1 1``, and p > 0 as the inverse of A has no
    negative entry (the Karush-Kuhn-Tucker conditions).

    Parameters
    ----------
    n_features : int, at least 1
        Also the number of rows.

    References
    ----------
    Hanashiro & Abernethy, "Linear Separation via Optimism", 2020, equation (2).

    Examples
    --------
    >>> data = paper_rows(3)
    >>> data.X
    array([[ 1.,  0.,  0.],
           [ 1., -1.,  0.],
           [-1., -1.,  1.]])
    >>> data.y, data.coef, data.margin_squared
    (array([ 1, -1,  1]), array([1., 2., 4.]), Fraction(1, 21))
    """
    n = checked_count("n_features", n_features)
    y = np.where(np.arange(n) % 2 == 0, 1, -1).astype(np.int64)
    return Dataset(
        X=y[:, None] * _signed_paper_rows(n) + 0.0,  # + 0.0: no negative zeros
        y=y,
        fit_intercept=False,
        separable=True,
        description=f"the paper's data set (2), n = {n}",
        margin_squared=Fraction(3, 4**n - 1),
        margin_is_exact=True,
        coef=exact_array([2**k for k in range(n)]),
    )


def mixed_paper_rows(
    n_features: int,
    *,
    n_redundant: int = 0,
    n_parents: int = 3,
    overlap: bool = False,
    random_state: RandomState = None,
) -> Dataset:
    """Return the paper's rows multiplied by a random unimodular integer matrix.

    Construction: the signed rows of `paper_rows`, times a product of 2n to 3n
    elementary column operations ("add or subtract one column to another") that keep
    every entry within 18; then `n_redundant` more rows, each a combination of
    `n_parents` rows with weights 1, 2 or 3; rows in random order, labels by coin.
    With `overlap` one of the redundant rows is negated. No intercept.

    Truth: an invertible map of the features changes no separability, nor do positive
    combinations of rows. So the data are separable; the separator is the paper's
    (1, 2, 4, ...) taken through the inverse operations, in integers, with all slacks
    at least 1, so the margin is at least 1 over its norm. With `overlap`, the negated
    row and its parents sum to zero with the weights of the combination; no part of
    them does, because the parents are linearly independent.

    From 40 features on, linear programming in double precision "proves" the separable
    data not separable: ``A^T p = 0`` has a solution within its tolerance.

    Parameters
    ----------
    n_features : int, at least 1
    n_redundant : int, default=0
        Number of extra rows; at least 1 with `overlap`.
    n_parents : int, default=3
        Rows that each extra row combines, at most `n_features`; the minimal conflict
        has one more.
    overlap : bool, default=False
    random_state : int, Generator or None, default=None

    Returns
    -------
    Dataset
        X holds integers.

    Examples
    --------
    >>> data = mixed_paper_rows(30, n_redundant=20)
    >>> data.separable, float(abs(data.X).max()) <= 18 * 9
    (True, True)
    >>> spoilt = mixed_paper_rows(30, n_redundant=20, overlap=True)
    >>> A = spoilt.y[:, None] * spoilt.X
    >>> bool(np.any(spoilt.conflict_weights @ A[spoilt.conflict]))
    False
    """
    n = checked_count("n_features", n_features)
    checked_count("n_redundant", n_redundant, least=1 if overlap else 0)
    if n_redundant and not 1 <= n_parents <= n_features:
        raise InputError(
            f"n_parents must be from 1 to n_features = {n_features}, got {n_parents!r}"
        )
    rng = checked_random_state(random_state)
    A, separator = _mix_columns(_signed_paper_rows(n), rng)
    parents = np.array([rng.permutation(n)[:n_parents] for _ in range(n_redundant)])
    weights = rng.integers(1, 4, size=(n_redundant, n_parents))
    combined = [w @ A[rows] for w, rows in zip(weights, parents, strict=True)]
    A = np.vstack([A, *combined])
    if overlap:
        A[n] = -A[n]
    order = rng.permutation(len(A))
    y = rng.choice(np.array([-1, 1]), size=len(A))
    norm_squared = sum(w * w for w in separator)
    data = Dataset(
        X=y[:, None] * A[order] + 0.0,
        y=y,
        fit_intercept=False,
        separable=True,
        description=f"the paper's rows in {n} features, mixed by a unimodular matrix",
        margin_squared=Fraction(1, norm_squared),
        coef=exact_array(separator),
    )
    if not overlap:
        return data
    place = np.argsort(order)  # where each row went
    rows = place[np.append(parents[0], n)]
    return with_conflict(data, rows, np.append(weights[0], 1))


def _signed_paper_rows(n: int) -> NDArray[np.int64]:
    """Return the matrix with rows ``e_i - sum_{j<i} e_j``."""
    return 2 * np.eye(n, dtype=np.int64) - np.tri(n, dtype=np.int64)


def _mix_columns(
    A: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], list[int]]:
    """Apply random column operations, and their inverses to the separator of A.

    Adding s times column k to column j keeps ``A w`` if ``s w_j`` is taken from w_k.
    """
    A = A.copy()
    n = A.shape[1]
    separator = [2**k for k in range(n)]
    if n == 1:
        return A, separator
    n_wanted = int(rng.integers(2 * n, 3 * n + 1))
    n_done = 0
    for _ in range(20 * n_wanted):  # some operations are refused
        j, k = (int(c) for c in rng.choice(n, size=2, replace=False))
        s = int(rng.choice((-1, 1)))
        column = A[:, j] + s * A[:, k]
        if np.abs(column).max() > _LARGEST_ENTRY:
            continue
        A[:, j] = column
        separator[k] -= s * separator[j]
        n_done += 1
        if n_done == n_wanted:
            break
    return A, separator
