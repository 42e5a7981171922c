"""Exact judges that share no code with the package: fractions, and z3."""

from fractions import Fraction

import numpy as np
import z3


def fractions_of(A):
    """Rows of numbers as rows of fractions, at their exact values."""
    dense = A.toarray() if hasattr(A, "toarray") else A
    return [[Fraction(value) for value in map(_plain, row)] for row in dense]


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def dot(row, w):
    return sum((a * b for a, b in zip(row, w, strict=True)), Fraction(0))


def rank(rows):
    """Rank by textbook elimination over the rationals."""
    rows = [list(row) for row in rows]
    found = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        top = rows[found]
        for i in range(found + 1, len(rows)):
            if rows[i][column]:
                ratio = rows[i][column] / top[column]
                rows[i] = [a - ratio * b for a, b in zip(rows[i], top, strict=True)]
        found += 1
    return found


def assert_separates(A, w):
    w = [Fraction(_plain(value)) for value in w]
    assert all(dot(row, w) > 0 for row in fractions_of(A))


def assert_minimal_conflict(A, rows, weights):
    """The rows sum to zero with positive weights, and no proper subset can."""
    assert list(rows) == sorted(set(rows))
    assert len(rows) == len(weights) > 0
    assert all(isinstance(weight, int) and weight > 0 for weight in weights)
    dense = A.toarray() if hasattr(A, "toarray") else A
    chosen = fractions_of([dense[i] for i in rows])
    for column in zip(*chosen, strict=True):
        assert dot(column, weights) == 0
    # Rank one less than their number: the dependence is the only one.
    assert rank(chosen) == len(rows) - 1


class Z3Cone:
    """All w with A w >= 0 and equalities w = 0, as z3 holds it.

    Told to z3 in its own language, which is many times as fast as term by term.
    """

    def __init__(self, A, equalities, width):
        rows = [*((row, ">=") for row in A), *((row, "=") for row in equalities)]
        names = [f"w{j}" for j in range(width)]
        told = [f"(declare-const {name} Real)" for name in names]
        for row, relation in rows:
            terms = [
                f"(* {_z3_number(a)} {w})" for a, w in zip(row, names, strict=True)
            ]
            told.append(f"(assert ({relation} (+ 0.0 0.0 {' '.join(terms)}) 0.0))")
        self.w = z3.Reals(names)
        self.solver = z3.Solver()
        self.solver.from_string("".join(told))

    def allows(self, *rows, sign=1):
        """Whether some w in it has sign * row . w > 0 for each row."""
        self.solver.push()
        for row in rows:
            pairs = zip(map(Fraction, map(_plain, row)), self.w, strict=True)
            terms = [z3.RealVal(a) * w for a, w in pairs if a]
            self.solver.add(sign * z3.Sum([z3.RealVal(0), *terms]) > 0)
        found = self.solver.check()
        self.solver.pop()
        assert found != z3.unknown
        return found == z3.sat


def _z3_number(value):
    fraction = Fraction(_plain(value))
    size = f"(/ {abs(fraction.numerator)}.0 {fraction.denominator}.0)"
    return size if fraction >= 0 else f"(- {size})"


def z3_separable(A):
    """Whether some w has A w > 0, by z3's exact arithmetic."""
    return Z3Cone([], [], len(A[0])).allows(*A)


def z3_direction_exists(A, equalities, row, sign=1):
    """Whether some w has A w >= 0, equalities w = 0 and sign * row . w > 0."""
    return Z3Cone(A, equalities, len(row)).allows(row, sign=sign)
