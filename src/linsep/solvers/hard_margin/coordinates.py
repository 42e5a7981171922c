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

from linsep.arrays import Floats, Signs
from linsep.solvers.bounds import norm
from linsep.solvers.hard_margin._centred import LEAST_USUAL, centred, uncentred
from linsep.solvers.scaling import (
    SAFE_EXPONENT,
    exponent_above,
    row_squares,
    shifted,
)

# So far powers of two may be from 1 that no weight leaves the doubles, if none did.
USUAL_BITS = 200


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
    def of(
        cls, rows: Floats, fit_intercept: bool, signs: Signs | None = None
    ) -> tuple[Direct, Floats, Floats, Floats]:
        """Choose the shift and the scale; return the signed rows in them, and signs.

        And the squares of the rows' lengths. The rows are signed already, unless their
        `signs` are given, with an intercept only.
        """
        if not fit_intercept:
            size = exponent_above(rows)
            unit = np.ascontiguousarray(shifted(rows, -size))
            no_shift = np.zeros(rows.shape[1])
            direct = cls(size, no_shift, 0, False)
            return direct, unit, np.ones(len(rows)), row_squares(unit)
        is_signed = signs is None
        d = rows.shape[1] - is_signed
        s = rows[:, -1].copy() if signs is None else signs.astype(np.float64)
        centre, moved = np.zeros(d), np.empty((len(rows), d + 1))
        squares, size = np.empty(len(rows)), 0
        given = np.ascontiguousarray(rows)
        largest = centred(given, s, centre, moved, squares)
        if not LEAST_USUAL <= largest < 1.0 / LEAST_USUAL:
            size, centre[:] = exponent_above(rows[:, :d]), 0.0
            given = shifted(rows[:, :d] if is_signed else s[:, None] * rows, -size)
            given = np.column_stack([given, s])
            largest = centred(given, s, centre, moved, squares)
        spread = math.frexp(largest)[1]
        if largest < LEAST_USUAL:
            moved[:] = given
            moved[:, :d] = shifted(given[:, :d] - s[:, None] * centre, -spread)
            squares = row_squares(moved)
        return cls(size, centre, spread, True), moved, s, squares

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
        if power == self.size == 0 and abs(self.spread) < USUAL_BITS:
            w = uncentred(u, offset, self.centre, math.ldexp(1.0, exponent))
            if w is not None:
                return w, 0
        # u's last entry is rounding (the multipliers balance); it acts as offset.
        shift = -float(u[:-1] @ self.centre), power - self.spread
        return weights_within(u[:-1], exponent, ((offset + float(u[-1]), 0), shift))


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
