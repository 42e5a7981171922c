"""The compiled exact conflicts of a few rows: right, or no answer at all."""

import math
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from judges import fractions_of
from linsep.proof import gordan
from linsep.proof._few_rows import few_rows_conflict
from linsep.proof.answers import Conflict
from linsep.proof.exact import IntegerRows
from linsep.proof.gordan import conflict_among, conflict_from_candidate, conflict_of

# MSVC has no integers of 128 bits; the answers are those of python-flint there.
needs_wide_integers = pytest.mark.skipif(
    os.name == "nt",
    reason="compiled for integers of 31 bits",
)


def textbook(A):
    """Return the weights of rows, () if there are none, None if there are several.

    Gauss and Jordan's elimination in fractions, of one equation a column.
    """
    k = len(A)
    equations, pivots = [], []
    for equation in map(list, zip(*fractions_of(A), strict=True)):
        for pivot, other in zip(pivots, equations, strict=True):
            factor = equation[pivot]
            equation = [a - factor * b for a, b in zip(equation, other, strict=True)]
        pivot = next((i for i, value in enumerate(equation) if value), None)
        if pivot is None:
            continue
        equation = [value / equation[pivot] for value in equation]
        for r, other in enumerate(equations):
            factor = other[pivot]
            equations[r] = [
                a - factor * b for a, b in zip(other, equation, strict=True)
            ]
        equations.append(equation)
        pivots.append(pivot)
    if len(pivots) == k:
        return ()
    if len(pivots) < k - 1:
        return None
    (last,) = set(range(k)) - set(pivots)
    p = [Fraction(0)] * k
    p[last] = Fraction(1)
    for pivot, equation in zip(pivots, equations, strict=True):
        p[pivot] = -equation[last]
    if min(p) < 0:
        return ()
    multiple = math.lcm(*(value.denominator for value in p))
    whole = [int(value * multiple) for value in p]
    return tuple(value // math.gcd(*whole) for value in whole)


def matrices(entries, most_rows=6, most_columns=6):
    """Rows, each column of one kind of entries; some are copies, or opposite."""

    def of_shape(shape):
        k, d = shape
        columns = st.lists(
            entries.flatmap(lambda kind: st.lists(kind, min_size=k, max_size=k)),
            min_size=d,
            max_size=d,
        )
        copies = st.lists(
            st.tuples(
                st.integers(0, k - 1),
                st.integers(0, k - 1),
                st.sampled_from([1.0, -1.0, -2.0, 0.0]),
            ),
            max_size=2,
        )
        return st.tuples(columns, copies).map(rows_of)

    shapes = st.tuples(st.integers(1, most_rows), st.integers(1, most_columns))
    return shapes.flatmap(of_shape)


def rows_of(drawn):
    columns, copies = drawn
    A = np.array(columns).T.copy()
    for row, other, factor in copies:
        with np.errstate(over="ignore"):
            copied = factor * A[other]
        if np.isfinite(copied).all():
            A[row] = copied
    return A


SMALL = st.integers(-3, 3).map(float)
DYADIC = st.tuples(st.integers(-9, 9), st.integers(-6, 6)).map(
    lambda both: math.ldexp(*both)
)
DECIMAL = st.integers(-50, 50).map(lambda value: value / 10)
LONG = st.integers(-(2**53), 2**53).map(float)
TINY = st.integers(-5, 5).map(lambda value: value * 5e-324)
# About as long as 64 bits hold, over a column's least power of two.
LIMIT = st.one_of(
    st.sampled_from([2.0**62, -(2.0**62), 2.0**61, 2.0**63, 1.0, -1.0, 3.0, 0.0]),
    st.integers(2**52, 2**53).flatmap(
        lambda value: st.sampled_from([value * 2.0**9, -value * 2.0**10, value * 1.0])
    ),
)
ANY = st.floats(allow_nan=False, allow_infinity=False)
ZEROS = st.sampled_from([0.0, -0.0])
KINDS = st.sampled_from([SMALL, DYADIC, DECIMAL, LONG, TINY, LIMIT, ANY, ZEROS])


@given(matrices(st.sampled_from([SMALL, ZEROS])))
def test_small_integers_are_always_settled(A):
    assert few_rows_conflict(A) == textbook(A)


@given(matrices(KINDS))
@example(np.array([[2.0**63], [-1.0]]))
@example(np.array([[1.0, 0.0], [-1.0, 5e-324], [0.0, -5e-324]]))
@example(np.array([[1.7e308, 1.0], [-1.7e308, -1.0], [5e-324, 1.0]]))
def test_any_rows_are_settled_rightly_or_not_at_all(A):
    found = few_rows_conflict(A)
    assert found is None or found == textbook(A)


@given(matrices(st.sampled_from([LIMIT, LONG]), most_rows=12, most_columns=12))
def test_numbers_that_are_too_long_give_no_wrong_answer(A):
    found = few_rows_conflict(A)
    assert found is None or found == textbook(A)


@st.composite
def planted(draw, kind, most_rows=8, most_weight=4):
    """Integer rows, the last one weighed against the others by planted weights."""
    k = draw(st.integers(2, most_rows))
    rows = st.lists(kind, min_size=k, max_size=k)
    A = np.array(draw(st.lists(rows, min_size=k - 1, max_size=k - 1)))
    p = draw(st.lists(st.integers(0, most_weight), min_size=k - 1, max_size=k - 1))
    with np.errstate(over="ignore", invalid="ignore"):
        A = np.vstack([A, -np.array(p, dtype=float) @ A])
    order = draw(st.permutations(range(k)))
    weights = np.array([*p, 1])
    return A[order], tuple(weights[order].tolist())


@given(planted(SMALL))
def test_planted_weights_are_found(both):
    A, weights = both
    assume(textbook(A) is not None)
    assert few_rows_conflict(A) == weights


def whole_numbers(bits):
    return st.integers(-(2**bits), 2**bits).map(float)


@needs_wide_integers
@given(
    st.one_of(
        planted(whole_numbers(48), most_rows=3),
        planted(whole_numbers(31), most_rows=3, most_weight=2**20),
    )
)
def test_planted_weights_are_found_through_numbers_that_shrink_again(both):
    A, weights = both
    assume(textbook(A) is not None)
    assert few_rows_conflict(A) == weights


# Products of two or three of these are about as long as 64 bits hold.
@given(st.sampled_from([21, 31, 48]).flatmap(lambda n: planted(whole_numbers(n))))
def test_planted_weights_are_found_or_not_denied(both):
    A, weights = both
    assume(textbook(A) is not None)
    assert few_rows_conflict(A) in (None, weights)


@given(planted(KINDS.flatmap(lambda kind: kind), most_rows=12))
def test_planted_weights_on_rounded_rows_are_checked(both):
    A, _ = both
    assume(np.isfinite(A).all())
    found = few_rows_conflict(A)
    assert found is None or found == textbook(A)


@given(st.integers(0, 2**32 - 1), st.integers(2, 24))
@example(0, 24)
def test_up_to_24_rows_are_settled(seed, k):
    rng = np.random.default_rng(seed)
    A = np.vstack([np.eye(k - 1), -rng.integers(1, 9, k - 1)])
    A = np.c_[A, A @ rng.integers(-3, 4, (k - 1, 2))]
    order, columns = rng.permutation(k), rng.permutation(A.shape[1])
    A = A[order][:, columns] * 2.0 ** rng.integers(-60, 60, A.shape[1])
    assert few_rows_conflict(np.ascontiguousarray(A)) == textbook(A)


def test_more_rows_are_left_to_others():
    A = np.vstack([np.eye(24), -np.ones(24)])
    assert few_rows_conflict(A) is None
    assert conflict_of(A, np.zeros(25)).weights == (1,) * 25


@pytest.mark.parametrize(
    ("shape", "expected"), [((0, 0), ()), ((0, 2), ()), ((1, 0), (1,)), ((2, 0), None)]
)
def test_no_rows_or_columns(shape, expected):
    assert few_rows_conflict(np.empty(shape)) == expected


@pytest.mark.parametrize(
    ("A", "expected"),
    [
        ([[0.0, -0.0]], (1,)),
        ([[0.0, 5e-324]], ()),
        ([[1.0, 0.0], [-1.0, 1.0]], ()),  # the second column says so
        ([[1.0], [2.0]], ()),
        ([[1.0], [-2.0], [3.0]], None),
        ([[1.0, 0.0], [-0.5, 0.0], [0.0, 3.0]], (1, 2, 0)),
        ([[5e-324, 2.0**1022], [-1e-323, -(2.0**1023)]], (2, 1)),
        ([[0.5, 1.0], [-0.75, -1.0], [1.5, 1.0]], (3, 4, 1)),
    ],
)
def test_weights_of_examples(A, expected):
    A = np.array(A)
    assert few_rows_conflict(A) == expected == textbook(A)


@needs_wide_integers
def test_decimals_of_one_column_are_settled():
    # 0.1 + 0.3 is not twice 0.2 in doubles.
    A = np.array([[0.1, 1.0], [-0.2, -1.0], [0.3, 1.0]])
    found = few_rows_conflict(A)
    assert found == textbook(A)
    assert len(set(found)) == 3


@needs_wide_integers
@pytest.mark.parametrize(
    ("A", "expected"),
    [
        # As long as 63 bits, and a bit more.
        ([[2.0**62], [-1.0]], (1, 2**62)),
        ([[2.0**63], [-1.0]], None),
        ([[5e-324], [-(2.0**-1022)]], (2**52, 1)),
        ([[2.0**62 - 2.0**9, 0], [0, 2.0**62 - 2.0**10], [-3.0, -5.0]], None),
        # The weight of the last row is the product of those of the others.
        ([[2.0**31 + 1, 0], [0, 2.0**32 + 1], [-1.0, -1.0]], None),
        (
            [[2.0**30 + 1, 0], [0, 2.0**32 + 1], [-1.0, -1.0]],
            (2**32 + 1, 2**30 + 1, (2**30 + 1) * (2**32 + 1)),
        ),
        # The weight of a pivot's row is too long, not the multiple.
        ([[1.0, 0], [-(2.0**62), 0], [0, 1.0]], (2**62, 1, 0)),
        ([[3.0, 0], [0, 1.0], [-1.0, -(2.0**62)]], None),
    ],
)
def test_weights_at_the_end_of_64_bits(A, expected):
    A = np.array(A)
    weights = textbook(A)
    assert (max(weights) < 2**63) == (expected is not None)
    if expected is not None:
        assert weights == expected
    assert few_rows_conflict(A) == expected


@pytest.mark.parametrize(
    "A",
    [
        # An entry below -2^63, one above 2^63, and one when upper rows are cleared.
        [
            [-2693378, -2569252, 2558847],
            [769189, -1100747, 1866941],
            [265328, -549020, -1386773],
            [1214025, 1559136, -586037],
        ],
        [
            [-847363, 2582488, 2995827],
            [2351586, -1082799, -1729044],
            [-783862, 360933, 576348],
            [-2726610, -3114753, 2492951],
        ],
        [
            [-5106723204, -5178088916, -1754633224],
            [134396170, -1848920547, 1913907235],
            [-1219979284, 1223154938, -701504618],
            [1276680801, 1294522229, 438658306],
        ],
    ],
)
def test_a_conflict_behind_an_equation_that_is_too_long_is_not_denied(A):
    A = np.array(A, dtype=float)
    assert max(textbook(A)) < 5
    assert few_rows_conflict(A) is None


@needs_wide_integers
def test_sums_at_the_end_of_128_bits():
    # Products of nearly 2^126 that come in pairs of opposite signs, or do not.
    u, v, e = 2.0**31 - 1, 2.0**32 - 1, 2.0**63 - 2.0**10
    links = np.array(
        [
            [1, 0, 0, 0, -1],
            [-1, 1, 0, 0, 0],
            [0, -1, 1, 0, 0],
            [0, 0, -1, 0, 0],
            [0, 0, 0, u, 0],
            [0, 0, 0, -1, v],
        ]
    )
    weights = (int(u) * int(v),) * 4 + (1, int(u))
    for signs, expected in (((1, -1, 1, -1), weights), ((1, 1, -1, -1), None)):
        A = np.c_[links, [*(sign * e for sign in signs), u, -1]]
        assert textbook(A) == weights
        assert few_rows_conflict(A) == expected


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_is_refused(bad):
    for A in ([[bad], [-1.0]], [[1.0, 0.0], [-1.0, bad]]):
        assert few_rows_conflict(np.array(A)) is None
        with pytest.raises(ValueError, match="must be finite"):
            conflict_of(np.array(A), np.zeros(2))


@given(matrices(KINDS), st.randoms(use_true_random=False))
def test_conflicts_are_those_of_python_flint(A, random):
    trust = np.array([random.random() for _ in A])
    order = np.argsort(-trust, kind="stable")
    exact = conflict_among(IntegerRows.from_floats(A), order)
    assert conflict_of(A, trust) == exact
    found = few_rows_conflict(A)
    if found is not None:
        assert exact == (Conflict(*of_positive(found)) if found else None)


def of_positive(weights):
    """Return the rows that take part, and their weights."""
    rows = tuple(np.flatnonzero(weights).tolist())
    return rows, tuple(weights[row] for row in rows)


def test_what_the_compiled_way_settles_is_not_asked_again(monkeypatch):
    monkeypatch.setattr(gordan, "conflict_among", None)
    A = np.array([[1.0, 0, 0], [0, 2.0, 0], [-3.0, -5.0, 0], [0, 0, 1.0]])
    conflict = conflict_from_candidate(A, range(4))
    assert (conflict.rows, conflict.weights) == ((0, 1, 2), (6, 5, 2))
    assert conflict_from_candidate(A[:, ::-1], [3, 0, 2]) is None
