"""A hyperplane as doubles and, where doubles will not do, as exact integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from linsep.arrays import Floats
from linsep.proof.doubles import doubles_from, is_lost, scale_of
from linsep.proof.exact import exact_values, integers_from
from linsep.proof.signs import row_signs, signs_of
from linsep.rows import Rows, Scan, split
from linsep.solvers.bounds import EPS
from linsep.solvers.scaling import shifted


@dataclass(frozen=True)
class Hyperplane:
    """Weights on the columns, intercept last: doubles, and exact integers if need be.

    Attributes
    ----------
    w : ndarray of shape (d,)
        Meant exactly as they are, or where ``exact`` is given, its nearest doubles up
        to a power of two.
    exact : tuple of int or None
        The weights meant, up to a power of two.
    """

    w: Floats
    exact: tuple[int, ...] | None = None

    @classmethod
    def rounded(cls, exact: Sequence[int]) -> Hyperplane:
        """Return integers together with their nearest doubles."""
        return cls(doubles_from(exact), tuple(exact))

    @property
    def is_faithful(self) -> bool:
        """Whether ``w`` is what is meant, but for one rounding of each entry.

        Not so where an exact weight is too small or too large for a double.
        """
        return self.exact is None or not bool(is_lost(self.w, self.exact).any())

    def integers(self) -> tuple[int, ...]:
        """Return the weights meant as integers, up to a power of two."""
        return self.exact if self.exact is not None else tuple(integers_from(self.w))

    def least_slack(
        self, rows: Any, between: Callable[[], None] = lambda: None
    ) -> float | None:
        """Bound the least ``a_i . w`` from below; None if one is not positive.

        The signs are exact. The bound is in the scale of the doubles ``w``, and 0 where
        it is smaller than any double. `between` is called between parts of the rows.
        """
        integers = self.integers()
        if not (row_signs(rows, integers) > 0).all():
            return None
        scale = scale_of(self.w, integers)
        least = Fraction(np.finfo(np.float64).max)
        for start, stop in split(*rows.shape):
            between()
            part = exact_values(rows[start:stop], integers, scale)
            least = min(least, min(part))
        # The scale was read off one rounded weight: allow for that, and for this.
        return float(least) * (1.0 - 4.0 * EPS)

    def centred(self, scan: Scan) -> tuple[Hyperplane, float]:
        """Move the intercept to where both classes are equally near, if there is one.

        Rows signed +1 gain exactly what the intercept gains, the others lose it, so the
        scan's bounds move along and prove the moved hyperplane too. The second value is
        what every ``a_i . w`` is at least.
        """
        down, up = scan.margin_negative, scan.margin_positive
        if not np.isfinite(down - up):
            return self, scan.margin
        w = self.w.copy()
        w[-1] += 0.5 * (down - up)
        moved = Fraction(float(w[-1])) - Fraction(float(self.w[-1]))
        least = min(Fraction(down) - moved, Fraction(up) + moved)
        if least <= Fraction(scan.margin):
            return self, scan.margin
        return Hyperplane(w), float(least) * (1.0 - EPS)

    def scaled(self, slack: float) -> Hyperplane:
        """Scale by a power of two so that the smallest ``a_i . w`` is near 1.

        Powers of two change no sign and no bit of a mantissa, so what was proved stays
        proved; where an entry would leave the normal range nothing is scaled.
        """
        if self.exact is not None or not 0 < slack < np.inf:
            return self
        shift = 1 - int(np.frexp(slack)[1])
        with np.errstate(over="ignore", under="ignore"):
            scaled = shifted(self.w, shift)
        sizes = np.abs(scaled[self.w != 0])
        tiny, huge = np.finfo(np.float64).tiny, np.finfo(np.float64).max
        return Hyperplane(scaled) if ((sizes >= tiny) & (sizes <= huge)).all() else self


def exact_scan(
    rows: Rows, integers: Sequence[int], k: int, between: Callable[[], None]
) -> Scan:
    """Sweep all rows in exact arithmetic, for weights that no doubles can stand for.

    Rows not violated are reported as unsettled: nothing is known of their margin.
    `between` is called between parts of the rows.
    """
    n, d = rows.shape
    violated: list[int] = []
    for start, stop in split(n, d):
        between()
        index = np.arange(start, stop)
        signs, _ = signs_of(rows, integers, index)
        violated.extend(index[signs <= 0].tolist())
    index = np.asarray(violated[:k] if violated else range(n), dtype=np.intp)
    return Scan(
        -np.inf,
        -np.inf,
        np.inf,
        len(violated),
        0 if violated else n,
        index,
        np.zeros(index.size),
    )
