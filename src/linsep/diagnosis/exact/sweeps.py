"""Sweeps over all rows that settle signs and zeros exactly.

A dot product in doubles with its rigorous error bound (see `linsep.rows.protocol`)
settles almost every row that is not zero. What is left is either shown to be computed
without any rounding (small integers), or recomputed in integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.proof.exact import IntegerArray, doubles_from, exact_signs
from linsep.rows import DenseRows, SparseRows, _sweeps, is_sparse
from linsep.rows.protocol import SMALLEST_SUBNORMAL, error_factor

AnyRows = DenseRows | SparseRows

# Entries handled at once: 16 MiB of doubles.
CHUNK = 1 << 21
# A sum of integers stays exact while every partial sum is below this.
EXACT_BELOW = 2.0**53


def signs_of(rows: AnyRows, w: Sequence[int], index: NDArray[np.intp]) -> Any:
    """Return the signs of ``a_i . w`` that floating point settles, for rows named.

    Parameters
    ----------
    rows : Rows of shape (m, d)
    w : sequence of d int
    index : ndarray of shape (k,)
        The rows to look at; all of them where it is as long as the data.

    Returns
    -------
    signs : ndarray of shape (k,), int8
        Exact, or 0 where rounding leaves a doubt.
    relative : ndarray of shape (k,)
        ``(a_i . w) / sum_j |a_ij w_j|``, in [-1, 1].
    """
    floats = doubles_from(w)
    s, t = margins(rows, floats, index)
    error = error_factor(rows.shape[1] + 4) * t + rows.shape[1] * SMALLEST_SUBNORMAL
    settled = (np.abs(s) > error) & np.isfinite(t)
    if _has_underflow(floats, w):
        settled[:] = False
    signs = np.where(settled, np.sign(s), 0).astype(np.int8)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where((t > 0) & np.isfinite(t), s / t, 0.0)
    return signs, relative


def exact_signs_of(
    rows: AnyRows, w: Sequence[int], index: NDArray[np.intp]
) -> NDArray[np.int8]:
    """Return the exact sign of ``a_i . w`` for the rows named, in integers."""
    signs = np.zeros(index.size, dtype=np.int8)
    for part in pieces(np.arange(index.size), rows.shape[1]):
        signs[part] = exact_signs(rows.take(index[part]), w)
    return signs


def margins(rows: AnyRows, w: NDArray[np.float64], index: NDArray[np.intp]) -> Any:
    """Return the computed ``a_i . w`` and ``sum_j |a_ij w_j|`` of the rows named."""
    if index.size == rows.shape[0]:
        return _margins_of(rows.X, rows.signs, rows.fit_intercept, w)
    s, t = np.empty(index.size), np.empty(index.size)
    for part in pieces(np.arange(index.size), rows.shape[1]):
        chosen = index[part]
        s[part], t[part] = _margins_of(
            rows.X[chosen], rows.signs[chosen], rows.fit_intercept, w
        )
    return s, t


def _margins_of(
    X: Any, signs: NDArray[np.int8], fit_intercept: bool, w: NDArray[np.float64]
) -> Any:
    """Run the compiled kernel that fits the layout of `X`."""
    n, d = X.shape
    weights = np.ascontiguousarray(w[:d])
    constant = float(w[d]) if fit_intercept else 0.0
    s, t = np.empty(n), np.empty(n)
    if is_sparse(X):
        _sweeps.sparse_margins(
            X.data, X.indices, X.indptr, signs, weights, constant, s, t
        )
    elif X.flags.f_contiguous and not X.flags.c_contiguous:
        _sweeps.column_major_margins(X.T, 0, n, signs, weights, constant, s, t)
    else:
        data = np.ascontiguousarray(X)
        _sweeps.row_major_margins(data, signs, weights, constant, s, t)
    return s, t


def pieces(index: NDArray[np.intp], n_columns: int) -> Iterator[NDArray[np.intp]]:
    """Cut an index so that a piece's rows hold about ``CHUNK`` entries."""
    step = max(1, CHUNK // max(1, n_columns))
    for start in range(0, index.size, step):
        yield index[start : start + step]


def vanishing(
    rows: AnyRows, basis: IntegerArray | None, index: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return which of the rows named have ``a_i N = 0``, exactly.

    Parameters
    ----------
    rows : Rows of shape (m, d)
    basis : integers of shape (d, q), or None
        ``N``; None is the identity, which only rows of zeros satisfy.
    index : ndarray of shape (k,)

    Returns
    -------
    ndarray of shape (k,), bool
    """
    result = np.ones(index.size, dtype=bool)
    if basis is not None and basis.shape[1] == 0:
        return result
    for part in pieces(np.arange(index.size), rows.shape[1]):
        result[part] = _vanishing_block(rows.take(index[part]), basis)
    return result


def _vanishing_block(block: Any, basis: IntegerArray | None) -> NDArray[np.bool_]:
    """Do it for rows in memory, column after column of the basis."""
    if basis is None:
        dense = abs(block).sum(axis=1)
        return np.asarray(np.asarray(dense).ravel() == 0)
    left = np.arange(block.shape[0])
    for column in basis.T:
        used = np.flatnonzero(column)
        some = block[left][:, used] if left.size < block.shape[0] else block[:, used]
        left = left[_is_zero(some, [int(column[j]) for j in used])]
        if left.size == 0:
            break
    result = np.zeros(block.shape[0], dtype=bool)
    result[left] = True
    return result


def _is_zero(block: Any, w: list[int]) -> NDArray[np.bool_]:
    """Return which rows have ``a . w = 0`` for integers `w` without a zero."""
    if is_sparse(block):
        block = block.tocsr()
    floats = doubles_from(w)
    # A power of two makes the weights whole again, where they are short enough.
    top = max(abs(value).bit_length() for value in w)
    whole = top <= 50
    if whole:
        floats = np.ldexp(floats, top)
    products = np.asarray(block @ floats).ravel()
    sizes = np.asarray(abs(block) @ np.abs(floats)).ravel()
    if whole and _is_integral(block) and sizes.max(initial=0.0) < EXACT_BELOW:
        return np.asarray(products == 0)
    error = error_factor(len(w) + 4) * sizes + len(w) * SMALLEST_SUBNORMAL
    if whole:
        error += len(w) * SMALLEST_SUBNORMAL * 2.0**top
    elif _has_underflow(floats, w):
        error[:] = np.inf
    zero = np.zeros(products.size, dtype=bool)
    doubtful = np.flatnonzero(~(np.abs(products) > error) | ~np.isfinite(sizes))
    if doubtful.size:
        zero[doubtful] = exact_signs(block[doubtful], w) == 0
    return zero


def _has_underflow(floats: NDArray[np.float64], w: Sequence[int]) -> bool:
    """Tell whether a weight was rounded by more than its last place."""
    small = np.abs(floats) < np.finfo(np.float64).tiny
    return bool(small.any()) and any(w[j] != 0 for j in np.flatnonzero(small).tolist())


def _is_integral(block: Any) -> bool:
    """Tell whether every entry is an integer."""
    entries = block.data if is_sparse(block) else block
    return bool((entries == np.rint(entries)).all())
