"""Rows and labels as the textbooks have them: dense signed rows ``a_i``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linsep.arrays import Floats
from linsep.input import InputError, problem_from
from linsep.rows import as_dense

# Squares of entries, summed and multiplied by counts, stay within double precision.
SMALLEST, LARGEST = 1e-120, 1e120


@dataclass(frozen=True)
class SignedRows:
    """Rows and labels as the game and the family see them.

    Attributes
    ----------
    A : ndarray of shape (n_samples, d)
        Signed rows ``a_i = sign_i (x_i, 1)``; the constant only with `fit_intercept`.
    signs : ndarray of shape (n_samples,)
        +1 for the last of the sorted `classes`, -1 for the first.
    """

    A: Floats
    signs: Floats
    classes: NDArray[np.generic]
    fit_intercept: bool

    def split(self, w: Floats) -> tuple[Floats, Floats]:
        """Return coefficients and intercept of weights on the columns of ``A``.

        The columns are the last axis of ``w``, of any number of dimensions.
        """
        if self.fit_intercept:
            return w[..., :-1].copy(), w[..., -1].copy()
        return w.copy(), np.zeros(w.shape[:-1])


def signed_rows(
    X: ArrayLike, y: ArrayLike, *, fit_intercept: bool = True
) -> SignedRows:
    """Sign the rows: ``a_i = y_i (x_i, 1)`` with ``y_i`` = 1 for the last class.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,)
        Labels of two classes; any values.
    fit_intercept : bool, default=True
        Append the constant 1.

    Returns
    -------
    SignedRows

    Raises
    ------
    InputError
        As `linsep.separate`; and where squares of entries would leave the range of
        double precision.

    Examples
    --------
    >>> from linsep.game import signed_rows
    >>> signed_rows([[0.0], [2.0]], ["no", "yes"]).A
    array([[-0., -1.],
           [ 2.,  1.]])
    """
    problem = problem_from(X, y, fit_intercept=fit_intercept)
    A = as_dense(problem.rows.take(np.arange(problem.n_samples)))
    largest = float(np.abs(A).max(initial=0.0))
    if not (largest == 0.0 or SMALLEST < largest < LARGEST):
        raise InputError(
            f"the largest entry of X must be between {SMALLEST:g} and {LARGEST:g} in "
            f"size for the textbook methods, got {largest:g}: their inner products "
            "would overflow or vanish; multiply X by a constant, or use linsep.separate"
        )
    return SignedRows(
        A=np.ascontiguousarray(A, dtype=np.float64),
        signs=problem.rows.signs.astype(np.float64),
        classes=np.asarray(problem.classes),
        fit_intercept=fit_intercept,
    )
