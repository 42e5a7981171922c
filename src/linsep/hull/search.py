r"""Which of many points lie in a convex hull: candidates on few rows, proofs on all.

``q`` lies in the hull of the rows iff no ``c`` has ``(x_i - q) . c > 0`` for all i. A
working set of rows, extreme in some directions, is common to all queries; the active
set of the largest margin (`linsep.solvers.active_set`) answers on it. If it finds
weights, on at most d + 1 rows, the query lies inside, whatever the other rows are: they
are no longer read. If it finds ``c``, one product with all rows, for many queries at
once, proves that the query lies outside or names rows that join its working set.
What doubles cannot prove is left to exact arithmetic, one query at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from linsep.arrays import Floats, Index, Mask, no_index
from linsep.hull.bounds import gap_errors, inside_simplices
from linsep.solvers.active_set import ActiveSet, Outcome
from linsep.solvers.blas import calm_blas

# Directions whose extreme rows all queries share: at most, and for each dimension.
MOST_DIRECTIONS, DIRECTIONS_EACH = 1_000, 50
# Rows that join a query's working set after a sweep.
ROWS_ADDED = 40
# Sweeps after which a query is left to exact arithmetic.
MOST_SWEEPS = 60
# Products of directions and rows held at a time.
BLOCK = 1 << 22
# Variances below this share of the largest are no directions to look in.
NEGLIGIBLE = 1e-24
# A row whose margin is this close to the least is on the hyperplane nearest.
CLOSE = 1e-9


@dataclass
class HullSearch:
    """The search, for rows whose columns are independent of each other and of a one.

    Parameters
    ----------
    rows : ndarray of shape (n, r), C order
    queries : ndarray of shape (m, r)
    rng : numpy.random.Generator
    is_over : callable
        Asked between queries and sweeps.
    nearest : bool, default=False
        Whether a point outside is to be carried on to the nearest point of the hull,
        distances being in standard deviations of each column.

    Attributes
    ----------
    inside, outside : ndarray of shape (m,), bool
        What was proved.
    support : list of ndarray or None
        The rows that carry the weights of a query, proved or not.
    direction : ndarray of shape (m, r)
        ``c``, where the answer was outside, proved or not.
    offset : ndarray of shape (m,)
        Strictly between the ``c . x_i`` and ``c . q`` where outside is proved.
    weights : list of ndarray or None
        Of the nearest point, if it was asked for.
    """

    rows: Floats
    queries: Floats
    rng: np.random.Generator
    is_over: Callable[[], bool]
    nearest: bool = False
    inside: Mask = field(init=False)
    outside: Mask = field(init=False)
    direction: Floats = field(init=False)
    offset: Floats = field(init=False)

    # What is not finite proves nothing.
    @np.errstate(all="ignore")
    def __post_init__(self) -> None:
        """Choose coordinates, and the rows that all queries share."""
        (m, r) = self.queries.shape
        self.inside, self.outside = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool)
        self.support: list[Index | None] = [None] * m
        self.weights: list[Floats | None] = [None] * m
        self.direction, self.offset = np.zeros((m, r)), np.zeros(m)
        self.largest = np.abs(self.rows).max(axis=0)
        self._centre = self.rows.mean(axis=0)
        self._to_engine = self._coordinates()
        n_directions = min(MOST_DIRECTIONS, DIRECTIONS_EACH * r, 2 * r + m)
        drawn = self.rng.standard_normal((n_directions, r)) @ self._to_engine.T
        extreme = [no_index()]
        for _, products in self._products(drawn):
            extreme += [products.argmax(axis=1), products.argmin(axis=1)]
        self._shared = np.unique(np.concatenate(extreme))
        self._joined = [no_index() for _ in range(m)]

    @np.errstate(all="ignore")
    def run(self) -> Index:
        """Answer; return the queries that doubles do not settle."""
        open_ = np.arange(self.queries.shape[0])
        shared = self._engine_rows(self._shared)
        for _ in range(MOST_SWEEPS):
            left = []
            with calm_blas(self.queries.shape[1]):
                for k in open_.tolist():
                    if self.is_over():
                        return np.flatnonzero(~(self.inside | self.outside))
                    if self._solved(k, shared):
                        left.append(k)
            open_ = self._swept(np.array(left, dtype=np.intp))
            if open_.size == 0:
                break
        self._prove_inside()
        return np.flatnonzero(~(self.inside | self.outside))

    def near(self, k: int) -> Index:
        """Return the rows that the answer to a query was looked for on."""
        return np.union1d(self._shared, self._joined[k])

    def _coordinates(self) -> Floats:
        """Return T: coordinates ``(x - centre) T`` in which rows are about a ball."""
        centred = self.rows - self._centre
        spread = np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(centred))
        spread[spread == 0] = 1.0
        if self.nearest:
            return np.diag(1.0 / spread)
        scaled = centred / spread
        values, vectors = np.linalg.eigh(scaled.T @ scaled / len(centred))
        roots = np.sqrt(np.maximum(values, NEGLIGIBLE * values.max(initial=1.0)))
        return np.asarray(vectors / roots / spread[:, np.newaxis])

    def _engine_rows(self, index: Index) -> Floats:
        return np.asarray((self.rows[index] - self._centre) @ self._to_engine)

    def _products(self, directions: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield the products of directions with all rows, some directions a time."""
        size = max(1, BLOCK // max(1, len(self.rows)))
        for start in range(0, len(directions), size):
            if self.is_over():
                return
            part = slice(start, start + size)
            yield part, directions[part] @ self.rows.T

    def _solved(self, k: int, shared: Floats) -> bool:
        """Ask the working set of a query; tell whether it names a direction."""
        joined = self._joined[k]
        point = (self.queries[k] - self._centre) @ self._to_engine
        own = np.concatenate([shared, self._engine_rows(joined)]) - point
        numbers = np.concatenate([self._shared, joined])
        first = no_index()
        if joined.size:
            # The rows that joined last are those the direction before failed on.
            first = np.arange(numbers.size - min(joined.size, ROWS_ADDED), numbers.size)
        problem = ActiveSet(np.ascontiguousarray(own))
        *_, outcome = problem.solve(first)
        multipliers = problem.multipliers
        self.support[k] = numbers[problem.support[multipliers > 0]]
        held = multipliers[multipliers > 0]
        self.weights[k] = held / held.sum() if held.size else held
        self.direction[k] = self._to_engine @ problem.u
        return outcome is Outcome.OPTIMAL

    def _swept(self, index: Index) -> Index:
        """Hold directions against all rows; return the queries to go on with."""
        going_on: list[int] = []
        directions, points = self.direction[index], self.queries[index]
        ends = np.einsum("ij,ij->i", directions, points)
        errors = gap_errors(directions, self.largest, points)
        for part, products in self._products(directions):
            gaps = products.min(axis=1) - ends[part]
            is_proved = (gaps > 2 * errors[part]) & np.isfinite(errors[part])
            self.outside[index[part]] = is_proved
            self.offset[index[part]] = ends[part] + gaps / 2
            is_done = gaps >= 1.0 - CLOSE if self.nearest else is_proved
            for j in np.flatnonzero(~is_done).tolist():
                k = int(index[part][j])
                if self._joins(k, products[j], ends[part][j]):
                    going_on.append(k)
        return np.array(going_on, dtype=np.intp)

    def _joins(self, k: int, products: Floats, end: float) -> bool:
        """Let rows that a direction fails on join; tell whether there are new ones."""
        failed = np.flatnonzero(products < end + 1.0 - CLOSE)
        if failed.size > ROWS_ADDED:
            worst = np.argpartition(products[failed], ROWS_ADDED)[:ROWS_ADDED]
            failed = failed[worst]
        known = np.concatenate([self._shared, self._joined[k]])
        new = np.setdiff1d(failed, known)
        self._joined[k] = np.concatenate([self._joined[k], new])
        return new.size > 0

    def _prove_inside(self) -> None:
        """Prove all simplices of full dimension at once."""
        r = self.rows.shape[1]
        full = [
            k
            for k, rows in enumerate(self.support)
            if rows is not None and rows.size == r + 1 and not self.outside[k]
        ]
        for start in range(0, len(full), 1000):
            part = np.array(full[start : start + 1000])
            support = np.array([self.support[k] for k in part.tolist()])
            corners = np.ones((part.size, r + 1, r + 1))
            corners[:, :r] = self.rows[support].transpose(0, 2, 1)
            points = np.ones((part.size, r + 1))
            points[:, :r] = self.queries[part]
            self.inside[part] = inside_simplices(corners, points)
