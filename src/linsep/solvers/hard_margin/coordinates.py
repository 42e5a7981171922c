"""Coordinates for the largest margin: shifted and scaled, never turned or stretched.

The margin is a Euclidean distance in the user's units, so only a shift (which the free
intercept undoes) and one power of two for all columns are allowed. Rows wider than
they are many are replaced by the rows of a Cholesky factor of their Gram matrix, which
have the same inner products; so are rows known by a kernel alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from linsep.arrays import Floats
from linsep.rows._sweeps import centred_rows
from linsep.solvers.bounds import norm
from linsep.solvers.scaling import SAFE_EXPONENT, exponent_above, shifted

# Columns need not be brought below 1 first if the largest entry about the centre is
# between this and its inverse.
LEAST_USUAL = 2.0**-100


@dataclass(frozen=True)
class Direct:
    """Columns kept; ``x -> (x 2**-size - centre) 2**-spread``.

    Attributes
    ----------
    size : int
        No entry exceeds ``2**size``: first of all the columns are brought below 1,
        unless they are not far from it; 0 then.
    centre : ndarray of shape (n_features,)
        Zero without an intercept.
    spread : int
        Nor does an entry exceed ``2**spread`` about the centre.
    fit_intercept : bool
    """

    size: int
    centre: Floats
    spread: int
    fit_intercept: bool

    @classmethod
    def of(cls, signed: Floats, fit_intercept: bool) -> tuple[Direct, Floats, Floats]:
        """Choose the shift and the scale; return the signed rows in them, and signs."""
        if not fit_intercept:
            size = exponent_above(signed)
            unit = np.ascontiguousarray(shifted(signed, -size))
            no_shift = np.zeros(signed.shape[1])
            return cls(size, no_shift, 0, False), unit, np.ones(len(signed))
        signs = signed[:, -1].copy()
        positive = signs > 0
        n_positive = int(np.count_nonzero(positive))
        upper, lower = 0.5 / max(1, n_positive), 0.5 / max(1, len(signs) - n_positive)
        weights, size = np.where(positive, upper, -lower), 0
        centre, rows, largest = _centred(signed, weights)
        if not LEAST_USUAL <= largest < 1.0 / LEAST_USUAL:
            size = exponent_above(signed[:, :-1])
            with np.errstate(over="ignore"):  # of the last column, which is not read
                signed = shifted(signed, -size)
            signed[:, -1] = signs
            centre, rows, largest = _centred(signed, weights)
        spread = math.frexp(largest)[1]
        shifted(rows, -spread, out=rows)
        rows[:, -1] = signs
        return cls(size, centre, spread, True), rows, signs

    @classmethod
    def of_sparse(cls, signed: Any, fit_intercept: bool) -> tuple[Direct, Any, Floats]:
        """Do the same for sparse rows, which stay where they are to stay sparse."""
        signs = np.ones(signed.shape[0])
        features = signed
        if fit_intercept:
            features, signs = signed[:, :-1], signed[:, -1].toarray().ravel()
        size = exponent_above(features)
        no_shift = np.zeros(features.shape[1])
        rows = shifted(features, -size)
        return cls(size, no_shift, 0, fit_intercept), rows, signs

    def hyperplane(
        self, u: Floats, offset: float, power: int = 0
    ) -> tuple[Floats, int]:
        """Return weights on the user's columns and a shift; see `weights_within`.

        ``2**power u`` are the weights on the features in these coordinates; with an
        intercept the last entry of ``u``, and the offset, are as they are.
        """
        exponent = power - self.size - self.spread
        if not self.fit_intercept:
            return weights_within(u, exponent, ())
        # u's last entry is rounding (the multipliers balance); it acts as offset.
        shift = -float(u[:-1] @ self.centre), power - self.spread
        return weights_within(u[:-1], exponent, ((offset + float(u[-1]), 0), shift))


def _centred(signed: Floats, weights: Floats) -> tuple[Floats, Floats, float]:
    """Return the rows' weighed sum, the rows about it, and their largest entry."""
    rows, largest = np.empty(signed.shape), np.zeros(signed.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        centre = weights @ signed[:, :-1]
    centred_rows(np.ascontiguousarray(signed), centre, rows, largest)
    return centre, rows, float(largest[:-1].max(initial=0.0))


def weights_within(
    coef: Floats, exponent: int, intercept: tuple[tuple[float, int], ...]
) -> tuple[Floats, int]:
    """Put weights together in the range of doubles.

    Parameters
    ----------
    coef : ndarray of shape (r,)
        The weights are ``coef 2**exponent``.
    exponent : int
    intercept : tuple of (float, int)
        The intercept is the sum of ``value 2**power`` over these; none without one.

    Returns
    -------
    w : ndarray of shape (r,), or (r + 1,) with an intercept
    shift : int
        ``w`` is the weights times ``2**shift``: 0 unless they are near the ends of the
        range.
    """
    lead = exponent + math.frexp(norm(coef))[1]
    powers = [power + math.frexp(value)[1] for value, power in intercept if value]
    shift = shift_within(lead, max([lead, *powers]))
    w = np.empty(coef.size + bool(intercept))
    w[-1:] = sum(math.ldexp(v, p + shift) for v, p in intercept)
    np.ldexp(coef, exponent + shift, out=w[: coef.size])
    return w, shift


def shift_within(lead: int, top: int) -> int:
    """Return by which power of two to multiply weights, most often 0.

    Parameters
    ----------
    lead : int
        The exponent of the largest weight on a feature.
    top : int
        The exponent of the largest weight, the intercept among them.
    """
    if top > SAFE_EXPONENT:
        return SAFE_EXPONENT - top
    if lead < -SAFE_EXPONENT:
        return min(-SAFE_EXPONENT - lead, SAFE_EXPONENT - top, SAFE_EXPONENT)
    return 0


def rounded_weights(
    weights: Sequence[int], denominator: int, free: bool
) -> tuple[Floats, int]:
    """Return the doubles nearest to ``2**shift weights / denominator``, and the shift.

    The shift is 0, and rows on the margin are at 1, unless that would leave the range
    of doubles. With `free` the last weight is the intercept. Entries far below the
    largest one may still be rounded to subnormals, or to 0.
    """
    exponents = [
        abs(v).bit_length() - denominator.bit_length() if v else None for v in weights
    ]
    features = [e for e in (exponents[:-1] if free else exponents) if e is not None]
    used = [e for e in exponents if e is not None]
    shift = shift_within(max(features, default=0), max(used, default=0))
    scale = Fraction(2) ** shift / denominator
    return np.array([float(v * scale) for v in weights]), shift
