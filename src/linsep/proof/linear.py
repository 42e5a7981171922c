"""Exact linear algebra over the rationals, by python-flint.

Two kinds of statement are combined. Elimination modulo a prime is fast and says which
rows or columns are independent: a minor that is not zero modulo a prime is not zero,
so independence found that way is proved, while dependence is only likely. Solving is
exact (Dixon's lifting: J. D. Dixon, "Exact solution of linear equations using p-adic
expansions", Numerische Mathematik 40, 1982, doi:10.1007/BF01459082), and whatever
rests on a likely dependence is checked by an exact product before it is returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from flint import fmpq_mat, fmpz, fmpz_mat, nmod_mat

from linsep.proof._lifting import Lifting
from linsep.proof.exact import IntegerArray, primitive

# Primes between 2**61 and 2**62 drawn at random: Mersenne primes divide differences of
# powers of two, which scaled doubles are full of.
_PRIMES = (
    3840522961498934873,
    4595208849253235251,
    2617080265955936069,
    2465514258046538537,
)
# Bits beyond those of a numerator that tell one from any other residue.
_SPARE_BITS = 64


def integer_matrix(values: IntegerArray) -> fmpz_mat:
    """Return integers of shape (m, d) as a flint matrix."""
    m, d = values.shape
    return fmpz_mat(m, d, values.ravel().tolist())


def integer_column(values: Sequence[int]) -> fmpz_mat:
    """Return integers as a flint matrix of one column."""
    return fmpz_mat(len(values), 1, list(values))


def python_integers(matrix: fmpz_mat) -> list[int]:
    """Return the entries of a flint matrix, row by row."""
    return [int(entry) for entry in matrix.entries()]


def independent_columns(values: IntegerArray, attempt: int = 0) -> list[int]:
    """Return the first columns that are independent of those before them.

    They are independent over the rationals: that much is proved. Modulo an unlucky
    prime some may be missed; `attempt` picks another prime.
    """
    m, d = values.shape
    pivots: list[int] = []
    # Piece by piece: where columns are far more than rows, the first hold the rank.
    start, size = 0, d if d <= 4 * m else 2 * m
    while start < d and len(pivots) < m:
        piece = [*pivots, *range(start, min(start + size, d))]
        found = _pivots(nmod_mat(integer_matrix(values[:, piece]), prime(attempt)))
        pivots = [piece[column] for column in found]
        start, size = start + size, 2 * size
    return pivots


def _pivots(matrix: nmod_mat) -> list[int]:
    reduced, rank = matrix.rref()
    pivots, column = [], 0
    for row in range(rank):
        while int(reduced[row, column]) == 0:
            column += 1
        pivots.append(column)  # where the next row has a zero
    return pivots


def prime(attempt: int) -> int:
    """Return a prime to eliminate by, another one for each attempt."""
    if attempt < len(_PRIMES):
        return _PRIMES[attempt]
    # Gaps between primes of this size are far below a million.
    candidate = fmpz(_PRIMES[0] + 1_000_000 * attempt)
    while not candidate.is_prime():
        candidate += 1
    return int(candidate)


def solve(matrix: fmpz_mat, right: fmpz_mat) -> tuple[fmpz_mat, int]:
    """Solve ``matrix @ x = right`` exactly, as integers over one denominator.

    Returns
    -------
    numerators : fmpz_mat
    denominator : int
        Positive.

    Raises
    ------
    ZeroDivisionError
        If the matrix is singular.
    """
    solution = cast(fmpq_mat, matrix.solve(right))
    numerators, denominator = solution.numer_denom()
    return numerators, int(denominator)


def solve_last(lines: IntegerArray) -> fmpz_mat | None:
    """Solve ``lines @ x = (0, ..., 0, 1)``, as integers over what ``x`` has below it.

    A lifting of our own, in less than half the time of `solve`. Likely to be right,
    not certain: None where it seems not to be, or the lines are not for it.
    """
    lifting = Lifting(lines.tolist())
    if not lifting.is_made:
        return None
    # One fraction is had from digits for both its parts. The others have nearly always
    # the same denominator, and then need half of them.
    n_bits, most_bits = lifting.n_bits, lifting.most_bits
    few_bits = min(n_bits + _SPARE_BITS, most_bits)
    start = lifting.residue(0, most_bits)
    numerator, denominator = _fraction(start, lifting.modulus(most_bits), 0)
    numerators, modulus = [numerator], fmpz(lifting.modulus(few_bits))
    for j in range(1, len(lines)):
        value = denominator * lifting.residue(j, few_bits) % modulus
        if 2 * value > modulus:
            value -= modulus
        if value.bit_length() > n_bits:
            value, factor = _fraction(value, modulus, n_bits - _SPARE_BITS // 2)
            denominator *= factor
            numerators = [factor * numerator for numerator in numerators]
        numerators.append(value)
    return fmpz_mat(len(lines), 1, numerators) if denominator else None


def _fraction(
    residue: fmpz | int, modulus: fmpz | int, shift: int
) -> tuple[fmpz, fmpz]:
    """Return the fraction of that residue with the shortest parts.

    They are a short vector of a lattice, in which the denominator is shifted to be
    about as long as the numerator. It is not negative.
    """
    scale = 1 << max(shift, 0)
    lattice = fmpz_mat([[residue, scale], [modulus, 0]]).lll()
    numerator, denominator = lattice[0, 0], lattice[0, 1] // scale
    return (-numerator, -denominator) if denominator < 0 else (numerator, denominator)


def null_basis(values: IntegerArray) -> IntegerArray:
    """Return an integer basis of all ``w`` with ``values @ w = 0``, as columns.

    Parameters
    ----------
    values : integers of shape (m, d)

    Returns
    -------
    ndarray of shape (d, d - rank), object
        Each column is primitive. Row ``j`` is zero exactly when the ``j``-th unit
        vector lies in the row space.

    Examples
    --------
    >>> import numpy as np
    >>> null_basis(np.array([[1, 2, 3], [2, 4, 6]])).tolist()
    [[-2, -3], [1, 0], [0, 1]]
    """
    attempt = 0
    while True:
        rows = independent_columns(values.T, attempt)
        columns = independent_columns(values[rows], attempt)
        basis = _null_candidate(values[rows], columns)
        # Its columns are independent by their shape, and never fewer than the true
        # null space has; so a product of zero proves it.
        if _vanishes(values, basis):
            return basis
        attempt += 1  # few primes divide all minors of the rank's size


def small_null_basis(values: IntegerArray) -> list[list[int]]:
    """Return the same basis, as a list of vectors, of a few columns at one elimination.

    Entries grow with every column that is eliminated, unlike in `null_basis`. Each
    vector has a positive entry.

    Examples
    --------
    >>> small_null_basis(np.array([[1, 2, 3], [2, 4, 6]]))
    [[-2, 1, 0], [-3, 0, 1]]
    """
    d = values.shape[1]
    reduced, denominator, rank = integer_matrix(values).rref()
    if rank == d:
        return []
    rows = reduced.tolist()[:rank]
    pivots = [next(j for j in range(d) if row[j]) for row in rows]
    basis = []
    for free in sorted(set(range(d)) - set(pivots)):
        vector = [0] * d
        vector[free] = abs(int(denominator))
        sign = 1 if denominator > 0 else -1
        for pivot, row in zip(pivots, rows, strict=True):
            vector[pivot] = -sign * int(row[free])
        basis.append(primitive(vector))
    return basis


def _null_candidate(rows: IntegerArray, columns: list[int]) -> IntegerArray:
    """Solve for the pivot columns with each free column in turn set to one."""
    d = rows.shape[1]
    free = [j for j in range(d) if j not in set(columns)]
    basis = np.zeros((d, len(free)), dtype=object)
    if not free:
        return basis
    numerators, denominator = solve(
        integer_matrix(rows[:, columns]), integer_matrix(-rows[:, free])
    )
    basis[columns] = as_array(numerators)
    basis[free, np.arange(len(free))] = denominator
    for k in range(len(free)):
        basis[:, k] = primitive(basis[:, k].tolist())
    return basis


def _vanishes(values: IntegerArray, basis: IntegerArray) -> bool:
    return bool((integer_matrix(values) * integer_matrix(basis)).is_zero())


def as_array(matrix: fmpz_mat) -> IntegerArray:
    """Return a flint matrix as a numpy array of Python integers."""
    out = np.empty(matrix.nrows() * matrix.ncols(), dtype=object)
    out[:] = python_integers(matrix)
    return out.reshape(matrix.nrows(), matrix.ncols())
