"""`in_hull`: which points lie in the convex hull of others, each answer proved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask
from linsep.diagnosis.exact.columns import Columns, columns_of
from linsep.diagnosis.exact.facial_reduction import Reduction
from linsep.diagnosis.watch import OutOfTime, Watch
from linsep.hull.faces import Face, Hyperplane, beside, between
from linsep.hull.search import HullSearch
from linsep.input import InputError, checked_seed, checked_time_limit
from linsep.input.features import features_from
from linsep.lazy import Lazy
from linsep.proof.exact import IntegerRows, integer_product
from linsep.proof.gordan import conflict_of
from linsep.rows import as_dense, rows_from
from linsep.separation import separate


@dataclass(frozen=True, eq=False)
class HullAnswer:
    """What is proved of one point.

    Attributes
    ----------
    point : ndarray of shape (d,)
    inside : bool or None
        Whether it lies in the hull, its boundary included; None if time ran out.
    weights : dict of int to Fraction, or None
        Positive, of at most d + 1 rows, with sum one; the rows' weighted mean is the
        point, exactly. None unless inside.
    hyperplane : tuple of (tuple of d Fraction, Fraction), or None
        ``(c, b)`` with ``c . x_i < b`` for every row and ``c . point > b``. None unless
        outside.
    """

    point: Floats
    inside: bool | None
    _weights: Lazy[dict[int, Fraction] | None]
    _hyperplane: Lazy[Hyperplane | None]
    _face: Lazy[Index | None]

    @property
    def weights(self) -> dict[int, Fraction] | None:
        """The weights, in exact arithmetic; made when asked for."""
        return self._weights.value

    @property
    def hyperplane(self) -> Hyperplane | None:
        """The hyperplane, in exact numbers; made when asked for."""
        return self._hyperplane.value

    @property
    def face(self) -> Index | None:
        """The rows that can have weight: those of the smallest face with the point.

        All rows, if the point lies in the relative interior of the hull; None unless
        inside. Found exactly when asked for, by facial reduction.
        """
        return self._face.value


class Hull(Sequence[HullAnswer]):
    """The answers of `in_hull`, one a query: ``answers[k]`` is a `HullAnswer`.

    Attributes
    ----------
    inside : ndarray of shape (m,), bool
        Which queries are proved to lie in the hull.
    decided : ndarray of shape (m,), bool
        Which are decided: all, unless time ran out.
    n_points, rank : int
        How many points there are, and the dimension of the space they span.
    """

    def __init__(self, points: Floats, queries: Floats, seed: int, watch: Watch):
        self._points, self._queries, self._seed = points, queries, seed
        m = queries.shape[0]
        self.n_points = points.shape[0]
        self.inside = np.zeros(m, dtype=bool)
        self.decided = np.zeros(m, dtype=bool)
        self._supports: dict[int, Index] = {}
        self._hyperplanes: dict[int, Callable[[], Hyperplane]] = {}
        self._columns = _independent(points, seed)
        self.rank = int(self._columns.kept.size) - 1
        try:
            self._equal_points()
            self._off_the_span()
            self._on_faces(watch)
            self._searched(watch)
        except OutOfTime:
            pass

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self._queries)

    def __getitem__(self, index: Any) -> Any:
        """Return the answer to a query, or to several."""
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        k = range(len(self))[index]
        inside = bool(self.inside[k]) if self.decided[k] else None
        made = self._hyperplanes.get(k)
        return HullAnswer(
            self._queries[k],
            inside,
            Lazy(lambda: self._exact_weights(k) if inside else None),
            Lazy(lambda: made() if made is not None else None),
            Lazy(lambda: self._face(k) if inside else None),
        )

    def __repr__(self) -> str:
        """Say how many lie inside."""
        n_in, n_open = int(self.inside.sum()), int((~self.decided).sum())
        undecided = f", {n_open} undecided" if n_open else ""
        return (
            f"<Hull of {self.n_points} points: {n_in} of {len(self)} inside{undecided}>"
        )

    def _equal_points(self) -> None:
        """Settle the queries that are points themselves."""
        number = {row.tobytes(): i for i, row in enumerate(self._points + 0.0)}
        for k, row in enumerate(self._queries + 0.0):
            at = number.get(row.tobytes())
            if at is not None:
                self._settle(k, support=np.array([at]))

    def _off_the_span(self) -> None:
        """Settle the queries that miss an affine subspace which holds all points."""
        open_ = np.flatnonzero(~self.decided)
        d = self._points.shape[1]
        rows = IntegerRows.from_floats(np.c_[self._queries[open_], np.ones(open_.size)])
        for j, terms in self._columns.combinations.items():
            vector = {j: Fraction(1)} | {k: -value for k, value in terms.items()}
            scale = lcm(*(value.denominator for value in vector.values()))
            whole = [int(vector.get(k, 0) * scale) for k in range(d + 1)]
            products = integer_product(rows.values, whole)
            for k, product in zip(open_.tolist(), products.tolist(), strict=True):
                if product and not self.decided[k]:
                    self._settle(k, hyperplane=beside(whole, self._queries[k]))

    def _on_faces(self, watch: Watch) -> None:
        """Settle the queries at, or beyond, the end of the range of a column.

        Only points with the same value there can carry weight: those are another hull.
        """
        low, high = self._points.min(axis=0), self._points.max(axis=0)
        groups: dict[bytes, list[int]] = {}
        for k in np.flatnonzero(~self.decided).tolist():
            query = self._queries[k]
            signs = (query >= high).astype(np.int8) - (query <= low)
            beyond = np.flatnonzero((query > high) | (query < low))
            if beyond.size:
                j = int(beyond[0])
                end = high if query[j] > high[j] else low
                self._settle(k, hyperplane=between(query, end, j))
            elif signs.any():
                groups.setdefault(signs.tobytes(), []).append(k)
        for key, members in groups.items():
            if watch.is_over():
                raise OutOfTime
            signs = np.frombuffer(key, dtype=np.int8)
            queries = self._queries[members]
            face = Face.of(self._points, signs, queries[0])
            if face.index.size == 0:
                for k in members:
                    self._settle(k, hyperplane=face.missed)
                continue
            inner = Hull(self._points[face.index], queries, self._seed, watch)
            for j, k in enumerate(members):
                if inner.inside[j]:
                    self._settle(k, support=face.index[inner._supports[j]])
                elif inner.decided[j]:
                    self._settle(
                        k, hyperplane=partial(face.lifted, inner._hyperplanes[j])
                    )

    def _searched(self, watch: Watch) -> None:
        """Settle the others in doubles where they do, else exactly."""
        open_ = np.flatnonzero(~self.decided)
        kept = np.sort(self._columns.kept[self._columns.kept < self._points.shape[1]])
        near = {}
        if kept.size and open_.size:
            shifts = np.frexp(np.abs(self._points[:, kept]).max(axis=0))[1]
            rows, queries = (
                np.ascontiguousarray(np.ldexp(values[:, kept], -shifts))
                for values in (self._points, self._queries[open_])
            )
            if np.array_equal(np.ldexp(rows, shifts), self._points[:, kept]):
                rng = np.random.default_rng(self._seed)
                search = HullSearch(rows, queries, rng, watch.is_over)
                search.run()
                same = np.ldexp(queries, shifts) == self._queries[np.ix_(open_, kept)]
                self._taken(search, open_, kept, shifts, same.all(axis=1))
                near = {k: search.near(j) for j, k in enumerate(open_.tolist())}
        for k in np.flatnonzero(~self.decided).tolist():
            if k in near:
                self._settled_alone(k, near[k], watch)
            if not self.decided[k]:
                self._settled_alone(k, np.arange(self.n_points), watch)

    def _taken(
        self,
        search: HullSearch,
        open_: Index,
        kept: Index,
        shifts: NDArray[Any],
        is_same: Mask,
    ) -> None:
        """Take what the search proved, and prove exactly what it found beside."""
        for j, k in enumerate(open_.tolist()):
            support = search.support[j]
            if not is_same[j] or support is None:
                continue
            if search.inside[j]:
                self._settle(k, support=support)
            elif search.outside[j]:
                plane = partial(
                    self._plane, search.direction[j], search.offset[j], kept, shifts
                )
                self._settle(k, hyperplane=plane)
            elif support.size and self._weights_of(k, support) is not None:
                self._settle(k, support=support)

    def _plane(
        self, direction: Floats, offset: float, kept: Index, shifts: NDArray[Any]
    ) -> Hyperplane:
        """Write a direction of the search as a hyperplane of all columns."""
        c = [Fraction(0)] * self._points.shape[1]
        for j, value, shift in zip(
            kept.tolist(), direction.tolist(), shifts.tolist(), strict=True
        ):
            c[j] = -Fraction(value) / Fraction(2) ** shift
        return tuple(c), -Fraction(float(offset))

    def _settled_alone(self, k: int, among: Index, watch: Watch) -> None:
        """Settle one query by a search of its own, which ends in exact arithmetic.

        Weights on some points settle it, a hyperplane only beside all of them.
        """
        if watch.is_over():
            raise OutOfTime
        left = watch.seconds_left
        answer = separate(
            np.vstack([self._points[among], self._queries[k]]),
            np.append(np.zeros(among.size, dtype=int), 1),
            minimal_conflict=True,
            time_limit=None if np.isinf(left) else max(left, 1e-3),
        )
        if answer.conflict is not None:
            held = answer.conflict[answer.conflict < among.size]
            self._settle(k, support=among[held])
        elif answer.coef is not None and among.size == self.n_points:
            assert answer.intercept is not None
            floats = *answer.coef.tolist(), answer.intercept
            *c, b = map(Fraction, answer.exact_weights or floats)
            plane = tuple(c), -b
            self._settle(k, hyperplane=lambda: plane)

    def _settle(
        self,
        k: int,
        *,
        support: Index | None = None,
        hyperplane: Callable[[], Hyperplane] | None = None,
    ) -> None:
        """Note what is proved of a query."""
        self.decided[k], self.inside[k] = True, support is not None
        if support is not None:
            self._supports[k] = support
        if hyperplane is not None:
            self._hyperplanes[k] = hyperplane

    def _exact_weights(self, k: int) -> dict[int, Fraction]:
        found = self._weights_of(k, self._supports[k])
        assert found is not None
        return found

    def _weights_of(self, k: int, support: Index) -> dict[int, Fraction] | None:
        """Return weights of some of these rows whose mean is the query, if any are."""
        block = np.ones((support.size + 1, self._points.shape[1] + 1))
        block[:-1, :-1] = self._points[support]
        block[-1, :-1] = self._queries[k]
        block[-1] *= -1.0
        trust = np.zeros(support.size + 1)
        trust[-1] = 1.0
        found = conflict_of(block, trust)
        if found is None or found.rows[-1] != support.size:
            return None
        total = found.weights[-1]
        both = zip(support[list(found.rows[:-1])].tolist(), found.weights, strict=False)
        return {row: Fraction(weight, total) for row, weight in sorted(both)}

    def _face(self, k: int) -> Index:
        """Find the rows that some weights which reach the query use."""
        both = np.vstack([self._points, self._queries[k]])
        rows = rows_from(both, np.ones(len(both), dtype=np.int8), True)
        equal = np.arange(len(both)) == self.n_points
        rng = np.random.default_rng(self._seed)
        found = Reduction(rows, equal, self._columns.kept, rng).run()
        return np.flatnonzero(found.overlapped[:-1])


def in_hull(
    points: Any,
    queries: Any,
    *,
    time_limit: float | None = None,
    random_state: int | None = None,
) -> Hull:
    """Tell which points lie in the convex hull of others, and prove each answer.

    A query is inside iff weights that are not negative and sum to one make it a mean of
    the points. Points of the boundary are inside. What is inside is proved by weights
    on at most d + 1 points, what is outside by a hyperplane between it and all points:
    by doubles with rigorous bounds on their rounding, by exact arithmetic where these
    leave a doubt.

    Parameters
    ----------
    points : array-like or frame of shape (n, d)
        Finite numbers.
    queries : array-like or frame of shape (m, d)
    time_limit : float, optional
        Seconds at most, > 0; queries that are not reached by then stay undecided.
    random_state : int, optional
        Seed of the directions the search begins with; None is 0. No answer depends on
        it.

    Returns
    -------
    Hull
        ``inside`` for all queries at once, and for each its proof.

    Raises
    ------
    InputError
        If these are no tables of finite numbers of the same width.

    Notes
    -----
    Points that may be corners of the hull are shared by all queries, so ten thousand of
    them against 100,000 points of 20 columns take some tens of seconds.

    References
    ----------
    The test is Gordan's alternative, see `linsep.separate`.

    Examples
    --------
    >>> import linsep
    >>> corners = [[0, 0], [4, 0], [0, 4], [1, 1]]
    >>> answers = linsep.in_hull(corners, [[1, 2], [2, 2], [3, 3]])
    >>> answers.inside.tolist()
    [True, True, False]
    >>> answers[1].face.tolist()  # it lies on an edge
    [1, 2]
    >>> {row: str(weight) for row, weight in answers[1].weights.items()}
    {1: '1/2', 2: '1/2'}
    >>> c, b = answers[2].hyperplane
    >>> all(sum(x * y for x, y in zip(c, corner)) < b for corner in corners)
    True
    """
    known, wanted = table_of(points, "points"), table_of(queries, "queries")
    if known.shape[1] != wanted.shape[1] or 0 in known.shape:
        raise InputError(
            "points and queries must have the same columns, one at least, and there "
            f"must be a point, got shapes {known.shape} and {wanted.shape}"
        )
    watch = Watch(checked_time_limit(time_limit))
    return Hull(known, wanted, checked_seed(random_state), watch)


def table_of(values: Any, name: str) -> Floats:
    """Read points as doubles, in C order."""
    try:
        table, _ = features_from(values)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return np.ascontiguousarray(as_dense(table), dtype=np.float64)


def _independent(points: Floats, seed: int) -> Columns:
    """Find the columns that say something new beside a constant."""
    n, d = points.shape
    rows = rows_from(points, np.ones(n, dtype=np.int8), True)
    return columns_of(rows, np.random.default_rng(seed), np.append(d, np.arange(d)))
