"""Is ``A w > 0``? Signs beyond doubt, and a ``w`` rounded no further than they allow.

A sign is settled by a floating-point dot product where its rigorous error bound
allows, and by integer arithmetic elsewhere. The bound is the standard one: for any
order of summation ``|fl(a . w) - a . w| <= g sum_j |a_j w_j| + u'`` with
``g = k u / (1 - k u)``, ``u = 2^-53`` (N. J. Higham, *Accuracy and Stability of
Numerical Algorithms*, 2nd edition, 2002, section 3.1). Here ``k = d + 8`` in place of
``d`` also covers that ``w`` was rounded once and that the sum on the right is computed
too; ``u' = 4 d 2^-1074`` covers underflow, once rows and ``w`` are scaled to
magnitudes of at most one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.proof.exact import (
    IntegerArray,
    doubles_from,
    exact_signs,
    integer_product,
    integers_from,
    primitive,
)
from linsep.rows import is_sparse

# Entries handled at once: 8 MiB of doubles.
_CHUNK = 1 << 20

Weights = NDArray[np.float64] | Sequence[int]


def row_signs(A: Any, w: Weights) -> NDArray[np.int8]:
    """Return the exact sign of ``a_i . w`` for every row.

    Parameters
    ----------
    A : ndarray or sparse CSR matrix of shape (m, d), float64
        Finite entries of any magnitude, subnormals included.
    w : ndarray of shape (d,), float64, or sequence of d integers
        Taken at its exact value.

    Returns
    -------
    ndarray of shape (m,), int8
        -1, 0 or 1 for each row.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, -1.0], [1.0, -1.0 - 2**-52]])
    >>> row_signs(A, [1, 1]).tolist()
    [0, -1]
    """
    integers = integers_from(w) if isinstance(w, np.ndarray) else [int(v) for v in w]
    m, d = A.shape
    if len(integers) != d:
        raise ValueError(
            f"w must have one entry per column of A, got {len(integers)}"
            f" for {d} columns"
        )
    floats = doubles_from(integers)
    signs = np.zeros(m, dtype=np.int8)
    step = max(1, _CHUNK // max(1, d))
    for start in range(0, m, step):
        block = A[start : start + step]
        settled, estimate = _filtered(block, floats)
        signs[start : start + step] = estimate
        doubtful = np.flatnonzero(~settled)
        if doubtful.size:
            signs[start + doubtful] = exact_signs(block[doubtful], integers)
    return signs


def exact_decisions(
    X: Any, w: Sequence[int], fit_intercept: bool
) -> NDArray[np.float64]:
    """Return ``x_i . w`` (plus the intercept, last in `w`) with exact signs.

    Parameters
    ----------
    X : ndarray or sparse CSR matrix of shape (m, n_features)
        Rows as the user gave them, not signed.
    w : sequence of integers
        A separator of rows with the constant last.
    fit_intercept : bool

    Returns
    -------
    ndarray of shape (m,)
        Rounded values in the scale of `Separator.to_floats`; never of the wrong sign,
        and zero only where the exact value is.
    """
    if fit_intercept and is_sparse(X):
        from scipy import sparse

        constant = sparse.csr_array(np.ones((X.shape[0], 1)))
        X = sparse.hstack([X, constant], format="csr")
    elif fit_intercept:
        X = np.column_stack([X, np.ones(X.shape[0])])
    A = X.astype(np.float64)
    signs = row_signs(A, w)
    values = np.abs(np.asarray(A @ doubles_from(w)))
    return np.asarray(signs * np.maximum(values, np.finfo(np.float64).tiny))


def shortened(values: IntegerArray, w: Sequence[int]) -> list[int]:
    """Round `w` as coarsely as ``values @ w > 0`` allows.

    Doubles are tried first, then fixed point with ever more bits, then `w` itself.
    """
    for bits in (53, 106, 212, 424, 848, 1696, 3392):
        short = _rounded(w, bits)
        if short is None:
            break
        if bool((integer_product(values, short) > 0).all()):
            return primitive(short)
    return primitive(list(w))


def _rounded(w: Sequence[int], bits: int) -> list[int] | None:
    """Round to doubles (53 bits each) or to a grid; None if nothing would change."""
    if bits == 53:
        return integers_from(doubles_from(w))
    surplus = max(abs(value).bit_length() for value in w) - bits
    if surplus <= 0:
        return None
    half = 1 << (surplus - 1)
    return [(value + half) >> surplus for value in w]


def _filtered(
    block: Any, w: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    """Return which signs the error bound settles, and the computed signs."""
    d = w.size
    if is_sparse(block):
        largest = abs(block).max(axis=1).toarray().ravel()
        scale = np.repeat(-np.frexp(largest)[1], np.diff(block.indptr))
        block = block.copy()
        block.data = np.ldexp(block.data, scale)
    else:
        largest = np.abs(block).max(axis=1, initial=0.0)
        block = np.ldexp(block, -np.frexp(largest)[1][:, np.newaxis])
    products = block @ w
    terms = (d + 8) * 2.0**-53
    error = terms / (1 - terms) * (abs(block) @ np.abs(w)) + 4 * d * 2.0**-1074
    return np.abs(products) > error, np.sign(products).astype(np.int8)
