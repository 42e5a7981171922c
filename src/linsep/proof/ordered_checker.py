r"""Check an ordered partition: the second page of the checker.

It uses NumPy and SciPy, imports nothing of linsep, and can be copied out with
`linsep.proof.checker`, which calls it for this kind of certificate. Directions and
dependent vectors are checked in whole numbers. The rest is about the rows on which all
directions are zero, with the free columns left out.

The entries of vectors are texts "vector column integer", those of the point "column
double", the double in hexadecimal.

What is claimed. These rows ``a_i`` have positive weights under which they sum to zero.
The point z gives each row doubles of about ``p_i = (1 - t / sqrt(1 + t^2)) / 2`` and
``v_i = (1 + t^2)^(-3/2) / 2``, or, if these do not do, ``v_i = p_i (1 - p_i)``, where
``t = a_i . z``; what they are is of no account, as long as they are positive. With ``r
= sum p_i a_i``, ``M = sum v_i a_i a_i'`` and ``M q = r``, the weights ``p_i - v_i a_i .
q`` make the sum zero. So ``v_i a_i . q < p_i`` on every row is the claim.

How it is checked. With few columns, in fractions. Else in doubles with bounds on all
that rounding can do, u being 2^-53 and ``g(n) = (n + 16) u / (1 - (n + 16) u)``:

- Columns are divided by powers of two, which rounds nothing, so that the largest entry
  of each is about one, and M then by powers of two T on both sides, so that its
  diagonal is in [1/2, 2]. No weight is below 2^-100 and no entry below 2^-502, so what
  underflows is below 2^-800 in total: less than what two doubles above 2^-100 differ
  by, and than what the bounds have to spare.
- ``M - c`` is factored, the columns named as eliminated first (no row holds two of
  them). If that ends, then all eigenvalues of M are at least c less ``2.03 (g(n) z +
  g(k) l)``, for its sums and its factor, z the entries at most in a row and l the
  columns not eliminated. (Rump 2006; Higham 2002, theorem 10.3. In their terms ``n u /
  (1 - n u)`` it is ``2 z`` times those of n + 4 and of 4, for the sums and for the
  eliminated columns' share; ``2 l`` times that of k + 5; and three times that of 4.)
- q solves ``M q = r`` up to ``e = sum (p_i - v_i a_i . q) a_i``, which moves ``a_i .
  q`` by ``|a_i / T| |e / T| / mu`` at most.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve_triangular

Floats = NDArray[np.float64]

# With this many columns, and products to be summed, fractions are used.
FEW_COLUMNS = 12
FEW_PRODUCTS = 50_000
# Dense matrices of more columns are refused.
MOST_COLUMNS = 12_000
SMALLEST_WEIGHT = 2.0**-100
WIDEST = 500


# Not zero: a free column with a zero in its vector would not depend on the others.
_INTEGER = r"-?(?:[1-9][0-9]{0,599}|0x[1-9a-f][0-9a-f]{0,249999})"
_ENTRY = re.compile(rf"([0-9]{{1,10}}) ([0-9]{{1,10}}) ({_INTEGER})", re.ASCII)
_DOUBLE = re.compile(
    r"([0-9]{1,10}) (-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4})", re.ASCII
)


class NotProved(Exception):
    """Something claimed is not so, or doubles do not show that it is."""


def read_body(document: dict[str, Any], n_columns: int) -> dict[str, Any]:
    """Read what only this kind of certificate has, strictly."""
    for name in ("directions", "dependent", "free", "eliminated", "point"):
        if not isinstance(document[name], list):
            raise NotProved(f"{name} must be a list")
    for name in ("free", "eliminated"):
        columns = document[name]
        if any(type(j) is not int or not 0 <= j < n_columns for j in columns):
            raise NotProved(f"{name} must be a list of columns")
        if len(set(columns)) < len(columns):
            raise NotProved(f"{name} must not name a column twice")
    body: dict[str, Any] = {}
    for name in ("directions", "dependent"):
        found = [_matched(_ENTRY, text, name) for text in document[name]]
        body[name] = [
            (int(k), int(j), int(value, 16 if "x" in value else 10))
            for k, j, value in found
        ]
        if len({entry[:2] for entry in body[name]}) < len(body[name]):
            raise NotProved(f"{name} must not name an entry twice")
    found = [_matched(_DOUBLE, text, "point") for text in document["point"]]
    body["point"] = [(int(j), _from_hex(value)) for j, value in found]
    columns = [j for name in ("directions", "dependent") for _, j, _ in body[name]]
    columns += [j for j, _ in body["point"]]
    if max(columns, default=0) >= n_columns:
        raise NotProved(f"columns must be below {n_columns}")
    if len(dict(body["point"])) < len(body["point"]):
        raise NotProved("point must not name a column twice")
    return body


def _matched(pattern: re.Pattern[str], text: object, name: str) -> tuple[str, ...]:
    found = pattern.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise NotProved(f"{name} must be texts of numbers, as the format says")
    return found.groups()


def _from_hex(text: str) -> float:
    try:
        value = float.fromhex(text)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise NotProved("point must hold finite doubles")
    return value


def check_ordered(
    certificate: dict[str, Any],
    rows: Iterable[tuple[list[int], list[float]]],
    signs: list[int],
) -> list[Fraction]:
    """Check an ordered partition.

    Parameters
    ----------
    certificate : dict
        As `linsep.proof.checker.parse` returns it.
    rows : iterable of (columns, entries)
        The entries of each row that are not zero, the constant among them.
    signs : list of int
        The sign of each row.

    Returns
    -------
    list of Fraction
        The first ``a_i . d_k`` of each row that is not zero; zero where all are.

    Raises
    ------
    NotProved
    """
    directions = _by_column(certificate["directions"])
    dependent = _by_column(certificate["dependent"])
    free = set(certificate["free"])
    for k, column in enumerate(certificate["free"]):
        if {vector for vector, _ in dependent.get(column, [])} != {k}:
            raise NotProved("a free column must stand in its own vector alone")
    slacks, left = [], []
    for i, ((columns, values), sign) in enumerate(zip(rows, signs, strict=True)):
        ratios = [value.as_integer_ratio() for value in values]
        unit = max((below for _, below in ratios), default=1)
        entries = [above * (unit // below) for above, below in ratios]
        sums = _sums(directions, columns, entries)
        first = min((k for k, total in sums.items() if total), default=None)
        slack = 0 if first is None else sign * sums[first]
        if slack < 0:
            raise NotProved(f"the first direction not zero on row {i} is negative")
        slacks.append(Fraction(slack, unit))
        if first is None:
            if any(_sums(dependent, columns, entries).values()):
                raise NotProved(f"a dependent vector is not zero on row {i}")
            pairs = zip(columns, values, strict=True)
            left.append({j: sign * x for j, x in pairs if j not in free})
    filled = sorted(set().union(*left))
    place = {column: k for k, column in enumerate(filled)}
    matrix = sparse.csr_array(
        (
            np.array([x for row in left for x in row.values()], dtype=np.float64),
            np.array([place[j] for row in left for j in row], dtype=np.int64),
            np.cumsum([0, *map(len, left)], dtype=np.int64),
        ),
        shape=(len(left), len(filled)),
    )
    point, eliminated = dict(certificate["point"]), set(certificate["eliminated"])
    check_overlap(
        matrix,
        np.array([point.get(j, 0.0) for j in filled], dtype=np.float64),
        np.array([j in eliminated for j in filled], dtype=bool),
    )
    return slacks


def _by_column(
    entries: Iterable[tuple[int, int, int]],
) -> dict[int, list[tuple[int, int]]]:
    """Gather the entries of vectors by their columns."""
    found: dict[int, list[tuple[int, int]]] = {}
    for vector, column, value in entries:
        found.setdefault(column, []).append((vector, value))
    return found


def _sums(
    vectors: dict[int, list[tuple[int, int]]], columns: list[int], entries: list[int]
) -> dict[int, int]:
    """Return the products of a row with the vectors that share a column with it."""
    sums: dict[int, int] = {}
    for column, entry in zip(columns, entries, strict=True):
        for vector, value in vectors.get(column, ()):
            sums[vector] = sums.get(vector, 0) + value * entry
    return sums


def check_overlap(rows: Any, point: Floats, first: NDArray[np.bool_]) -> None:
    """Raise unless the rows overlap, by the weights of a point.

    Parameters
    ----------
    rows : csr_array of shape (n, k)
        Signed rows, no column of them zero.
    point : ndarray of shape (k,)
    first : ndarray of shape (k,), bool
        Columns to eliminate first, of which no row holds two.

    Raises
    ------
    NotProved
    """
    n, k = rows.shape
    if n == 0 or k == 0:
        return
    if not np.isfinite(point).all() or not np.isfinite(rows.data).all():
        raise NotProved("the point and the rows must be finite")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        products = rows @ point
        root = np.sqrt(1.0 + products * products)
        small = 0.5 / (root * (root + np.abs(products)))
        curvature = 0.5 / (root * root * root)
        flatter = small * (1.0 - small)
    if np.isnan(products).any():
        raise NotProved("the weights of the point are not numbers")
    p = np.maximum(np.where(products > 0, small, 1.0 - small), SMALLEST_WEIGHT)
    for v in (curvature, flatter):
        try:
            _weights_stay_positive(rows, p, np.maximum(v, SMALLEST_WEIGHT), first)
            return
        except NotProved as not_proved:
            fault = not_proved
    raise fault


def _weights_stay_positive(
    rows: Any, p: Floats, v: Floats, first: NDArray[np.bool_]
) -> None:
    """Raise unless the weights ``p_i - v_i a_i . q`` are positive."""
    n, k = rows.shape
    if k <= FEW_COLUMNS and n * k * k <= FEW_PRODUCTS:
        _in_fractions(rows, p.tolist(), v.tolist())
    else:
        _in_doubles(rows, p, v, first)


def _in_fractions(rows: Any, p: list[float], v: list[float]) -> None:
    """Solve exactly, and compare exactly."""
    k = rows.shape[1]
    lines = [list(map(Fraction, line)) for line in rows.toarray().tolist()]
    system = [[Fraction(0)] * (k + 1) for _ in range(k)]
    for line, p_i, v_i in zip(lines, map(Fraction, p), map(Fraction, v), strict=True):
        for j in range(k):
            if line[j]:
                system[j][k] += p_i * line[j]
                for other in range(k):
                    system[j][other] += v_i * line[j] * line[other]
    for j in range(k):
        at = next((i for i in range(j, k) if system[i][j]), None)
        if at is None:
            raise NotProved("columns depend on each other")
        system[j], system[at] = system[at], system[j]
        system[j] = [value / system[j][j] for value in system[j]]
        for i in range(k):
            if i != j and system[i][j]:
                factor = system[i][j]
                system[i] = [
                    a - factor * b for a, b in zip(system[i], system[j], strict=True)
                ]
    q = [system[j][k] for j in range(k)]
    for number, line in enumerate(lines):
        move = sum((a * b for a, b in zip(line, q, strict=True)), Fraction(0))
        if not Fraction(v[number]) * move < Fraction(p[number]):
            raise NotProved(f"the weight of overlapped row {number} is not positive")


def _in_doubles(rows: Any, p: Floats, v: Floats, first: NDArray[np.bool_]) -> None:
    """Solve in doubles, and compare with bounds on what they are off by."""
    n, k = rows.shape
    k_rest = k - int(first.sum())
    if k_rest > MOST_COLUMNS:
        raise NotProved(f"more than {MOST_COLUMNS} columns are left to be factored")
    A = _scaled(rows)
    if (abs(A[:, first]).sign().sum(axis=1) > 1).any():
        raise NotProved("a row holds two of the columns to be eliminated first")
    M, T = _moments(A, v)
    error = _eigenvalue_error(n, k, k_rest, _longest(A))
    lengths = _lengths(A, T)
    fault = "the moment matrix is not positive definite in doubles"
    # With a large shift the bound is better, with a small one the solution.
    for least in (1e-6, 1e-9, 1e-12):
        mu = max(least, error)
        solve = _factored(M, first, mu + error)
        if solve is None:
            continue
        fault = "the weights are not seen to be positive"
        q = np.zeros(k)
        for _ in range(7):
            most, e = _reached(A, p, v, T, lengths, mu, q)
            if (most < p).all():
                return
            q = q + np.ldexp(solve(np.ldexp(e, -T)), -T)
    raise NotProved(fault)


def _g(n: int) -> float:
    """Bound the roundings of n operations one after another, and of 16 more."""
    share = (n + 16) * 2.0**-53
    return share / (1 - share)


def _longest(A: Any) -> int:
    """Return the number of entries at most in a row."""
    return int(np.diff(A.indptr).max())


def _scaled(rows: Any) -> Any:
    """Divide each column by a power of two, so that its largest entry is about one."""
    A = rows.tocsc()  # a copy
    A.eliminate_zeros()
    if (np.diff(A.indptr) == 0).any():
        raise NotProved("a column is zero on all rows")
    starts = A.indptr[:-1]
    largest = np.frexp(np.maximum.reduceat(np.abs(A.data), starts))[1]
    least = np.frexp(np.minimum.reduceat(np.abs(A.data), starts))[1]
    if (largest - least > WIDEST).any():
        raise NotProved("the entries of a column differ too much in size")
    A.data = np.ldexp(A.data, -np.repeat(largest, np.diff(A.indptr)))
    return A.tocsr()


def _moments(A: Any, v: Floats) -> tuple[Any, NDArray[np.int64]]:
    """Return ``sum v_i a_i a_i'`` over powers of two on both sides, and these T.

    Its diagonal is in [1/2, 2]; it had no zero, as each column's largest entry is about
    one and no weight is zero.
    """
    M = (A.T @ sparse.diags_array(v) @ A).tocsr()
    T = np.floor(0.5 * np.log2(M.diagonal()) + 0.5).astype(np.int64)
    M.data = np.ldexp(M.data, -T[M.indices] - np.repeat(T, np.diff(M.indptr)))
    return M, T


def _eigenvalue_error(n: int, k: int, k_rest: int, longest: int) -> float:
    """Bound how far below what a factorisation says an eigenvalue may be."""
    return 2.03 * (_g(n) * longest + _g(k) * k_rest)


def _lengths(A: Any, T: NDArray[np.int64]) -> Floats:
    """Bound the ``|a_i / T|`` from above; squares below 2^-1022 may be lost."""
    squares = A.copy()
    squares.data = np.ldexp(A.data, -T[A.indices]) ** 2
    lengths = np.sqrt(squares.sum(axis=1)) * (1 + _g(_longest(A))) + 2.0**-400
    return np.asarray(lengths, dtype=np.float64)


def _reached(
    A: Any,
    p: Floats,
    v: Floats,
    T: NDArray[np.int64],
    lengths: Floats,
    mu: float,
    q: Floats,
) -> tuple[Floats, Floats]:
    """Bound ``v_i a_i . q*`` from above, ``M q* = r``; return also what q leaves of r.

    What is rounded after a sum is within the 16 roundings to spare of its bound.
    """
    products = A @ q
    doubt = _g(_longest(A)) * (abs(A) @ np.abs(q))
    e, error = _weighted(A, p - v * products, v * doubt)
    # Within one unit in the last place, for any number of entries.
    norm = math.hypot(*np.ldexp(np.abs(e) + error, -T).tolist())
    return v * (products + doubt + lengths * (norm / mu)), e


def _weighted(A: Any, u: Floats, off: Floats) -> tuple[Floats, Floats]:
    """Return ``sum u_i a_i``, each u off by so much, and what it is off by."""
    n, k = A.shape
    total, sizes, doubts = np.zeros(k), np.zeros(k), np.zeros(k)
    size = math.isqrt(n)  # as many rows in a block as there are blocks, or two less
    for start in range(0, n, size):
        block = A[start : start + size]
        part = u[start : start + size]
        total += block.T @ part
        sizes += abs(block).T @ np.abs(part)
        doubts += abs(block).T @ off[start : start + size]
    rounding = _g(2 * size)
    return total, (doubts + rounding * sizes) * (1 + rounding)


def _factored(M: Any, first: NDArray[np.bool_], c: float) -> Any:
    """Factor ``M - c`` and return what solves with it; None if it cannot be."""
    rest = ~first
    D = M.diagonal()[first] - c
    if not (D > 0).all():
        return None
    root = np.sqrt(D)
    B = sparse.csr_array(M[first][:, rest])
    B.data = B.data / np.repeat(root, np.diff(B.indptr))
    S = M[rest][:, rest].toarray() - (B.T @ B).toarray()
    S[np.diag_indices_from(S)] -= c
    try:
        L = np.linalg.cholesky(S)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(L).all():
        return None

    def solve(b: Floats) -> Floats:
        x = np.empty(b.size)
        y = b[first] / root
        z = solve_triangular(L, b[rest] - B.T @ y, lower=True)
        x[rest] = solve_triangular(L, z, lower=True, trans=1)
        x[first] = (y - B @ x[rest]) / root
        return x

    return solve
