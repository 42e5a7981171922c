"""Coordinates for the largest margin: shifted and scaled, never turned or stretched.

The margin is a Euclidean distance in the user's units, so only a shift (which the free
intercept undoes) and one power of two for all columns are allowed. Rows wider than
they are many are replaced by the rows of a Cholesky factor of their Gram matrix, which
have the same inner products; so are rows known by a kernel alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A pivot below this share of the largest is rounding: the row depends on earlier ones.
RANK_TOLERANCE = 1e-13


@dataclass(frozen=True)
class Direct:
    """Columns kept; ``x -> (x - centre) / scale``.

    Attributes
    ----------
    centre : ndarray of shape (n_features,)
    scale : float
        A power of two.
    fit_intercept : bool
    """

    centre: NDArray[np.float64]
    scale: float
    fit_intercept: bool

    @classmethod
    def of(cls, signed: NDArray[np.float64], fit_intercept: bool) -> Direct:
        """Choose the shift and the scale for signed rows."""
        if fit_intercept:
            signs, features = signed[:, -1], signed[:, :-1]
            positive = signs > 0
            n_positive = np.count_nonzero(positive)
            # Midway between the two class means; -features sums are signed back.
            upper = features[positive].sum(axis=0) / max(1, n_positive)
            lower = -features[~positive].sum(axis=0) / max(1, len(signs) - n_positive)
            centre = 0.5 * upper + 0.5 * lower
        else:
            features = signed
            centre = np.zeros(signed.shape[1])
        spread = np.abs(np.abs(features) - np.abs(centre)).max(initial=0.0)
        if fit_intercept and features.size:
            spread = np.abs(features * signs[:, None] - centre).max(initial=0.0)
        _, exponent = np.frexp(spread) if spread > 0 else (0.0, 0)
        return cls(centre, float(np.ldexp(1.0, int(exponent))), fit_intercept)

    def rows(
        self, signed: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return signed rows in these coordinates, and their signs."""
        if not self.fit_intercept:
            return np.ascontiguousarray(signed / self.scale), np.ones(len(signed))
        signs = signed[:, -1].copy()
        out = np.empty_like(signed)
        out[:, :-1] = (signed[:, :-1] - signs[:, None] * self.centre) / self.scale
        out[:, -1] = signs
        return out, signs

    def hyperplane(self, u: NDArray[np.float64], offset: float) -> NDArray[np.float64]:
        """Return the weights on the user's columns, the intercept last."""
        if not self.fit_intercept:
            return u / self.scale
        coef = u[:-1] / self.scale
        # u's last entry is rounding (the multipliers balance); it acts as offset.
        return np.append(coef, offset + u[-1] - coef @ self.centre)


def gram_factor(
    gram: NDArray[np.float64], tolerance: float = RANK_TOLERANCE
) -> NDArray[np.float64]:
    """Return ``L`` with ``L @ L.T = gram`` up to rounding, by pivoted Cholesky.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
        Symmetric, positive semidefinite.
    tolerance : float, default=1e-13
        Pivots below this share of the largest end the factorisation.

    Returns
    -------
    ndarray of shape (m, rank)
    """
    from scipy.linalg import lapack

    if gram.shape[0] == 0:
        return np.zeros((0, 0))
    largest = float(np.diag(gram).max(initial=0.0))
    factor, pivots, rank, _ = lapack.dpstrf(gram, tol=tolerance * largest, lower=1)
    triangle = np.tril(factor)[:, :rank]
    rows = np.empty_like(triangle)
    rows[pivots - 1] = triangle
    return np.ascontiguousarray(rows)


def signed_gram(rows: Any, fit_intercept: bool) -> NDArray[np.float64]:
    """Return the inner products of signed rows, the constant left out."""
    features = rows[:, :-1] if fit_intercept else rows
    product = features @ features.T
    return np.asarray(product.toarray() if hasattr(product, "toarray") else product)
