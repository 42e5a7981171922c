"""Queries at the end of the range of a column: the face of the hull they may lie on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from linsep.arrays import Floats, Index, Signs

# ``(c, b)`` with ``c . x < b`` on the one side, and ``> b`` on the other.
Hyperplane = tuple[tuple[Fraction, ...], Fraction]


def beside(whole: Sequence[int], query: Floats) -> Callable[[], Hyperplane]:
    """Return the hyperplane between a point and the subspace that it misses."""

    def made() -> Hyperplane:
        *c, constant = whole
        terms = zip(c, query.tolist(), strict=True)
        value = sum((a * Fraction(x) for a, x in terms), Fraction(constant))
        sign = 1 if value > 0 else -1
        return tuple(Fraction(sign * a) for a in c), abs(value) / 2 - sign * constant

    return made


def between(query: Floats, ends: Floats, column: int) -> Callable[[], Hyperplane]:
    """Return the hyperplane between a query and the range of one column."""

    def made() -> Hyperplane:
        value, end = Fraction(float(query[column])), Fraction(float(ends[column]))
        c = [Fraction(0)] * query.size
        c[column] = Fraction(1 if value > end else -1)
        return tuple(c), c[column] * (value + end) / 2

    return made


@dataclass(frozen=True)
class Face:
    """The points that agree with a query wherever it is at the end of a range.

    Attributes
    ----------
    points : ndarray of shape (n, d)
    signs : ndarray of shape (d,), int8
        1 where the query has the largest value of all points, -1 the smallest, else 0.
    query : ndarray of shape (d,)
    index : ndarray of int
        Those points.
    """

    points: Floats
    signs: Signs
    query: Floats
    index: Index

    @classmethod
    def of(cls, points: Floats, signs: Signs, query: Floats) -> Face:
        """Find the points on the face."""
        used = np.flatnonzero(signs)
        on_face = (points[:, used] == query[used]).all(axis=1)
        return cls(points, signs, query, np.flatnonzero(on_face))

    def missed(self) -> Hyperplane:
        """Return the hyperplane beside all points, where none is on the face."""
        c, end = self._supporting()
        return c, end - self._least_slack() / 2

    def lifted(self, inner: Callable[[], Hyperplane]) -> Hyperplane:
        """Turn a hyperplane beside the points of the face until it is beside all.

        ``c . x < b`` on the face; the others lie below the supporting hyperplane, which
        is added so often that they too meet it.
        """
        c, b = inner()
        if self.index.size == len(self.points):
            return c, b
        largest = np.abs(self.points).max(axis=0).tolist()
        most = sum(abs(x) * Fraction(y) for x, y in zip(c, largest, strict=True))
        supporting, end = self._supporting()
        times = max(Fraction(0), most - b) / self._least_slack() + 1
        both = zip(c, supporting, strict=True)
        return tuple(x + times * y for x, y in both), b + times * end

    def _supporting(self) -> Hyperplane:
        """Return the hyperplane through the face, with all points on one side."""
        c = tuple(Fraction(sign) for sign in self.signs.tolist())
        terms = zip(c, self.query.tolist(), strict=True)
        return c, sum((x * Fraction(y) for x, y in terms), Fraction(0))

    def _least_slack(self) -> Fraction:
        """Return a positive number that no point off the face is nearer to it than."""
        used = np.flatnonzero(self.signs)
        with np.errstate(over="ignore"):
            gaps = np.abs(self.points[:, used] - self.query[used]).max(axis=1)
        # Differences of doubles are rounded by less than half, or overflow.
        least = min(float(gaps[gaps > 0].min()), np.finfo(np.float64).max)
        return Fraction(least) / 2
